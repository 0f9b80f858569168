//! Nonblocking collectives, and their persistent forms. The latter are looked up at run time, so a program
//! for an MPI that lacks them can still be linked.

use std::ffi::{c_int, c_void};

use common::kinds::overlap::operations::Collective;
use common::packing::Form;
use mpi::ffi;
use mpi::ffi::{MPI_Aint, MPI_Datatype};

use super::large::{Count, call_large, small};
use super::{CallError, Comm, Datatype, Request};

/// The request of a collective, from its nonblocking function or its persistent one, which also takes an info
/// and is looked up; or from a blocking function for the form `None`, the null request. In C, pointers to all
/// types are the same, so the argument types define the function's type.
macro_rules! request {
    ($form:expr, $comm:expr, $call:ident, $start:ident or $make:ident($($argument:expr),*)) => {
        match $form {
            Some(form) => request!(form, $comm, $start or $make($($argument),*)),
            None => call!($call($($argument,)* $comm.raw())).map(|()| $crate::checked::Request::null($comm)),
        }
    };
    ($form:expr, $comm:expr, $start:ident or $make:ident($($argument:expr),*)) => {{
        let mut request = $crate::checked::Request::null($comm);
        match $form {
            common::packing::Form::Nonblocking => {
                call!($start($($argument,)* $comm.raw(), request.raw_mut())).map(|()| request)
            }
            common::packing::Form::Persistent => {
                const NAME: &str = stringify!($make);
                match $crate::checked::symbols::function::<
                    unsafe extern "C" fn(
                        $($crate::checked::large::inferred!($argument),)*
                        ::mpi::ffi::MPI_Comm,
                        ::mpi::ffi::MPI_Info,
                        *mut ::mpi::ffi::MPI_Request,
                    ) -> std::ffi::c_int,
                >(NAME) {
                    None => Err($crate::checked::CallError::NoFunction { name: NAME }),
                    Some(make) => {
                        let info = ::mpi::ffi::RSMPI_INFO_NULL;
                        let code = make($($argument,)* $comm.raw(), info, request.raw_mut());
                        $crate::checked::check(NAME, code).map(|()| request)
                    }
                }
            }
        }
    }};
}
/// The same for the functions with the suffix `_c`, for a count that does not fit in an `int`.
macro_rules! large_request {
    ($form:expr, $comm:expr, $count:expr, $start:ident or $make:ident($($argument:expr),*)) => {{
        let mut request = Request::null($comm);
        let refused = |call| CallError::TooLarge { call, argument: "count", value: $count };
        match $form {
            Form::Nonblocking => call_large!(
                refused(stringify!($start)),
                concat!(stringify!($start), "_c"),
                ($($argument,)* $comm.raw(), request.raw_mut())
            ),
            Form::Persistent => call_large!(
                refused(stringify!($make)),
                concat!(stringify!($make), "_c"),
                ($($argument,)* $comm.raw(), ffi::RSMPI_INFO_NULL, request.raw_mut())
            ),
        }
        .map(|()| request)
    }};
}

/// Arguments of a collective: where a rank's blocks are, and the type and size of a block.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// The send buffer; for a broadcast, the message on all ranks.
    pub send: *mut u8,
    pub receive: *mut u8,
    /// Values of a block.
    pub count: usize,
    pub datatype: &'a Datatype,
}

/// The rank that others send to or receive from.
const ROOT: c_int = 0;

impl Blocks<'_> {
    /// Starts the nonblocking form, or creates the persistent one; collective.
    ///
    /// # Safety
    /// Both buffers must have as many blocks as the operation uses on this rank of `comm`. Until the request
    /// is complete, and for a persistent request during each use, the send buffer must be readable and
    /// unchanged, and the receive buffer writable and otherwise unused.
    pub unsafe fn request(
        self,
        collective: Collective,
        form: Form,
        comm: &Comm,
    ) -> Result<Request, CallError> {
        let Blocks { send, receive, count, datatype } = self;
        let (send, to): (*mut c_void, *mut c_void) = (send.cast(), receive.cast());
        let (count, of) = (count as Count, datatype.raw());
        // SAFETY: the caller guarantees the memory; the standard gives each function this C interface;
        // handles are live, and the request outlives the call.
        unsafe {
            let sum = ffi::RSMPI_SUM;
            macro_rules! call_of {
                ($n:ident, $request:ident $(, $large:expr)?) => {
                    match collective {
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
    pub(super) counts: Vec<c_int>,
    pub(super) displacements: Vec<D>,
    pub(super) types: Vec<MPI_Datatype>,
}

impl<D> PerPeer<D> {
    /// The addresses of counts, displacements and types.
    pub(super) fn pointers(&self) -> (*const c_int, *const D, *const MPI_Datatype) {
        (self.counts.as_ptr(), self.displacements.as_ptr(), self.types.as_ptr())
    }
}

impl<D: TryFrom<i64>> PerPeer<D> {
    /// Creates them for a call, from the count, the offset and the type of each peer.
    pub fn from_blocks<'a>(
        call: &'static str,
        parts: impl Iterator<Item = (usize, i64, &'a Datatype)>,
    ) -> Result<Self, CallError> {
        let mut lists = Self { counts: Vec::new(), displacements: Vec::new(), types: Vec::new() };
        for (count, value, datatype) in parts {
            let too_large = |_| CallError::TooLarge { call, argument: "displacement", value };
            lists.counts.push(small(call, "count", count as Count)?);
            lists.displacements.push(D::try_from(value).map_err(too_large)?);
            lists.types.push(datatype.raw());
        }
        Ok(lists)
    }
}

/// `MPI_Alltoallw`, `MPI_Ialltoallw` or `MPI_Alltoallw_init` from and to memory that begins at these addresses; collective.
///
/// # Safety
/// The types must be live and describe memory after these addresses. Until the request is complete, and for a
/// persistent request during each use, the sent data must be readable and unchanged, and the received data
/// writable and otherwise unused. Lists have an entry for each rank.
pub unsafe fn all_to_all_w(
    form: Option<Form>,
    comm: &Comm,
    (from, sends): (*const u8, &PerPeer<c_int>),
    (to, receives): (*mut u8, &PerPeer<c_int>),
) -> Result<Request, CallError> {
    let (from, to): (*const c_void, *mut c_void) = (from.cast(), to.cast());
    let [out, into] = [sends, receives].map(PerPeer::pointers);
    // SAFETY: the caller guarantees memory, types and lists; the standard gives the functions this C interface.
    unsafe {
        request!(form, comm, MPI_Alltoallw, MPI_Ialltoallw or MPI_Alltoallw_init(
            from, out.0, out.1, out.2, to, into.0, into.1, into.2
        ))
    }
}

/// `MPI_Neighbor_alltoallw`, or its nonblocking or persistent form; collective.
///
/// # Safety
/// All blocks must be in readable or writable memory after the two addresses, and received blocks must not overlap any other.
/// Lists have an entry for each neighbour, and their types are live. Memory and lists must not be used or changed until the request is
/// complete, and for a persistent request during each use; lists live until it is freed.
pub unsafe fn neighbor_all_to_all_w(
    form: Option<Form>,
    comm: &Comm,
    (from, sends): (*const u8, &PerPeer<MPI_Aint>),
    (to, receives): (*mut u8, &PerPeer<MPI_Aint>),
) -> Result<Request, CallError> {
    let (from, to): (*const c_void, *mut c_void) = (from.cast(), to.cast());
    let [out, into] = [sends, receives].map(PerPeer::pointers);
    // SAFETY: the caller guarantees the memory, the lists and their types; the standard gives the functions this C interface.
    unsafe {
        request!(
            form, comm, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw or MPI_Neighbor_alltoallw_init(
            from, out.0, out.1, out.2, to, into.0, into.1, into.2
        ))
    }
}

/// The same of values of one type, by `MPI_Neighbor_alltoallv`.
///
/// # Safety
/// As for [`neighbor_all_to_all_w`].
pub unsafe fn neighbor_all_to_all_v(
    form: Option<Form>,
    comm: &Comm,
    (from, sends): (*const u8, &PerPeer<c_int>),
    (to, receives): (*mut u8, &PerPeer<c_int>),
    of: &Datatype,
) -> Result<Request, CallError> {
    let (from, to, of): (*const c_void, *mut c_void, _) = (from.cast(), to.cast(), of.raw());
    let [out, into] = [sends, receives].map(PerPeer::pointers);
    // SAFETY: as above.
    unsafe {
        request!(
            form, comm, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv or MPI_Neighbor_alltoallv_init(
            from, out.0, out.1, of, to, into.0, into.1, of
        ))
    }
}
