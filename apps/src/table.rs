//! Every test, in report order. A new one is a new file and a line here.

use crate::{
    LAYOUT, ParameterError, Test, fft2d, lammps, milc, nas_lu, nas_mg, plain, scattered, specfem3d, subarray,
    wrf,
};

/// All tests that a run is of where none is named: those with loops.
pub const TESTS: &[Test] = &[
    wrf::X_VEC,
    wrf::X_SA,
    wrf::Y_VEC,
    wrf::Y_SA,
    milc::SU3_ZD,
    nas_mg::X,
    nas_mg::Y,
    nas_mg::Z,
    nas_lu::X,
    nas_lu::Y,
    fft2d::FFT2D,
    specfem3d::MT,
    specfem3d::OC,
    specfem3d::CM,
    lammps::FULL,
    lammps::ATOMIC,
    plain::CONTIGUOUS,
    plain::STRIDED,
    scattered::SCATTERED,
    subarray::SUBARRAY,
];

/// All tests, and [`LAYOUT`], which is run where it is named.
pub fn all() -> impl Iterator<Item = &'static Test> {
    TESTS.iter().chain([const { &LAYOUT }])
}

/// The test called `name`.
///
/// # Errors
/// [`ParameterError::UnknownTest`] with the nearest name.
pub fn find(name: &str) -> Result<&'static Test, ParameterError> {
    all()
        .find(|test| test.name == name)
        .ok_or_else(|| ParameterError::unknown_test(name, all().map(|test| test.name).collect()))
}
