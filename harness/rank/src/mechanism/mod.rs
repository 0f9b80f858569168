//! Mechanisms: how a message that is finished partition by partition travels from one rank to another. A new one is a
//! row and a variant in [`common::kinds::partitioned::methods`], a file, and an arm in [`table::make`].
//!
//! One transfer is [`Mechanism::start`] on both ranks; [`Mechanism::ready`] of each partition by its thread on the one,
//! [`Mechanism::arrived`] on the other where it has to ask; and [`Mechanism::wait`]. All return codes are checked.

mod aggregated_adaptive;
pub mod calibration;
mod isend;
pub mod merged;
mod one_sided;
pub mod partitioned;
pub mod persistent;
mod progress_thread;
mod send;
mod single;
pub mod table;

use std::ops::Range;

use crate::checked::{CallError, Comm, Datatype, Envelope, TeamCalls};
use crate::memory::Region;

/// Which end of a transfer a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The partitions become ready here.
    Sender,
    /// The partitions arrive here.
    Receiver,
}

/// A transfer that is repeated: memory, its partitions, and who does what.
#[derive(Clone)]
pub struct Channel<'a> {
    /// The communicator of both ranks.
    pub comm: &'a Comm,
    /// The other rank in `comm`.
    pub peer: usize,
    /// The first tag that the channel may use; others follow it, one per partition.
    pub tag: usize,
    /// What this rank is.
    pub role: Role,
    /// The message: read by a sender, written by a receiver. Between [`Mechanism::start`] and the end of [`Mechanism::wait`] nobody else
    /// writes to what a sender has marked ready, nor uses what a receiver receives into. Partitions lie within.
    pub memory: Region,
    /// Bytes of each partition of the sender, in order and without gaps.
    pub partitions: Vec<Range<usize>>,
    /// Partitions into which the receiver divides the same bytes; only MPI's own partitioned transfers tell the
    /// difference.
    pub receive_partitions: usize,
    /// The partitions of each thread, in the order in which they become ready.
    pub of_thread: Vec<Vec<usize>>,
    /// Leave for all of these threads to call MPI, or why they have none.
    pub calls: Result<TeamCalls, String>,
    /// Whether several requests are started by `MPI_Startall`, which one MPI does not survive.
    pub starts_all: bool,
    /// `MPI_BYTE`.
    pub byte: &'a Datatype,
}

impl<'a> Channel<'a> {
    fn envelope(&self, bytes: usize, tag: usize, comm: &'a Comm) -> Envelope<'a> {
        Envelope { count: bytes, datatype: self.byte, peer: self.peer, tag: self.tag + tag, comm }
    }

    /// Where a partition lies, and its envelope as a message of its own.
    fn partition(&self, partition: usize) -> (*mut u8, Envelope<'a>) {
        let range = &self.partitions[partition];
        (self.at(range.start), self.envelope(range.len(), partition, self.comm))
    }

    /// Where a byte of the message lies.
    fn at(&self, byte: usize) -> *mut u8 {
        self.memory.at(byte)
    }

    /// Bytes of each of some runs of neighbouring partitions.
    fn bytes_of(&self, runs: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
        runs.iter().map(|run| self.partitions[run.start].start..self.partitions[run.end - 1].end)
    }

    /// The same message with these runs as its partitions, at both ends.
    pub fn merged(&self, runs: &[Range<usize>]) -> Self {
        let partitions = self.bytes_of(runs).collect();
        Self { partitions, receive_partitions: runs.len(), of_thread: Vec::new(), ..self.clone() }
    }

    /// The thread of each partition.
    fn threads(&self) -> Vec<usize> {
        let mut threads = vec![0; self.partitions.len()];
        for (thread, partitions) in self.of_thread.iter().enumerate() {
            partitions.iter().for_each(|&partition| threads[partition] = thread);
        }
        threads
    }
}

/// How partitions travel: one end of a transfer that is repeated.
///
/// A mechanism may be lent to the threads of its channel (see [`Lent`](crate::checked::threads::Lent)). What the threads call at
/// the same time, [`Mechanism::open`], [`Mechanism::ready`], [`Mechanism::finish`] and [`Mechanism::arrived`], calls MPI only in
/// mechanisms that are made with a [`TeamCalls`]; all else is called by the thread that initialised MPI.
pub trait Mechanism {
    /// Begins a transfer.
    ///
    /// # Safety
    /// No transfer is under way at this end, and no thread is within the mechanism: there was a barrier of all before, and
    /// there will be one before any thread calls it.
    unsafe fn start(&self) -> Result<(), CallError>;

    /// On a receiver, called by each of its threads after the start: begins to receive what is the thread's own.
    ///
    /// # Safety
    /// Called by the thread of this number of the channel, once in a transfer.
    unsafe fn open(&self, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// On the sender: partition `partition`, of thread `thread`, will not change any more.
    ///
    /// # Safety
    /// Called by the thread of this number, to which the partition belongs, once in a transfer; nobody writes to the partition
    /// before the transfer has ended.
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError>;

    /// On the sender, called by each of its threads after its last partition: waits for what is the thread's own.
    ///
    /// # Safety
    /// Called by the thread of this number, which has marked all of its partitions.
    unsafe fn finish(&self, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Whether the receiver's threads have to ask for their partitions, before [`Mechanism::wait`].
    fn asks(&self) -> bool {
        false
    }

    /// On a receiver that asks: whether the partition is there. May wait for it.
    ///
    /// # Safety
    /// Called by the thread to which the partition belongs, during a transfer, and no more once it was there.
    unsafe fn arrived(&self, _thread: usize, _partition: usize) -> Result<bool, CallError> {
        Ok(true)
    }

    /// Receives what has to be received by a call, on a receiver. Whether it did.
    ///
    /// # Safety
    /// Called by one thread, in a transfer in which no thread asks for partitions.
    unsafe fn bring(&self) -> Result<bool, CallError> {
        Ok(false)
    }

    /// Called at the sender when all partitions are ready, before anybody waits: starts what is only started then.
    ///
    /// # Safety
    /// All threads have marked their partitions, and no thread is within the mechanism: there was a barrier of all.
    unsafe fn close(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Ends the transfer: at the sender memory may be changed again, at the receiver all has arrived.
    ///
    /// # Safety
    /// As for [`Mechanism::close`], which was called before if the mechanism has one.
    unsafe fn wait(&self) -> Result<(), CallError>;

    /// Messages or puts that the sender's last transfer took, where that is known.
    fn messages(&self) -> Option<usize> {
        None
    }

    /// Gives back requests, windows and communicators; collective over both ranks.
    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
