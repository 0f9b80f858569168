//! Records: one line of results, and the experiment that it belongs to.

use serde::{Deserialize, Serialize};

use crate::event::{Block, MessageFacts, Outcome};

/// A timed part of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Datatypes made and committed.
    Create,
    /// Explicit packing at the origin.
    Pack,
    /// Send to end of the answer's receive.
    Communicate,
    /// Explicit unpacking at the origin.
    Unpack,
    /// Datatypes freed.
    Free,
    /// The whole ping-pong without creation.
    RoundTrip,
}

impl Phase {
    /// All phases, in the order in which they happen; the whole last.
    pub const ALL: [Self; 6] =
        [Self::Create, Self::Pack, Self::Communicate, Self::Unpack, Self::Free, Self::RoundTrip];

    /// The name in the `phase` column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Pack => "pack",
            Self::Communicate => "communicate",
            Self::Unpack => "unpack",
            Self::Free => "free",
            Self::RoundTrip => "round_trip",
        }
    }

    /// The samples of this phase in a block.
    pub fn samples(self, block: &Block) -> &[f64] {
        &block.times[self]
    }
}

/// What is measured together: one test with one set of values on one MPI; all methods interleaved.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// The test's name.
    pub test: String,
    /// The parameter set's name, or `custom`.
    pub set: String,
    /// All values, as `nx=162 ny=162`.
    pub params: String,
    /// The MPI's name in this project.
    pub mpi: String,
    /// Ranks of the run.
    pub ranks: usize,
    /// `warm` or `cold`.
    pub cache: String,
}

/// All that came back for one method of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The method's name.
    pub method: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Its blocks, of all pairs, in the order in which they came.
    pub blocks: Vec<Block>,
}

/// A finished case: what was asked, what the message is, what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseResult {
    /// What was measured.
    pub case: Case,
    /// The message's size and segments.
    pub message: MessageFacts,
    /// Per method, in the order in which they were asked for.
    pub methods: Vec<Measured>,
}

/// One line of `summary.csv`: one phase of one method of one case, of one pair or of all.
///
/// A method without times (`outcome` says why) has a single line, with phase `round_trip` and no figures.
/// A statistic that does not exist is `None`, an empty cell, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// As in [`Case`].
    pub test: String,
    /// As in [`Case`].
    pub set: String,
    /// As in [`Case`].
    pub params: String,
    /// As in [`Case`].
    pub mpi: String,
    /// As in [`Case`].
    pub ranks: usize,
    /// As in [`Case`].
    pub cache: String,
    /// The method's name.
    pub method: String,
    /// The timed part.
    pub phase: Phase,
    /// Number of the pair, or `all`: the samples of all pairs together. With one pair there is only `all`.
    pub pair: String,
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Samples that the figures rest on.
    pub n: usize,
    /// Blocks that the figures rest on.
    pub blocks: usize,
    /// Blocks left out because the machine was in another state.
    pub blocks_other_state: usize,
    /// Whether blocks of different states had to be used, since no round passed in one.
    pub mixed_states: bool,
    /// Repetitions per sample.
    pub batch: u32,
    /// The median, in seconds.
    pub median_s: Option<f64>,
    /// Lower end of the median's 95% interval.
    pub median_low_s: Option<f64>,
    /// Upper end of the median's 95% interval.
    pub median_high_s: Option<f64>,
    /// The mean.
    pub mean_s: Option<f64>,
    /// The smallest sample.
    pub min_s: Option<f64>,
    /// The 90th percentile.
    pub p90_s: Option<f64>,
    /// The 99th percentile.
    pub p99_s: Option<f64>,
    /// Pack overhead fraction against the measured reference: (t_pp - t_reference) / t_pp. `round_trip` only.
    pub overhead_reference: Option<f64>,
    /// Lower end of its 95% interval.
    pub overhead_reference_low: Option<f64>,
    /// Upper end of its 95% interval.
    pub overhead_reference_high: Option<f64>,
    /// Pack overhead fraction from the timed pack and unpack: t_pack / t_pp, both sides. `round_trip` only.
    pub overhead_pack: Option<f64>,
    /// Payload per second one way, half a round trip, summed over pairs. `round_trip` only.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Core-to-core latency beside the blocks used, median, in seconds.
    pub state_latency_s: Option<f64>,
    /// How the method ended.
    pub outcome: String,
    /// The reason, where times are missing.
    pub detail: Option<String>,
}
