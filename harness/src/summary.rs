//! Records from blocks: the figures of `summary.csv`, by the definitions of `t_pp`, `t_pack` and overhead.
//!
//! `t_pp` is the median round trip. `t_pack` is the packing and unpacking that lies within it, of both ranks, each by its
//! own clock; 0 for a datatype. What it leaves of a round trip is one estimate of the net time; the other, measured, is
//! the median round trip of the method's reference: the same number of contiguous bytes, written anew before each
//! repetition.

use std::collections::{BTreeMap, BTreeSet};

use crate::earlier::SCHEMA;
use crate::event::Block;
use crate::experiment::Experiment;
use crate::methods;
use crate::partitioned::mechanisms::is_by_launches;
use crate::plan::{Rule, pcomm};
use crate::record::{CaseResult, Measured, Phase, Record};
use crate::stats::{self, Ratio, State};

mod early;
mod exchange;
mod expected;
mod overhead;
mod ratios;
mod transfer;

use overhead::{Overhead, with_packing, without_packing};
use ratios::Rounds;
pub use transfer::Transfer;

/// The pair of a record of all pairs together.
const ALL_PAIRS: &str = "all";

/// What the machine was during a block, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockState {
    /// `0`, the faster or only state, `1`, or `mixed`: changed during the block.
    pub state: String,
    /// Whether figures rest on the block; never for a method without usable times.
    pub used: bool,
}

/// The state of each block: per method, in the order of its blocks.
///
/// States are told apart for each pair by itself, since pairs lie at different distances. The blocks used are
/// those of the rounds that passed wholly in one state, so that all methods are compared over the same time; or
/// all blocks where there is no such round.
///
/// Under bench-pcomm's rule a block is an attempt, and the last of each method is used.
pub fn block_states(methods: &[Measured], rule: Rule) -> Vec<Vec<BlockState>> {
    let none = BlockState { state: String::new(), used: false };
    let mut all: Vec<_> = methods.iter().map(|method| vec![none.clone(); method.blocks.len()]).collect();
    // What is measured in launches of its own shares no round with the others.
    let groups = pairs(methods).into_iter().flat_map(|pair| [(pair, false), (pair, true)]);
    for (pair, by_launches) in groups {
        let of_pair = || {
            let blocks = |(m, method)| indexed(method).map(move |(b, block): (usize, &Block)| (m, b, block));
            let of_group =
                move |(_, method): &(usize, &Measured)| is_by_launches(&method.method) == by_launches;
            let all = methods.iter().enumerate().filter(of_group).flat_map(blocks);
            all.filter(move |(_, _, block)| block.pair == pair)
        };
        if of_pair().next().is_none() {
            continue;
        }
        let is_measured = |m: usize| methods[m].outcome.is_measured();
        let machines: Vec<_> = of_pair().map(|(_, _, block)| (block.before, block.after)).collect();
        let states = stats::states(&machines);
        let mut rounds: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for ((m, _, block), &state) in of_pair().zip(&states) {
            if is_measured(m) {
                rounds.entry(block.block).or_default().push(state);
            }
        }
        let chosen = stats::used_state(&rounds.values().cloned().collect::<Vec<_>>());
        for ((m, b, block), &state) in of_pair().zip(&states) {
            let in_chosen = || chosen.is_none_or(|chosen| stats::passed_in(&rounds[&block.block], chosen));
            let is_last = || methods[m].blocks[b + 1..].iter().all(|later| later.pair != pair);
            let counts = || match rule {
                Rule::Interval => in_chosen(),
                Rule::Pcomm => is_last(),
            };
            let used = is_measured(m) && counts();
            all[m][b] = BlockState { state: state.name().to_owned(), used };
        }
    }
    all
}

/// Whether the interval of each method's median of the `whole` phase lies within `precision` of it, by the same blocks that
/// its figures will rest on.
pub fn narrow(methods: &[Measured], whole: Phase, precision: f64) -> Vec<bool> {
    let (states, pairs) = (block_states(methods, Rule::Interval), pairs(methods));
    let views =
        methods.iter().zip(&states).map(|(method, states)| View { method, states, rule: Rule::Interval });
    let is_narrow = |view: View<'_>| {
        let rounds: Vec<_> = view.rounds(whole, Scope::All(&pairs)).into_values().collect();
        stats::is_narrow(&rounds, precision)
    };
    views.map(is_narrow).collect()
}

/// A method's blocks with their places.
fn indexed(method: &Measured) -> impl Iterator<Item = (usize, &Block)> {
    method.blocks.iter().enumerate()
}

/// The numbers of the pairs, rising.
fn pairs(methods: &[Measured]) -> BTreeSet<usize> {
    methods.iter().flat_map(|method| &method.blocks).map(|block| block.pair).collect()
}

/// The records of a case: per measured method and phase with samples one of all pairs, then one per pair if there
/// are several. A method without usable times has one record without figures.
pub fn records(result: &CaseResult) -> Vec<Record> {
    let (rule, states) = (result.rule, block_states(&result.methods, result.rule));
    let views: Vec<_> =
        result.methods.iter().zip(&states).map(|(method, states)| View { method, states, rule }).collect();
    let experiment = result.case.experiment;
    let reference_of = |method: &View<'_>| {
        let name = experiment.reference_of(&method.method.method);
        let of_name = views.iter().find(|view| name == Some(&view.method.method));
        of_name.filter(|view| view.method.outcome.is_measured())
    };
    let pairs = pairs(&result.methods);
    let mut scopes = vec![Scope::All(&pairs)];
    if pairs.len() > 1 {
        scopes.extend(pairs.iter().map(|&pair| Scope::One(pair)));
    }
    let mut records = Vec::new();
    for view in &views {
        let before = records.len();
        if view.method.outcome.is_measured() {
            for &phase in experiment.phases() {
                records.extend(
                    scopes
                        .iter()
                        .filter_map(|&scope| record(result, view, &views, reference_of(view), phase, scope)),
                );
            }
        }
        if records.len() == before {
            records.push(empty(result, view.method));
        }
    }
    ratios::add(&mut records, &views, &scopes, experiment);
    records
}

/// The pairs that a record is of.
#[derive(Clone, Copy)]
enum Scope<'a> {
    All(&'a BTreeSet<usize>),
    One(usize),
}

impl Scope<'_> {
    fn has(self, pair: usize) -> bool {
        match self {
            Self::All(_) => true,
            Self::One(one) => one == pair,
        }
    }

    fn label(self) -> String {
        match self {
            Self::All(_) => ALL_PAIRS.to_owned(),
            Self::One(pair) => pair.to_string(),
        }
    }
}

/// A method's blocks with what was found of their states.
struct View<'a> {
    method: &'a Measured,
    states: &'a [BlockState],
    rule: Rule,
}

impl<'a> View<'a> {
    /// Blocks of some pairs that have samples of a phase: those used, or those left out. What is done once, before the
    /// first block, counts whatever state that one was in: there is no other.
    fn blocks(&self, phase: Phase, scope: Scope<'_>, used: bool) -> Vec<&'a Block> {
        let all = self.method.blocks.iter().zip(self.states);
        let is_once = phase == Phase::Init;
        let of = all.filter(|(block, state)| (state.used || is_once) == used && scope.has(block.pair));
        of.map(|(block, _)| block).filter(|block| !phase.samples(block).is_empty()).collect()
    }

    /// The samples of the blocks used, of all pairs together, by the number of their round. Attempts that count stand for
    /// one round, whenever they were made.
    fn rounds(&self, phase: Phase, scope: Scope<'_>) -> Rounds {
        self.rounds_of(phase, scope, |block| phase.samples(block).to_vec())
    }

    /// The same of what is made of a block's samples, of the blocks that have any of `phase`.
    fn rounds_of(&self, phase: Phase, scope: Scope<'_>, samples: impl Fn(&Block) -> Vec<f64>) -> Rounds {
        let mut rounds = Rounds::new();
        for block in self.blocks(phase, scope, true) {
            let round = match self.rule {
                Rule::Interval => block.block,
                Rule::Pcomm => 0,
            };
            rounds.entry(round).or_default().extend(samples(block));
        }
        rounds
    }

    /// Whether blocks of different states are used for one pair, for want of better ones.
    fn mixes_states(&self, scope: Scope<'_>) -> bool {
        let mut states: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for (block, state) in self.method.blocks.iter().zip(self.states) {
            if state.used && scope.has(block.pair) {
                states.entry(block.pair).or_default().insert(&state.state);
            }
        }
        states.values().any(|states| states.len() > 1 || states.contains(State::Mixed.name()))
    }

    /// The ratio of another's times to these; `None` without an interval.
    fn ratio(&self, other: &View<'_>, phase: Phase, scope: Scope<'_>) -> Option<Ratio> {
        ratios::ratio(&other.rounds(phase, scope), &self.rounds(phase, scope), self.rule)
    }

    /// The median over the blocks used.
    fn median(&self, phase: Phase, scope: Scope<'_>) -> Option<f64> {
        let blocks = self.blocks(phase, scope, true);
        stats::median(&stats::sorted(blocks.into_iter().flat_map(|block| phase.samples(block)).copied()))
    }
}

/// The record of a phase; `None` without samples.
fn record(
    result: &CaseResult,
    view: &View<'_>,
    views: &[View<'_>],
    reference: Option<&View<'_>>,
    phase: Phase,
    scope: Scope<'_>,
) -> Option<Record> {
    let blocks = view.blocks(phase, scope, true);
    let samples = stats::sorted(blocks.iter().flat_map(|block| phase.samples(block).iter().copied()));
    let median = stats::median(&samples)?;
    let rounds: Vec<_> = view.rounds(phase, scope).into_values().collect();
    let interval = stats::blocks_interval(&rounds);
    let latencies = blocks.iter().flat_map(|block| [block.before.latency_s, block.after.latency_s]);
    // What is made and freed has batches of its own, whatever those of the repetitions are.
    let batch_of = |block: &&Block| match phase {
        Phase::Create => block.made_in_a_row.max(1),
        Phase::Free => block.freed_in_a_row.max(1),
        Phase::Init => 1,
        _ => block.batch,
    };
    let batch = blocks.iter().map(batch_of).max()?;
    let (mean_interval, blocks_other_state) = match result.rule {
        Rule::Interval => (None, view.blocks(phase, scope, false).len()),
        // Earlier attempts are left out as well, whatever the machine was then.
        Rule::Pcomm => (stats::student_interval(&samples, pcomm::LEVEL), 0),
    };
    let mut record = Record {
        phase,
        pair: scope.label(),
        n: samples.len(),
        blocks: blocks.len(),
        blocks_other_state,
        mixed_states: view.mixes_states(scope),
        blocks_disturbed: blocks.iter().filter(|block| block.is_disturbed()).count(),
        batch,
        median_s: Some(median),
        median_low_s: interval.map(|interval| interval.0),
        median_high_s: interval.map(|interval| interval.1),
        mean_s: stats::mean(&samples),
        mean_low_s: mean_interval.map(|(mean, half)| mean - half),
        mean_high_s: mean_interval.map(|(mean, half)| mean + half),
        min_s: samples.first().copied(),
        p90_s: stats::quantile(&samples, 0.9),
        p99_s: stats::quantile(&samples, 0.99),
        state_latency_s: stats::median(&stats::sorted(latencies.filter(|&latency| latency > 0.0))),
        ..empty(result, view.method)
    };
    let experiment = result.case.experiment;
    if phase != experiment.whole() {
        return Some(record);
    }
    if result.rule == Rule::Pcomm {
        record.detail = record.mean_s.and_then(pcomm::complaint);
    }
    let against = reference.and_then(|reference| against_reference(view, reference, phase, scope));
    record.overhead_reference = against.map(|overhead| overhead.value);
    (record.overhead_reference_low, record.overhead_reference_high) =
        against.map(|overhead| overhead.interval).unzip();
    match experiment {
        Experiment::PingPong => {
            if !methods::find(&view.method.method).is_ok_and(|method| method.is_reference) {
                add_packing(&mut record, view, scope, with_packing, without_packing);
            }
            let skews = blocks.iter().filter_map(|block| block.start_skew_s);
            record.start_skew_s = stats::median(&stats::sorted(skews));
            record.bandwidth_bytes_per_s = bandwidth(result.message.bytes, view, scope);
        }
        Experiment::Partitioned => transfer::add(&mut record, result, view, reference, scope),
        Experiment::Halo => exchange::add(&mut record, result, view, views, scope),
    }
    Some(record)
}

/// The share of timed packing and unpacking in a whole, by what they leave of it; 0 where all of it is MPI's.
fn add_packing(
    record: &mut Record,
    view: &View<'_>,
    scope: Scope<'_>,
    whole: fn(&Block) -> Vec<f64>,
    without: fn(&Block) -> Vec<f64>,
) {
    let of = |samples: fn(&Block) -> Vec<f64>| view.rounds_of(record.phase, scope, samples);
    let has_parts = |phase| view.median(phase, scope).is_some();
    if !has_parts(Phase::Pack) && !has_parts(Phase::Unpack) {
        record.overhead_pack = Some(0.0);
        return;
    }
    let packing = Overhead::of(&of(whole), &of(without));
    record.overhead_pack = packing.map(|overhead| overhead.value);
    (record.overhead_pack_low, record.overhead_pack_high) = packing.map(|overhead| overhead.interval).unzip();
}

/// The overhead of a whole against that of the measured reference; under bench-pcomm's rule by the ratio of means.
fn against_reference(
    view: &View<'_>,
    reference: &View<'_>,
    whole: Phase,
    scope: Scope<'_>,
) -> Option<Overhead> {
    match view.rule {
        Rule::Interval => Overhead::of(&view.rounds(whole, scope), &reference.rounds(whole, scope)),
        Rule::Pcomm => {
            let ratio = view.ratio(reference, whole, scope)?;
            let (low, high) = ratio.interval?;
            Some(Overhead { value: 1.0 - ratio.value, interval: (1.0 - high, 1.0 - low) })
        }
    }
}

/// Payload per second one way; pairs send at the same time, so that theirs add up.
fn bandwidth(bytes: u64, view: &View<'_>, scope: Scope<'_>) -> Option<f64> {
    let of_pair = |pair: usize| {
        let t_pp = view.median(Phase::RoundTrip, Scope::One(pair))?;
        finite(bytes as f64 / (t_pp / 2.0))
    };
    match scope {
        Scope::One(pair) => of_pair(pair),
        Scope::All(pairs) => pairs.iter().map(|&pair| of_pair(pair)).sum(),
    }
}

/// A quotient, unless the clock saw no time at all.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// A method's record without any figures.
fn empty(result: &CaseResult, method: &Measured) -> Record {
    let case = &result.case;
    Record {
        test: case.test.clone(),
        set: case.set.clone(),
        params: case.params.clone(),
        mpi: case.mpi.clone(),
        ranks: case.ranks,
        cache: case.cache.clone(),
        method: method.method.clone(),
        phase: case.experiment.whole(),
        pair: ALL_PAIRS.to_owned(),
        bytes: result.message.bytes,
        segments: result.message.segments,
        outcome: method.outcome.label().to_owned(),
        detail: method.outcome.detail().map(str::to_owned),
        schema: SCHEMA,
        runnable_threads: result.load.map(|load| load.runnable_threads),
        cores: result.load.map(|load| load.cores),
        ..Record::default()
    }
}

#[cfg(test)]
mod tests;
