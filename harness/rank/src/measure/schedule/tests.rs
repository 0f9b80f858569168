//! When a case ends, and how: by precision, runs, time and rounds, independent of the test machine's clock.

use std::time::Duration;

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
fn decided(limits: Limits, are_narrow: [bool; 2], rounds: u32, passed_s: u64) -> Vec<Option<Outcome>> {
    let measured = [method("manual", are_narrow[0], rounds), method("ddt", are_narrow[1], rounds)];
    let amounts = [Amount { untimed: 1, samples: SAMPLES, batch: 1 }; 2];
    let start = Instant::now() - Duration::from_secs(passed_s);
    by_interval(&measured, &amounts, limits, rounds, start, Kind::Halo)
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

const NARROW: [bool; 2] = [true; 2];
const WIDE: [bool; 2] = [false; 2];

fn all(outcome: &Outcome) -> Vec<Option<Outcome>> {
    vec![Some(outcome.clone()); 2]
}

fn none() -> Vec<Option<Outcome>> {
    vec![None; 2]
}

#[test]
fn all_methods_end_together_once_all_are_narrow() {
    assert_eq!(decided(no_limits(), NARROW, 24, 0), all(&Outcome::Converged));
    assert_eq!(decided(no_limits(), [true, false], 24, 0), none());
    assert_eq!(decided(no_limits(), WIDE, 24, 0), none());
}

#[test]
fn what_is_narrow_is_said_by_the_precision() {
    // Times of one and two seconds: the interval of their median, 1.5 s, extends a third of it to both sides.
    let coarse = |precision_percent| Limits { precision_percent, ..no_limits() };
    assert_eq!(decided(coarse(34.0), WIDE, 24, 0), all(&Outcome::Converged));
    assert_eq!(decided(coarse(33.0), WIDE, 24, 0), none());
}

#[test]
fn nothing_ends_before_there_are_enough_rounds_to_test() {
    for rounds in 0..24 {
        assert_eq!(decided(no_limits(), NARROW, rounds, 0), none(), "after {rounds} rounds");
    }
}

#[test]
fn no_method_is_done_before_its_fewest_runs() {
    let limits = |min_runs| Limits { min_runs, ..no_limits() };
    assert_eq!(decided(limits(24 * SAMPLES as u32), NARROW, 24, 0), all(&Outcome::Converged));
    assert_eq!(decided(limits(24 * SAMPLES as u32 + 1), NARROW, 24, 0), none());
}

#[test]
fn runs_end_it_before_they_are_exceeded() {
    let limits = |max_runs| Limits { max_runs, ..no_limits() };
    // Another round would make 40 runs; seven rounds have 35.
    assert_eq!(decided(limits(39), WIDE, 7, 0), all(&Outcome::RunLimit));
    assert_eq!(decided(limits(40), WIDE, 7, 0), none());
    let mixed = vec![Some(Outcome::Converged), Some(Outcome::RunLimit)];
    assert_eq!(decided(limits(124), [true, false], 24, 0), mixed, "each has its own outcome");
}

#[test]
fn time_ends_it_after_as_many_times_as_there_are_methods() {
    let limits = |max_time_s| Limits { max_time_s, ..no_limits() };
    // 5000 s have passed. The other limit is hours away.
    assert_eq!(decided(limits(2500.0), WIDE, 12, 5000), all(&Outcome::TimeLimit));
    assert_eq!(decided(limits(5000.0), WIDE, 12, 5000), none());
    let mixed = vec![Some(Outcome::TimeLimit), Some(Outcome::Converged)];
    assert_eq!(decided(limits(2500.0), [false, true], 12, 5000), mixed);
    // Six rounds have an interval, but are too few to end with.
    assert_eq!(decided(limits(2500.0), NARROW, MIN_ROUNDS - 1, 5000), all(&Outcome::TimeLimit));
}

#[test]
fn time_that_was_set_wins_over_rounds_and_other_time_does_not() {
    let limits = |min_rounds| Limits { max_time_s: 0.1, min_rounds, ..no_limits() };
    assert_eq!(decided(limits(0), WIDE, 1, 1), all(&Outcome::TimeLimit));
    assert_eq!(decided(limits(MIN_ROUNDS), WIDE, MIN_ROUNDS - 1, 1), none());
    assert_eq!(decided(limits(MIN_ROUNDS), WIDE, MIN_ROUNDS, 1), all(&Outcome::TimeLimit));
    // A limit on runs that the user sets applies, whatever the number of rounds.
    let few = Limits { max_runs: 6, ..limits(MIN_ROUNDS) };
    assert_eq!(decided(few, WIDE, 1, 0), all(&Outcome::RunLimit));
}
