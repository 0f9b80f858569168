//! Messages whose size the receiver does not know: found first, then received.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use mpi::ffi;

use super::{CallError, Comm, Datatype, Request, check};

/// A message that has been found and not yet received.
pub struct Found {
    raw: ffi::MPI_Message,
    /// Its tag.
    pub tag: usize,
    /// How many of the type that was asked for.
    pub count: usize,
}

impl Found {
    /// `MPI_Mprobe`: waits for the next message of `source`, whatever its tag.
    pub fn next(comm: &Comm, source: usize, datatype: &Datatype) -> Result<Self, CallError> {
        // SAFETY: a constant of the library, to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_MESSAGE_NULL };
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: live handles; the pointers live through the call, which fills the status.
        check("MPI_Mprobe", unsafe {
            ffi::MPI_Mprobe(source as c_int, ffi::RSMPI_ANY_TAG, comm.raw(), &mut raw, status.as_mut_ptr())
        })?;
        // SAFETY: filled by the call before.
        Self::with(raw, unsafe { status.assume_init() }, datatype)
    }

    /// `MPI_Improbe`: the next message of `source`, if there is one.
    pub fn now(comm: &Comm, source: usize, datatype: &Datatype) -> Result<Option<Self>, CallError> {
        // SAFETY: a constant of the library, to be overwritten.
        let mut raw = unsafe { ffi::RSMPI_MESSAGE_NULL };
        let (mut flag, mut status): (c_int, _) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: live handles; the pointers live through the call, which fills the status if it sets the flag.
        check("MPI_Improbe", unsafe {
            ffi::MPI_Improbe(
                source as c_int,
                ffi::RSMPI_ANY_TAG,
                comm.raw(),
                &mut flag,
                &mut raw,
                status.as_mut_ptr(),
            )
        })?;
        // SAFETY: filled by the call before.
        (flag != 0).then(|| Self::with(raw, unsafe { status.assume_init() }, datatype)).transpose()
    }

    fn with(raw: ffi::MPI_Message, status: ffi::MPI_Status, datatype: &Datatype) -> Result<Self, CallError> {
        let mut count: c_int = 0;
        // SAFETY: a filled status and a live type; the pointer lives through the call.
        check("MPI_Get_count", unsafe { ffi::MPI_Get_count(&status, datatype.raw(), &mut count) })?;
        Ok(Self { raw, tag: status.MPI_TAG as usize, count: count as usize })
    }

    /// `MPI_Imrecv` of the whole message.
    ///
    /// # Safety
    /// The memory must be writable for [`Found::count`] of the type, and be left alone until the request is complete.
    pub unsafe fn receive(mut self, address: *mut u8, datatype: &Datatype) -> Result<Request, CallError> {
        let mut request = Request::null();
        // SAFETY: the caller vouches for the memory; handles are live, and the message is used once.
        check("MPI_Imrecv", unsafe {
            ffi::MPI_Imrecv(
                address.cast(),
                self.count as c_int,
                datatype.raw(),
                &mut self.raw,
                request.raw_mut(),
            )
        })?;
        Ok(request)
    }
}
