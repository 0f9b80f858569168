//! What the loops of one comparison share, and its methods.

use apps::WireOrder;
use common::model::event::{LineBytes, MachineState};
use common::model::{MethodInfo, Outcome};

use super::active_method::{ActiveMethod, PlainCopy, Work};
use super::table::{Implementation, implementation};
use crate::checked::symbols;
use crate::measure::cache::Eviction;
use crate::measure::clock::Clock;
use crate::measure::state::CopyProbe;
use crate::memory::Memory;
use crate::method::Setup;
use crate::method::packer::Packer;
use crate::reporter::EventReporter;

/// What all methods of a case share.
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
    /// Those of the methods that this MPI has all functions for; says which are missing.
    pub fn activate(
        &mut self,
        methods: &[&'static MethodInfo],
        memory: &Memory,
        lines: LineBytes,
    ) -> anyhow::Result<Vec<ActiveMethod<'a>>> {
        let mut active_methods = Vec::new();
        for &method in methods {
            let missing = symbols::missing(method.needs);
            if !missing.is_empty() {
                let reason = format!("this MPI lacks {}", missing.join(", "));
                self.reporter.ended(method.name, Outcome::NotAvailable { reason });
                continue;
            }
            self.reporter.working(method.name, "verify");
            let message_bytes = self.setup.message_bytes;
            let work = match implementation(method.name)? {
                Implementation::Packs(end) => {
                    let packer = Packer::new(self.setup, memory, end, end, self.order)?;
                    Work::Packs(Box::new(packer))
                }
                Implementation::CopiesMessage => Work::Copies(PlainCopy::new(message_bytes, message_bytes)),
                // A copy reads and writes: it touches lines of twice its bytes.
                Implementation::CopiesLines => {
                    Work::Copies(PlainCopy::new(lines.pack as usize / 2, lines.unpack as usize / 2))
                }
            };
            active_methods.push(ActiveMethod { method, work });
        }
        Ok(active_methods)
    }

    /// The state of the machine. One process has no latency to a peer.
    pub fn state(&mut self) -> MachineState {
        self.copies.read(0.0)
    }
}
