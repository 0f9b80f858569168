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

pub const FAMILY: usize = 2;
