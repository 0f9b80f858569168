//! Problems that make measurements bad or impossible: of the machine, and of each MPI by its rank program's account.

mod machine;
mod mpi;

pub use machine::machine;
pub use mpi::{Seen, broken, device, mpi, no_device};

named! {
    /// The rating of a finding, with its word in the table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Health {
        /// As it should be.
        Ok = "ok",
        /// Lacks what few runs need.
        No = "no",
        /// Results will be worse.
        Warning = "warning",
        /// Cannot measure.
        Error = "error",
    }
}

/// One item of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub health: Health,
    /// The item, in a word or two.
    pub what: &'static str,
    /// The observation, with advice unless it is ok.
    pub text: String,
}

impl Finding {
    pub fn ok(what: &'static str, text: impl Into<String>) -> Self {
        Self { health: Health::Ok, what, text: text.into() }
    }

    /// A problem that makes results worse, and advice.
    fn warning(what: &'static str, text: &str, advice: &str) -> Self {
        Self { health: Health::Warning, what, text: format!("{text}: {advice}") }
    }
}
