//! What one case's loops share.

use ddtbench::event::{Event, Outcome};

use super::cache::Eviction;
use super::clock::Clock;
use super::state::StateProbe;
use crate::checked::{CallError, Comm};
use crate::method::Setup;
use crate::output::Output;

/// One case on all ranks.
pub struct Session<'a> {
    /// The exchange, on the pair's communicator or on all ranks'.
    pub setup: &'a Setup<'a>,
    /// All ranks.
    pub world: &'a Comm,
    /// This process among them.
    pub world_rank: usize,
    /// This process's pair.
    pub pair: usize,
    /// The state of the machine, as this pair sees it.
    pub probe: StateProbe<'a>,
    /// What the clock can do.
    pub clock: Clock,
    /// The lines to evict between repetitions; `None` where caches stay warm.
    pub eviction: Option<Eviction>,
    /// Number of the last generation of data; equal on all ranks.
    pub generation: u32,
    /// The method that is being worked on.
    pub method: String,
    /// Whether any method has moved wrong bytes.
    pub has_wrong_data: bool,
    /// Where events go.
    pub output: Output,
}

impl Session<'_> {
    /// Whether this process's clock counts: the origin of a pair, or rank 0 of an all-to-all.
    pub fn is_origin(&self) -> bool {
        self.setup.me == 0
    }

    /// Tells an event, on rank 0.
    pub fn tell(&mut self, event: &Event) {
        if self.world_rank == 0 {
            self.output.tell(event);
        }
    }

    /// Work on a method begins.
    pub fn working(&mut self, method: &str, stage: &str) {
        method.clone_into(&mut self.method);
        self.tell(&Event::Working { method: method.to_owned(), stage: stage.to_owned() });
    }

    /// A method has ended.
    pub fn ended(&mut self, method: &str, outcome: Outcome) {
        self.has_wrong_data |= matches!(outcome, Outcome::WrongData { .. });
        self.tell(&Event::Ended { method: method.to_owned(), outcome });
    }

    /// Whether `flag` holds on every rank.
    pub fn everywhere(&self, flag: bool) -> Result<bool, CallError> {
        Ok(self.world.minima(&[f64::from(u8::from(flag))])?[0] > 0.0)
    }
}
