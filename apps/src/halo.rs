//! The applications' exchanges on any number of ranks, without MPI: what each rank sends, and to which rank.
//!
//! A [`HaloTest`] is a row of the table [`HALOS`]. [`HaloTest::build`] makes a [`HaloApp`] of it for a number
//! of ranks: the arrays of each rank, and stages of transfers that follow each other. A transfer's
//! [`Face`](crate::Face) has a datatype and hand-written loops. It can be cut into parts, which threads pack
//! or partitioned operations send.
//!
//! The expected data is derived a second time, literally from global positions ([`HaloApp::cells`]).
//!
//! To add one, write a file that describes its arrays and faces, declare it here, and add a line to [`HALOS`].

mod app;
mod grid;
mod patch;

mod fft2d;
mod lammps;
mod layout;
mod messages;
mod milc;
mod nas_lu;
mod nas_mg;
mod specfem3d;
mod stencil;
mod subarray;
mod wrf;

pub use app::{Cell, Cells, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
pub use grid::Grid;
pub use layout::LAYOUT;
pub use messages::MESSAGES;

use crate::ParameterError;

/// Why a halo's elements cannot have padding.
const PADDED: &str = "must not have long doubles: halos compare all bytes, but MPI need not send their padding; ping-pongs can have them";

/// All exchanges of applications, and of the user's own arrays and buffers.
pub const HALOS: &[HaloTest] = &[
    wrf::VEC,
    wrf::SA,
    milc::MILC,
    nas_mg::NAS_MG,
    nas_lu::NAS_LU,
    fft2d::FFT2D,
    specfem3d::MT,
    specfem3d::OC,
    specfem3d::CM,
    lammps::FULL,
    lammps::ATOMIC,
    stencil::STENCIL7,
    stencil::STENCIL27,
    subarray::SUBARRAY,
];

/// All exchanges, and those of the user's layouts, which run only if they are named.
pub fn all() -> impl Iterator<Item = &'static HaloTest> + Clone {
    HALOS.iter().chain([const { &LAYOUT }, const { &MESSAGES }])
}

/// The exchange called `name`.
///
/// # Errors
/// If there is none, with the nearest name.
pub fn find(name: &str) -> Result<&'static HaloTest, ParameterError> {
    HaloTest::find(all(), name)
}
