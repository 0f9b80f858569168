//! A graph of neighbours, and the collective between them.

use std::ffi::c_int;

use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::collective::TypePerPeer;
use super::{CallError, Comm, Datatype, Request, check, error::int, symbols};

/// Neighbours of each rank, as a communicator.
pub struct Neighbours {
    comm: Comm,
}

/// Parts of a buffer, one for each neighbour, as MPI is given them.
pub struct BufferParts {
    counts: Vec<c_int>,
    displacements: Vec<MPI_Aint>,
    types: Vec<MPI_Datatype>,
}

impl BufferParts {
    /// How many of a type, at which byte of the buffer, for each neighbour.
    pub fn of<'a>(parts: impl Iterator<Item = (usize, i64, &'a Datatype)>) -> Self {
        let mut lists = Self { counts: Vec::new(), displacements: Vec::new(), types: Vec::new() };
        for (count, at, datatype) in parts {
            lists.counts.push(count as c_int);
            lists.displacements.push(at as MPI_Aint);
            lists.types.push(datatype.raw());
        }
        lists
    }
}

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
    /// lists have an entry for each neighbour, and their types are live.
    pub unsafe fn all_to_all(
        &self,
        base: *mut u8,
        sends: &BufferParts,
        receives: &BufferParts,
    ) -> Result<(), CallError> {
        // SAFETY: the caller vouches for the memory, the lists and their types.
        check("MPI_Neighbor_alltoallw", unsafe {
            ffi::MPI_Neighbor_alltoallw(
                base.cast_const().cast(),
                sends.counts.as_ptr(),
                sends.displacements.as_ptr(),
                sends.types.as_ptr(),
                base.cast(),
                receives.counts.as_ptr(),
                receives.displacements.as_ptr(),
                receives.types.as_ptr(),
                self.comm.raw(),
            )
        })
    }

    /// `MPI_Ineighbor_alltoallw`, likewise.
    ///
    /// # Safety
    /// As for [`Neighbours::all_to_all`]; and memory and lists are left alone until the request is complete.
    pub unsafe fn start_all_to_all(
        &self,
        base: *mut u8,
        sends: &BufferParts,
        receives: &BufferParts,
    ) -> Result<Request, CallError> {
        let mut request = Request::null(&self.comm);
        // SAFETY: as above; the request outlives the call.
        check("MPI_Ineighbor_alltoallw", unsafe {
            ffi::MPI_Ineighbor_alltoallw(
                base.cast_const().cast(),
                sends.counts.as_ptr(),
                sends.displacements.as_ptr(),
                sends.types.as_ptr(),
                base.cast(),
                receives.counts.as_ptr(),
                receives.displacements.as_ptr(),
                receives.types.as_ptr(),
                self.comm.raw(),
                request.raw_mut(),
            )
        })?;
        Ok(request)
    }

    /// What makes the persistent form.
    pub const PERSISTENT_NAME: &'static str = "MPI_Neighbor_alltoallw_init";

    /// Makes the persistent form; collective. `None` where the MPI has none.
    ///
    /// # Safety
    /// As for [`Neighbours::start_all_to_all`], whenever the request is started; and lists must live until it is freed.
    pub unsafe fn persistent_all_to_all(
        &self,
        base: *mut u8,
        sends: &BufferParts,
        receives: &BufferParts,
    ) -> Result<Option<Request>, CallError> {
        const CALL: &str = Neighbours::PERSISTENT_NAME;
        let mut request = Request::null(&self.comm);
        // SAFETY: the standard gives the function this C interface.
        let Some(make) = (unsafe { symbols::function::<TypePerPeer<MPI_Aint>>(CALL) }) else {
            return Ok(None);
        };
        // SAFETY: the caller vouches for the memory, the lists and their types; the request outlives the call.
        check(CALL, unsafe {
            make(
                base.cast_const().cast(),
                sends.counts.as_ptr(),
                sends.displacements.as_ptr(),
                sends.types.as_ptr(),
                base.cast(),
                receives.counts.as_ptr(),
                receives.displacements.as_ptr(),
                receives.types.as_ptr(),
                self.comm.raw(),
                ffi::RSMPI_INFO_NULL,
                request.raw_mut(),
            )
        })?;
        Ok(Some(request))
    }
}
