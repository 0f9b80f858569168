//! Partitioned communication of MPI-4. Its functions are looked up when the program runs: an MPI that lacks them can
//! still be linked, whatever version its header states.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use mpi::ffi;

use super::request::{Envelope, Request};
use super::{CallError, check, error::int, symbols};

/// Both calls that make a request; to C a pointer to what is only read is the same.
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
    /// `None` where the MPI lacks any of [`PARTITIONED`](common::fine_grained::functions::PARTITIONED).
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

/// A partitioned message: a request of which each partition is marked or looked at by itself.
pub struct Partitioned {
    request: Request,
}

/// A call that makes a request; both take the same arguments.
macro_rules! init {
    ($function:ident, $call:ident, $address:expr, $partitions:expr, $envelope:expr) => {{
        let mut request = Request::null($envelope.comm);
        let Envelope { count, datatype, peer, tag, comm } = $envelope;
        let (partitions, count) = ($partitions as c_int, count as ffi::MPI_Count);
        let (peer, tag, datatype, comm) = (peer as c_int, tag as c_int, datatype.raw(), comm.raw());
        // SAFETY: the caller vouches for the memory; handles are live.
        let code = unsafe {
            let info = ffi::RSMPI_INFO_NULL;
            let function = functions().$function;
            function($address.cast(), partitions, count, datatype, peer, tag, comm, info, request.raw_mut())
        };
        check(stringify!($call), code)?;
        Ok(Self { request })
    }};
}

impl Partitioned {
    /// `MPI_Psend_init` of `partitions` times `envelope.count` of the type.
    ///
    /// # Safety
    /// The memory must be readable for all partitions whenever the request is started, and a partition stay unchanged
    /// from the moment that it is ready until the request is complete.
    pub unsafe fn send(
        address: *const u8,
        partitions: usize,
        envelope: Envelope<'_>,
    ) -> Result<Self, CallError> {
        init!(send_init, MPI_Psend_init, address.cast_mut(), partitions, envelope)
    }

    /// `MPI_Precv_init`, likewise.
    ///
    /// # Safety
    /// The memory must be writable for all partitions whenever the request is started, and a partition be left alone
    /// until it has arrived.
    pub unsafe fn receive(
        address: *mut u8,
        partitions: usize,
        envelope: Envelope<'_>,
    ) -> Result<Self, CallError> {
        init!(receive_init, MPI_Precv_init, address, partitions, envelope)
    }

    /// The request, to start, wait for, or test the whole.
    #[inline]
    pub fn request(&mut self) -> &mut Request {
        &mut self.request
    }

    /// `MPI_Request_get_status`: whether all of it is complete, which it also brings forward.
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

    /// `MPI_Pready_range` of `first..=last`; `None` where the MPI lacks it.
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

/// `MPI_Startall`.
pub fn start_all(messages: &mut [&mut Partitioned]) -> Result<(), CallError> {
    let count = int("MPI_Startall", "count", messages.len() as i64)?;
    // The library writes to the list, and gets one of its own type.
    let mut raws: Vec<ffi::MPI_Request> = messages.iter().map(|message| message.request.raw()).collect();
    // SAFETY: `count` live requests, whose makers vouched for their memory.
    let code = unsafe { ffi::MPI_Startall(count, raws.as_mut_ptr()) };
    messages.iter_mut().zip(raws).for_each(|(message, raw)| *message.request.raw_mut() = raw);
    check("MPI_Startall", code)
}
