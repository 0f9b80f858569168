//! `isend`: an `MPI_Isend` per partition, by the thread that finishes it, into receives that are posted at the start.

use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Request};
use crate::slots::Slot;

pub struct Isend<'a> {
    channel: Channel<'a>,
    requests: Vec<Slot<Request>>,
}

// SAFETY: the pointer to the message is only passed to MPI, for partitions whose thread calls.
unsafe impl Sync for Isend<'_> {}

impl<'a> Isend<'a> {
    pub fn new(channel: Channel<'a>) -> Self {
        let requests = channel.partitions.iter().map(|_| Slot::new(Request::null())).collect();
        Self { channel, requests }
    }
}

impl Mechanism for Isend<'_> {
    fn start(&self) -> Result<(), CallError> {
        if self.channel.role == Role::Sender {
            return Ok(());
        }
        for (partition, (range, request)) in self.channel.partitions.iter().zip(&self.requests).enumerate() {
            let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
            // SAFETY: one thread starts. The partition is left alone until the wait.
            unsafe { *request.get() = Request::receive(self.channel.at(range.start), envelope)? };
        }
        Ok(())
    }

    fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let range = &self.channel.partitions[partition];
        let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
        // SAFETY: the partition's own thread. The partition does not change until the wait.
        unsafe { *self.requests[partition].get() = Request::send(self.channel.at(range.start), envelope)? };
        Ok(())
    }

    fn wait(&self) -> Result<(), CallError> {
        // SAFETY: one thread waits, after a barrier of all.
        self.requests.iter().try_for_each(|request| unsafe { request.get() }.wait())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
