//! Records: one line of results, and the experiment that it belongs to.

use serde::{Deserialize, Serialize};

use crate::event::{Block, MessageFacts, Outcome};
use crate::experiment::Experiment;
use crate::load::Load;
pub use crate::phase::Phase;
use crate::plan::Rule;

/// What is measured together: one test with one set of values on one MPI; all methods interleaved.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Case {
    /// What is measured of it.
    pub experiment: Experiment,
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
    /// The rule by which it was: it says which blocks count.
    pub rule: Rule,
    /// The message's size and segments.
    pub message: MessageFacts,
    /// Threads and the cores that they share, where that is known.
    pub load: Option<Load>,
    /// Per method, in the order in which they were asked for.
    pub methods: Vec<Measured>,
}

/// One line of `summary.csv`: one phase of one method of one case, of one pair or of all.
///
/// A method without times (`outcome` says why) has a single line, with the phase of the whole and no figures.
/// A statistic that does not exist is `None`, an empty cell, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Blocks used that were disturbed: see [`is_disturbed`](crate::event::Block::is_disturbed).
    #[serde(default)]
    pub blocks_disturbed: usize,
    /// Repetitions per sample; of making and freeing, datatypes.
    pub batch: u32,
    /// The median, in seconds.
    pub median_s: Option<f64>,
    /// Lower end of the median's 95% interval.
    pub median_low_s: Option<f64>,
    /// Upper end of the median's 95% interval.
    pub median_high_s: Option<f64>,
    /// The mean.
    pub mean_s: Option<f64>,
    /// Lower end of the mean's 90% interval by Student, under bench-pcomm's rule only.
    #[serde(default)]
    pub mean_low_s: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub mean_high_s: Option<f64>,
    /// The smallest sample.
    pub min_s: Option<f64>,
    /// The 90th percentile.
    pub p90_s: Option<f64>,
    /// The 99th percentile.
    pub p99_s: Option<f64>,
    /// The whole against that of the measured reference: (t - t_reference) / t. Of a ping-pong the pack overhead fraction,
    /// of a partitioned transfer the overhead against `single`. Of the whole only.
    pub overhead_reference: Option<f64>,
    /// Lower end of its 95% interval. Neither overhead nor gain nor speed-up stands without one.
    pub overhead_reference_low: Option<f64>,
    /// Upper end of its 95% interval.
    pub overhead_reference_high: Option<f64>,
    /// Share of timed packing and unpacking: of a ping-pong that of both ranks, each by its own clock, the pack overhead
    /// fraction without a reference; of a halo those of the ranks that take longest. Of the whole only.
    pub overhead_pack: Option<f64>,
    /// Lower end of its 95% interval; none where all of it is MPI's.
    #[serde(default)]
    pub overhead_pack_low: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub overhead_pack_high: Option<f64>,
    /// Payload per second one way: in half a round trip, summed over pairs; in the time to solution; or in the exchange, of
    /// the rank that sends most. Of the whole only.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Of partitioned transfers, as some of the next ones: see [`Transfer`](crate::summary::Transfer). Of the whole only.
    #[serde(default)]
    pub perceived_bandwidth_bytes_per_s: Option<f64>,
    /// Gain over the bulk-synchronous way without the time that threads compute: over `single`, or of a halo over `manual`.
    #[serde(default)]
    pub gain: Option<f64>,
    /// Lower end of its 95% interval.
    #[serde(default)]
    pub gain_low: Option<f64>,
    /// Upper end of its 95% interval.
    #[serde(default)]
    pub gain_high: Option<f64>,
    /// The gain that the model predicts of what was measured beside it. Neither this nor the three that follow stand without
    /// an interval.
    #[serde(default)]
    pub gain_model: Option<f64>,
    /// Speed-up over the same with the time that threads compute, as a fraction of its time.
    #[serde(default)]
    pub speedup: Option<f64>,
    /// Application availability.
    #[serde(default)]
    pub availability: Option<f64>,
    /// Share of the bytes that had arrived when the last partition became ready, or of a halo when the receiver had handed
    /// over its own.
    #[serde(default)]
    pub early_bird: Option<f64>,
    /// Messages, puts or requests of a transfer; of a halo the most of any rank; where the method knows.
    #[serde(default)]
    pub messages: Option<u64>,
    /// By how much the peer began to wait after the origin had begun, in seconds; negative where it was ready before. Of
    /// ping-pongs between two ranks.
    #[serde(default)]
    pub start_skew_s: Option<f64>,
    /// Core-to-core latency beside the blocks used, median, in seconds.
    pub state_latency_s: Option<f64>,
    /// How the method ended.
    pub outcome: String,
    /// The reason, where times are missing, or are no times.
    pub detail: Option<String>,
    /// Its time over the time of `manual`, the median over the rounds that both have. Of the whole only; missing without an interval.
    #[serde(default)]
    pub over_manual: Option<f64>,
    /// Lower end of its 95% interval.
    #[serde(default)]
    pub over_manual_low: Option<f64>,
    /// Upper end of its 95% interval.
    #[serde(default)]
    pub over_manual_high: Option<f64>,
    /// Whether its first and its second half part, so that no verdict is drawn.
    #[serde(default)]
    pub over_manual_unsteady: Option<bool>,
    /// Its time over the time of `manual_tuned`. Of the whole only; missing without an interval.
    #[serde(default)]
    pub over_manual_tuned: Option<f64>,
    /// Lower end of its 95% interval.
    #[serde(default)]
    pub over_manual_tuned_low: Option<f64>,
    /// Upper end of its 95% interval.
    #[serde(default)]
    pub over_manual_tuned_high: Option<f64>,
    /// Whether its first and its second half part, so that no verdict is drawn.
    #[serde(default)]
    pub over_manual_tuned_unsteady: Option<bool>,
    /// The method that none of those that an application could use beats, of this case and pair. Of the whole only.
    #[serde(default)]
    pub fastest: Option<String>,
    /// Its time over the time of the fastest. Of the whole only; missing without an interval.
    #[serde(default)]
    pub over_fastest: Option<f64>,
    /// Lower end of its 95% interval.
    #[serde(default)]
    pub over_fastest_low: Option<f64>,
    /// Upper end of its 95% interval.
    #[serde(default)]
    pub over_fastest_high: Option<f64>,
    /// Whether its first and its second half part, so that no verdict is drawn.
    #[serde(default)]
    pub over_fastest_unsteady: Option<bool>,
    /// Whether the first and the second half of the gain part.
    #[serde(default)]
    pub gain_unsteady: Option<bool>,
    /// Lower end of the speed-up's 95% interval.
    #[serde(default)]
    pub speedup_low: Option<f64>,
    /// Upper end of the speed-up's 95% interval.
    #[serde(default)]
    pub speedup_high: Option<f64>,
    /// Whether the times wandered during the run: see [`unsteady`](crate::stats::unsteady). Of the whole only; missing with
    /// fewer than six rounds.
    #[serde(default)]
    pub unsteady: Option<bool>,
    /// Which of the model's equations `gain_model` is of, `4` or `5`; `none` where neither applies.
    #[serde(default)]
    pub gain_model_equation: Option<String>,
    /// `gain` less `gain_model`.
    #[serde(default)]
    pub gain_difference: Option<f64>,
    /// Lower end of its 95% interval.
    #[serde(default)]
    pub gain_difference_low: Option<f64>,
    /// Upper end of its 95% interval.
    #[serde(default)]
    pub gain_difference_high: Option<f64>,
    /// Lower end of the 95% interval of `gain_model`, whose inputs are measured.
    #[serde(default)]
    pub gain_model_low: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub gain_model_high: Option<f64>,
    /// Lower end of the 95% interval of `availability`.
    #[serde(default)]
    pub availability_low: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub availability_high: Option<f64>,
    /// Lower end of the 95% interval of `early_bird`.
    #[serde(default)]
    pub early_bird_low: Option<f64>,
    /// Upper end of it.
    #[serde(default)]
    pub early_bird_high: Option<f64>,
    /// Threads that are runnable at the same time: see [`Load`].
    #[serde(default)]
    pub runnable_threads: Option<usize>,
    /// Hardware threads that they may run on. Where there are fewer, times hold waiting for a core.
    #[serde(default)]
    pub cores: Option<usize>,
    /// What the columns and methods mean: see [`earlier`](crate::earlier).
    #[serde(default = "crate::earlier::first")]
    pub schema: u32,
}

impl Record {
    /// Runnable threads and cores, where there are more of the former.
    pub fn oversubscribed(&self) -> Option<(usize, usize)> {
        self.runnable_threads.zip(self.cores).filter(|(threads, cores)| threads > cores)
    }
}
