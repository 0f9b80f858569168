//! `many`: a persistent send per partition, on a communicator of the thread's own, so that threads need not share what the
//! MPI keeps per communicator.
//!
//! "Pt2Pt many" of Gillis et al., "Quantifying the performance benefits of partitioned communication in MPI", ICPP 2023.
//! The receiver's threads wait for their own partitions.

use super::persistent::Requests;
use super::{Channel, Mechanism};
use crate::checked::{CallError, Comm};

pub struct Many {
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
        Ok(Self { requests, _comms: comms })
    }
}

impl Mechanism for Many {
    fn start(&self) -> Result<(), CallError> {
        self.requests.start_receives()
    }

    fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        self.requests.start(partition)
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
