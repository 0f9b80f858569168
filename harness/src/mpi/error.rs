//! Errors of this module: a message with what is wrong, where, and what would be right; cases of their own if somebody handles them.

use std::io;
use std::path::{Path, PathBuf};

/// An MPI that cannot be found, installed, built for or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// No cargo, and nothing built before.
    #[error(
        "the rank program for {name} is not built ({}), and cargo was not found to build it; \
         install Rust or put cargo into PATH", .program.display()
    )]
    NoCargo {
        /// The MPI.
        name: String,
        /// Where the program would be.
        program: PathBuf,
    },
    /// The rank program did not compile.
    #[error("the rank program for {name} could not be built with `{command}` ({status}):\n{output}")]
    Build {
        /// The MPI.
        name: String,
        /// The command line with its variables.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines that cargo wrote.
        output: String,
    },
    /// The launcher did not start.
    #[error("`{command}` did not start: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The launcher was started again and again, and no rank program printed anything.
    #[error("no process has begun under {launcher}, {times}: {output}{advice}")]
    NeverBegan {
        /// The launcher.
        launcher: String,
        /// How often it was started.
        times: &'static str,
        /// How it ended, and its output.
        output: String,
        /// What is known to help.
        advice: String,
    },
    /// A tool that does not come to its end.
    #[error("`{command}` has not ended after {limit_s} s")]
    Hangs {
        /// The command line.
        command: String,
        /// How long it was waited for, in seconds.
        limit_s: f64,
    },
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// Results of this module.
pub type Result<T> = std::result::Result<T, MpiError>;

/// An error of which only the message matters.
pub(super) fn other(message: impl Into<String>) -> MpiError {
    MpiError::Other(message.into())
}

/// A compiler wrapper that cannot be used.
pub(super) fn unusable(mpicc: &Path, reason: impl std::fmt::Display) -> MpiError {
    other(format!("`{}` cannot be used as an MPI compiler wrapper: {reason}", mpicc.display()))
}

/// Adds what was being done, and where, to an error of the system.
pub(super) fn at<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> MpiError + 'a {
    move |source| other(format!("{doing} {}: {source}", path.display()))
}

/// The last `count` lines of what a program wrote.
pub(super) fn last_lines(output: &[u8], count: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
