//! What the loops of one comparison share, and its contenders.

use apps::WireOrder;
use ddtbench::experiments::engine::{self, Contender};
use ddtbench::model::Outcome;
use ddtbench::model::event::{LineBytes, MachineState};

use super::active_contender::{ActiveContender, PlainCopy, Work};
use crate::checked::symbols;
use crate::measure::cache::Eviction;
use crate::measure::clock::Clock;
use crate::measure::state::CopyProbe;
use crate::memory::Memory;
use crate::method::Setup;
use crate::method::packer::{End, Packer};
use crate::reporter::EventReporter;

/// What all contenders of a case share.
pub struct Bench<'a> {
    /// The message that is packed.
    pub setup: &'a Setup<'a>,
    /// In which order its bytes are packed.
    pub order: WireOrder,
    /// The clock's step and cost.
    pub clock: Clock,
    /// How fast a core copies.
    pub copies: CopyProbe,
    /// The lines to evict between repetitions; `None` where caches stay warm.
    pub eviction: Option<Eviction>,
    /// Number of the last generation of data.
    pub generation: u32,
    /// Reports what becomes of the case.
    pub reporter: EventReporter,
}

impl<'a> Bench<'a> {
    /// Those of the contenders that this MPI has all functions for; says which are missing.
    pub fn activate(
        &mut self,
        contenders: &[Contender],
        memory: &Memory,
        lines: LineBytes,
    ) -> anyhow::Result<Vec<ActiveContender<'a>>> {
        let mut active_contenders = Vec::new();
        for &contender in contenders {
            let method = engine::KIND.method(contender.name()).map_err(anyhow::Error::msg)?;
            let missing = symbols::missing(method.needs);
            if !missing.is_empty() {
                let reason = format!("this MPI lacks {}", missing.join(", "));
                self.reporter.ended(contender.name(), Outcome::NotAvailable { reason });
                continue;
            }
            self.reporter.working(contender.name(), "verify");
            let packs = |end| {
                let packer = Packer::new(self.setup, memory, end, end, self.order)?;
                anyhow::Ok(Work::Packs(Box::new(packer)))
            };
            let message_bytes = self.setup.message_bytes;
            let work = match contender {
                Contender::Engine => packs(End::Compiled)?,
                Contender::Manual => packs(End::ByHand)?,
                Contender::ManualTuned => packs(End::Tuned)?,
                Contender::MpiPack => packs(End::MpiPacked)?,
                Contender::Memcpy => Work::Copies(PlainCopy::new(message_bytes, message_bytes)),
                // A copy reads and writes: it touches lines of twice its bytes.
                Contender::Bound => {
                    Work::Copies(PlainCopy::new(lines.pack as usize / 2, lines.unpack as usize / 2))
                }
            };
            active_contenders.push(ActiveContender { contender, work });
        }
        Ok(active_contenders)
    }

    /// The state of the machine. One process has no latency to a peer.
    pub fn state(&mut self) -> MachineState {
        self.copies.read(0.0)
    }
}
