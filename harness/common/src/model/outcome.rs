//! How the measurement of a method ended.

use serde::{Deserialize, Serialize, Serializer};

/// The detail of an outcome that is borrowed in whatever way, where there can be one.
macro_rules! detail_of {
    ($outcome:expr) => {
        match $outcome {
            Self::Converged | Self::TimeLimit | Self::RunLimit | Self::LaunchLimit => None,
            Self::NotAvailable { reason: detail }
            | Self::Seen { detail, .. }
            | Self::Invalid { detail }
            | Self::WrongData { detail }
            | Self::MpiError { detail }
            | Self::Crashed { detail }
            | Self::TimedOut { detail } => Some(detail),
        }
    };
}

/// What a probe saw that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// All was right.
    Passed,
    /// Wrong data, or an error where none is right.
    Failed,
    /// An error where one is right or allowed.
    Refused,
    /// A misuse went through without an error.
    Accepted,
    /// Of what an MPI may do: it does.
    Yes,
    /// Of what an MPI may do: it does not.
    No,
    /// It could not be tried here.
    Skipped,
}

impl Seen {
    /// The word in tables and results.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Accepted => "accepted",
            Self::Yes => "yes",
            Self::No => "no",
            Self::Skipped => "skipped",
        }
    }
}

/// How a method ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The interval of the median became narrow enough.
    #[default]
    Converged,
    /// The limit of time was reached first.
    TimeLimit,
    /// The limit of repetitions was reached first.
    RunLimit,
    /// All launches were made first. Only of several launches together.
    LaunchLimit,
    /// Of a probe: what it saw.
    Seen {
        /// What was seen.
        what: Seen,
        /// More about it; empty where there is nothing to say.
        detail: String,
    },
    /// It was measured, but the MPI has failed a probe that the figures rest on.
    Invalid {
        /// Which, and how.
        detail: String,
    },
    /// The MPI lacks what the method needs.
    NotAvailable {
        /// What is missing.
        reason: String,
    },
    /// Bytes arrived wrong, or changed that should not; times of this method mean nothing.
    WrongData {
        /// Rank, place, expected and found.
        detail: String,
    },
    /// The MPI reported an error.
    MpiError {
        /// The call and MPI's text.
        detail: String,
    },
    /// The process ended before its time: signal or exit code and the last words.
    Crashed {
        /// What was seen.
        detail: String,
    },
    /// Nothing was heard for longer than the limit; the process was ended.
    TimedOut {
        /// The limit and what was being done.
        detail: String,
    },
}

impl Outcome {
    /// Whether the times can be used.
    pub const fn is_measured(&self) -> bool {
        self.counts() || matches!(self, Self::Invalid { .. } | Self::Seen { .. })
    }

    /// Each outcome, and of a probe each that it can have; without details.
    const EVERY: [Self; 17] = {
        const fn seen(what: Seen) -> Outcome {
            Outcome::Seen { what, detail: String::new() }
        }
        [
            Self::Converged,
            Self::TimeLimit,
            Self::RunLimit,
            Self::LaunchLimit,
            seen(Seen::Passed),
            seen(Seen::Failed),
            seen(Seen::Refused),
            seen(Seen::Accepted),
            seen(Seen::Yes),
            seen(Seen::No),
            seen(Seen::Skipped),
            Self::Invalid { detail: String::new() },
            Self::NotAvailable { reason: String::new() },
            Self::WrongData { detail: String::new() },
            Self::MpiError { detail: String::new() },
            Self::Crashed { detail: String::new() },
            Self::TimedOut { detail: String::new() },
        ]
    };

    /// The outcome with this label; `None` if there is none.
    pub fn from_label(label: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|outcome| outcome.label() == label)
    }

    /// Writes it as two columns of a table: `outcome` has the label, `detail` the reason.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn as_columns<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct OutcomeColumns<'a> {
            outcome: &'static str,
            detail: Option<&'a str>,
        }
        OutcomeColumns { outcome: self.label(), detail: self.detail() }.serialize(to)
    }

    /// Whether the times can be used without a doubt.
    pub const fn counts(&self) -> bool {
        matches!(self, Self::Converged | Self::TimeLimit | Self::RunLimit | Self::LaunchLimit)
    }

    /// Whether a launch with this outcome gives it to all launches.
    pub const fn is_doubtful(&self) -> bool {
        matches!(self, Self::Seen { what: Seen::Failed, .. } | Self::Invalid { .. })
    }

    /// Whether the MPI lacks what the method needs.
    pub const fn is_lacking(&self) -> bool {
        matches!(self, Self::NotAvailable { .. })
    }

    /// A word or two for tables and the `outcome` column.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::TimeLimit => "time limit",
            Self::RunLimit => "run limit",
            Self::LaunchLimit => "launch limit",
            Self::Seen { what, .. } => what.label(),
            Self::Invalid { .. } => "invalid",
            Self::NotAvailable { .. } => "not available",
            Self::WrongData { .. } => "wrong data",
            Self::MpiError { .. } => "MPI error",
            Self::Crashed { .. } => "crashed",
            Self::TimedOut { .. } => "timed out",
        }
    }

    /// The reason, where there is one.
    pub fn detail(&self) -> Option<&str> {
        detail_of!(self).map(String::as_str).filter(|detail| !detail.is_empty())
    }

    /// The label, and the reason if there is one.
    pub fn with_reason(&self) -> String {
        match self.detail() {
            None => self.label().to_owned(),
            Some(detail) => format!("{}: {detail}", self.label()),
        }
    }

    /// The same with another detail, where there can be one.
    pub fn with_detail(mut self, new: String) -> Self {
        if let Some(detail) = detail_of!(&mut self) {
            *detail = new;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever adds an outcome is stopped here, and adds it to those above.
    #[test]
    fn every_outcome_is_found_by_a_label_of_its_own() {
        let place = |outcome: &Outcome| match outcome {
            Outcome::Converged => 0,
            Outcome::TimeLimit => 1,
            Outcome::RunLimit => 2,
            Outcome::LaunchLimit => 3,
            Outcome::Seen { what, .. } => match what {
                Seen::Passed => 4,
                Seen::Failed => 5,
                Seen::Refused => 6,
                Seen::Accepted => 7,
                Seen::Yes => 8,
                Seen::No => 9,
                Seen::Skipped => 10,
            },
            Outcome::Invalid { .. } => 11,
            Outcome::NotAvailable { .. } => 12,
            Outcome::WrongData { .. } => 13,
            Outcome::MpiError { .. } => 14,
            Outcome::Crashed { .. } => 15,
            Outcome::TimedOut { .. } => 16,
        };
        assert!(Outcome::EVERY.iter().map(place).eq(0..Outcome::EVERY.len()));
        for outcome in Outcome::EVERY {
            assert_eq!(Outcome::from_label(outcome.label()), Some(outcome));
        }
        for other in ["", "Converged", "mpi error", "mpi_error", "seen", "banana"] {
            assert_eq!(Outcome::from_label(other), None);
        }
    }
}
