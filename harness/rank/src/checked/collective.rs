//! Nonblocking collectives, and their persistent forms, which are looked up when the program runs: an MPI that lacks them can still be
//! linked.

use std::ffi::{c_int, c_void};

use common::kinds::overlap::operations::Collective;
use common::packing::Form;
use mpi::ffi;
use mpi::ffi::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request};

use super::{CallError, Comm, Datatype, Request, check, error::int, symbols};

/// What MPI is given: where a rank's blocks lie, and what a block is.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    /// What is sent; of a broadcast, the message on all ranks.
    pub send: *mut u8,
    /// What is received.
    pub receive: *mut u8,
    /// Values of a block.
    pub count: usize,
    /// Their type.
    pub datatype: &'a Datatype,
}

/// The rank that others send to or receive from.
const ROOT: c_int = 0;

type OneBuffer = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    MPI_Datatype,
    c_int,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;
type ReduceToRoot = unsafe extern "C" fn(
    *const c_void,
    *mut c_void,
    c_int,
    MPI_Datatype,
    MPI_Op,
    c_int,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;
type ReduceToAll = unsafe extern "C" fn(
    *const c_void,
    *mut c_void,
    c_int,
    MPI_Datatype,
    MPI_Op,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;
type BetweenAll = unsafe extern "C" fn(
    *const c_void,
    c_int,
    MPI_Datatype,
    *mut c_void,
    c_int,
    MPI_Datatype,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;
type WithRoot = unsafe extern "C" fn(
    *const c_void,
    c_int,
    MPI_Datatype,
    *mut c_void,
    c_int,
    MPI_Datatype,
    c_int,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;
type NoBuffer = unsafe extern "C" fn(MPI_Comm, MPI_Info, *mut MPI_Request) -> c_int;
/// A collective with a type for each rank or neighbour; `D` are the displacements in bytes.
pub(super) type TypePerPeer<D> = unsafe extern "C" fn(
    *const c_void,
    *const c_int,
    *const D,
    *const MPI_Datatype,
    *mut c_void,
    *const c_int,
    *const D,
    *const MPI_Datatype,
    MPI_Comm,
    MPI_Info,
    *mut MPI_Request,
) -> c_int;

impl Blocks<'_> {
    /// Starts the nonblocking form, or makes the persistent one; collective. `None` where the MPI has no such form.
    ///
    /// # Safety
    /// As for [`Blocks::start`], of the persistent form whenever the request is started.
    pub unsafe fn request(
        self,
        collective: Collective,
        form: Form,
        comm: &Comm,
    ) -> Result<Option<Request>, CallError> {
        // SAFETY: as the caller vouches.
        unsafe {
            match form {
                Form::Nonblocking => self.start(collective, comm).map(Some),
                Form::Persistent => self.persistent(collective, comm),
            }
        }
    }

    /// Starts the nonblocking form; collective.
    ///
    /// # Safety
    /// What is sent must be readable and stay unchanged, what is received be writable and left alone until the request is complete:
    /// so many blocks as the operation has on this rank of `comm`.
    unsafe fn start(self, collective: Collective, comm: &Comm) -> Result<Request, CallError> {
        let mut request = Request::null(comm);
        let (comm, to) = (comm.raw(), request.raw_mut());
        let Blocks { send, receive, count, datatype } = self;
        let (send, receive): (*mut c_void, *mut c_void) = (send.cast(), receive.cast());
        let (n, of) = (int("MPI_Ibcast", "count", count as i64)?, datatype.raw());
        // SAFETY: the caller vouches for the memory; handles are live, and the request outlives the call.
        let (call, code) = unsafe {
            let sum = ffi::RSMPI_SUM;
            match collective {
                Collective::Bcast => ("MPI_Ibcast", ffi::MPI_Ibcast(send, n, of, ROOT, comm, to)),
                Collective::Reduce => {
                    ("MPI_Ireduce", ffi::MPI_Ireduce(send, receive, n, of, sum, ROOT, comm, to))
                }
                Collective::Allreduce => {
                    ("MPI_Iallreduce", ffi::MPI_Iallreduce(send, receive, n, of, sum, comm, to))
                }
                Collective::Allgather => {
                    ("MPI_Iallgather", ffi::MPI_Iallgather(send, n, of, receive, n, of, comm, to))
                }
                Collective::Alltoall => {
                    ("MPI_Ialltoall", ffi::MPI_Ialltoall(send, n, of, receive, n, of, comm, to))
                }
                Collective::Gather => {
                    ("MPI_Igather", ffi::MPI_Igather(send, n, of, receive, n, of, ROOT, comm, to))
                }
                Collective::Scatter => {
                    ("MPI_Iscatter", ffi::MPI_Iscatter(send, n, of, receive, n, of, ROOT, comm, to))
                }
                Collective::Barrier => ("MPI_Ibarrier", ffi::MPI_Ibarrier(comm, to)),
                Collective::NeighborAlltoall => (
                    "MPI_Ineighbor_alltoall",
                    ffi::MPI_Ineighbor_alltoall(send, n, of, receive, n, of, comm, to),
                ),
            }
        };
        check(call, code)?;
        Ok(request)
    }

    /// Makes the persistent form; collective. `None` where the MPI has none.
    ///
    /// # Safety
    /// As for [`Blocks::start`], whenever the request is started.
    unsafe fn persistent(self, collective: Collective, comm: &Comm) -> Result<Option<Request>, CallError> {
        let mut request = Request::null(comm);
        let (comm, to) = (comm.raw(), request.raw_mut());
        let Blocks { send, receive, count, datatype } = self;
        let (send, receive): (*mut c_void, *mut c_void) = (send.cast(), receive.cast());
        let name = collective.persistent_name();
        let (n, of) = (int(name, "count", count as i64)?, datatype.raw());
        // SAFETY: the standard gives each function this C interface; the caller vouches for the memory; handles are live, and the
        // request outlives the call.
        let code = unsafe {
            let (sum, info) = (ffi::RSMPI_SUM, ffi::RSMPI_INFO_NULL);
            match collective {
                Collective::Bcast => {
                    symbols::function::<OneBuffer>(name).map(|f| f(send, n, of, ROOT, comm, info, to))
                }
                Collective::Reduce => symbols::function::<ReduceToRoot>(name)
                    .map(|f| f(send, receive, n, of, sum, ROOT, comm, info, to)),
                Collective::Allreduce => symbols::function::<ReduceToAll>(name)
                    .map(|f| f(send, receive, n, of, sum, comm, info, to)),
                Collective::Allgather | Collective::Alltoall | Collective::NeighborAlltoall => {
                    symbols::function::<BetweenAll>(name)
                        .map(|f| f(send, n, of, receive, n, of, comm, info, to))
                }
                Collective::Gather | Collective::Scatter => symbols::function::<WithRoot>(name)
                    .map(|f| f(send, n, of, receive, n, of, ROOT, comm, info, to)),
                Collective::Barrier => symbols::function::<NoBuffer>(name).map(|f| f(comm, info, to)),
            }
        };
        let Some(code) = code else { return Ok(None) };
        check(name, code)?;
        Ok(Some(request))
    }
}

/// The arguments of `MPI_Ialltoallw` for blocks of one type at either end: they must live as long as the request does.
pub struct AllToAllW {
    counts: Vec<c_int>,
    from: Vec<c_int>,
    to: Vec<c_int>,
    send_types: Vec<MPI_Datatype>,
    receive_types: Vec<MPI_Datatype>,
}

impl AllToAllW {
    /// A block to and from each rank, at these bytes of the memory that is sent and of that which is received.
    pub fn new(
        (from, send_type): (&[usize], &Datatype),
        (to, receive_type): (&[usize], &Datatype),
    ) -> Result<Self, CallError> {
        const CALL: &str = "MPI_Ialltoallw";
        let places = |places: &[usize]| -> Result<Vec<c_int>, CallError> {
            places.iter().map(|&place| int(CALL, "displacement", place as i64)).collect()
        };
        Ok(Self {
            counts: vec![1; from.len()],
            from: places(from)?,
            to: places(to)?,
            send_types: vec![send_type.raw(); from.len()],
            receive_types: vec![receive_type.raw(); to.len()],
        })
    }

    /// `MPI_Ialltoallw` from and to memory that begins here.
    ///
    /// # Safety
    /// The types must be live and describe memory behind these addresses: what is sent readable and unchanged, what is received
    /// writable and left alone, until the request is complete; and `self` must live until then.
    pub unsafe fn start(&self, comm: &Comm, from: *const u8, to: *mut u8) -> Result<Request, CallError> {
        let mut request = Request::null(comm);
        // SAFETY: the caller vouches for memory and types; lists have an entry for each rank.
        check("MPI_Ialltoallw", unsafe {
            ffi::MPI_Ialltoallw(
                from.cast(),
                self.counts.as_ptr(),
                self.from.as_ptr(),
                self.send_types.as_ptr(),
                to.cast(),
                self.counts.as_ptr(),
                self.to.as_ptr(),
                self.receive_types.as_ptr(),
                comm.raw(),
                request.raw_mut(),
            )
        })?;
        Ok(request)
    }

    /// What makes the persistent form.
    pub const PERSISTENT_NAME: &'static str = "MPI_Alltoallw_init";

    /// Makes the persistent form; collective. `None` where the MPI has none.
    ///
    /// # Safety
    /// As for [`AllToAllW::start`], whenever the request is started; and `self` must live until it is freed.
    pub unsafe fn persistent(
        &self,
        comm: &Comm,
        from: *const u8,
        to: *mut u8,
    ) -> Result<Option<Request>, CallError> {
        const CALL: &str = AllToAllW::PERSISTENT_NAME;
        let mut request = Request::null(comm);
        // SAFETY: the standard gives the function this C interface.
        let Some(make) = (unsafe { symbols::function::<TypePerPeer<c_int>>(CALL) }) else { return Ok(None) };
        // SAFETY: the caller vouches for memory and types; lists have an entry for each rank.
        check(CALL, unsafe {
            make(
                from.cast(),
                self.counts.as_ptr(),
                self.from.as_ptr(),
                self.send_types.as_ptr(),
                to.cast(),
                self.counts.as_ptr(),
                self.to.as_ptr(),
                self.receive_types.as_ptr(),
                comm.raw(),
                ffi::RSMPI_INFO_NULL,
                request.raw_mut(),
            )
        })?;
        Ok(Some(request))
    }
}
