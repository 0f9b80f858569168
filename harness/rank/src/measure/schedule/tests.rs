//! When a case ends, and how: by precision, runs, time and rounds, independent of the test machine's clock.

use common::kinds::Kind;
use common::model::Times;

use super::*;

const SAMPLES: usize = 5;

/// A method after some rounds, with all times equal, or alternating between one and two seconds.
fn method(name: &str, is_narrow: bool, rounds: u32) -> Measured {
    let time = |round: u32| if is_narrow { 1.0 } else { f64::from(1 + round % 2) };
    let block = |round: u32| Block {
        block: round as usize,
        times: Times::from([(Phase::Exchange, vec![time(round); SAMPLES])]),
        ..Block::default()
    };
    let blocks = (0..rounds).map(block).collect();
    Measured { method: name.to_owned(), outcome: GOING_ON, blocks }
}

/// The decision after some rounds of two methods and this number of seconds.
fn decided(limits: Limits, are_narrow: [bool; 2], rounds: u32, passed_s: u64) -> Vec<Next> {
    let measured = [method("manual", are_narrow[0], rounds), method("ddt", are_narrow[1], rounds)];
    let amounts = [Amount { untimed: 1, samples: SAMPLES, batch: 1 }; 2];
    let passed = Passed { rounds, all_s: passed_s as f64, used_s: vec![0.0; 2] };
    by_interval(&measured, &amounts, limits, &passed, Kind::Halo)
}

/// Only the limits that a test sets: the others are hours, and more runs than there are.
fn no_limits() -> Limits {
    Limits {
        max_time_s: 1e5,
        min_runs: 1,
        max_runs: u32::MAX,
        precision_percent: 2.5,
        min_rounds: 0,
        ..Limits::default()
    }
}

#[test]
fn methods_end_together_by_precision_runs_or_time() {
    const NARROW: [bool; 2] = [true; 2];
    const WIDE: [bool; 2] = [false; 2];
    const ENOUGH: u32 = 24 * SAMPLES as u32;
    let [none, _, converged, late, full] = NEXT;
    let precise = |precision_percent| Limits { precision_percent, ..no_limits() };
    let least = |min_runs| Limits { min_runs, ..no_limits() };
    let most = |max_runs| Limits { max_runs, ..no_limits() };
    let time = |max_time_s| Limits { max_time_s, ..no_limits() };
    let rounds = |min_rounds| Limits { max_time_s: 0.1, min_rounds, ..no_limits() };
    let cases = [
        (no_limits(), NARROW, 24, 0, [&converged; 2]),
        (no_limits(), [true, false], 24, 0, [&none; 2]),
        (no_limits(), WIDE, 24, 0, [&none; 2]),
        // Times of one and two seconds: the interval of their median, 1.5 s, extends a third of it to both sides.
        (precise(34.0), WIDE, 24, 0, [&converged; 2]),
        (precise(33.0), WIDE, 24, 0, [&none; 2]),
        (least(ENOUGH), NARROW, 24, 0, [&converged; 2]),
        (least(ENOUGH + 1), NARROW, 24, 0, [&none; 2]),
        // Another round would make 40 runs; seven rounds have 35.
        (most(39), WIDE, 7, 0, [&full; 2]),
        (most(40), WIDE, 7, 0, [&none; 2]),
        // Each has its own outcome.
        (most(124), [true, false], 24, 0, [&converged, &full]),
        // As many times as there are methods.
        (time(2500.0), WIDE, 12, 5000, [&late; 2]),
        (time(5000.0), WIDE, 12, 5000, [&none; 2]),
        (time(2500.0), [false, true], 12, 5000, [&late, &converged]),
        // Six rounds have an interval, but are too few to end with.
        (time(2500.0), NARROW, MIN_ROUNDS - 1, 5000, [&late; 2]),
        // Time that the user sets wins over rounds, and other time does not.
        (rounds(0), WIDE, 1, 1, [&late; 2]),
        (rounds(MIN_ROUNDS), WIDE, MIN_ROUNDS - 1, 1, [&none; 2]),
        (rounds(MIN_ROUNDS), WIDE, MIN_ROUNDS, 1, [&late; 2]),
        // A limit on runs that the user sets applies, whatever the number of rounds.
        (Limits { max_runs: 6, ..rounds(MIN_ROUNDS) }, WIDE, 1, 0, [&full; 2]),
    ];
    for (i, (limits, are_narrow, rounds, passed_s, outcomes)) in cases.into_iter().enumerate() {
        let decided = decided(limits, are_narrow, rounds, passed_s);
        assert!(decided.iter().eq(outcomes), "case {i}: {decided:?}");
    }
    for rounds in 0..24 {
        assert_eq!(
            decided(no_limits(), NARROW, rounds, 0),
            [Next::Measure, Next::Measure],
            "after {rounds} rounds"
        );
    }
}

#[test]
fn a_slow_method_rests_and_leaves_the_others_their_time() {
    let limits = |min_rounds| Limits { max_time_s: 1.0, min_rounds, ..no_limits() };
    let next = |limits, used_s: [f64; 2], all_s| {
        let measured = [method("manual", false, 2), method("ddt", false, 2)];
        let amounts = [Amount { untimed: 1, samples: SAMPLES, batch: 1 }; 2];
        by_interval(
            &measured,
            &amounts,
            limits,
            &Passed { rounds: 2, all_s, used_s: used_s.into() },
            Kind::Halo,
        )
    };
    let [measure, rest, _, late, _] = NEXT;
    assert_eq!(next(limits(0), [0.1, 3.9], 1.9), [measure.clone(), measure.clone()]);
    assert_eq!(next(limits(0), [0.1, 300.0], 300.1), [measure.clone(), rest]);
    assert_eq!(next(limits(0), [1.0, 300.0], 301.0), [late.clone(), late]);
    assert_eq!(next(limits(3), [0.1, 300.0], 300.1), [measure.clone(), measure]);
}
