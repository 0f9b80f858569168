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

pub const FAMILY: usize = 0;
