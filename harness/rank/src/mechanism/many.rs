//! `many`: a persistent send per partition, on a communicator of the thread's own, so that threads need not share what the
//! MPI keeps per communicator.
//!
//! "Pt2Pt many" of Gillis et al., "Quantifying the performance benefits of partitioned communication in MPI", ICPP 2023.
//! As there, the receiver's threads start the receives of their own partitions, and on both sides threads wait for theirs.

use super::persistent::Requests;
use super::{Channel, Mechanism};
use crate::checked::{CallError, Comm};

pub struct Many {
    of_thread: Vec<Vec<usize>>,
    requests: Requests,
    _comms: Vec<Comm>,
}

impl Many {
    pub fn new(channel: &Channel<'_>) -> Result<Self, CallError> {
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
    fn start(&self) -> Result<(), CallError> {
        // Receives are the threads' own.
        Ok(())
    }

    fn open(&self, thread: usize) -> Result<(), CallError> {
        self.requests.start_all(self.of_thread[thread].iter().copied())
    }

    fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        self.requests.start(partition)
    }

    fn finish(&self, thread: usize) -> Result<(), CallError> {
        self.of_thread[thread].iter().try_for_each(|&partition| self.requests.wait(partition))
    }

    fn asks(&self) -> bool {
        true
    }

    fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        self.requests.wait(partition).map(|()| true)
    }

    fn wait(&self) -> Result<(), CallError> {
        self.requests.wait_all()
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.requests.free()
    }
}
