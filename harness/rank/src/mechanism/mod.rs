//! Mechanisms: how a message that is finished partition by partition is sent from one rank to another. A new mechanism
//! needs a row and a variant in [`common::kinds::partitioned::methods`], a file, and an arm in [`table::make`].
//!
//! One transfer consists of [`Mechanism::start`] on both ranks; [`Mechanism::ready`] for each partition by its thread on one
//! rank, [`Mechanism::arrived`] on the other if it has to ask; and [`Mechanism::wait`]. All return codes are checked.

mod aggregated_adaptive;
pub mod calibration;
pub mod merged;
pub mod messages;
mod one_sided;
pub mod partitioned;
mod progress_thread;
mod send;
pub mod table;

use std::ops::Range;

use crate::checked::{CallError, Comm, Datatype, Envelope, TeamCalls};
use crate::memory::Region;

/// The role of a rank in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The partitions become ready here.
    Sender,
    /// The partitions arrive here.
    Receiver,
}

/// A repeated transfer: its memory, its partitions, and the roles.
#[derive(Clone)]
pub struct Channel<'a> {
    /// The communicator of both ranks.
    pub comm: &'a Comm,
    /// The other rank in `comm`.
    pub peer: usize,
    /// The first tag that the channel may use; others follow it, one per partition.
    pub tag: usize,
    pub role: Role,
    /// The message: read by a sender, written by a receiver. Between [`Mechanism::start`] and the end of
    /// [`Mechanism::wait`], no other code writes to partitions that a sender has marked ready, or uses a
    /// receiver's memory. Partitions are within it.
    pub memory: Region,
    /// Bytes of each partition of the sender, in order and without gaps.
    pub partitions: Vec<Range<usize>>,
    /// Number of partitions into which the receiver divides the same bytes; only MPI's own partitioned transfers use this.
    pub receive_partitions: usize,
    /// The partitions of each thread, in the order in which they become ready.
    pub of_thread: Vec<Vec<usize>>,
    /// Permission for all of these threads to call MPI, or why they have none.
    pub calls: Result<TeamCalls, String>,
    /// Whether several requests are started by `MPI_Startall`, with which one MPI crashes.
    pub starts_all: bool,
    /// `MPI_BYTE`.
    pub byte: &'a Datatype,
}

impl<'a> Channel<'a> {
    fn envelope(&self, bytes: usize, tag: usize, comm: &'a Comm) -> Envelope<'a> {
        Envelope { count: bytes, datatype: self.byte, peer: self.peer, tag: self.tag + tag, comm }
    }

    /// The address of a partition, and its envelope as a separate message.
    fn partition(&self, partition: usize) -> (*mut u8, Envelope<'a>) {
        let range = &self.partitions[partition];
        (self.at(range.start), self.envelope(range.len(), partition, self.comm))
    }

    /// The address of a byte of the message.
    fn at(&self, byte: usize) -> *mut u8 {
        self.memory.at(byte)
    }

    /// Bytes of each of these runs of neighbouring partitions.
    fn bytes_of(&self, runs: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
        runs.iter().map(|run| self.partitions[run.start].start..self.partitions[run.end - 1].end)
    }

    /// The same message with these runs as its partitions, at both ends.
    pub fn merged(&self, runs: &[Range<usize>]) -> Self {
        let partitions = self.bytes_of(runs).collect();
        Self { partitions, receive_partitions: runs.len(), of_thread: Vec::new(), ..self.clone() }
    }

    fn threads(&self) -> Vec<usize> {
        let mut threads = vec![0; self.partitions.len()];
        for (thread, partitions) in self.of_thread.iter().enumerate() {
            partitions.iter().for_each(|&partition| threads[partition] = thread);
        }
        threads
    }
}

/// How partitions are sent: one end of a repeated transfer.
///
/// A mechanism may be lent to the threads of its channel (see [`Lent`](crate::checked::threads::Lent)).
/// Functions that the threads call at the same time, [`Mechanism::open`], [`Mechanism::ready`],
/// [`Mechanism::finish`] and [`Mechanism::arrived`], call MPI only in mechanisms that are created with a
/// [`TeamCalls`]; all other functions are called by the thread that initialised MPI.
pub trait Mechanism {
    /// Begins a transfer.
    ///
    /// # Safety
    /// No transfer is in progress at this end, and no thread is within the mechanism: all threads passed a
    /// barrier before, and pass another before any of them calls it.
    unsafe fn start(&self) -> Result<(), CallError>;

    /// On a receiver, called by each of its threads after the start: begins to receive the thread's own partitions.
    ///
    /// # Safety
    /// Called by the thread of this number of the channel, once in a transfer.
    unsafe fn open(&self, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// On the sender: partition `partition`, of thread `thread`, will not change any more.
    ///
    /// # Safety
    /// Called by the thread of this number, to which the partition belongs, once in a transfer; the partition
    /// is not written before the transfer has ended.
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError>;

    /// On the sender, called by each of its threads after its last partition: waits for the thread's own partitions.
    ///
    /// # Safety
    /// Called by the thread of this number, which has marked all of its partitions.
    unsafe fn finish(&self, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Whether the receiver's threads have to test their partitions before [`Mechanism::wait`].
    fn tests_arrival(&self) -> bool {
        false
    }

    /// On a receiver that tests: whether the partition has arrived. May wait for it.
    ///
    /// # Safety
    /// Called by the thread to which the partition belongs, during a transfer, and not again after it has arrived.
    unsafe fn arrived(&self, _thread: usize, _partition: usize) -> Result<bool, CallError> {
        Ok(true)
    }

    /// On a receiver: receives the next partition if partitions must be received by calls. Returns whether it did.
    ///
    /// # Safety
    /// Called by one thread, in a transfer in which no thread tests partitions.
    unsafe fn bring(&self) -> Result<bool, CallError> {
        Ok(false)
    }

    /// Called at the sender when all partitions are ready, before any thread waits: starts sends that are only started then.
    ///
    /// # Safety
    /// All threads have marked their partitions, and no thread is within the mechanism: all have passed a barrier.
    unsafe fn close(&self) -> Result<(), CallError> {
        Ok(())
    }

    /// Ends the transfer: at the sender the memory may be changed again, at the receiver all data has arrived.
    ///
    /// # Safety
    /// As for [`Mechanism::close`], which was called before if the mechanism has one.
    unsafe fn wait(&self) -> Result<(), CallError>;

    /// Messages or puts of the sender's last transfer, if known.
    fn messages(&self) -> Option<usize> {
        None
    }

    /// Frees requests, windows and communicators; collective over both ranks.
    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
