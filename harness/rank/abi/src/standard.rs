//! The standard's own binary interface, of MPI 5: `libmpi_abi.so` of MPICH, Intel MPI and Open MPI.

use std::ffi::{c_int, c_void};

/// A handle.
pub type Raw = *mut c_void;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MPI_Status {
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
    pub internal: [c_int; 5],
}

pub const MPI_APPNUM: u32 = 505;
pub const MPI_DISTRIBUTE_BLOCK: u32 = 17;
pub const MPI_DISTRIBUTE_CYCLIC: u32 = 18;
pub const MPI_DISTRIBUTE_DFLT_DARG: u32 = 19;
pub const MPI_DISTRIBUTE_NONE: u32 = 16;
pub const MPI_ERR_TYPE: u32 = 3;
pub const MPI_LOCK_SHARED: u32 = 302;
pub const MPI_MAX_ERROR_STRING: u32 = 512;
pub const MPI_MAX_LIBRARY_VERSION_STRING: u32 = 8192;
pub const MPI_MAX_OBJECT_NAME: u32 = 128;
pub const MPI_MODE_NOCHECK: u32 = 1024;
pub const MPI_ORDER_C: u32 = 12;
pub const MPI_ORDER_FORTRAN: u32 = 15;
pub const MPI_SUCCESS: u32 = 0;
pub const MPI_TAG_UB: u32 = 501;
pub const MPI_T_ERR_INVALID_INDEX: u32 = 1007;
pub const MPI_UNDEFINED: i32 = -32766;
pub const MPI_UNIVERSE_SIZE: u32 = 507;
