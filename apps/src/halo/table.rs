//! Every exchange between many ranks, in report order. A new one is a new file and a line here.

use super::{HaloTest, fft2d, lammps, milc, nas_lu, nas_mg, specfem3d, stencil, subarray, wrf};
use crate::ParameterError;

/// All exchanges.
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

/// The exchange called `name`.
///
/// # Errors
/// [`ParameterError::UnknownTest`] with the nearest name.
pub fn find(name: &str) -> Result<&'static HaloTest, ParameterError> {
    HALOS
        .iter()
        .find(|test| test.name == name)
        .ok_or_else(|| ParameterError::unknown_test(name, HALOS.iter().map(|test| test.name).collect()))
}
