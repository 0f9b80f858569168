//! Why a plan is refused: what, where, and what would be right.

use std::path::PathBuf;

use common::limits::WrongLimit;

/// Why a plan is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The file cannot be read.
    #[error("plan file {}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is no plan.
    #[error("plan file {}: {source}", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, column and reason.
        source: Box<toml::de::Error>,
    },
    /// A value that cannot be.
    #[error("{field} = {value}: {reason}")]
    Field {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// A key that was set to a value, and cannot be.
    #[error("--set-plan {key}={value}: {reason}")]
    Setting {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What would be right.
        reason: String,
    },
    /// No such method.
    #[error("{0}")]
    Method(String),
    /// A case that cannot be, by its number in the plan.
    #[error("case {number} ({test}): {reason}")]
    Case {
        /// From 1.
        number: usize,
        /// The test.
        test: String,
        /// What would be right.
        reason: String,
    },
    /// A selection that cannot be.
    #[error("{0}")]
    Selection(String),
    /// Values that are to replace a plan's.
    #[error("{0}")]
    Values(String),
}

impl From<WrongLimit> for PlanError {
    fn from(WrongLimit { field, value, reason }: WrongLimit) -> Self {
        Self::Field { field, value, reason }
    }
}
