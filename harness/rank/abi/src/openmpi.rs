//! The family of Open MPI since version 4, `libmpi.so.40`; handles are addresses.

use std::ffi::{c_int, c_void};

/// A handle.
pub type Raw = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    pub cancelled: c_int,
    pub count: usize,
}

pub const FAMILY: usize = 1;
