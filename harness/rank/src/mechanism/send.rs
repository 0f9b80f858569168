//! `send`: a blocking `MPI_Send` and `MPI_Recv` per partition, by the thread that finishes it.
//!
//! As in mode `Send` of the HLRS benchmark, both ends process the partitions in the same order.

use std::cell::Cell;

use super::{Channel, Mechanism};
use crate::checked::{CallError, TeamCalls};

pub struct BlockingPartitions<'a> {
    channel: Channel<'a>,
    /// Partitions received by [`Mechanism::bring`].
    received: Cell<usize>,
}

impl<'a> BlockingPartitions<'a> {
    pub fn new(channel: Channel<'a>, _: TeamCalls) -> Self {
        Self { channel, received: Cell::new(0) }
    }
}

impl Mechanism for BlockingPartitions<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        self.received.set(0);
        Ok(())
    }

    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let (address, envelope) = self.channel.partition(partition);
        // SAFETY: a partition of the message, which does not change any more.
        unsafe { envelope.send(address) }
    }

    fn tests_arrival(&self) -> bool {
        true
    }

    unsafe fn arrived(&self, _: usize, partition: usize) -> Result<bool, CallError> {
        let (address, envelope) = self.channel.partition(partition);
        // SAFETY: a partition of the message, which the channel's region guarantees.
        unsafe { envelope.receive(address) }.map(|()| true)
    }

    unsafe fn bring(&self) -> Result<bool, CallError> {
        let next = self.received.replace(self.received.get() + 1);
        match self.channel.of_thread.iter().flatten().nth(next) {
            // SAFETY: no other thread tests any partition.
            Some(&partition) => unsafe { self.arrived(0, partition) },
            None => Ok(false),
        }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        Ok(())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.channel.partitions.len())
    }
}
