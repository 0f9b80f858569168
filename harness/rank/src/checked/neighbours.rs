//! A graph of neighbours, and the collective between them.

use std::ffi::c_int;

use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::{CallError, Comm, Datatype, check, error::int};

/// Neighbours of each rank, as a communicator.
pub struct Neighbours {
    comm: Comm,
}

/// How many of a type, at which byte of the buffer.
pub type BufferPart = (usize, i64, *const Datatype);

impl Neighbours {
    /// `MPI_Dist_graph_create_adjacent` without reordering: who sends to this rank, and whom it sends to; collective.
    pub fn new(comm: &Comm, sources: &[usize], destinations: &[usize]) -> Result<Self, CallError> {
        const CALL: &str = "MPI_Dist_graph_create_adjacent";
        let ranks = |list: &[usize]| list.iter().map(|&rank| rank as c_int).collect::<Vec<_>>();
        let (sources, destinations) = (ranks(sources), ranks(destinations));
        let (from, to) = (
            int(CALL, "indegree", sources.len() as i64)?,
            int(CALL, "outdegree", destinations.len() as i64)?,
        );
        // Weights of 1 each, since the constant for none is a macro with a cast that bindings lack.
        let ones = vec![1; sources.len().max(destinations.len()).max(1)];
        // Without the grid: on a graph made of a Cartesian communicator, Open MPI 5.0.11 counts the grid's neighbours.
        let comm = comm.split(0, comm.rank()?)?;
        // SAFETY: a null handle to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: lists with their lengths; the pointers live through the call.
        let code = unsafe {
            ffi::MPI_Dist_graph_create_adjacent(
                comm.raw(),
                from,
                sources.as_ptr(),
                ones.as_ptr(),
                to,
                destinations.as_ptr(),
                ones.as_ptr(),
                ffi::RSMPI_INFO_NULL,
                0,
                &mut raw,
            )
        };
        check(CALL, code)?;
        Ok(Self { comm: Comm::owning(raw)? })
    }

    /// The communicator of the graph.
    pub fn comm(&self) -> &Comm {
        &self.comm
    }

    /// `MPI_Neighbor_alltoallw` from and to places of one buffer.
    ///
    /// # Safety
    /// All places must lie in memory from `base` on that may be read or written, what is written apart from all else;
    /// and the types be live.
    pub unsafe fn all_to_all(
        &self,
        base: *mut u8,
        sends: &[BufferPart],
        receives: &[BufferPart],
    ) -> Result<(), CallError> {
        let lists = |places: &[BufferPart]| {
            let counts: Vec<c_int> = places.iter().map(|place| place.0 as c_int).collect();
            let displacements: Vec<MPI_Aint> = places.iter().map(|place| place.1 as MPI_Aint).collect();
            // SAFETY: the caller vouches for the types.
            let types: Vec<MPI_Datatype> = places.iter().map(|place| unsafe { &*place.2 }.raw()).collect();
            (counts, displacements, types)
        };
        let ((counts, places, types), (to_counts, to_places, to_types)) = (lists(sends), lists(receives));
        // SAFETY: the caller vouches for the memory; lists have as many entries as the graph has neighbours.
        check("MPI_Neighbor_alltoallw", unsafe {
            ffi::MPI_Neighbor_alltoallw(
                base.cast_const().cast(),
                counts.as_ptr(),
                places.as_ptr(),
                types.as_ptr(),
                base.cast(),
                to_counts.as_ptr(),
                to_places.as_ptr(),
                to_types.as_ptr(),
                self.comm.raw(),
            )
        })
    }
}
