//! How the measurement of a method ended.

use serde::{Deserialize, Serialize, Serializer};

/// Outcomes with their labels; some have a detail.
macro_rules! outcomes {
    ($($(#[$of:meta])* $variant:ident $({ $(#[$about:meta])* $detail:ident })? = $label:literal,)+) => {
        /// How a method ended.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "outcome", rename_all = "snake_case")]
        pub enum Outcome {
            $($(#[$of])* $variant $({ $(#[$about])* $detail: String })?,)+
        }

        impl Outcome {
            pub const LABELS: &[&str] = &[$($label),+];

            /// A short label for tables and the `outcome` column.
            pub const fn label(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $label,)+
                }
            }

            /// The outcome with this label, without details; `None` if there is none.
            pub fn from_label(label: &str) -> Option<Self> {
                match label {
                    $($label => Some(Self::$variant $({ $detail: String::new() })?),)+
                    _ => None,
                }
            }

            /// The reason, if there is one.
            pub fn detail(&self) -> Option<&str> {
                let detail: Option<&String> = match self {
                    $(Self::$variant $({ $detail })? => None $(.or(Some($detail)))?,)+
                };
                detail.map(String::as_str).filter(|detail| !detail.is_empty())
            }

            /// The same with another detail, if it can have one.
            pub fn with_detail(mut self, new: String) -> Self {
                match &mut self {
                    $(Self::$variant $({ $detail })? => { $(*$detail = new;)? })+
                }
                self
            }
        }
    };
}

outcomes! {
    /// The interval of the median became narrow enough.
    #[default]
    Converged = "converged",
    /// The limit of time was reached first.
    TimeLimit = "time limit",
    /// The limit of repetitions was reached first.
    RunLimit = "run limit",
    /// All launches were made first. Only of several launches together.
    LaunchLimit = "launch limit",
    /// It was measured, but the MPI has failed a check that the results depend on.
    Invalid {
        /// The check and its answer.
        detail
    } = "invalid",
    /// The MPI lacks what the method needs.
    NotAvailable {
        /// The missing functions or features.
        reason
    } = "not available",
    /// Wrong bytes arrived, or bytes changed that should not; times of this method are meaningless.
    WrongData {
        /// Rank, place, expected and found.
        detail
    } = "wrong data",
    /// The MPI reported an error.
    MpiError {
        /// The call and the MPI's error message.
        detail
    } = "MPI error",
    /// The process ended early: signal or exit code and its last output.
    Crashed {
        /// The symptoms.
        detail
    } = "crashed",
    /// The process printed nothing for longer than the limit and was ended.
    TimedOut {
        /// The limit and the stage.
        detail
    } = "timed out",
}

impl Outcome {
    /// Whether the times can be used.
    pub const fn is_measured(&self) -> bool {
        self.counts() || matches!(self, Self::Invalid { .. })
    }

    /// Writes it as two columns of a table: `outcome` has the label, `detail` the reason.
    pub fn as_columns<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct OutcomeColumns<'a> {
            outcome: &'static str,
            detail: Option<&'a str>,
        }
        OutcomeColumns { outcome: self.label(), detail: self.detail() }.serialize(to)
    }

    /// Whether the times can be used without doubt.
    pub const fn counts(&self) -> bool {
        matches!(self, Self::Converged | Self::TimeLimit | Self::RunLimit | Self::LaunchLimit)
    }

    /// Whether wrong bytes were transferred.
    pub const fn is_wrong(&self) -> bool {
        matches!(self, Self::WrongData { .. })
    }

    /// Whether the MPI lacks what the method needs.
    pub const fn is_lacking(&self) -> bool {
        matches!(self, Self::NotAvailable { .. })
    }

    /// The label, and the reason if there is one.
    pub fn with_reason(&self) -> String {
        match self.detail() {
            None => self.label().to_owned(),
            Some(detail) => format!("{}: {detail}", self.label()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_found_by_its_label_and_only_some_have_a_detail() {
        for label in ["converged", "time limit", "MPI error", "not available"] {
            let outcome = Outcome::from_label(label).unwrap();
            assert_eq!((outcome.label(), outcome.detail()), (label, None));
            let detailed = outcome.with_detail("why".to_owned());
            assert_eq!(detailed.detail(), Some("why").filter(|_| !detailed.counts()));
        }
        for other in ["", "Converged", "mpi error", "mpi_error", "seen", "banana"] {
            assert_eq!(Outcome::from_label(other), None);
        }
    }
}
