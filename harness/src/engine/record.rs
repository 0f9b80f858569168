//! What comes of a comparison, and one line of its table.

use serde::{Deserialize, Serialize};

use crate::event::MessageFacts;
use crate::plan::CUSTOM;
use crate::record::{Case, Measured, Phase};

/// What is measured together: one test with one set of values in one order of bytes, beside one MPI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EngineCase {
    /// Test, values, MPI and cache.
    pub case: Case,
    /// `manual` or `ddt`, or [`ONE_ORDER`](super::ONE_ORDER) where the two are the same.
    pub order: String,
}

impl EngineCase {
    /// Its name for the user.
    pub fn label(&self) -> String {
        let order = if self.order == super::ONE_ORDER { String::new() } else { format!(" ({})", self.order) };
        let Case { test, set, params, mpi, cache, .. } = &self.case;
        // What has no name of its own goes by its values.
        let sizes = if set == CUSTOM || set == super::grid::SET { params } else { set };
        format!("{test} {sizes}{order}, {mpi}, {cache}")
    }
}

/// A finished comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineResult {
    /// What was measured.
    pub case: EngineCase,
    /// The message's size, segments and lines.
    pub message: MessageFacts,
    /// Per contender, in report order.
    pub methods: Vec<Measured>,
}

/// One line of `engine.csv`: one phase of one contender of one case.
///
/// A contender without times (`outcome` says why) has a single line, with phase `pack` and no figures. A figure that
/// does not exist is `None`, an empty cell, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRecord {
    /// As in [`Case`].
    pub test: String,
    /// As in [`Case`]; `grid` for those of the synthetic grid.
    pub set: String,
    /// As in [`Case`].
    pub params: String,
    /// As in [`EngineCase`].
    pub order: String,
    /// As in [`Case`].
    pub mpi: String,
    /// As in [`Case`].
    pub cache: String,
    /// The contender's name.
    pub method: String,
    /// `pack`, `unpack`, `create` (of datatypes: made and committed; of the engine: compiled) or `free`.
    pub phase: Phase,
    /// Packed bytes.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Bytes of all cache lines that packing or unpacking touches.
    pub line_bytes: Option<u64>,
    /// Rounds that the figures rest on.
    pub rounds: usize,
    /// Samples that the figures rest on.
    pub n: usize,
    /// Repetitions per sample.
    pub batch: u32,
    /// The median, in seconds.
    pub median_s: Option<f64>,
    /// Lower end of the median's 95% interval.
    pub median_low_s: Option<f64>,
    /// Upper end of the median's 95% interval.
    pub median_high_s: Option<f64>,
    /// Packed bytes per second of the median time, in 10^9.
    pub gb_per_s: Option<f64>,
    /// Its time over the engine's, the median over the rounds: above 1 the engine is faster. Missing without an interval.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's 95% interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's 95% interval.
    pub ratio_high: Option<f64>,
    /// The time of `bound` over its own, the median over the rounds: its share of the speed that memory allows.
    pub bound_share: Option<f64>,
    /// How the contender ended.
    pub outcome: String,
    /// The reason, where times are missing.
    pub detail: Option<String>,
    /// Whether the first and the second half of the rounds part, so that no verdict is drawn.
    #[serde(default)]
    pub ratio_unsteady: Option<bool>,
    /// Lower end of the 95% interval of `bound_share`.
    #[serde(default)]
    pub bound_share_low: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub bound_share_high: Option<f64>,
    /// What the columns and contenders mean: see [`earlier`](crate::earlier).
    #[serde(default = "crate::earlier::first")]
    pub schema: u32,
}
