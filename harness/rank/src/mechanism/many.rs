//! `many`: a persistent send per partition, on a communicator of the thread's own, so that threads need not share what the
//! MPI keeps per communicator.
//!
//! "Pt2Pt many" of Gillis et al., "Quantifying the performance benefits of partitioned communication in MPI", ICPP 2023.
//! As there, the receiver's threads start the receives of their own partitions, and on both sides threads wait for theirs.

use super::persistent::Requests;
use super::{Channel, Mechanism};
use crate::checked::{CallError, Comm, TeamCalls};

pub struct Many {
    of_thread: Vec<Vec<usize>>,
    requests: Requests,
    _comms: Vec<Comm>,
}

impl Many {
    pub fn new(channel: &Channel<'_>, _: TeamCalls) -> Result<Self, CallError> {
        let comms =
            channel.of_thread.iter().map(|_| channel.comm.duplicate()).collect::<Result<Vec<_>, _>>()?;
        let threads = channel.threads();
        let messages =
            channel.partitions.iter().zip(threads).map(|(range, thread)| (range.clone(), &comms[thread]));
        let requests = Requests::new(channel, messages)?;
        Ok(Self { of_thread: channel.of_thread.clone(), requests, _comms: comms })
    }
}

impl Mechanism for Many {
    unsafe fn start(&self) -> Result<(), CallError> {
        // Receives are the threads' own.
        Ok(())
    }

    unsafe fn open(&self, thread: usize) -> Result<(), CallError> {
        // SAFETY: the requests of the thread's own partitions, after a start.
        unsafe { self.requests.start_all(self.of_thread[thread].iter().copied()) }
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the thread's own partition, once in a transfer.
        unsafe { self.requests.start(partition) }
    }

    unsafe fn finish(&self, thread: usize) -> Result<(), CallError> {
        // SAFETY: the thread's own partitions.
        self.of_thread[thread].iter().try_for_each(|&partition| unsafe { self.requests.wait(partition) })
    }

    fn asks(&self) -> bool {
        true
    }

    unsafe fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        // SAFETY: the thread's own partition.
        unsafe { self.requests.wait(partition) }.map(|()| true)
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.requests.wait_all() }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.requests.free()
    }
}
