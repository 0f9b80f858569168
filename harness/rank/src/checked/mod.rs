//! A thin checked layer over the MPI C interface: every return code is checked, every handle is freed.
//!
//! The crate `mpi` provides initialisation and the bindings. Its safe calls drop return codes and lack
//! subarrays, resized types and windows, so all other calls go to `mpi::ffi` here, and only here.

/// The result of an MPI call, which errors name: `call!(MPI_Barrier(comm))`.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::checked::check(stringify!($function), ::mpi::ffi::$function($($argument),*))
    };
}

pub mod collective;
pub mod comm;
pub mod datatype;
pub mod error;
pub mod identity;
pub mod large;
pub mod operations;
pub mod partitioned;
pub mod request;
pub mod symbols;
pub mod threads;
pub mod tool_information;
pub mod typed;
pub mod window;
pub mod world;

pub use comm::Comm;
pub use datatype::{Datatype, Recipe};
pub use error::{CallError, check};
pub use large::Count;
pub use partitioned::Partitioned;
pub use request::{Envelope, Request};
pub use threads::{TeamCalls, ThreadMultiple};
pub use window::{Access, Group, Window};
pub use world::World;
