//! Methods of a halo exchange: how the messages of all neighbours travel. A new one is a file, a line in [`table::make`](super::table::make), and
//! one in [`ddtbench::halo::METHODS`].

use super::links::{HaloMemory, Links};
use crate::checked::{CallError, Comm, Datatype};

/// How all messages of a rank travel. One stage is [`HaloMethod::start`]; [`HaloMethod::ready`] of each thread's share
/// of each message, which has been packed where the method has packing; [`HaloMethod::finish`].
pub trait HaloMethod: Sync {
    /// Begins a stage; one thread, before a barrier of all.
    fn start(&self, stage: usize) -> Result<(), CallError>;

    /// Thread `thread` will not change its share of a message any more.
    fn ready(&self, _stage: usize, _send: usize, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Ends a stage: all has arrived, and what was sent may be changed; one thread, after a barrier of all.
    fn finish(&self, stage: usize) -> Result<(), CallError>;

    /// Messages, puts or requests of this rank in an exchange, where that is known.
    fn messages(&self) -> Option<usize>;

    /// Gives back what it has; collective.
    fn free(self: Box<Self>) -> Result<(), CallError>;
}

/// What all methods are made of.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    pub comm: &'a Comm,
    pub links: &'a Links,
    pub memory: &'a HaloMemory,
    pub threads: usize,
    pub byte: &'a Datatype,
    /// Of each rank: bytes from array 0 to each array.
    pub displacements: &'a [Vec<i64>],
}
