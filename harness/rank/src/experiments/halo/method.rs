//! Methods of a halo exchange: how the messages of all neighbours travel. A new one is a row and a variant in
//! [`common::kinds::halo::methods`], a file, and an arm in `make` of `halo/active.rs`.

use apps::Arrays;
use apps::halo::HaloApp;
use datatypes::Element;

use super::links::{HaloMemory, Links};
use crate::checked::{CallError, Comm, Datatype};

/// How all messages of a rank travel. One stage is [`HaloMethod::start`]; [`HaloMethod::ready`] of each thread's share
/// of each message, which has been packed where the method has packing; [`HaloMethod::send`] and [`HaloMethod::finish`].
///
/// A method may be lent to the threads of a team (see [`Lent`](crate::checked::threads::Lent)). [`HaloMethod::ready`], which they
/// call at the same time, calls MPI only in methods that are made with a [`TeamCalls`](crate::checked::TeamCalls); all else is called by the thread that
/// initialised MPI.
pub trait HaloMethod {
    /// Begins a stage.
    ///
    /// # Safety
    /// No thread is within the method: the stage before has ended, and there will be a barrier of all before any thread calls
    /// it. Nobody uses what the stage receives into before it has ended.
    unsafe fn start(&self, stage: usize) -> Result<(), CallError>;

    /// Thread `thread` will not change its share of a message any more.
    ///
    /// # Safety
    /// Called by the thread of this number, once for each message of a stage that was started; nobody writes to the share
    /// before the stage has ended.
    unsafe fn ready(&self, _stage: usize, _send: usize, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Begins to send what is only sent when all shares are ready.
    ///
    /// # Safety
    /// As for [`HaloMethod::finish`], which is called after it.
    unsafe fn send(&self, _stage: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Brings a stage forward whose shares are all sent; whether it is complete.
    ///
    /// # Safety
    /// As for [`HaloMethod::finish`]; [`HaloMethod::send`] was called.
    unsafe fn test(&self, _stage: usize) -> Result<bool, CallError> {
        Ok(false)
    }

    /// Ends a stage: all has arrived, and what was sent may be changed.
    ///
    /// # Safety
    /// All threads have called [`HaloMethod::ready`] of all their shares, and none is within the method: there was a barrier
    /// of all.
    unsafe fn finish(&self, stage: usize) -> Result<(), CallError>;

    /// Messages, puts or requests of this rank in an exchange, where that is known.
    fn messages(&self) -> Option<usize>;

    /// Gives back what it has; collective.
    fn free(self: Box<Self>) -> Result<(), CallError>;
}

/// What all methods are made of.
pub struct Parts {
    /// The ranks of the exchange, on its grid if it has one.
    pub comm: Comm,
    /// This process among them.
    pub rank: usize,
    pub links: Links,
    pub memory: HaloMemory,
    pub threads: usize,
    pub byte: Datatype,
    /// Of each rank: bytes from array 0 to each array.
    pub displacements: Vec<Vec<i64>>,
}

impl Parts {
    /// For the exchange of `app` among all ranks, which the MPI may reorder on the grid; collective.
    pub fn new(world: &Comm, app: &dyn HaloApp, reorder: bool, threads: usize) -> Result<Self, CallError> {
        let comm = match app.grid() {
            Some(grid) => world.cartesian(grid.dims(), grid.periodic(), reorder)?,
            None => world.duplicate()?,
        };
        let rank = comm.rank()?;
        let links = Links::new(app, rank, threads);
        let displacements =
            (0..comm.size()?).map(|rank| Arrays::displacements_of(&app.arrays(rank))).collect();
        Ok(Self {
            rank,
            memory: HaloMemory::new(app, rank, &links),
            links,
            threads,
            byte: Datatype::predefined(Element::Byte),
            displacements,
            comm,
        })
    }
}
