//! `aggregated` with a fixed mapping: user partitions are mapped to those of another mechanism, persistent sends or an MPI-4 request.
//! Each of these has an atomic counter; the thread that marks the last of its partitions sends it. There are no locks to wait for.

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
        // SAFETY: the caller's guarantees are passed on.
        unsafe { self.transport.start() }
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        let Some(run) = self.counters.mark(partition) else { return Ok(()) };
        // SAFETY: only the thread that completed the run does this.
        unsafe { self.transport.ready(thread, run) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: the caller's guarantees are passed on.
        unsafe { self.transport.wait() }
    }

    fn messages(&self) -> Option<usize> {
        self.transport.messages()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Box::new(self.transport).free()
    }
}
