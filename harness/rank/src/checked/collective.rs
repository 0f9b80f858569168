//! Collectives: blocking, nonblocking and persistent. The persistent ones are looked up at run time, so a
//! program for an MPI that lacks them can still be linked.

use std::ffi::{c_int, c_void};

use common::kinds::overlap::operations::Collective;
use common::packing::Form;
use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::large::{Count, call_large, inferred, small};
use super::{CallError, Comm, Datatype, Request, check, symbols};

/// The request of a collective, from its nonblocking function or its persistent one, which also takes an info
/// and is looked up; or from a blocking function for the form `None`, the null request. In C, pointers to all
/// types are the same, so the argument types define the function's type.
macro_rules! request {
    ($form:expr, $comm:expr, $call:ident, $start:ident or $make:ident($($argument:expr),*)) => {
        match $form {
            Some(form) => request!(form, $comm, $start or $make($($argument),*)),
            None => call!($call($($argument,)* $comm)).map(|()| Request::none()),
        }
    };
    ($form:expr, $comm:expr, $start:ident or $make:ident($($argument:expr),*)) => {{
        let mut request = Request::none();
        match $form {
            Form::Nonblocking => {
                call!($start($($argument,)* $comm, request.raw_mut())).map(|()| request)
            }
            Form::Persistent => {
                const NAME: &str = stringify!($make);
                let make: Option<unsafe extern "C" fn($(inferred!($argument),)* _, _, _) -> c_int> =
                    symbols::function(NAME);
                match make {
                    None => Err(CallError::NoFunction { name: NAME }),
                    Some(make) => {
                        let code =
                            make($($argument,)* $comm, ffi::RSMPI_INFO_NULL, request.raw_mut() as *mut _);
                        check(NAME, code).map(|()| request)
                    }
                }
            }
        }
    }};
}
/// The same for the functions with the suffix `_c`, for a count that does not fit in an `int`.
macro_rules! large_request {
    ($form:expr, $comm:expr, $count:expr, $start:ident or $make:ident($($argument:expr),*)) => {{
        let mut request = Request::none();
        let refused = |call| CallError::TooLarge { call, argument: "count", value: $count };
        match $form {
            Form::Nonblocking => call_large!(
                refused(stringify!($start)),
                concat!(stringify!($start), "_c"),
                ($($argument,)* $comm, request.raw_mut())
            ),
            Form::Persistent => call_large!(
                refused(stringify!($make)),
                concat!(stringify!($make), "_c"),
                ($($argument,)* $comm, ffi::RSMPI_INFO_NULL, request.raw_mut())
            ),
        }
        .map(|()| request)
    }};
}

/// The rank that others send to or receive from.
const ROOT: c_int = 0;

/// A collective from and to memory that begins at two addresses. It keeps no memory and no handle alive.
pub struct CollectiveCall {
    comm: ffi::MPI_Comm,
    from: *mut c_void,
    to: *mut c_void,
    arguments: Arguments,
}

/// The sent and the received data, in this order.
enum Arguments {
    /// Blocks of this number of values, as many as the operation has on this rank.
    Blocks(Collective, Count, MPI_Datatype),
    /// A datatype for each rank.
    AllToAllW([PerPeer<c_int>; 2]),
    /// A datatype for each neighbour.
    NeighborW([PerPeer<MPI_Aint>; 2]),
    /// Values of one type for each neighbour.
    NeighborV([PerPeer<c_int>; 2], MPI_Datatype),
}

impl CollectiveCall {
    fn new(comm: &Comm, [from, to]: [*mut u8; 2], arguments: Arguments) -> Self {
        Self { comm: comm.raw(), from: from.cast(), to: to.cast(), arguments }
    }

    /// `MPI_REQUEST_NULL`.
    pub fn null(&self) -> Request {
        Request::none()
    }

    /// An operation on blocks of `count` values; a broadcast's message is at the first address on all ranks.
    pub fn blocks(
        operation: Collective,
        comm: &Comm,
        buffers: [*mut u8; 2],
        (count, of): (usize, &Datatype),
    ) -> Self {
        Self::new(comm, buffers, Arguments::Blocks(operation, count as Count, of.raw()))
    }

    /// `MPI_Alltoallw`.
    pub fn all_to_all_w(comm: &Comm, bases: [*mut u8; 2], lists: [PerPeer<c_int>; 2]) -> Self {
        Self::new(comm, bases, Arguments::AllToAllW(lists))
    }

    /// `MPI_Neighbor_alltoallw`.
    pub fn neighbor_w(comm: &Comm, bases: [*mut u8; 2], lists: [PerPeer<MPI_Aint>; 2]) -> Self {
        Self::new(comm, bases, Arguments::NeighborW(lists))
    }

    /// `MPI_Neighbor_alltoallv`.
    pub fn neighbor_v(comm: &Comm, bases: [*mut u8; 2], lists: [PerPeer<c_int>; 2], of: &Datatype) -> Self {
        Self::new(comm, bases, Arguments::NeighborV(lists, of.raw()))
    }

    /// Starts the nonblocking form, creates the persistent one, or without a form calls the blocking one, which
    /// operations on blocks do not have here; collective.
    ///
    /// # Safety
    /// Communicator and types are live. They describe memory after these addresses, in which received data does
    /// not overlap any other. Until the request is complete, and for a persistent request during each use, sent
    /// data is readable and unchanged, and received data writable and otherwise unused. This value lives until
    /// the request is complete, or if it is persistent, freed.
    pub unsafe fn request(&self, form: Option<Form>) -> Result<Request, CallError> {
        let (comm, from, to) = (self.comm, self.from, self.to);
        // SAFETY: guaranteed by the caller; the standard gives the functions this C interface.
        unsafe {
            match &self.arguments {
                Arguments::Blocks(operation, count, of) => {
                    self.on_blocks(*operation, form.expect("started, not called"), *count, *of)
                }
                Arguments::AllToAllW(lists) => {
                    let [out, into] = lists.each_ref().map(PerPeer::pointers);
                    request!(
                        form, comm, MPI_Alltoallw, MPI_Ialltoallw or MPI_Alltoallw_init(
                        from.cast_const(), out.0, out.1, out.2, to, into.0, into.1, into.2
                    ))
                }
                Arguments::NeighborW(lists) => {
                    let [out, into] = lists.each_ref().map(PerPeer::pointers);
                    request!(
                        form, comm, MPI_Neighbor_alltoallw,
                        MPI_Ineighbor_alltoallw or MPI_Neighbor_alltoallw_init(
                        from.cast_const(), out.0, out.1, out.2, to, into.0, into.1, into.2
                    ))
                }
                Arguments::NeighborV(lists, of) => {
                    let [out, into] = lists.each_ref().map(PerPeer::pointers);
                    request!(
                        form, comm, MPI_Neighbor_alltoallv,
                        MPI_Ineighbor_alltoallv or MPI_Neighbor_alltoallv_init(
                        from.cast_const(), out.0, out.1, *of, to, into.0, into.1, *of
                    ))
                }
            }
        }
    }

    /// # Safety
    /// As for [`CollectiveCall::request`].
    unsafe fn on_blocks(
        &self,
        operation: Collective,
        form: Form,
        count: Count,
        of: MPI_Datatype,
    ) -> Result<Request, CallError> {
        let (comm, send, to) = (self.comm, self.from, self.to);
        // SAFETY: as in `request`.
        unsafe {
            let sum = ffi::RSMPI_SUM;
            macro_rules! call_of {
                ($n:ident, $request:ident $(, $large:expr)?) => {
                    match operation {
                        Collective::Bcast => {
                            $request!(form, comm, $($large,)? MPI_Ibcast or MPI_Bcast_init(send, $n, of, ROOT))
                        }
                        Collective::Reduce => $request!(
                            form, comm, $($large,)? MPI_Ireduce or MPI_Reduce_init(send, to, $n, of, sum, ROOT)
                        ),
                        Collective::Allreduce => $request!(
                            form, comm, $($large,)? MPI_Iallreduce or MPI_Allreduce_init(send, to, $n, of, sum)
                        ),
                        Collective::Allgather => $request!(
                            form, comm, $($large,)? MPI_Iallgather or MPI_Allgather_init(send, $n, of, to, $n, of)
                        ),
                        Collective::Alltoall => $request!(
                            form, comm, $($large,)? MPI_Ialltoall or MPI_Alltoall_init(send, $n, of, to, $n, of)
                        ),
                        Collective::Gather => $request!(
                            form, comm, $($large,)? MPI_Igather or MPI_Gather_init(send, $n, of, to, $n, of, ROOT)
                        ),
                        Collective::Scatter => $request!(
                            form, comm, $($large,)? MPI_Iscatter or MPI_Scatter_init(send, $n, of, to, $n, of, ROOT)
                        ),
                        Collective::NeighborAlltoall => $request!(
                            form, comm, $($large,)?
                            MPI_Ineighbor_alltoall or MPI_Neighbor_alltoall_init(send, $n, of, to, $n, of)
                        ),
                        Collective::Barrier => request!(form, comm, MPI_Ibarrier or MPI_Barrier_init()),
                    }
                };
            }
            match small("", "count", count) {
                Ok(n) => call_of!(n, request),
                Err(_) => call_of!(count, large_request, count),
            }
        }
    }
}

/// Arguments for each rank or neighbour: a count, a type, and a byte offset in the memory. They must live as
/// long as a request that is created with them.
pub struct PerPeer<D> {
    counts: Vec<c_int>,
    displacements: Vec<D>,
    types: Vec<MPI_Datatype>,
}

impl<D> PerPeer<D> {
    /// The addresses of counts, displacements and types.
    fn pointers(&self) -> (*const c_int, *const D, *const MPI_Datatype) {
        (self.counts.as_ptr(), self.displacements.as_ptr(), self.types.as_ptr())
    }
}

impl<D: TryFrom<i64>> PerPeer<D> {
    /// Creates them for a call, from the offset, the count and the type of each peer.
    pub fn from_blocks<'a>(
        call: &'static str,
        parts: impl Iterator<Item = (i64, Count, &'a Datatype)>,
    ) -> Result<Self, CallError> {
        let mut lists = Self { counts: Vec::new(), displacements: Vec::new(), types: Vec::new() };
        for (value, count, datatype) in parts {
            let too_large = |_| CallError::TooLarge { call, argument: "displacement", value };
            lists.counts.push(small(call, "count", count)?);
            lists.displacements.push(D::try_from(value).map_err(too_large)?);
            lists.types.push(datatype.raw());
        }
        Ok(lists)
    }
}
