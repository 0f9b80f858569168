//! What a ping-pong's loops share.

use super::cache::Eviction;
use super::job::Job;
use crate::checked::CallError;
use crate::memory::Memory;
use crate::method::Setup;
use crate::regions::Regions;

/// One ping-pong on all ranks.
pub struct Session<'a> {
    /// All ranks.
    pub job: Job<'a>,
    /// The exchange, on the pair's communicator or on all ranks'.
    pub setup: &'a Setup<'a>,
    /// This process's pair.
    pub pair: usize,
    /// The lines to evict between repetitions; `None` where caches stay warm.
    pub eviction: Option<Eviction>,
    /// How the memory that is sent and the memory that is received into lie to each other.
    pub regions: Regions,
    /// Number of the last generation of data; equal on all ranks.
    pub generation: u32,
}

impl Session<'_> {
    /// Whether this process's clock counts: the origin of a pair, or rank 0 of an all-to-all.
    pub fn is_origin(&self) -> bool {
        self.setup.me == 0
    }

    /// Evicts the message's lines, where caches are to be cold; the pair goes on together.
    pub fn evict(&self, memory: &Memory) -> Result<(), CallError> {
        let Some(eviction) = &self.eviction else { return Ok(()) };
        eviction.evict(self.setup, memory);
        self.setup.comm.barrier()
    }
}
