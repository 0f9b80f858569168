//! Records: the results for one phase of one method of a case.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::conditions::Rule;
use super::event::{Block, MessageFacts};
use super::load::Load;
use super::{Case, Figure, Outcome, Phase, Quantity, SCHEMA};
use crate::stats::SlowSamples;

/// All results for one method of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub method: String,
    pub outcome: Outcome,
    /// Its blocks, of all pairs, in the order in which they arrived.
    pub blocks: Vec<Block>,
}

/// A finished case of one launch: the request, the message, and the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseResult {
    pub case: Arc<Case>,
    /// The launch, from 0.
    pub launch: usize,
    /// The rule by which it was measured; it determines which blocks count.
    pub rule: Rule,
    /// The message's size and segments.
    pub message: MessageFacts,
    /// Threads and the cores that they share, if known.
    pub load: Option<Load>,
    /// The thread level that `MPI_Init_thread` provided, if known.
    pub thread_level: Option<String>,
    /// The results per method, in the order in which methods were requested.
    pub methods: Vec<Measured>,
}

/// The state of the machine during a block: blocks are compared only with blocks in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The same state before and after: 0, the faster or only one, or 1.
    Steady(u8),
    /// The state changed during the block.
    Mixed,
}

impl State {
    /// The name in the `state` column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady(0) => "0",
            Self::Steady(_) => "1",
            Self::Mixed => "mixed",
        }
    }
}

/// The state of the machine during a block, and whether the block is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// The state; `None` if it is not known.
    pub state: Option<State>,
    /// Whether results rest on the block; never for a method without usable times.
    pub used: bool,
}

/// The pairs of ranks that a record is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PairScope {
    /// The samples of all pairs together. With one pair, this is the only scope.
    #[default]
    All,
    /// One pair, by its number.
    One(usize),
}

impl PairScope {
    /// Whether it includes a pair.
    pub fn has(self, pair: usize) -> bool {
        self == Self::All || self == Self::One(pair)
    }
}

impl fmt::Display for PairScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::One(pair) => pair.fmt(f),
        }
    }
}

impl From<PairScope> for String {
    fn from(scope: PairScope) -> Self {
        scope.to_string()
    }
}

impl TryFrom<String> for PairScope {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "all" => Ok(Self::All),
            _ => text.parse().map(Self::One).map_err(|_| format!("{text:?} is not a pair's number or `all`")),
        }
    }
}

/// The basis of an interval, which determines its meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The blocks of one launch: it does not cover other launches.
    #[default]
    WithinLaunch,
    /// Three to five launches: Student's t of logarithms.
    LaunchesT,
    /// Six launches or more: order statistics.
    Launches,
}

/// One phase of one method of one case, for one pair or all pairs, and for one launch or all launches.
///
/// A method without times (`outcome` has the reason) has a single record, with the headline phase and no
/// figures. A statistic that does not exist is `None`, an empty cell, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The case. In a table its columns come first; they are read separately.
    #[serde(skip_deserializing)]
    pub case: Arc<Case>,
    pub method: String,
    /// The launch, from 0; `None` (an empty cell) for all launches together.
    pub launch: Option<usize>,
    /// The timed part.
    pub phase: Phase,
    pub pair: PairScope,
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Launches that the values are derived from.
    pub launches: usize,
    pub basis: Basis,
    /// Samples that the values are derived from.
    pub n: usize,
    /// Blocks that the values are derived from.
    pub blocks: usize,
    /// Blocks left out because the machine was in another state.
    pub blocks_other_state: usize,
    /// Whether blocks of different states had to be used, because no round passed in one state.
    pub mixed_states: bool,
    /// Disturbed blocks among those used: see [`Block::is_disturbed`].
    pub blocks_disturbed: usize,
    /// Repetitions per sample; for creating and freeing, datatypes per sample.
    pub batch: u32,
    pub median_s: Option<f64>,
    /// Lower end of the median's 95% interval.
    pub median_low_s: Option<f64>,
    /// Upper end of the median's 95% interval.
    pub median_high_s: Option<f64>,
    /// Lower end of the range in which the median of another run soon afterwards would be in 95% of cases; from three launches on.
    pub repeat_low_s: Option<f64>,
    /// Upper end of this range.
    pub repeat_high_s: Option<f64>,
    pub mean_s: Option<f64>,
    /// Lower end of the mean's 90% interval by Student; only under bench-pcomm's rule.
    pub mean_low_s: Option<f64>,
    pub mean_high_s: Option<f64>,
    /// The smallest sample.
    pub min_s: Option<f64>,
    /// The 90th percentile. This and the next two are missing if there are too few samples for one to be above them.
    pub p90_s: Option<f64>,
    /// The 99th percentile.
    pub p99_s: Option<f64>,
    /// The 99.9th percentile.
    pub p999_s: Option<f64>,
    /// The largest sample.
    pub max_s: Option<f64>,
    /// Share of the samples that are slow: see [`SlowSamples`].
    pub slow_samples: Option<f64>,
    /// Share of the time that they take.
    pub slow_time: Option<f64>,
    /// Core-to-core latency measured with the blocks used, median, in seconds. For several launches together
    /// that of their state of the machine, the same for all methods of a case.
    pub state_latency_s: Option<f64>,
    /// A core's copy rate within its cache, measured with the blocks used, median, in bytes per second.
    pub state_copy_bytes_per_s: Option<f64>,
    /// Whether the times changed their level during the run. Only for the headline phase; missing with fewer than six rounds.
    pub unsteady: Option<bool>,
    /// The best of the methods that an application could use: none of them is faster, for this case and pair.
    /// Only for the headline phase.
    pub fastest: Option<String>,
    /// Threads that are runnable at the same time: see [`Load`].
    pub runnable_threads: Option<usize>,
    /// Hardware threads that they may run on. With fewer of these than threads, times include waiting for a core.
    pub cores: Option<usize>,
    /// How the method ended. In a table it has two columns, which are read separately.
    #[serde(skip_deserializing, serialize_with = "Outcome::as_columns")]
    pub outcome: Outcome,
    /// The part of the run: 0 until it was first resumed; missing for launches of several parts together.
    pub part: Option<usize>,
    /// The version of the meaning of columns and methods.
    pub schema: u32,
    /// The thread level that `MPI_Init_thread` provided, by its name in the standard.
    pub thread_level: Option<String>,
    /// The figures derived from the times; a separate table.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// The number of the state of the machine that its launches were in, among those of the run, from 0, the
    /// fastest. `None` for a single launch, and if the state was not measured or changed within the launches.
    #[serde(skip)]
    pub state: Option<usize>,
}

impl Record {
    /// Whether the method has failed for another reason than a function that the MPI lacks.
    pub fn has_failed(&self) -> bool {
        !self.outcome.counts() && !self.outcome.is_lacking()
    }

    /// The record of a method without any figures, except for the facts about its case.
    pub fn empty(result: &CaseResult, measured: &Measured, phase: Phase) -> Self {
        Self {
            case: result.case.clone(),
            method: measured.method.clone(),
            launch: Some(result.launch),
            launches: 1,
            phase,
            bytes: result.message.bytes,
            segments: result.message.segments,
            outcome: measured.outcome.clone(),
            schema: SCHEMA,
            runnable_threads: result.load.map(|load| load.runnable_threads),
            cores: result.load.map(|load| load.cores),
            thread_level: result.thread_level.clone(),
            ..Self::default()
        }
    }

    /// The MPIs of records, as shown in tables, in their order of appearance.
    pub fn mpis(records: &[Self]) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for label in Self::cases(records).map(|case| case.mpi_label()) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    /// The cases of records: one for each series of consecutive records that share it.
    pub fn cases(records: &[Self]) -> impl Iterator<Item = &Arc<Case>> {
        records.chunk_by(|a, b| Arc::ptr_eq(&a.case, &b.case)).map(|of_case| &of_case[0].case)
    }

    /// Its case for modification; afterwards no other record shares it.
    pub fn case_mut(&mut self) -> &mut Case {
        Arc::make_mut(&mut self.case)
    }

    /// Assigns records to another run. Consecutive records that shared a case share one again.
    pub fn name_run<'a>(records: impl IntoIterator<Item = &'a mut Self>, run: &str) {
        let mut last: Option<(Arc<Case>, Arc<Case>)> = None;
        for record in records {
            let (_, named) = match last.take() {
                Some(same) if Arc::ptr_eq(&same.0, &record.case) => last.insert(same),
                _ => {
                    let named = Case { run: run.to_owned(), ..(*record.case).clone() };
                    last.insert((Arc::clone(&record.case), Arc::new(named)))
                }
            };
            record.case = Arc::clone(named);
        }
    }

    /// The figure of a quantity that has at most one.
    pub fn figure(&self, quantity: Quantity) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }

    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.figure(quantity)?.value
    }

    /// Its time relative to that of another method.
    pub fn over(&self, method: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == Quantity::TimeOver && figure.against == method)
    }

    pub fn slow(&self) -> Option<SlowSamples> {
        Some(SlowSamples { samples: self.slow_samples?, time: self.slow_time? })
    }

    /// Whether its mean can be a time, or is missing. A difference between the times of two clocks can be negative.
    pub fn has_positive_mean(&self) -> bool {
        self.mean_s.is_none_or(|mean| mean > 0.0)
    }

    /// Adds a figure, if there is one.
    pub fn add(&mut self, figure: impl IntoIterator<Item = Figure>) {
        self.figures.extend(figure);
    }

    /// Runnable threads and cores, if there are more threads than cores.
    pub fn oversubscribed(&self) -> Option<(usize, usize)> {
        self.runnable_threads.zip(self.cores).filter(|(threads, cores)| threads > cores)
    }
}
