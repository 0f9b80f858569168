//! The family of MPICH: also Intel MPI, MVAPICH2 and Cray MPICH, since 2014 with one binary interface, `libmpi.so.12`.

use std::ffi::c_int;

/// A handle.
pub type Raw = c_int;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MPI_Status {
    pub count_lo: c_int,
    pub count_hi_and_cancelled: c_int,
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
}

pub const MPI_APPNUM: u32 = 1681915917;
pub const MPI_DISTRIBUTE_BLOCK: u32 = 121;
pub const MPI_DISTRIBUTE_CYCLIC: u32 = 122;
pub const MPI_DISTRIBUTE_DFLT_DARG: i32 = -49767;
pub const MPI_DISTRIBUTE_NONE: u32 = 123;
pub const MPI_ERR_TYPE: u32 = 3;
pub const MPI_LOCK_SHARED: u32 = 235;
pub const MPI_MAX_ERROR_STRING: u32 = 512;
pub const MPI_MAX_LIBRARY_VERSION_STRING: u32 = 8192;
pub const MPI_MAX_OBJECT_NAME: u32 = 128;
pub const MPI_MODE_NOCHECK: u32 = 1024;
pub const MPI_ORDER_C: u32 = 56;
pub const MPI_ORDER_FORTRAN: u32 = 57;
pub const MPI_SUCCESS: u32 = 0;
pub const MPI_TAG_UB: u32 = 1681915905;
pub const MPI_T_ERR_INVALID_INDEX: u32 = 62;
pub const MPI_UNDEFINED: i32 = -32766;
pub const MPI_UNIVERSE_SIZE: u32 = 1681915913;
