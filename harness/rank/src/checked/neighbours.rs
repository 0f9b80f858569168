//! Neighbours on a graph or a grid, and the collective between them.

use std::ffi::{c_int, c_void};

use common::packing::Form;
use mpi::ffi;
use mpi::ffi::MPI_Aint;

use super::collective::{PerPeer, request};
use super::{CallError, Comm, Datatype, Request, error::int};

/// Neighbours of each rank, as a communicator.
pub struct Neighbours {
    comm: Comm,
}

impl Neighbours {
    /// `MPI_Dist_graph_create_adjacent` without reordering: the ranks that send to this one, and those that it sends to; collective.
    pub fn new(comm: &Comm, sources: &[usize], destinations: &[usize]) -> Result<Self, CallError> {
        const CALL: &str = "MPI_Dist_graph_create_adjacent";
        let ranks = |list: &[usize]| list.iter().map(|&rank| rank as c_int).collect::<Vec<_>>();
        let (sources, destinations) = (ranks(sources), ranks(destinations));
        let in_degree = int(CALL, "indegree", sources.len() as i64)?;
        let out_degree = int(CALL, "outdegree", destinations.len() as i64)?;
        // Weights of 1, because the constant for no weights is a macro with a cast, which the bindings lack.
        let ones = vec![1; sources.len().max(destinations.len()).max(1)];
        // Without the grid: on a graph created from a Cartesian communicator, Open MPI 5.0.11 counts the grid's neighbours.
        let (comm, ones) = (comm.split(0, comm.rank()?)?, ones.as_ptr());
        let (old, from, to) = (comm.raw(), sources.as_ptr(), destinations.as_ptr());
        let graph = Comm::made_by(|new| {
            // SAFETY: lists with their lengths; the pointers live through the call.
            unsafe {
                let info = ffi::RSMPI_INFO_NULL;
                call!(MPI_Dist_graph_create_adjacent(
                    old, in_degree, from, ones, out_degree, to, ones, info, 0, new
                ))
            }
        })?;
        Ok(Self { comm: graph })
    }

    /// The ranks before and behind this one along each dimension of a communicator of [`Comm::cartesian`]; collective.
    pub fn known(grid: &Comm) -> Result<Self, CallError> {
        Ok(Self { comm: grid.duplicate()? })
    }

    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// `MPI_Neighbor_alltoallw`, or its nonblocking or persistent form; collective.
    ///
    /// # Safety
    /// All blocks must be in readable or writable memory after the two addresses, and received blocks must not overlap any other.
    /// Lists have an entry for each neighbour, and their types are live. Memory and lists must not be used or changed until the request is
    /// complete, and for a persistent request during each use; lists live until it is freed.
    pub unsafe fn all_to_all_w(
        &self,
        form: Option<Form>,
        (from, sends): (*const u8, &PerPeer<MPI_Aint>),
        (to, receives): (*mut u8, &PerPeer<MPI_Aint>),
    ) -> Result<Request, CallError> {
        let (from, to): (*const c_void, *mut c_void) = (from.cast(), to.cast());
        let [out, into] = [sends, receives].map(PerPeer::pointers);
        // SAFETY: the caller guarantees the memory, the lists and their types; the standard gives the functions this C interface.
        unsafe {
            request!(
                form, &self.comm, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw or MPI_Neighbor_alltoallw_init(
                from, out.0, out.1, out.2, to, into.0, into.1, into.2
            ))
        }
    }

    /// The same of values of one type, by `MPI_Neighbor_alltoallv`.
    ///
    /// # Safety
    /// As for [`Neighbours::all_to_all_w`].
    pub unsafe fn all_to_all_v(
        &self,
        form: Option<Form>,
        (from, sends): (*const u8, &PerPeer<c_int>),
        (to, receives): (*mut u8, &PerPeer<c_int>),
        of: &Datatype,
    ) -> Result<Request, CallError> {
        let (from, to, of): (*const c_void, *mut c_void, _) = (from.cast(), to.cast(), of.raw());
        let [out, into] = [sends, receives].map(PerPeer::pointers);
        // SAFETY: as above.
        unsafe {
            request!(
                form, &self.comm, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv or MPI_Neighbor_alltoallv_init(
                from, out.0, out.1, of, to, into.0, into.1, of
            ))
        }
    }
}
