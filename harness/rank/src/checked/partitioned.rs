//! MPI-4's partitioned communication. Its functions are looked up at run time, so a program for an MPI that lacks them
//! can still be linked, whatever version its header states.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mpi::ffi;

use super::request::{Envelope, Request};
use super::{CallError, check, symbols};

/// Both calls that create a request. The C interfaces are the same, except that one pointer is to constant data.
type Init = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    ffi::MPI_Count,
    ffi::MPI_Datatype,
    c_int,
    c_int,
    ffi::MPI_Comm,
    ffi::MPI_Info,
    *mut ffi::MPI_Request,
) -> c_int;
type Ready = unsafe extern "C" fn(c_int, ffi::MPI_Request) -> c_int;
type ReadyRange = unsafe extern "C" fn(c_int, c_int, ffi::MPI_Request) -> c_int;
type ReadyList = unsafe extern "C" fn(c_int, *const c_int, ffi::MPI_Request) -> c_int;
type Arrived = unsafe extern "C" fn(ffi::MPI_Request, c_int, *mut c_int) -> c_int;

/// The functions of the loaded MPI.
struct Functions {
    send_init: Init,
    receive_init: Init,
    ready: Ready,
    ready_range: Option<ReadyRange>,
    ready_list: Option<ReadyList>,
    arrived: Arrived,
}

impl Functions {
    /// `None` if the MPI lacks any of [`PARTITIONED`](common::fine_grained::functions::PARTITIONED).
    fn load() -> Option<Self> {
        // SAFETY: the standard gives each function this C interface.
        unsafe {
            Some(Self {
                send_init: symbols::function("MPI_Psend_init")?,
                receive_init: symbols::function("MPI_Precv_init")?,
                ready: symbols::function("MPI_Pready")?,
                ready_range: symbols::function("MPI_Pready_range"),
                ready_list: symbols::function("MPI_Pready_list"),
                arrived: symbols::function("MPI_Parrived")?,
            })
        }
    }
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref().expect("asked for only where the MPI has them")
}

/// A partitioned message: a request whose partitions are marked or tested individually.
pub struct Partitioned {
    request: Request,
}

impl Partitioned {
    /// `MPI_Psend_init` or `MPI_Precv_init` with `partitions` times `envelope.count` elements of the type.
    ///
    /// # Safety
    /// The memory of all partitions must exist whenever the request is started. A sent partition must be readable and
    /// unchanged from when it is marked ready until the request is complete; a received partition must be writable, and
    /// otherwise unused until it has arrived.
    pub unsafe fn new(
        is_sent: bool,
        address: *mut u8,
        partitions: usize,
        envelope: Envelope<'_>,
    ) -> Result<Self, CallError> {
        let mut request = Request::null(envelope.comm);
        let Envelope { count, datatype, peer, tag, comm } = envelope;
        let (partitions, count) = (partitions as c_int, count as ffi::MPI_Count);
        let (peer, tag, of, comm) = (peer as c_int, tag as c_int, datatype.raw(), comm.raw());
        let Functions { send_init, receive_init, .. } = functions();
        let (call, init) =
            if is_sent { ("MPI_Psend_init", send_init) } else { ("MPI_Precv_init", receive_init) };
        // SAFETY: the caller guarantees the memory; handles are live.
        let code = unsafe {
            let (info, new) = (ffi::RSMPI_INFO_NULL, request.raw_mut());
            init(address.cast(), partitions, count, of, peer, tag, comm, info, new)
        };
        check(call, code)?;
        Ok(Self { request })
    }

    /// The request, to start, wait for, or test the whole message.
    #[inline]
    pub fn request(&mut self) -> &mut Request {
        &mut self.request
    }

    /// `MPI_Request_get_status`: whether the whole message is complete; the call also progresses it.
    #[inline]
    pub fn status(&self) -> Result<bool, CallError> {
        self.request.status()
    }

    /// `MPI_Pready`.
    #[inline]
    pub fn ready(&self, partition: usize) -> Result<(), CallError> {
        // SAFETY: a live request.
        check("MPI_Pready", unsafe { (functions().ready)(partition as c_int, self.request.raw()) })
    }

    /// `MPI_Pready_range` for `first..=last`; `None` if the MPI lacks it.
    pub fn ready_range(&self, first: usize, last: usize) -> Option<Result<(), CallError>> {
        let function = functions().ready_range?;
        // SAFETY: a live request.
        let code = unsafe { function(first as c_int, last as c_int, self.request.raw()) };
        Some(check("MPI_Pready_range", code))
    }

    /// `MPI_Pready_list`.
    ///
    /// # Panics
    /// If the MPI lacks it.
    pub fn ready_list(&self, partitions: &[c_int]) -> Result<(), CallError> {
        let function = functions().ready_list.expect("asked for only where the MPI has it");
        let count = partitions.len() as c_int;
        // SAFETY: a live request, and the list with its length.
        check("MPI_Pready_list", unsafe { function(count, partitions.as_ptr(), self.request.raw()) })
    }

    /// `MPI_Parrived`.
    #[inline]
    pub fn arrived(&self, partition: usize) -> Result<bool, CallError> {
        let mut flag: c_int = 0;
        // SAFETY: a live request; the flag lives through the call.
        check("MPI_Parrived", unsafe {
            (functions().arrived)(self.request.raw(), partition as c_int, &mut flag)
        })?;
        Ok(flag != 0)
    }

    /// `MPI_Request_free` of the request, which must not be active.
    pub fn free(self) -> Result<(), CallError> {
        self.request.free()
    }
}
