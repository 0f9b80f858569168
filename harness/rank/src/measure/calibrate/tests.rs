//! The work of a block, given the measured properties of each method.

use super::*;

/// A method with these times of a repetition, by itself and as a turn, in seconds, and this shortest sample.
fn method(repetition_s: f64, turn_s: f64, shortest_s: Option<f64>) -> Trial {
    Trial { turn: Turn { repetition_s, turn_s }, shortest_s }
}

#[test]
fn the_turn_fills_the_block_and_the_repetition_the_sample() {
    let amount = |untimed, samples, batch| Amount { untimed, samples, batch };
    let alone = |time_s| vec![method(time_s, time_s, Some(1e-9))];
    let short = |time_s| method(time_s, time_s, Some(200e-9));
    let cases = [
        // A block lasts five milliseconds where that is between four samples and twenty-five.
        (alone(0.9e-3), vec![amount(2, 5, 1)]),
        (alone(0.3e-3), vec![amount(3, 16, 1)]),
        (alone(1e-6), vec![amount(3, 25, 1)]),
        (alone(0.1), vec![amount(1, 4, 1)]),
        // A repetition of a second is reported by itself.
        (alone(0.99), vec![amount(1, 4, 1)]),
        (alone(1.0), vec![amount(1, 1, 1)]),
        // 200 ns are twenty times 10 ns, and slightly less than seven times 30 ns.
        (vec![short(10e-9)], vec![amount(3, 25, 20)]),
        (vec![short(30e-9)], vec![amount(3, 25, 7)]),
        (vec![short(201e-9)], vec![amount(3, 25, 1)]),
        // All have the batch of the shortest. Ten repetitions of the longer one, 0.1 ms, fit fifty times.
        (vec![short(10e-6), short(20e-9)], vec![amount(3, 25, 10); 2]),
        (vec![short(0.2e-3), short(20e-9)], vec![amount(3, 4, 10), amount(3, 25, 10)]),
        // One that cannot be repeated within a sample leaves all single.
        (vec![short(20e-9), method(20e-9, 1e-6, None)], vec![amount(3, 25, 1); 2]),
        // Sending takes 10 ns, and 1 ms passes until the next: 2.8 samples of two turns each, and at least four.
        (vec![method(10e-9, 0.9e-3, Some(20e-9))], vec![amount(2, 4, 2)]),
    ];
    for (trials, expected) in cases {
        let limits = Limits { max_runs: u32::MAX, ..Limits::default() };
        assert_eq!(amounts(&trials, limits, 10), expected);
    }
    // The fewest blocks together have no more samples than there may be runs.
    for (max_runs, samples) in [(250, 25), (249, 24), (60, 6), (3, 1)] {
        let limits = Limits { max_runs, ..Limits::default() };
        assert_eq!(amounts(&alone(1e-6), limits, 10)[0].samples, samples);
    }
}
