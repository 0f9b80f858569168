//! What stands in the way of good measurements: of the machine, and of each MPI by what its rank program tells of itself.

mod machine;
mod mpi;

pub use machine::machine;
pub use mpi::{Seen, broken, mpi};

/// How it stands with something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Ok,
    /// Figures suffer.
    Warning,
    /// Something cannot be measured.
    Error,
}

impl Health {
    /// The word for it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What was found of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How it stands with it.
    pub health: Health,
    /// What was looked at, in a word or two.
    pub what: &'static str,
    /// What was found, and where it is not as it should be, what to do.
    pub text: String,
}

impl Finding {
    fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self { health: Health::Ok, what, text: text.into() }
    }

    /// What makes figures worse, and advice, or what mends it.
    fn warning(what: &'static str, text: &str, advice: &str) -> Self {
        Self { health: Health::Warning, what, text: format!("{text}: {advice}") }
    }
}
