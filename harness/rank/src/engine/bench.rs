//! What the loops of one comparison share, and its contenders.

use apps::WireOrder;
use ddtbench::engine::Contender;
use ddtbench::event::{LineBytes, MachineState, Outcome};

use super::contestant::{Contestant, PlainCopy, Work};
use crate::checked::symbols;
use crate::measure::cache::Eviction;
use crate::measure::clock::Clock;
use crate::measure::state::CopyProbe;
use crate::memory::Memory;
use crate::method::packer::{End, Packer};
use crate::method::{Setup, table};
use crate::telling::Telling;

/// One case.
pub struct Bench<'a> {
    /// The message.
    pub setup: &'a Setup<'a>,
    /// In which order its bytes are packed.
    pub order: WireOrder,
    /// What the clock can do.
    pub clock: Clock,
    /// How fast a core copies.
    pub copies: CopyProbe,
    /// The lines to evict between repetitions; `None` where caches stay warm.
    pub eviction: Option<Eviction>,
    /// Number of the last generation of data.
    pub generation: u32,
    /// What is told of the case.
    pub telling: Telling,
}

impl<'a> Bench<'a> {
    /// Those of the contenders that this MPI has all functions for; says which are missing.
    pub fn contestants(
        &mut self,
        contenders: &[Contender],
        memory: &Memory,
        lines: LineBytes,
    ) -> anyhow::Result<Vec<Contestant<'a>>> {
        let mut contestants = Vec::new();
        for &contender in contenders {
            let missing =
                symbols::missing(table::implementation(contender.name()).map_or(&[], |method| method.needs));
            if !missing.is_empty() {
                let reason = format!("this MPI lacks {}", missing.join(", "));
                self.telling.ended(contender.name(), Outcome::NotAvailable { reason });
                continue;
            }
            self.telling.working(contender.name(), "verify");
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
            contestants.push(Contestant { contender, work });
        }
        Ok(contestants)
    }

    /// The state of the machine. One process has no latency to a peer.
    pub fn state(&mut self) -> MachineState {
        self.copies.read(0.0)
    }
}
