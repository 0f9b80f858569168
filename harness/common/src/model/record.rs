//! Records: what was made of one phase of one method of a case.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::conditions::Rule;
use super::event::{Block, MessageFacts};
use super::load::Load;
use super::{Case, Figure, Outcome, Phase, Quantity, SCHEMA};
use crate::stats::SlowSamples;

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

/// A finished case of one launch: what was asked, what the message is, what came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseResult {
    /// What was measured.
    pub case: Arc<Case>,
    /// The launch, from 0.
    pub launch: usize,
    /// The rule by which it was measured: it says which blocks count.
    pub rule: Rule,
    /// The message's size and segments.
    pub message: MessageFacts,
    /// Threads and the cores that they share, where that is known.
    pub load: Option<Load>,
    /// Level of `MPI_Init_thread` in force, where that is known.
    pub thread_level: Option<String>,
    /// Per method, in the order in which they were asked for.
    pub methods: Vec<Measured>,
}

/// The state of the machine during a block: blocks are compared only with blocks in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Before and after in one state: 0, the faster or only one, or 1.
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

/// What the machine was during a block, and what follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// The state; `None` if it is not known.
    pub state: Option<State>,
    /// Whether figures rest on the block; never for a method without usable times.
    pub used: bool,
}

/// The pairs of ranks that a record is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PairScope {
    /// The samples of all pairs together. With one pair there are no others.
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

/// What an interval is made of, and so what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The blocks of one launch: it says nothing of another launch.
    #[default]
    WithinLaunch,
    /// Three to five launches: Student's t of logarithms.
    LaunchesT,
    /// Six launches or more: order statistics.
    Launches,
}

/// One phase of one method of one case, of one pair or of all: of one launch, or over all of them.
///
/// A method without times (`outcome` says why) has a single record, with the headline phase and no figures. A statistic that
/// does not exist is `None`, an empty cell, never 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The case. In a table its columns come first; they are read by themselves.
    #[serde(skip_deserializing)]
    pub case: Arc<Case>,
    /// The method's name.
    pub method: String,
    /// The launch, from 0; `None`, an empty cell: over all launches.
    pub launch: Option<usize>,
    /// The timed part.
    pub phase: Phase,
    /// The pair, or all of them.
    pub pair: PairScope,
    /// Bytes on the wire from one rank.
    pub bytes: u64,
    /// Merged segments of the send side.
    pub segments: u64,
    /// Launches that the figures rest on.
    pub launches: usize,
    /// What intervals are made of.
    pub basis: Basis,
    /// Samples that the figures rest on.
    pub n: usize,
    /// Blocks that the figures rest on.
    pub blocks: usize,
    /// Blocks left out because the machine was in another state.
    pub blocks_other_state: usize,
    /// Whether blocks of different states had to be used, since no round passed in one.
    pub mixed_states: bool,
    /// Blocks used that were disturbed: see [`Block::is_disturbed`].
    pub blocks_disturbed: usize,
    /// Repetitions per sample; of making and freeing, datatypes.
    pub batch: u32,
    /// The median, in seconds.
    pub median_s: Option<f64>,
    /// Lower end of the median's 95% interval.
    pub median_low_s: Option<f64>,
    /// Upper end of the median's 95% interval.
    pub median_high_s: Option<f64>,
    /// Lower end of where the median of another run soon afterwards would be in 95% of cases; from three launches on.
    pub repeat_low_s: Option<f64>,
    /// Upper end of it.
    pub repeat_high_s: Option<f64>,
    /// The mean.
    pub mean_s: Option<f64>,
    /// Lower end of the mean's 90% interval by Student, under bench-pcomm's rule only.
    pub mean_low_s: Option<f64>,
    /// Upper end of it.
    pub mean_high_s: Option<f64>,
    /// The smallest sample.
    pub min_s: Option<f64>,
    /// The 90th percentile; this and the next two are missing with too few samples for one beyond them.
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
    /// Core-to-core latency beside the blocks used, median, in seconds.
    pub state_latency_s: Option<f64>,
    /// How fast a core copies within its cache beside the blocks used, median, in bytes per second.
    pub state_copy_bytes_per_s: Option<f64>,
    /// Whether the times wandered during the run. Of the headline phase only; missing with fewer than six rounds.
    pub unsteady: Option<bool>,
    /// The method that none of those that an application could use beats, of this case and pair. Of the headline phase only.
    pub fastest: Option<String>,
    /// Threads that are runnable at the same time: see [`Load`].
    pub runnable_threads: Option<usize>,
    /// Hardware threads that they may run on. Where there are fewer, times hold waiting for a core.
    pub cores: Option<usize>,
    /// How the method ended. In a table it has two columns, which are read by themselves.
    #[serde(skip_deserializing, serialize_with = "Outcome::as_columns")]
    pub outcome: Outcome,
    /// The part of the run: 0 until it was first resumed; missing over launches of several parts.
    pub part: Option<usize>,
    /// The version of what columns and methods mean.
    pub schema: u32,
    /// Level of `MPI_Init_thread` in force, by its name in the standard.
    pub thread_level: Option<String>,
    /// What is made of the times; a table of its own.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// Over launches: what they came to in each state of the machine that they met, the fastest first; empty if that is not known.
    #[serde(skip)]
    pub states: Vec<InState>,
}

/// The launches that met the machine in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InState {
    /// Its number among the states of the run, from 0, the fastest.
    pub number: usize,
    /// Core-to-core latency, their median, in seconds.
    pub latency_s: f64,
    /// How many launches.
    pub launches: usize,
    /// The median of their medians, in seconds.
    pub median_s: Option<f64>,
    /// Figures over these launches.
    pub figures: Vec<Figure>,
}

impl Record {
    /// Whether the method has failed, other than because the MPI lacks what it needs.
    pub fn has_failed(&self) -> bool {
        !self.outcome.counts() && !self.outcome.is_lacking()
    }

    /// The record of a method without any figures, but for what is known of its case.
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

    /// The MPIs of records, as tables name them, in the order in which they came.
    pub fn mpis(records: &[Self]) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for label in Self::cases(records).map(|case| case.mpi_label()) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    /// The cases of records: once for those that stand together and share one.
    pub fn cases(records: &[Self]) -> impl Iterator<Item = &Arc<Case>> {
        records.chunk_by(|a, b| Arc::ptr_eq(&a.case, &b.case)).map(|of_case| &of_case[0].case)
    }

    /// Its case, to be changed: it then shares it with no other record.
    pub fn case_mut(&mut self) -> &mut Case {
        Arc::make_mut(&mut self.case)
    }

    /// Gives records another run. Those that shared a case, and stood together, share one again.
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

    /// The figure of a quantity of which there is one at most.
    pub fn figure(&self, quantity: Quantity) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == quantity)
    }

    /// The value of such a figure.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.figure(quantity)?.value
    }

    /// A figure in each state of the machine that its launches met, with the state's latency in seconds.
    pub fn in_states(&self, figure: &Figure) -> impl Iterator<Item = (f64, &Figure)> {
        let is_it = |other: &&Figure| (other.quantity, &other.against) == (figure.quantity, &figure.against);
        self.states.iter().filter_map(move |state| Some((state.latency_s, state.figures.iter().find(is_it)?)))
    }

    /// Its time over that of another method.
    pub fn over(&self, method: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.quantity == Quantity::TimeOver && figure.against == method)
    }

    /// Its slow samples, where that is known.
    pub fn slow(&self) -> Option<SlowSamples> {
        Some(SlowSamples { samples: self.slow_samples?, time: self.slow_time? })
    }

    /// Whether its mean can be a time, or is missing. A difference of two clocks' times can be negative.
    pub fn has_positive_mean(&self) -> bool {
        self.mean_s.is_none_or(|mean| mean > 0.0)
    }

    /// Adds a figure, where there is one.
    pub fn add(&mut self, figure: impl IntoIterator<Item = Figure>) {
        self.figures.extend(figure);
    }

    /// Runnable threads and cores, where there are more of the former.
    pub fn oversubscribed(&self) -> Option<(usize, usize)> {
        self.runnable_threads.zip(self.cores).filter(|(threads, cores)| threads > cores)
    }
}
