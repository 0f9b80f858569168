//! What a comparison has found, as a page and its pictures have it.

use serde::Serialize;

use super::pictures::Datum;

/// What a comparison has found; of a run that was none, nothing.
#[derive(Debug, Default, Serialize)]
pub struct Compared {
    /// Each other side against the base.
    pub sides: Vec<ComparedSide>,
    /// What columns and verdicts mean.
    pub legend: String,
    /// The ratio of each method's times, with the verdict as its series.
    #[serde(skip)]
    pub changes: Vec<Datum>,
}

/// One side against the base.
#[derive(Debug, Default, Serialize)]
pub struct ComparedSide {
    /// Both by their names.
    pub title: String,
    /// What was found, in sentences.
    pub found: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, the worst first.
    pub rows: Vec<Vec<String>>,
}
