//! What every rank of a run sends to whom: the applications' exchanges on any number of ranks, without MPI.
//!
//! A [`HaloTest`] is a row of the table [`HALOS`]. [`HaloTest::build`] makes a [`HaloApp`] of it for a number of
//! ranks: the arrays of each rank, and stages of transfers that follow each other. A transfer's [`Face`](crate::Face) has a
//! datatype, hand-written loops, and is cut into parts that threads pack or that partitioned operations send.
//!
//! What must have arrived is derived a second time, literally from global positions ([`HaloApp::cells`]); [`Field::fill`]
//! and [`Field::check`] compare memory with it.
//!
//! Adding one is a file that describes its arrays and faces, which is declared here, and a line in [`HALOS`].

mod app;
mod field;
mod grid;
mod patch;

mod fft2d;
mod lammps;
mod layout;
mod milc;
mod nas_lu;
mod nas_mg;
mod specfem3d;
mod stencil;
mod subarray;
mod wrf;

pub use app::{Cell, Cells, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
pub use field::{Field, Mismatch, Version};
pub use grid::Grid;
pub use layout::LAYOUT;

#[cfg(test)]
pub(crate) use grid::indices;

use crate::ParameterError;

/// All exchanges of applications, and of arrays and buffers of your own.
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

/// All exchanges, and [`LAYOUT`], which is run where it is named.
pub fn all() -> impl Iterator<Item = &'static HaloTest> + Clone {
    HALOS.iter().chain([const { &LAYOUT }])
}

/// The exchange called `name`.
///
/// # Errors
/// If there is none, with the nearest name.
pub fn find(name: &str) -> Result<&'static HaloTest, ParameterError> {
    HaloTest::find(all(), name)
}
