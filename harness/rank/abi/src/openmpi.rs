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

pub const MPI_APPNUM: u32 = 4;
pub const MPI_DISTRIBUTE_BLOCK: u32 = 0;
pub const MPI_DISTRIBUTE_CYCLIC: u32 = 1;
pub const MPI_DISTRIBUTE_DFLT_DARG: i32 = -1;
pub const MPI_DISTRIBUTE_NONE: u32 = 2;
pub const MPI_ERR_TYPE: u32 = 3;
pub const MPI_LOCK_SHARED: u32 = 2;
pub const MPI_MAX_ERROR_STRING: u32 = 256;
pub const MPI_MAX_LIBRARY_VERSION_STRING: u32 = 256;
pub const MPI_MAX_OBJECT_NAME: u32 = 64;
pub const MPI_MODE_NOCHECK: u32 = 1;
pub const MPI_ORDER_C: u32 = 0;
pub const MPI_ORDER_FORTRAN: u32 = 1;
pub const MPI_SUCCESS: u32 = 0;
pub const MPI_TAG_UB: u32 = 0;
pub const MPI_T_ERR_INVALID_INDEX: u32 = 57;
pub const MPI_UNDEFINED: i32 = -32766;
pub const MPI_UNIVERSE_SIZE: u32 = 6;
