//! `send`: a blocking `MPI_Send` and `MPI_Recv` per partition, by the thread that finishes it.
//!
//! As mode `Send` of the HLRS benchmark: both ends go through the partitions in the same order.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Channel, Mechanism};
use crate::checked::CallError;

pub struct Send<'a> {
    channel: Channel<'a>,
    /// Partitions received by [`Mechanism::bring`].
    brought: AtomicUsize,
}

// SAFETY: the pointer to the message is only passed to MPI, for partitions whose thread calls.
unsafe impl Sync for Send<'_> {}

impl<'a> Send<'a> {
    pub fn new(channel: Channel<'a>) -> Self {
        Self { channel, brought: AtomicUsize::new(0) }
    }
}

impl Mechanism for Send<'_> {
    fn start(&self) -> Result<(), CallError> {
        self.brought.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let range = &self.channel.partitions[partition];
        let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
        // SAFETY: a partition of the message, which does not change any more.
        unsafe { envelope.send(self.channel.at(range.start)) }
    }

    fn asks(&self) -> bool {
        true
    }

    fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        let range = &self.channel.partitions[partition];
        let envelope = self.channel.envelope(range.len(), partition, self.channel.comm);
        // SAFETY: a partition of the message, which nobody else uses during a transfer.
        unsafe { envelope.receive(self.channel.at(range.start)) }.map(|()| true)
    }

    fn bring(&self) -> Result<bool, CallError> {
        let next = self.brought.fetch_add(1, Ordering::Relaxed);
        match self.channel.of_thread.iter().flatten().nth(next) {
            Some(&partition) => self.arrived(0, partition),
            None => Ok(false),
        }
    }

    fn wait(&self) -> Result<(), CallError> {
        Ok(())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
