//! Sizes that were found for a time.

use serde::{Deserialize, Serialize};

/// What a size is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeOf {
    /// Bytes of a communication.
    Bytes,
    /// Rows of the matrices that are multiplied.
    MatrixOrder,
    /// Bytes that are what they are: of them the time was to be found.
    Message,
}

/// A size, and the time that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedSize {
    /// What the size is of.
    pub of: SizeOf,
    /// The time that was asked for, in seconds.
    pub target_s: f64,
    /// The size.
    pub size: u64,
    /// The time that was measured of it, in seconds.
    pub time_s: f64,
    /// Whether that is near enough to what was asked for.
    pub is_found: bool,
}
