use std::sync::Arc;

use super::*;
use crate::experiments::Kind;
use crate::model::event::MachineState;
use crate::model::{BlockState, Measured, Outcome, PairScope, State, Times};
use crate::report::made::{self, measured};

/// A ping-pong of these methods.
pub(in crate::experiments) fn result(methods: Vec<Measured>) -> CaseResult {
    made::result(made::case("wrf_x_vec", "mpich", "nx=8 ny=8"), methods)
}

/// The records of a case, as its kind makes them.
fn records(result: &CaseResult) -> Vec<Record> {
    super::records(result.case.experiment, result)
}

fn block_states(methods: &[Measured], rule: Rule) -> Vec<Vec<BlockState>> {
    super::block_states(Kind::PingPong, methods, rule)
}

/// The value of a figure, and both ends of its interval.
pub(in crate::experiments) fn located(record: &Record, quantity: Quantity) -> [Option<f64>; 3] {
    record.figure(quantity).map_or([None; 3], |figure| [figure.value, figure.low, figure.high])
}

/// A block of five round trips of `time` at a latency in nanoseconds.
fn block(time: f64, latency_ns: f64) -> Block {
    let machine = MachineState { latency_s: latency_ns * 1e-9, ..MachineState::default() };
    Block { before: machine, after: machine, batch: 2, ..made::block([(Phase::RoundTrip, vec![time; 5])]) }
}

/// A block with more samples.
fn with(mut block: Block, phases: [(Phase, Vec<f64>); 2]) -> Block {
    phases.into_iter().for_each(|(phase, samples)| block.times[phase] = samples);
    block
}

fn of<'a>(records: &'a [Record], method: &str, phase: Phase, pair: &str) -> &'a Record {
    let is_it = |r: &&Record| r.method == method && r.phase == phase && r.pair.to_string() == pair;
    records.iter().find(is_it).unwrap()
}

#[test]
fn the_clocks_of_a_method_are_as_far_off_as_in_its_worst_block() {
    let off = |clock_error_s| Block { clock_error_s, ..block(1.0, 33.0) };
    let records = records(&result(vec![
        measured("reference", vec![off(None); 6]),
        measured("manual", vec![off(Some(1e-6)), off(Some(3e-6)), off(Some(2e-6))]),
    ]));
    let error = |method| of(&records, method, Phase::RoundTrip, "all").value(Quantity::ClockError);
    assert_eq!((error("reference"), error("manual")), (None, Some(3e-6)));
}

#[test]
fn the_block_in_which_devices_sent_least_counts_for_all_pairs() {
    let sent = |device_bytes, pair| Block { device_bytes, pair, batch: 2, ..block(1.0, 33.0) };
    let records = records(&result(vec![
        measured("reference", vec![block(1.0, 33.0); 6]),
        measured("manual", [sent(Some(400), 0), sent(Some(300), 0), sent(Some(300), 1)].to_vec()),
    ]));
    let bytes = |method, pair| of(&records, method, Phase::RoundTrip, pair).value(Quantity::DeviceBytes);
    assert_eq!((bytes("reference", "all"), bytes("manual", "all")), (None, Some(30.0)));
    assert_eq!(bytes("manual", "0"), None);
}

#[test]
fn overheads_follow_the_definitions() {
    let packing = with(block(4.0, 33.0), [(Phase::Pack, vec![0.5; 5]), (Phase::Unpack, vec![0.25; 5])]);
    // The peer packs more slowly: both ranks count, each by its own clock.
    let packing = with(packing, [(Phase::PeerPack, vec![0.75; 5]), (Phase::PeerUnpack, vec![0.5; 5])]);
    let packing = Block { start_skew_s: Some(-1e-7), ..packing };
    let typed = with(block(2.0, 33.0), [(Phase::Create, vec![0.1]), (Phase::Free, vec![0.2])]);
    let typed = Block { made_in_a_row: 1, freed_in_a_row: 3, ..typed };
    let records = records(&result(vec![
        measured("reference", vec![block(1.0, 33.0); 6]),
        measured("manual", vec![packing; 6]),
        measured("ddt", vec![typed; 6]),
    ]));
    let shares = |record| [Quantity::OverheadReference, Quantity::OverheadPack].map(|of| located(record, of));
    let reference = of(&records, "reference", Phase::RoundTrip, "all");
    assert_eq!(shares(reference), [[None; 3]; 2]);
    assert_eq!(reference.value(Quantity::Bandwidth), Some(2000.0));
    let manual = of(&records, "manual", Phase::RoundTrip, "all");
    assert_eq!(shares(manual), [[Some(0.75); 3], [Some(0.5); 3]]);
    let skews = [manual, reference].map(|record| record.value(Quantity::StartSkew));
    assert_eq!(skews, [Some(-1e-7), None]);
    assert_eq!((manual.n, manual.blocks, manual.batch), (30, 6, 2));
    assert_eq!((manual.median_low_s, manual.median_high_s), (Some(4.0), Some(4.0)));
    let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
    assert_eq!(shares(ddt), [[Some(0.5); 3], [Some(0.0), None, None]]);
    let create = of(&records, "ddt", Phase::Create, "all");
    assert_eq!((create.n, create.batch, create.median_s), (6, 1, Some(0.1)));
    let free = of(&records, "ddt", Phase::Free, "all");
    assert_eq!((free.n, free.batch, free.median_s), (6, 3, Some(0.2)));
    assert_eq!(shares(create), [[None; 3]; 2]);
    assert_eq!((create.median_low_s, create.value(Quantity::Bandwidth)), (Some(0.1), None));
    assert_eq!(records.len(), 1 + 5 + 3);
}

#[test]
fn an_overhead_is_the_median_over_the_rounds_that_have_both_times() {
    // The first rounds are slow for both, and one more only for the second. The reference stopped after seven.
    let rounds = |times: &[f64]| times.iter().map(|&time| block(time, 33.0)).collect::<Vec<_>>();
    let reference = rounds(&[4.0, 4.0, 4.0, 1.0, 1.0, 1.0, 1.0]);
    let ddt = rounds(&[8.0, 8.0, 8.0, 8.0, 2.0, 2.0, 2.0, 64.0, 64.0]);
    let records = records(&result(vec![measured("reference", reference), measured("ddt", ddt)]));
    let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
    // With the medians over those rounds, 8 and 1, it would be 0.875.
    let [value, low, high] = located(ddt, Quantity::OverheadReference);
    assert!(value == Some(0.5) && low <= Some(0.5) && high >= Some(0.875));
}

#[test]
fn one_sided_methods_are_compared_with_their_own_reference() {
    let records = records(&result(vec![
        measured("reference", vec![block(1.0, 33.0); 6]),
        measured("reference_untouched", vec![block(0.5, 33.0); 6]),
        measured("put_reference", vec![block(3.0, 33.0); 6]),
        measured("put_ddt", vec![block(4.0, 33.0); 6]),
        measured("ddt", vec![block(4.0, 33.0); 6]),
    ]));
    let overhead = |method| {
        let record = of(&records, method, Phase::RoundTrip, "all");
        (record.value(Quantity::OverheadReference), record.value(Quantity::OverheadPack))
    };
    assert_eq!(overhead("put_ddt"), (Some(0.25), Some(0.0)));
    assert_eq!(overhead("ddt"), (Some(0.75), Some(0.0)));
    for reference in ["reference", "reference_untouched", "put_reference"] {
        assert_eq!(overhead(reference), (None, None), "{reference}");
    }
}

#[test]
fn without_a_reference_there_is_no_overhead_against_it() {
    let failed = Measured {
        outcome: Outcome::WrongData { detail: "rank 0".into() },
        ..measured("reference", vec![block(1.0, 33.0); 2])
    };
    let records = records(&result(vec![failed, measured("ddt", vec![block(2.0, 33.0); 2])]));
    let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
    assert_eq!(located(ddt, Quantity::OverheadReference), [None; 3]);
    assert_eq!(ddt.value(Quantity::OverheadPack), Some(0.0));
}

#[test]
fn a_method_without_times_has_one_row_with_the_reason() {
    let failed = Measured {
        outcome: Outcome::WrongData { detail: "rank 0".into() },
        ..measured("ddt", vec![block(1.0, 33.0)])
    };
    let result = result(vec![failed, measured("manual", vec![])]);
    let records = records(&result);
    assert_eq!(records.len(), 2);
    assert_eq!((records[0].phase, records[0].n, records[0].median_s), (Phase::RoundTrip, 0, None));
    assert_eq!((records[0].outcome.label(), records[0].outcome.detail()), ("wrong data", Some("rank 0")));
    assert_eq!((records[1].outcome.label(), records[1].n), ("converged", 0));
    assert!(!block_states(&result.methods, Rule::Interval)[0][0].used);
}

#[test]
fn rounds_of_a_process_that_crashed_count_for_no_method() {
    let crashed = Measured {
        outcome: Outcome::Crashed { detail: "signal 9".into() },
        ..measured("ddt", vec![block(1.0, 33.0); 2])
    };
    let mut after = measured("manual", vec![block(2.0, 33.0); 6]);
    after.blocks.iter_mut().for_each(|block| block.block += 2);
    let result = result(vec![crashed, after]);
    let used = block_states(&result.methods, Rule::Interval);
    let used = used.iter().map(|method| method.iter().all(|block| block.used));
    assert_eq!(used.collect::<Vec<_>>(), [false, true]);
    assert_eq!(of(&records(&result), "manual", Phase::RoundTrip, "all").blocks, 6);
}

#[test]
fn several_pairs_have_a_row_each_and_one_together() {
    let pair = |pair: usize, time: f64| Block { pair, ..block(time, 33.0) };
    let pairs = |method: &str, times: [f64; 2], rounds: usize| {
        measured(method, (0..rounds).flat_map(|_| [pair(0, times[0]), pair(1, times[1])]))
    };
    let of_rounds = |rounds| {
        records(&result(vec![pairs("reference", [1.0, 2.0], rounds), pairs("ddt", [2.0, 8.0], rounds)]))
    };
    let records = of_rounds(6);
    assert_eq!(records.len(), 6);
    let ddt = |label| of(&records, "ddt", Phase::RoundTrip, label);
    assert_eq!(located(ddt("0"), Quantity::OverheadReference), [Some(0.5); 3]);
    assert_eq!(ddt("1").value(Quantity::OverheadReference), Some(0.75));
    let few = of_rounds(5);
    assert_eq!(located(of(&few, "ddt", Phase::RoundTrip, "0"), Quantity::OverheadReference), [None; 3]);
    assert_eq!(ddt("all").value(Quantity::OverheadReference), Some(1.0 - 0.375));
    assert_eq!(ddt("1").value(Quantity::Bandwidth), Some(250.0));
    assert_eq!(ddt("all").value(Quantity::Bandwidth), Some(1250.0));
    assert_eq!((ddt("all").n, ddt("1").n), (60, 30));
    let last = records.last().map(|record| (record.phase, record.pair));
    assert_eq!(last, Some((Phase::RoundTrip, PairScope::All)), "it marks the method as complete");
}

#[test]
fn blocks_of_another_state_are_left_out_and_counted() {
    let result = result(vec![
        measured("reference", vec![block(1.0, 33.0), block(1.0, 34.0), block(3.0, 190.0)]),
        measured("ddt", vec![block(2.0, 33.0), block(2.0, 34.0), block(9.0, 190.0)]),
    ]);
    let steady = |state| Some(State::Steady(state));
    let used: Vec<_> =
        block_states(&result.methods, Rule::Interval)[1].iter().map(|s| (s.state, s.used)).collect();
    assert_eq!(used, [(steady(0), true), (steady(0), true), (steady(1), false)]);
    let records = records(&result);
    let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
    assert_eq!((ddt.n, ddt.blocks, ddt.blocks_other_state, ddt.mean_s), (10, 2, 1, Some(2.0)));
    assert!((ddt.state_latency_s.unwrap() - 33.5e-9).abs() < 1e-15);
}

#[test]
fn what_was_done_once_counts_though_its_block_was_left_out() {
    let whole = |latency_ns: f64| Block {
        times: Times::from([(Phase::Exchange, vec![1.0; 5])]),
        ..block(1.0, latency_ns)
    };
    let first = with(whole(190.0), [(Phase::Init, vec![0.5]), (Phase::Compute, vec![0.1; 5])]);
    let mut result = result(vec![measured("manual", vec![first, whole(33.0), whole(33.0)])]);
    Arc::make_mut(&mut result.case).experiment = Kind::Halo;
    let records = records(&result);
    let exchange = of(&records, "manual", Phase::Exchange, "all");
    assert_eq!((exchange.blocks, exchange.blocks_other_state), (2, 1));
    let init = of(&records, "manual", Phase::Init, "all");
    assert_eq!((init.n, init.median_s, init.blocks_other_state), (1, Some(0.5), 0));
    assert!(records.iter().all(|record| record.phase != Phase::Compute));
}

#[test]
fn rounds_in_several_states_are_used_and_marked_without_better_ones() {
    let mixed = result(vec![
        measured("reference", vec![block(1.0, 33.0); 2]),
        measured("ddt", vec![block(2.0, 33.0), block(2.0, 190.0)]),
    ]);
    let used: Vec<_> =
        block_states(&mixed.methods, Rule::Interval).concat().iter().map(|state| state.used).collect();
    assert_eq!(used, [true, false, true, false], "the second round had two states");
    let never = result(vec![
        measured("reference", vec![block(1.0, 33.0); 2]),
        measured("ddt", vec![block(2.0, 190.0); 2]),
    ]);
    assert!(block_states(&never.methods, Rule::Interval).iter().flatten().all(|state| state.used));
    assert_eq!(block_states(&never.methods, Rule::Interval)[1][0].state, Some(State::Steady(1)));
    let both = result(vec![measured("ddt", vec![block(2.0, 190.0), block(2.0, 33.0)])]);
    assert_eq!(block_states(&both.methods, Rule::Interval)[0].iter().filter(|state| state.used).count(), 1);
    assert!(!of(&records(&both), "ddt", Phase::RoundTrip, "all").mixed_states);
    let flipping = measured("ddt", vec![block(1.0, 33.0), block(1.0, 190.0)]);
    let other = measured("reference", vec![block(1.0, 190.0), block(1.0, 33.0)]);
    assert!(of(&records(&result(vec![flipping, other])), "ddt", Phase::RoundTrip, "all").mixed_states);
}

#[test]
fn percentiles_are_those_of_all_samples_used() {
    let of_samples = |samples: &[f64], latency_ns| Block {
        times: Times::from([(Phase::RoundTrip, samples.to_vec())]),
        ..block(0.0, latency_ns)
    };
    let records = records(&result(vec![measured(
        "ddt",
        vec![
            of_samples(&[3.0, 11.0, 1.0, 7.0, 5.0], 33.0),
            of_samples(&[8.0, 2.0, 4.0, 10.0, 6.0, 9.0], 33.0),
            of_samples(&[100.0; 5], 190.0),
        ],
    )]));
    let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
    // R: quantile(1:11, 0.9) is 10.0.
    assert_eq!((ddt.n, ddt.min_s, ddt.median_s, ddt.max_s), (11, Some(1.0), Some(6.0), Some(11.0)));
    assert!((ddt.p90_s.unwrap() - 10.0).abs() < 1e-12, "{:?}", ddt.p90_s);
    assert_eq!((ddt.p99_s, ddt.p999_s), (None, None), "11 samples say nothing of one in 100");
    assert_eq!((ddt.slow_samples, ddt.slow_time), (Some(0.0), Some(0.0)));
}

#[test]
fn a_method_is_slow_only_in_undisturbed_blocks() {
    let slow = |is_disturbed: bool| {
        let mut times = vec![1.0; 100];
        times[7] = 500.0;
        let mut block = Block { times: Times::from([(Phase::RoundTrip, times)]), ..block(1.0, 33.0) };
        block.disturbance.waited = if is_disturbed { 1.0 } else { 0.0 };
        block
    };
    let share = |slow_block: Block, other: Block| {
        let result = result(vec![measured("ddt", vec![slow_block, other])]);
        let records = records(&result);
        let ddt = of(&records, "ddt", Phase::RoundTrip, "all");
        (ddt.slow_time.map(|share| share > 0.5), ddt.blocks_disturbed)
    };
    let quiet = || block(1.0, 33.0);
    assert_eq!(share(slow(false), quiet()), (Some(true), 0));
    assert_eq!(share(slow(true), quiet()), (Some(false), 1));
    assert_eq!(share(slow(true), slow(true)), (None, 2));
}
