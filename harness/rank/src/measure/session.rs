//! What one case's loops share.

use ddtbench::event::MachineState;

use super::cache::Eviction;
use super::clock::Clock;
use super::state::StateProbe;
use crate::checked::{CallError, Comm};
use crate::memory::Memory;
use crate::method::Setup;
use crate::regions::Regions;
use crate::telling::Telling;

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
    /// How the memory that is sent and the memory that is received into lie to each other.
    pub regions: Regions,
    /// Number of the last generation of data; equal on all ranks.
    pub generation: u32,
    /// What is told of it.
    pub telling: Telling,
}

impl Session<'_> {
    /// Whether this process's clock counts: the origin of a pair, or rank 0 of an all-to-all.
    pub fn is_origin(&self) -> bool {
        self.setup.me == 0
    }

    /// Whether `flag` holds on every rank.
    pub fn everywhere(&self, flag: bool) -> Result<bool, CallError> {
        Ok(self.world.minima(&[f64::from(u8::from(flag))])?[0] > 0.0)
    }

    /// What any rank complains of: `None` if none does, else on rank 0 all complaints and elsewhere an empty text.
    pub fn any_complaint(&self, mine: Option<String>) -> Result<Option<String>, CallError> {
        if self.everywhere(mine.is_none())? {
            return Ok(None);
        }
        let all = self.world.gather(mine.unwrap_or_default().as_bytes())?;
        let said: Vec<_> = all.iter().filter(|c| !c.is_empty()).map(|c| String::from_utf8_lossy(c)).collect();
        Ok(Some(said.join("; ")))
    }

    /// The state of the machine; all pairs look at the same time, so that none disturbs another's block.
    pub fn state(&mut self) -> Result<MachineState, CallError> {
        self.world.barrier()?;
        self.probe.read()
    }

    /// Evicts the message's lines, where caches are to be cold; the pair goes on together.
    pub fn evict(&self, memory: &Memory) -> Result<(), CallError> {
        let Some(eviction) = &self.eviction else { return Ok(()) };
        eviction.evict(self.setup, memory);
        self.setup.comm.barrier()
    }
}
