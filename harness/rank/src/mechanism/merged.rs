//! `aggregated` with a mapping that is fixed beforehand: user partitions are mapped to those of another mechanism, persistent sends or
//! an MPI-4 request, each of which has an atomic counter: who marks the last of its partitions sends it. Nobody waits for a lock.

use std::ops::Range;

use super::Mechanism;
use crate::checked::CallError;
use crate::handoff::Counters;

pub struct Merged<M> {
    counters: Counters,
    transport: M,
}

impl<M> Merged<M> {
    /// Runs of neighbouring partitions, each of which is a partition of `transport`.
    pub fn new(runs: &[Range<usize>], transport: M) -> Self {
        Self { counters: Counters::new(runs), transport }
    }
}

impl<M: Mechanism> Mechanism for Merged<M> {
    unsafe fn start(&self) -> Result<(), CallError> {
        self.counters.reset();
        // SAFETY: passed on.
        unsafe { self.transport.start() }
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        let Some(run) = self.counters.mark(partition) else { return Ok(()) };
        // SAFETY: of all threads, the one that completed the run.
        unsafe { self.transport.ready(thread, run) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: passed on.
        unsafe { self.transport.wait() }
    }

    fn messages(&self) -> Option<usize> {
        self.transport.messages()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Box::new(self.transport).free()
    }
}
