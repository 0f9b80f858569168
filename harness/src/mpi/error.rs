//! Errors of this module: messages with the error, its place, and the right input.

use std::io;
use std::path::Path;

/// An MPI cannot be found, installed, built for or started.
#[derive(Debug, thiserror::Error)]
pub enum MpiError {
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Other(String),
}

pub type Result<T> = std::result::Result<T, MpiError>;

pub(super) fn other(message: impl Into<String>) -> MpiError {
    MpiError::Other(message.into())
}

pub(super) fn unusable(mpicc: &Path, reason: impl std::fmt::Display) -> MpiError {
    other(format!("`{}` cannot be used as an MPI compiler wrapper: {reason}", mpicc.display()))
}

/// Adds the operation and the path to an error of the system.
pub(super) fn at<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> MpiError + 'a {
    move |source| other(format!("{doing} {}: {source}", path.display()))
}
