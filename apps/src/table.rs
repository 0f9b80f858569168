//! Every test, in report order. A new one is a new file and a line here.

use crate::{ParameterError, Test, nas_lu};

/// All tests.
pub const TESTS: &[Test] = &[nas_lu::X, nas_lu::Y];

/// The test called `name`.
///
/// # Errors
/// [`ParameterError::UnknownTest`] with the nearest name.
pub fn find(name: &str) -> Result<&'static Test, ParameterError> {
    TESTS
        .iter()
        .find(|test| test.name == name)
        .ok_or_else(|| ParameterError::unknown_test(name, TESTS.iter().map(|test| test.name).collect()))
}
