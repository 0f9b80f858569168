//! MPI's C interface, for one family of MPIs: those with the same binary interface ([ADR 24](../../../../docs/adr/0024-families-of-mpis.md)).
//!
//! The crate `mpi` expects these names in a crate `mpi-sys`. Types and numbers are constants of a family; predefined handles and
//! everything else that the header defines is in `constants.c`, which is compiled with the MPI's own header when a program is linked.
#![allow(non_camel_case_types, non_snake_case, missing_docs, clippy::missing_safety_doc)]

#[cfg_attr(not(any(feature = "openmpi", feature = "standard")), path = "mpich.rs")]
#[cfg_attr(feature = "openmpi", path = "openmpi.rs")]
#[cfg_attr(feature = "standard", path = "standard.rs")]
mod family;
mod functions;
mod predefined;

use std::ffi::{c_int, c_longlong, c_void};

pub use family::*;
pub use functions::*;
pub use predefined::*;

pub type MPI_Aint = isize;
pub type MPI_Count = c_longlong;
pub type MPI_User_function =
    Option<unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype)>;
pub type MPI_Comm_copy_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int>;
pub type MPI_Comm_delete_attr_function =
    Option<unsafe extern "C" fn(MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int>;

/// A type for each kind of handles.
macro_rules! handles {
    ($($name:ident)*) => {
        $(
            #[repr(transparent)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $name(pub family::Raw);
        )*
    };
}

handles!(MPI_Comm MPI_Datatype MPI_Errhandler MPI_Group MPI_Info MPI_Message MPI_Op MPI_Request MPI_Win);

/// Numbers of each family: of MPICH, of Open MPI, of the standard. `FAMILY` is the column.
macro_rules! numbers {
    ($($name:ident: $type:ty = $values:expr;)*) => {
        $(pub const $name: $type = $values[family::FAMILY];)*
    };
}

numbers! {
    MPI_APPNUM: u32 = [1681915917, 4, 505];
    MPI_DISTRIBUTE_BLOCK: u32 = [121, 0, 17];
    MPI_DISTRIBUTE_CYCLIC: u32 = [122, 1, 18];
    MPI_DISTRIBUTE_DFLT_DARG: i32 = [-49767, -1, 19];
    MPI_DISTRIBUTE_NONE: u32 = [123, 2, 16];
    MPI_ERR_TYPE: u32 = [3, 3, 3];
    MPI_LOCK_SHARED: u32 = [235, 2, 302];
    MPI_MAX_ERROR_STRING: u32 = [512, 256, 512];
    MPI_MAX_LIBRARY_VERSION_STRING: u32 = [8192, 256, 8192];
    MPI_MAX_OBJECT_NAME: u32 = [128, 64, 128];
    MPI_MODE_NOCHECK: u32 = [1024, 1, 1024];
    MPI_ORDER_C: u32 = [56, 0, 12];
    MPI_ORDER_FORTRAN: u32 = [57, 1, 15];
    MPI_SUCCESS: u32 = [0, 0, 0];
    MPI_TAG_UB: u32 = [1681915905, 0, 501];
    MPI_T_ERR_INVALID_INDEX: u32 = [62, 57, 1007];
    MPI_UNDEFINED: i32 = [-32766, -32766, -32766];
    MPI_UNIVERSE_SIZE: u32 = [1681915913, 6, 507];
}

/// A pointer in all families, as the next one.
pub type MPI_T_enum = *mut c_void;
pub type MPI_T_cvar_handle = *mut c_void;
