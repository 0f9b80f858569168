//! Records from blocks: the figures of `summary.csv`, by the definitions of `t_pp`, `t_pack` and overhead.
//!
//! `t_pp` is the median round trip. `t_pack` is the median of packing plus that of unpacking at the origin, twice,
//! since the peer packs and unpacks as well within the round trip; 0 for a datatype. `t_reference` is the median
//! round trip of the method `reference`: the same number of contiguous bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::Block;
use crate::record::{CaseResult, Measured, Phase, Record};
use crate::stats::{self, State};

/// The method that all others are compared with.
const REFERENCE: &str = "reference";

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
/// those of the state in which every measured method has some, or all blocks where there is none such.
pub fn block_states(result: &CaseResult) -> Vec<Vec<BlockState>> {
    let none = BlockState { state: String::new(), used: false };
    let mut all: Vec<_> =
        result.methods.iter().map(|method| vec![none.clone(); method.blocks.len()]).collect();
    for pair in pairs(result) {
        let of_pair = || {
            let blocks = |(m, method)| indexed(method).map(move |(b, block): (usize, &Block)| (m, b, block));
            result.methods.iter().enumerate().flat_map(blocks).filter(move |(_, _, block)| block.pair == pair)
        };
        let machines: Vec<_> = of_pair().map(|(_, _, block)| (block.before, block.after)).collect();
        let states = stats::states(&machines);
        let mut measured: Vec<Vec<State>> = vec![Vec::new(); result.methods.len()];
        for ((m, _, _), &state) in of_pair().zip(&states) {
            if result.methods[m].outcome.is_measured() {
                measured[m].push(state);
            }
        }
        measured.retain(|states| !states.is_empty());
        let chosen = stats::used_state(&measured);
        for ((m, b, _), &state) in of_pair().zip(&states) {
            let used = result.methods[m].outcome.is_measured() && chosen.is_none_or(|chosen| chosen == state);
            all[m][b] = BlockState { state: state.name().to_owned(), used };
        }
    }
    all
}

/// A method's blocks with their places.
fn indexed(method: &Measured) -> impl Iterator<Item = (usize, &Block)> {
    method.blocks.iter().enumerate()
}

/// The numbers of the pairs, rising.
fn pairs(result: &CaseResult) -> BTreeSet<usize> {
    result.methods.iter().flat_map(|method| &method.blocks).map(|block| block.pair).collect()
}

/// The records of a case: per measured method and phase with samples one of all pairs, then one per pair if there
/// are several. A method without usable times has one record without figures.
pub fn records(result: &CaseResult) -> Vec<Record> {
    let states = block_states(result);
    let views: Vec<_> =
        result.methods.iter().zip(&states).map(|(method, states)| View { method, states }).collect();
    let reference =
        views.iter().find(|view| view.method.method == REFERENCE && view.method.outcome.is_measured());
    let pairs = pairs(result);
    let mut scopes = vec![Scope::All(&pairs)];
    if pairs.len() > 1 {
        scopes.extend(pairs.iter().map(|&pair| Scope::One(pair)));
    }
    let mut records = Vec::new();
    for view in &views {
        let before = records.len();
        if view.method.outcome.is_measured() {
            for phase in Phase::ALL {
                records
                    .extend(scopes.iter().filter_map(|&scope| record(result, view, reference, phase, scope)));
            }
        }
        if records.len() == before {
            records.push(empty(result, view.method));
        }
    }
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
}

impl<'a> View<'a> {
    /// Blocks of some pairs that have samples of a phase: those used, or those left out.
    fn blocks(&self, phase: Phase, scope: Scope<'_>, used: bool) -> Vec<&'a Block> {
        let all = self.method.blocks.iter().zip(self.states);
        let of = all.filter(|(block, state)| state.used == used && scope.has(block.pair));
        of.map(|(block, _)| block).filter(|block| !phase.samples(block).is_empty()).collect()
    }

    /// The samples of each block used.
    fn samples(&self, phase: Phase, scope: Scope<'_>) -> Vec<&'a [f64]> {
        self.blocks(phase, scope, true).into_iter().map(|block| phase.samples(block)).collect()
    }

    /// The median over the blocks used.
    fn median(&self, phase: Phase, scope: Scope<'_>) -> Option<f64> {
        stats::median(&stats::sorted(self.samples(phase, scope).concat()))
    }
}

/// The record of a phase; `None` without samples.
fn record(
    result: &CaseResult,
    view: &View<'_>,
    reference: Option<&View<'_>>,
    phase: Phase,
    scope: Scope<'_>,
) -> Option<Record> {
    let blocks = view.blocks(phase, scope, true);
    let samples = stats::sorted(blocks.iter().flat_map(|block| phase.samples(block).iter().copied()));
    let median = stats::median(&samples)?;
    let interval = stats::blocks_interval(&by_number(&blocks, phase));
    let latencies = blocks.iter().flat_map(|block| [block.before.latency_s, block.after.latency_s]);
    // Creation and freeing are timed one by one, whatever the repetitions are.
    let is_batched = !matches!(phase, Phase::Create | Phase::Free);
    let batch = if is_batched { blocks.iter().map(|block| block.batch).max()? } else { 1 };
    let mut record = Record {
        phase,
        pair: scope.label(),
        n: samples.len(),
        blocks: blocks.len(),
        blocks_other_state: view.blocks(phase, scope, false).len(),
        batch,
        median_s: Some(median),
        median_low_s: interval.map(|interval| interval.0),
        median_high_s: interval.map(|interval| interval.1),
        mean_s: stats::mean(&samples),
        min_s: samples.first().copied(),
        p90_s: stats::quantile(&samples, 0.9),
        p99_s: stats::quantile(&samples, 0.99),
        state_latency_s: stats::median(&stats::sorted(latencies.filter(|&latency| latency > 0.0))),
        ..empty(result, view.method)
    };
    if phase == Phase::RoundTrip {
        add_overheads(&mut record, view, reference, scope, median);
        record.bandwidth_bytes_per_s = bandwidth(result.message.bytes, view, scope);
    }
    Some(record)
}

/// The samples of blocks that ran at the same time, of all pairs, together.
fn by_number(blocks: &[&Block], phase: Phase) -> Vec<Vec<f64>> {
    let mut together: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for block in blocks {
        together.entry(block.block).or_default().extend(phase.samples(block));
    }
    together.into_values().collect()
}

/// Both overheads of a round trip: by the timed packing, and by the measured reference.
fn add_overheads(
    record: &mut Record,
    view: &View<'_>,
    reference: Option<&View<'_>>,
    scope: Scope<'_>,
    t_pp: f64,
) {
    if view.method.method == REFERENCE {
        return;
    }
    let at_origin = [Phase::Pack, Phase::Unpack].map(|phase| view.median(phase, scope).unwrap_or(0.0));
    let t_pack = 2.0 * (at_origin[0] + at_origin[1]);
    record.overhead_pack = finite(t_pack / t_pp);
    let Some(reference) = reference else { return };
    let Some(t_reference) = reference.median(Phase::RoundTrip, scope) else { return };
    record.overhead_reference = finite((t_pp - t_reference) / t_pp);
    let interval = stats::overhead_interval(
        &view.samples(Phase::RoundTrip, scope),
        &reference.samples(Phase::RoundTrip, scope),
    );
    record.overhead_reference_low = interval.map(|interval| interval.0);
    record.overhead_reference_high = interval.map(|interval| interval.1);
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
        phase: Phase::RoundTrip,
        pair: ALL_PAIRS.to_owned(),
        bytes: result.message.bytes,
        segments: result.message.segments,
        n: 0,
        blocks: 0,
        blocks_other_state: 0,
        batch: 0,
        median_s: None,
        median_low_s: None,
        median_high_s: None,
        mean_s: None,
        min_s: None,
        p90_s: None,
        p99_s: None,
        overhead_reference: None,
        overhead_reference_low: None,
        overhead_reference_high: None,
        overhead_pack: None,
        bandwidth_bytes_per_s: None,
        state_latency_s: None,
        outcome: method.outcome.label().to_owned(),
        detail: method.outcome.detail().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{MachineState, MessageFacts, Outcome};
    use crate::record::Case;

    fn result(methods: Vec<Measured>) -> CaseResult {
        CaseResult {
            case: Case {
                test: "wrf_x_vec".into(),
                set: "s".into(),
                params: "nx=8 ny=8".into(),
                mpi: "mpich".into(),
                ranks: 2,
                cache: "warm".into(),
            },
            message: MessageFacts { bytes: 1000, segments: 10, array_bytes: 9000 },
            methods,
        }
    }

    fn measured(method: &str, blocks: Vec<Block>) -> Measured {
        let numbered = blocks.into_iter().enumerate().map(|(i, block)| Block { block: i, ..block });
        Measured { method: method.into(), outcome: Outcome::Converged, blocks: numbered.collect() }
    }

    /// A block of five round trips of `time` at a latency in nanoseconds.
    fn block(time: f64, latency_ns: f64) -> Block {
        let machine = MachineState { latency_s: latency_ns * 1e-9, copy_bytes_per_s: 1e10 };
        Block { before: machine, after: machine, batch: 2, round_trip_s: vec![time; 5], ..Block::default() }
    }

    fn of<'a>(records: &'a [Record], method: &str, phase: Phase, pair: &str) -> &'a Record {
        let is_it = |r: &&Record| r.method == method && r.phase == phase && r.pair == pair;
        records.iter().find(is_it).unwrap()
    }

    #[test]
    fn overheads_follow_the_definitions() {
        let packing = Block { pack_s: vec![0.5; 5], unpack_s: vec![0.25; 5], ..block(4.0, 33.0) };
        let typed = Block { create_s: Some(0.1), free_s: Some(0.2), ..block(2.0, 33.0) };
        let records = records(&result(vec![
            measured("reference", vec![block(1.0, 33.0); 6]),
            measured("manual", vec![packing; 6]),
            measured("ddt", vec![typed; 2]),
        ]));
        let reference = of(&records, "reference", Phase::RoundTrip, "all");
        assert_eq!((reference.overhead_reference, reference.overhead_pack), (None, None));
        assert_eq!(reference.bandwidth_bytes_per_s, Some(2000.0));
        let manual = of(&records, "manual", Phase::RoundTrip, "all");
        assert_eq!((manual.overhead_reference, manual.overhead_pack), (Some(0.75), Some(0.375)));
        assert_eq!((manual.overhead_reference_low, manual.overhead_reference_high), (Some(0.75), Some(0.75)));
        assert_eq!((manual.n, manual.blocks, manual.batch), (30, 6, 2));
        assert_eq!((manual.median_low_s, manual.median_high_s), (Some(4.0), Some(4.0)));
        let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
        assert_eq!((ddt.overhead_reference, ddt.overhead_pack), (Some(0.5), Some(0.0)));
        let create = of(&records, "ddt", Phase::Create, "all");
        assert_eq!((create.n, create.batch, create.median_s), (2, 1, Some(0.1)));
        assert_eq!(
            (create.median_low_s, create.overhead_pack, create.bandwidth_bytes_per_s),
            (None, None, None)
        );
        assert_eq!(records.len(), 1 + 3 + 3);
    }

    #[test]
    fn without_a_reference_there_is_no_overhead_against_it() {
        let failed = Measured {
            outcome: Outcome::WrongData { detail: "rank 0".into() },
            ..measured("reference", vec![block(1.0, 33.0); 2])
        };
        let records = records(&result(vec![failed, measured("ddt", vec![block(2.0, 33.0); 2])]));
        let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
        assert_eq!(
            (ddt.overhead_reference, ddt.overhead_reference_low, ddt.overhead_pack),
            (None, None, Some(0.0))
        );
    }

    #[test]
    fn a_method_without_times_has_one_row_that_says_why() {
        let failed = Measured {
            outcome: Outcome::WrongData { detail: "rank 0".into() },
            ..measured("ddt", vec![block(1.0, 33.0)])
        };
        let result = result(vec![failed, measured("manual", vec![])]);
        let records = records(&result);
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].phase, records[0].n, records[0].median_s), (Phase::RoundTrip, 0, None));
        assert_eq!(
            (records[0].outcome.as_str(), records[0].detail.as_deref()),
            ("wrong data", Some("rank 0"))
        );
        assert_eq!((records[1].outcome.as_str(), records[1].n), ("converged", 0));
        assert!(!block_states(&result)[0][0].used);
    }

    #[test]
    fn several_pairs_have_a_row_each_and_one_together() {
        let pair = |pair: usize, time: f64| Block { pair, ..block(time, 33.0) };
        let records = records(&result(vec![
            measured("reference", vec![pair(0, 1.0), pair(1, 2.0)]),
            measured("ddt", vec![pair(0, 2.0), pair(1, 8.0)]),
        ]));
        assert_eq!(records.len(), 6);
        let ddt = |label| of(&records, "ddt", Phase::RoundTrip, label);
        assert_eq!(ddt("0").overhead_reference, Some(0.5));
        assert_eq!(ddt("1").overhead_reference, Some(0.75));
        assert_eq!(ddt("0").overhead_reference_low, None);
        assert_eq!(ddt("all").overhead_reference, Some((5.0 - 1.5) / 5.0));
        assert_eq!(ddt("1").bandwidth_bytes_per_s, Some(250.0));
        assert_eq!(ddt("all").bandwidth_bytes_per_s, Some(1250.0));
        assert_eq!((ddt("all").n, ddt("1").n), (10, 5));
    }

    #[test]
    fn blocks_of_another_state_are_left_out_and_counted() {
        let result = result(vec![
            measured("reference", vec![block(1.0, 33.0), block(1.0, 34.0), block(3.0, 190.0)]),
            measured("ddt", vec![block(2.0, 33.0), block(2.0, 34.0), block(9.0, 190.0)]),
        ]);
        let used: Vec<_> = block_states(&result)[1].iter().map(|s| (s.state.clone(), s.used)).collect();
        assert_eq!(used, [("0".into(), true), ("0".into(), true), ("1".into(), false)]);
        let records = records(&result);
        let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
        assert_eq!((ddt.n, ddt.blocks, ddt.blocks_other_state, ddt.mean_s), (10, 2, 1, Some(2.0)));
        assert!((ddt.state_latency_s.unwrap() - 33.5e-9).abs() < 1e-15);
    }

    #[test]
    fn methods_that_share_no_state_use_all_their_blocks() {
        let result = result(vec![
            measured("reference", vec![block(1.0, 33.0); 2]),
            measured("ddt", vec![block(2.0, 190.0); 2]),
        ]);
        assert!(block_states(&result).iter().flatten().all(|state| state.used));
        assert_eq!(block_states(&result)[1][0].state, "1");
    }
}
