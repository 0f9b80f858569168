//! What a probe saw.

use serde::{Deserialize, Serialize};

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All was right.
    Passed,
    /// Wrong data, or an error where none is right.
    Failed,
    /// An error where one is right or allowed.
    Refused,
    /// A misuse went through without an error.
    Accepted,
    /// Of a question.
    Yes,
    /// Of a question.
    No,
    /// The process died.
    Crashed,
    /// It did not end within its limit.
    #[serde(rename = "timed out")]
    TimedOut,
    /// The MPI lacks functions, or the thread level, that it needs.
    #[serde(rename = "not available")]
    NotAvailable,
    /// It could not be tried here.
    Skipped,
}

impl Outcome {
    /// The words in tables and results.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Yes => "yes",
            Self::No => "no",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed out",
            Self::NotAvailable => "not available",
            Self::Skipped => "skipped",
        }
    }

    /// Whether an MPI that does this to a correct program does not conform.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Crashed | Self::TimedOut)
    }
}

/// What a probe saw of an MPI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// The MPI's name in this project.
    pub mpi: String,
    /// The probe's name.
    pub probe: String,
    /// What was seen.
    pub outcome: Outcome,
    /// More about it; empty where there is nothing to say.
    pub detail: String,
    /// Time of the probe, without starting its processes; of one that had to be ended, with it.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_say_what_tables_say() {
        use Outcome::*;
        for outcome in [Passed, Failed, Refused, Accepted, Yes, No, Crashed, TimedOut, NotAvailable, Skipped]
        {
            assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.label());
        }
    }
}
