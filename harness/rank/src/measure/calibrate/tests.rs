//! The work of a block, given the measured properties of each method.

use super::*;

/// A method with these times of a repetition, by itself and as a turn, in seconds, and this shortest sample.
fn method(repetition_s: f64, turn_s: f64, shortest_s: Option<f64>) -> Trial {
    Trial { turn: Turn { repetition_s, turn_s }, shortest_s }
}

/// The amounts without a limit.
fn of(trials: &[Trial]) -> Vec<Amount> {
    amounts(trials, Limits { max_runs: u32::MAX, ..Limits::default() }, 10)
}

/// The amount of one method whose repetitions are samples.
fn alone(turn_s: f64) -> Amount {
    of(&[method(turn_s, turn_s, Some(1e-9))])[0]
}

#[test]
fn a_block_lasts_five_milliseconds_where_that_is_between_four_samples_and_twenty_five() {
    assert_eq!(alone(0.9e-3), Amount { untimed: 2, samples: 5, batch: 1 });
    assert_eq!(alone(0.3e-3), Amount { untimed: 3, samples: 16, batch: 1 });
    assert_eq!(alone(1e-6), Amount { untimed: 3, samples: 25, batch: 1 });
    assert_eq!(alone(0.1), Amount { untimed: 1, samples: 4, batch: 1 });
}

#[test]
fn what_takes_a_second_is_reported_after_each() {
    assert_eq!(alone(0.99).samples, 4);
    assert_eq!(alone(1.0), Amount { untimed: 1, samples: 1, batch: 1 });
}

#[test]
fn what_is_too_short_for_the_clock_is_repeated_within_a_sample() {
    // 200 ns are twenty times 10 ns, and slightly less than seven times 30 ns.
    assert_eq!(of(&[method(10e-9, 10e-9, Some(200e-9))])[0].batch, 20);
    assert_eq!(of(&[method(30e-9, 30e-9, Some(200e-9))])[0].batch, 7);
    assert_eq!(of(&[method(201e-9, 201e-9, Some(200e-9))])[0].batch, 1);
}

#[test]
fn all_methods_have_the_batch_of_the_shortest() {
    let found = of(&[method(10e-6, 10e-6, Some(200e-9)), method(20e-9, 20e-9, Some(200e-9))]);
    // Ten repetitions of the longer one, 0.1 ms, fit fifty times.
    assert_eq!(found, [Amount { untimed: 3, samples: 25, batch: 10 }; 2]);
    let slow = of(&[method(0.2e-3, 0.2e-3, Some(200e-9)), method(20e-9, 20e-9, Some(200e-9))]);
    assert_eq!((slow[0].batch, slow[0].samples), (10, 4), "at least four, of 2 ms each");
}

#[test]
fn one_that_cannot_be_repeated_within_a_sample_leaves_all_single() {
    let found = of(&[method(20e-9, 20e-9, Some(200e-9)), method(20e-9, 1e-6, None)]);
    assert!(found.iter().all(|amount| amount.batch == 1), "{found:?}");
}

#[test]
fn the_turn_fills_the_block_and_the_repetition_the_sample() {
    // Sending takes 10 ns, and 1 ms passes until the next.
    let found = of(&[method(10e-9, 0.9e-3, Some(20e-9))])[0];
    assert_eq!((found.batch, found.samples), (2, 4), "2.8 samples of two turns each, and at least four");
}

#[test]
fn the_fewest_blocks_together_have_no_more_samples_than_there_may_be_runs() {
    let limited = |max_runs| {
        let limits = Limits { max_runs, ..Limits::default() };
        amounts(&[method(1e-6, 1e-6, Some(1e-9))], limits, 10)[0].samples
    };
    assert_eq!((limited(250), limited(249), limited(60), limited(3)), (25, 24, 6, 1));
}
