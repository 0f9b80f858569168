//! `isend`: an `MPI_Isend` per partition, by the thread that finishes it, into receives that are posted at the start.

use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Request, TeamCalls};
use crate::handoff::Slot;

pub struct Isend<'a> {
    channel: Channel<'a>,
    requests: Vec<Slot<Request>>,
}

impl<'a> Isend<'a> {
    pub fn new(channel: Channel<'a>, _: TeamCalls) -> Self {
        let requests = channel.partitions.iter().map(|_| Slot::new(Request::null(channel.comm))).collect();
        Self { channel, requests }
    }
}

impl Mechanism for Isend<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        if self.channel.role == Role::Sender {
            return Ok(());
        }
        for (partition, (range, request)) in self.channel.partitions.iter().zip(&self.requests).enumerate() {
            let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
            // SAFETY: no thread is here. The partition is left alone until the wait, as the channel's region vouches for.
            unsafe { *request.get() = Request::receive(self.channel.at(range.start), envelope)? };
        }
        Ok(())
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let range = &self.channel.partitions[partition];
        let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
        // SAFETY: the partition's own thread, which vouches for its not changing until the wait.
        unsafe { *self.requests[partition].get() = Request::send(self.channel.at(range.start), envelope)? };
        Ok(())
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        self.requests.iter().try_for_each(|request| unsafe { request.get() }.wait())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.requests.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
