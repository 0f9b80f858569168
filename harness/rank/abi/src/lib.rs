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
/// A pointer in all families, as the next one.
pub type MPI_T_enum = *mut c_void;
pub type MPI_T_cvar_handle = *mut c_void;
