//! Methods of a halo exchange: how the messages of all neighbours travel. A new one is a file, a line in [`make`], and
//! one in [`ddtbench::halo::METHODS`].

use anyhow::bail;

use super::bulk::{Bulk, Ends};
use super::fine::{Fine, Way};
use super::fine_ddt::FineTyped;
use super::links::{HaloMemory, Links};
use super::neighbour::Neighbour;
use super::packing::How;
use super::put::PutTyped;
use crate::checked::{CallError, Comm, Datatype, partitioned};

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

    /// Lets ranks change their memory between exchanges, where the method shares it; collective.
    fn settle(&self) -> Result<(), CallError> {
        Ok(())
    }

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

/// The functions that a method calls beyond those that every MPI has.
pub fn needs(name: &str) -> &'static [&'static str] {
    match name {
        "neighbor_alltoallw" => &["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw"],
        "put_ddt" => &["MPI_Win_create", "MPI_Win_fence", "MPI_Put"],
        "partitioned" | "partitioned_ddt" => partitioned::NEEDS,
        _ => &[],
    }
}

/// Whether threads call MPI by themselves.
pub fn has_threads(name: &str) -> bool {
    matches!(name, "partitioned" | "partitioned_ddt" | "aggregated")
}

/// How a method's shares are packed.
pub fn packing(name: &str) -> How {
    match name {
        "manual" | "persistent" | "partitioned" | "aggregated" => How::ByHand,
        "engine" => How::Compiled,
        _ => How::Not,
    }
}

/// The method called `name`; collective.
pub fn make<'a>(name: &str, parts: Parts<'a>) -> anyhow::Result<Box<dyn HaloMethod + 'a>> {
    Ok(match name {
        "reference" | "manual" | "engine" => Box::new(Bulk::new(parts, Ends::Packed)?),
        "ddt" => Box::new(Bulk::new(parts, Ends::Typed)?),
        "persistent" => Box::new(Bulk::new(parts, Ends::Persistent)?),
        "neighbor_alltoallw" => Box::new(Neighbour::new(parts)?),
        "put_ddt" => Box::new(PutTyped::new(parts)?),
        "partitioned" => Box::new(Fine::new(parts, Way::Partitioned)?),
        "aggregated" => Box::new(Fine::new(parts, Way::Aggregated)?),
        "partitioned_ddt" => Box::new(FineTyped::new(parts)?),
        other => bail!("method {other:?} is listed but not implemented"),
    })
}
