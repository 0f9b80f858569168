//! Sizes found for a requested time.

use serde::{Deserialize, Serialize};

/// The quantity that a size measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeOf {
    Bytes,
    /// Rows of the matrices in the product.
    MatrixOrder,
    /// Bytes that are given, not chosen: their time was measured.
    Message,
}

/// A size, and the time that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibratedSize {
    /// The quantity that the size measures.
    pub of: SizeOf,
    /// The requested time, in seconds.
    pub target_s: f64,
    pub size: u64,
    /// The measured time of this size, in seconds.
    pub time_s: f64,
    /// Whether it is close enough to the requested time.
    pub is_found: bool,
}
