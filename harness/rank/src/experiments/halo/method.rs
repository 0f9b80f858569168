//! Methods of a halo exchange: how the messages of all neighbours are sent. A new method needs a row and a
//! variant in [`common::kinds::halo::methods`], a file, and an arm in `make` of `halo/active.rs`.

use apps::Arrays;
use apps::halo::HaloApp;
use common::model::conditions::MemoryKind;
use datatypes::Element;

use super::links::{HaloMemory, Links};
use crate::checked::{CallError, Comm, Datatype};

/// How all messages of a rank are sent. One stage consists of [`HaloMethod::start`]; [`HaloMethod::ready`] for each
/// thread's share of each message, packed if the method packs; [`HaloMethod::send`] and [`HaloMethod::finish`].
///
/// A method may be lent to the threads of a team (see [`Lent`](crate::checked::threads::Lent)). [`HaloMethod::ready`],
/// which they call at the same time, calls MPI only in methods that are created with a
/// [`TeamCalls`](crate::checked::TeamCalls); all other functions are called by the thread that initialised MPI.
pub trait HaloMethod {
    /// Begins a stage.
    ///
    /// # Safety
    /// No thread is within the method: the previous stage has ended, and all threads pass a barrier before
    /// any calls it. The stage's receive buffers are not used before it has ended.
    unsafe fn start(&self, _stage: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Thread `thread` will not change its share of a message any more.
    ///
    /// # Safety
    /// Called by the thread of this number, once for each message of a stage that was started; the share is
    /// not written before the stage has ended.
    unsafe fn ready(&self, _stage: usize, _send: usize, _thread: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Starts the sends that wait until all shares are ready.
    ///
    /// # Safety
    /// As for [`HaloMethod::finish`], which is called after it.
    unsafe fn send(&self, _stage: usize) -> Result<(), CallError> {
        Ok(())
    }

    /// Progresses a stage whose shares have all been sent; returns whether it is complete.
    ///
    /// # Safety
    /// As for [`HaloMethod::finish`]; [`HaloMethod::send`] was called.
    unsafe fn test(&self, _stage: usize) -> Result<bool, CallError> {
        Ok(false)
    }

    /// Ends a stage: all data has arrived, and sent data may be changed.
    ///
    /// # Safety
    /// All threads have called [`HaloMethod::ready`] for all their shares, and none is within the method: all have passed a barrier.
    unsafe fn finish(&self, stage: usize) -> Result<(), CallError>;

    /// Messages, puts or requests of this rank in an exchange.
    fn messages(&self) -> usize;

    /// Frees its resources; collective.
    fn free(self: Box<Self>) -> Result<(), CallError>;
}

/// The data that all methods use.
pub struct Parts {
    /// The ranks of the exchange, on its grid if it has one.
    pub comm: Comm,
    /// Dimensions of the grid; 0 without one.
    pub dimensions: usize,
    pub rank: usize,
    pub links: Links,
    pub memory: HaloMemory,
    pub threads: usize,
    pub byte: Datatype,
    /// For each rank: bytes from array 0 to each array.
    pub displacements: Vec<Vec<i64>>,
}

impl Parts {
    /// The data for the exchange of `app` among all ranks, which MPI may reorder on the grid; collective.
    pub fn new(
        world: &Comm,
        app: &dyn HaloApp,
        reorder: bool,
        threads: usize,
        memory: MemoryKind,
    ) -> Result<Self, CallError> {
        let comm = match app.grid() {
            Some(grid) => world.cartesian(&grid.dims, grid.periodic, reorder)?,
            None => world.duplicate()?,
        };
        let rank = comm.rank()?;
        let links = Links::new(app, rank, threads);
        let displacements =
            (0..comm.size()?).map(|rank| Arrays::displacements_of(&app.arrays(rank))).collect();
        Ok(Self {
            dimensions: app.grid().map_or(0, |grid| grid.dims.len()),
            rank,
            memory: HaloMemory::new(app, rank, &links, memory),
            links,
            threads,
            byte: Datatype::predefined(Element::Byte),
            displacements,
            comm,
        })
    }
}
