//! Which way to copy is the fastest on this machine: measured once, for the pack engine and for the tuned loops.
//!
//! A table is stored by processor, microcode, C library and version. Without one, both use the tables that are shipped. For each
//! class of copies all ways are measured in turn, in each round at another place in memory. The shipped way is replaced
//! only by one whose time is shorter by [`MARGIN`], by the whole 95% interval of the ratio of both times, so that the
//! choice does not follow noise.

mod file;
mod processor;
mod trials;

pub use file::{Row, Table, TableError};
pub use processor::Processor;
pub use trials::{Tuned, measure};

use crate::stats;

/// Share of the time by which another way must be faster than the shipped one. Smaller differences in trials were the
/// opposite in a test with another array.
pub const MARGIN: f64 = 0.05;

/// Rounds: an interval needs six, and with 16 it excludes the three extreme ones on either side.
const ROUNDS: usize = 16;

/// If another way is faster by the medians only, as many rounds follow, up to so many times: on a busy machine 16
/// intervals are wide, and a way that was a third faster was not chosen. Several looks make a false choice more likely; it
/// costs little, because such ways are nearly equal.
const MOST_LOOKS: usize = 4;

/// The fastest way of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// Its number.
    pub way: usize,
    /// Its median speed.
    pub bytes_per_s: f64,
    /// The fastest of the others.
    pub next: Option<(usize, f64)>,
}

/// Chooses one of `ways`. `bytes_per_s` measures the speed of a way in a round.
pub fn choose(ways: usize, shipped: usize, mut bytes_per_s: impl FnMut(usize, usize) -> f64) -> Choice {
    let mut speeds = vec![Vec::with_capacity(ROUNDS); ways];
    let mut choice = Choice { way: shipped, bytes_per_s: 0.0, next: None };
    for look in 0..MOST_LOOKS {
        for round in look * ROUNDS..(look + 1) * ROUNDS {
            for turn in 0..ways {
                let way = (turn + round) % ways;
                speeds[way].push(bytes_per_s(way, round));
            }
        }
        let median = |way: usize| stats::median(&stats::sorted(speeds[way].iter().copied())).unwrap_or(0.0);
        let by_speed = |a: &usize, b: &usize| median(*a).total_cmp(&median(*b));
        let faster = (0..ways).filter(|&way| is_faster(&speeds[way], &speeds[shipped]));
        let way = faster.max_by(by_speed).unwrap_or(shipped);
        let next = (0..ways).filter(|&other| other != way).max_by(by_speed);
        choice = Choice { way, bytes_per_s: median(way), next: next.map(|next| (next, median(next))) };
        let is_certain = choice.next.is_none_or(|(_, speed)| (1.0 - MARGIN) * speed <= choice.bytes_per_s);
        if is_certain {
            break;
        }
    }
    choice
}

/// Whether the time of a way is shorter by the margin, given the speeds of both in each round.
fn is_faster(way: &[f64], shipped: &[f64]) -> bool {
    // A ratio of times is the inverse of that of speeds.
    let time_ratio = stats::paired_ratio(shipped.iter().copied().zip(way.iter().copied()));
    let interval = time_ratio.filter(|ratio| !ratio.unsteady).and_then(|ratio| ratio.interval);
    interval.is_some_and(|(_, high)| high < 1.0 - MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses by made-up speeds: those of each way, times the machine's speed in that round.
    fn chosen(speeds: &[f64], shipped: usize, noise: impl Fn(usize, usize) -> f64) -> usize {
        choose(speeds.len(), shipped, |way, round| speeds[way] * noise(way, round)).way
    }

    #[test]
    fn the_shipped_way_stays_unless_another_is_faster_by_the_margin() {
        let quiet = |_, _| 1.0;
        assert_eq!(chosen(&[1.0, 1.04, 0.5], 0, quiet), 0, "within the margin");
        assert_eq!(chosen(&[1.0, 1.04, 1.3, 1.2], 0, quiet), 2);
        assert_eq!(chosen(&[1.3, 1.0], 0, quiet), 0);
        assert_eq!(chosen(&[1.0], 0, quiet), 0);
    }

    #[test]
    fn what_slows_a_whole_round_changes_nothing() {
        let machine = |_, round: usize| if round.is_multiple_of(3) { 0.2 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.1], 0, machine), 1);
        assert_eq!(chosen(&[1.0, 1.01], 0, machine), 0);
    }

    #[test]
    fn noise_alone_changes_nothing() {
        // A way that is faster in most rounds, but slower in seven of 16.
        let luck = |way, round: usize| if way == 1 && round % 16 < 7 { 0.8 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.1], 0, luck), 0);
        // Faster only in the first rounds.
        let change = |way, round| if way == 1 && round >= ROUNDS / 2 { 0.8 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.2], 0, change), 0);
    }

    #[test]
    fn more_rounds_follow_if_noise_hides_a_faster_way() {
        // The faster way is interrupted in the first rounds.
        let busy =
            |way, round: usize| if way == 1 && round < ROUNDS && round.is_multiple_of(3) { 0.5 } else { 1.0 };
        assert_eq!(chosen(&[1.0, 1.3], 0, busy), 1);
    }

    #[test]
    fn the_speeds_of_the_chosen_and_of_the_next_way_are_reported() {
        let choice = choose(3, 0, |way, _| [1e9, 3e9, 2e9][way]);
        assert_eq!(choice, Choice { way: 1, bytes_per_s: 3e9, next: Some((2, 2e9)) });
    }

    #[test]
    fn every_way_is_measured_once_a_round_in_changing_order() {
        let mut turns = Vec::new();
        choose(2, 0, |way, round| {
            turns.push((round, way));
            1.0
        });
        assert_eq!(turns[..4], [(0, 0), (0, 1), (1, 1), (1, 0)]);
        assert_eq!(turns.len(), 2 * ROUNDS);
    }
}
