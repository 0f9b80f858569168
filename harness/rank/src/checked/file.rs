//! Files of MPI-IO, for the conformance checks of datatypes: one process, explicit offsets.

use std::ffi::{CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mpi::ffi;

use super::threads::OneThread;
use super::typed::End;
use super::{CallError, Comm, Datatype};

/// The data representation of files: values as they are in memory.
const NATIVE: *const c_char = c"native".as_ptr();

/// An open file. It must be closed with [`File::close`].
pub struct File {
    raw: ffi::MPI_File,
    _of_one: OneThread,
}

impl File {
    /// `MPI_File_open` for reading and writing; it is created if it does not exist. `None` if the name has a zero byte.
    pub fn open(path: &Path, comm: &Comm) -> Result<Option<Self>, CallError> {
        let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return Ok(None) };
        let mode = (ffi::MPI_MODE_CREATE | ffi::MPI_MODE_RDWR) as c_int;
        let mut raw = MaybeUninit::<ffi::MPI_File>::uninit();
        // SAFETY: a live communicator and a C string; the pointers live through the call.
        unsafe {
            call!(MPI_File_open(comm.raw(), name.as_ptr(), mode, ffi::RSMPI_INFO_NULL, raw.as_mut_ptr()))?;
            Ok(Some(Self { raw: raw.assume_init(), _of_one: OneThread::default() }))
        }
    }

    /// `MPI_File_set_view` from the start of the file.
    pub fn set_view(&self, element: &Datatype, datatype: &Datatype) -> Result<(), CallError> {
        // SAFETY: an open file, live types, and a constant text.
        unsafe {
            let info = ffi::RSMPI_INFO_NULL;
            call!(MPI_File_set_view(self.raw, 0, element.raw(), datatype.raw(), NATIVE, info))
        }
    }

    /// `MPI_File_write_at` the start of the view.
    ///
    /// # Safety
    /// The data must be readable.
    pub unsafe fn write(&self, (from, count, datatype): End<'_, *const u8>) -> Result<(), CallError> {
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        // SAFETY: the caller guarantees the memory; an open file and a live type; the status lives through the call.
        unsafe {
            let (from, status) = (from.cast(), status.as_mut_ptr());
            call!(MPI_File_write_at(self.raw, 0, from, count, datatype.raw(), status))
        }
    }

    /// `MPI_File_read_at` the start of the view.
    ///
    /// # Safety
    /// The data must be writable.
    pub unsafe fn read(&self, (to, count, datatype): End<'_, *mut u8>) -> Result<(), CallError> {
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        // SAFETY: as above.
        unsafe {
            let (to, status) = (to.cast(), status.as_mut_ptr());
            call!(MPI_File_read_at(self.raw, 0, to, count, datatype.raw(), status))
        }
    }

    /// `MPI_File_sync`: other programs see the written data.
    pub fn sync(&self) -> Result<(), CallError> {
        // SAFETY: an open file.
        unsafe { call!(MPI_File_sync(self.raw)) }
    }

    pub fn close(mut self) -> Result<(), CallError> {
        // SAFETY: an open file, which is not used afterwards.
        unsafe { call!(MPI_File_close(&mut self.raw)) }
    }
}
