//! How the measurement of a method ended.

use serde::{Deserialize, Serialize, Serializer};

/// The detail of an outcome that is borrowed in whatever way, where there can be one.
macro_rules! detail_of {
    ($outcome:expr) => {
        match $outcome {
            Self::Converged | Self::TimeLimit | Self::RunLimit | Self::LaunchLimit => None,
            Self::NotAvailable { reason: detail }
            | Self::Invalid { detail }
            | Self::WrongData { detail }
            | Self::MpiError { detail }
            | Self::Crashed { detail }
            | Self::TimedOut { detail } => Some(detail),
        }
    };
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
    /// It was measured, but the MPI has failed a check that the figures rest on.
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
    /// The process ended before its time: signal or exit code and its last output.
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
        self.counts() || matches!(self, Self::Invalid { .. })
    }

    /// Each outcome, without details.
    const EVERY: [Self; 10] = [
        Self::Converged,
        Self::TimeLimit,
        Self::RunLimit,
        Self::LaunchLimit,
        Self::Invalid { detail: String::new() },
        Self::NotAvailable { reason: String::new() },
        Self::WrongData { detail: String::new() },
        Self::MpiError { detail: String::new() },
        Self::Crashed { detail: String::new() },
        Self::TimedOut { detail: String::new() },
    ];

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
        matches!(self, Self::Invalid { .. })
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
            Outcome::Invalid { .. } => 4,
            Outcome::NotAvailable { .. } => 5,
            Outcome::WrongData { .. } => 6,
            Outcome::MpiError { .. } => 7,
            Outcome::Crashed { .. } => 8,
            Outcome::TimedOut { .. } => 9,
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
