//! MPI-4's partitioned communication. Its functions are looked up at run time, so a program for an MPI that
//! lacks them can still be linked, whatever version its header states.

use std::ffi::{c_int, c_void};
use std::sync::LazyLock;

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

/// A function of the loaded MPI, which is searched for once; `None` if the MPI lacks it.
macro_rules! found {
    ($name:literal as $interface:ty) => {{
        // SAFETY: the standard gives the function this C interface.
        static FUNCTION: LazyLock<Option<$interface>> = LazyLock::new(|| unsafe { symbols::function($name) });
        *FUNCTION
    }};
}

/// Why a function exists: methods name those that they need, and are asked for only where the MPI has them.
const NEEDED: &str = "asked for only where the MPI has it";

/// A partitioned message: a request whose partitions are marked or tested individually.
pub struct Partitioned {
    request: Request,
}

impl Partitioned {
    /// `MPI_Psend_init` or `MPI_Precv_init` with `partitions` times `envelope.count` elements of the type.
    ///
    /// # Safety
    /// The memory of all partitions must exist whenever the request is started. A sent partition must be
    /// readable and unchanged from when it is marked ready until the request is complete; a received
    /// partition must be writable, and otherwise unused until it has arrived.
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
        let (call, init) = match is_sent {
            true => ("MPI_Psend_init", found!("MPI_Psend_init" as Init)),
            false => ("MPI_Precv_init", found!("MPI_Precv_init" as Init)),
        };
        let init = init.expect(NEEDED);
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
        let function = found!("MPI_Pready" as Ready).expect(NEEDED);
        // SAFETY: a live request.
        check("MPI_Pready", unsafe { function(partition as c_int, self.request.raw()) })
    }

    /// `MPI_Pready_range` for `first..=last`; `None` if the MPI lacks it.
    pub fn ready_range(&self, first: usize, last: usize) -> Option<Result<(), CallError>> {
        let function = found!("MPI_Pready_range" as ReadyRange)?;
        // SAFETY: a live request.
        let code = unsafe { function(first as c_int, last as c_int, self.request.raw()) };
        Some(check("MPI_Pready_range", code))
    }

    /// `MPI_Pready_list`.
    ///
    /// # Panics
    /// If the MPI lacks it.
    pub fn ready_list(&self, partitions: &[c_int]) -> Result<(), CallError> {
        let function = found!("MPI_Pready_list" as ReadyList).expect(NEEDED);
        let count = partitions.len() as c_int;
        // SAFETY: a live request, and the list with its length.
        check("MPI_Pready_list", unsafe { function(count, partitions.as_ptr(), self.request.raw()) })
    }

    /// `MPI_Parrived`.
    #[inline]
    pub fn arrived(&self, partition: usize) -> Result<bool, CallError> {
        let (function, mut flag) = (found!("MPI_Parrived" as Arrived).expect(NEEDED), 0);
        // SAFETY: a live request; the flag lives through the call.
        check("MPI_Parrived", unsafe { function(self.request.raw(), partition as c_int, &mut flag) })?;
        Ok(flag != 0)
    }

    /// `MPI_Request_free` of the request, which must not be active.
    pub fn free(self) -> Result<(), CallError> {
        self.request.free()
    }
}
