//! Why a plan is refused.

use common::limits::WrongLimit;

/// Why a plan is refused: the value, its place, and valid values.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlanError(pub String);

impl PlanError {
    pub(super) fn field(field: &str, value: &str, reason: &str) -> Self {
        Self(format!("{field} = {value}: {reason}"))
    }
}

impl From<WrongLimit> for PlanError {
    fn from(WrongLimit { field, value, reason }: WrongLimit) -> Self {
        Self::field(field, &value, &reason)
    }
}
