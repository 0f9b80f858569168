//! Every exchange between many ranks, in report order. A new one is a new file and a line here.

use super::{HaloTest, LAYOUT, fft2d, lammps, milc, nas_lu, nas_mg, specfem3d, stencil, subarray, wrf};
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
pub fn all() -> impl Iterator<Item = &'static HaloTest> {
    HALOS.iter().chain([const { &LAYOUT }])
}

/// The exchange called `name`.
///
/// # Errors
/// [`ParameterError::UnknownTest`] with the nearest name.
pub fn find(name: &str) -> Result<&'static HaloTest, ParameterError> {
    all()
        .find(|test| test.name == name)
        .ok_or_else(|| ParameterError::unknown_test(name, all().map(|test| test.name).collect()))
}
