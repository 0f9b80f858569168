//! States of the machine: blocks are compared only with blocks that ran in the same state.
//!
//! On virtual machines and on processors with several core complexes the core-to-core latency can change
//! several-fold within minutes and stay there (33 and 190 ns on one machine), and messages become slower with
//! it. Two states are distinguished by the latency before and after each block.

use super::quantile::squares;
use crate::model::State;
use crate::model::event::MachineState;

/// Expected standard deviation of the logarithms of latencies measured in one state, for cases with too few
/// of them: 4 to 7% in recorded launches of four machines.
const SCATTER: f64 = 0.06;

/// Weight of this expectation, as a number of values. The scatter of only three launches is often far too small.
const SCATTER_WEIGHT: f64 = 4.0;

/// Two states are at least this many standard deviations of one state apart. With this value, 6 launches in one state that
/// scatter as expected are split in 0.0% of cases (6 or 240 launches with the heavy tails of Student's t with 3 degrees of
/// freedom in 1 and 16%: single launches that were disturbed); states seen on real machines are 6 to 30 apart.
const GAP: f64 = 5.0;

/// Maximum groups of latencies: four states (cores of one cache, of one socket, of two sockets, of two
/// hosts), and a few single readings that were disturbed.
const MOST_GROUPS: usize = 10;

/// Each state has at least this share of the blocks: a few disturbed readings are not a state.
const MIN_SHARE: f64 = 0.1;

/// The state of each block, from the machine before and after it. The argument must contain all blocks of one pair, of all methods.
///
/// Two states are separated by the reading above the widest gap, among the readings at which one of the [`levels`]
/// begins and that leave `MIN_SHARE` of the blocks, and at least one, entirely on either side; without such a reading
/// there is one state. A latency that is not above 0 was not measured; a block without any is in state 0.
pub fn states(blocks: &[(MachineState, MachineState)]) -> Vec<State> {
    let ranges: Vec<_> =
        blocks.iter().map(|(before, after)| range(before.latency_s, after.latency_s)).collect();
    let threshold = threshold(&ranges);
    let state = |range: &Option<(f64, f64)>| match (threshold, *range) {
        (Some(threshold), Some((low, _))) if low >= threshold => State::Steady(1),
        (Some(threshold), Some((_, high))) if high >= threshold => State::Mixed,
        _ => State::Steady(0),
    };
    ranges.iter().map(state).collect()
}

/// The lower and the higher of two latencies, ignoring those not measured.
fn range(before: f64, after: f64) -> Option<(f64, f64)> {
    let measured = |latency: f64| latency > 0.0 && latency.is_finite();
    match (measured(before), measured(after)) {
        (true, true) => Some((before.min(after), before.max(after))),
        (true, false) => Some((before, before)),
        (false, true) => Some((after, after)),
        (false, false) => None,
    }
}

/// The lowest latency of the slower state; `None` if there is only one state.
fn threshold(ranges: &[Option<(f64, f64)>]) -> Option<f64> {
    let sorted = |latencies: Vec<f64>| super::sorted(latencies);
    let lows = sorted(ranges.iter().flatten().map(|range| range.0).collect());
    let highs = sorted(ranges.iter().flatten().map(|range| range.1).collect());
    let all = sorted(lows.iter().chain(&highs).copied().collect());
    let enough = ((lows.len() as f64 * MIN_SHARE).ceil() as usize).max(1);
    let parts = |threshold: f64| {
        let below = highs.partition_point(|&high| high < threshold);
        let above = lows.len() - lows.partition_point(|&low| low < threshold);
        below >= enough && above >= enough
    };
    let gap = |level: &f64| level / all[all.partition_point(|latency| latency < level) - 1];
    let separating = levels(&all).into_iter().filter(|&level| parts(level));
    separating.max_by(|a, b| gap(a).total_cmp(&gap(b)))
}

/// The lowest latency of each state except the fastest, given latencies in rising order, all above 0; none if there is
/// one state. The scatter within a state is taken from the values themselves, as far as there are enough of them.
pub fn levels(sorted: &[f64]) -> Vec<f64> {
    let logarithms: Vec<f64> = sorted.iter().map(|value| value.ln()).collect();
    let gap = |&i: &usize| logarithms[i] - logarithms[i - 1];
    let mut widest: Vec<usize> = (1..logarithms.len()).collect();
    widest.sort_by(|a, b| gap(b).total_cmp(&gap(a)));
    let mut found = Vec::new();
    for cuts in 1..MOST_GROUPS.min(logarithms.len()) {
        let mut starts = widest[..cuts].to_vec();
        starts.sort_unstable();
        let ends = starts.iter().copied().chain([logarithms.len()]);
        let groups = std::iter::once(0).chain(starts.iter().copied()).zip(ends);
        let squares: f64 = groups.map(|(start, end)| squares(&logarithms[start..end])).sum();
        let weight = SCATTER_WEIGHT + (logarithms.len() - cuts - 1) as f64;
        let scatter = ((SCATTER_WEIGHT * SCATTER.powi(2) + squares) / weight).sqrt();
        if widest[..cuts].iter().all(|i| gap(i) > GAP * scatter) {
            found = starts.into_iter().map(|start| sorted[start]).collect();
        }
    }
    found
}

/// The state whose rounds are compared: the one with most rounds, and of two equal ones the faster. A round is given by
/// the states of its blocks, one per method, and is in a state if all of them are. `None` if no round was in one state.
pub fn used_state(rounds: &[Vec<State>]) -> Option<State> {
    let passed = |state: &State| rounds.iter().filter(|round| passed_in(round, *state)).count();
    // `max_by_key` returns the last of equal ones.
    let states = [State::Steady(1), State::Steady(0)].into_iter().filter(|state| passed(state) > 0);
    states.max_by_key(passed)
}

/// Whether all blocks of a round were in a state.
pub fn passed_in(round: &[State], state: State) -> bool {
    !round.is_empty() && round.iter().all(|&other| other == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: State = State::Steady(0);
    const SLOW: State = State::Steady(1);

    fn states_of(latencies: &[(f64, f64)]) -> Vec<State> {
        let machine = |ns: f64| MachineState { latency_s: ns * 1e-9, ..MachineState::default() };
        states(
            &latencies.iter().map(|&(before, after)| (machine(before), machine(after))).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn levels_are_found_from_the_scatter_of_the_values() {
        let of = |values: &[f64]| levels(&crate::stats::sorted(values.iter().copied()));
        assert_eq!(of(&[30.0, 31.0, 29.5, 180.0, 30.5, 30.0]), [180.0]);
        // As recorded: hardware threads of one core, cores of one cache, and cores of two.
        assert_eq!(of(&[19.0, 20.0, 37.0, 36.0, 38.0, 37.0, 213.0, 210.0]), [36.0, 210.0]);
        // The same step, in values that scatter by as much.
        assert!(of(&[20.0, 37.0, 28.0, 24.0, 50.0, 75.0, 33.0]).is_empty());
        assert!(of(&[31.0, 47.0, 35.0, 40.0]).is_empty());
        assert!(of(&[30.0; 6]).is_empty() && of(&[30.0]).is_empty() && of(&[]).is_empty());
    }

    #[test]
    fn a_flip_makes_two_states_and_disturbed_or_few_readings_make_none() {
        let mixed = State::Mixed;
        type Case<'a> = (&'a [(f64, f64)], &'a [State]);
        let cases: [Case<'_>; 5] = [
            (&[], &[]),
            (&[(33.0, 34.0), (34.0, 40.0), (40.0, 31.0)], &[FAST; 3]),
            (&[(33.0, 34.0), (34.0, 900.0), (900.0, 33.0), (33.0, 32.0)], &[FAST; 4]),
            (
                &[(33.0, 34.0), (34.0, 33.0), (33.0, 190.0), (190.0, 185.0), (185.0, 191.0)],
                &[FAST, FAST, mixed, SLOW, SLOW],
            ),
            // Latencies that were not measured.
            (
                &[(0.0, 0.0), (33.0, 0.0), (0.0, 190.0), (190.0, 190.0), (33.0, f64::NAN)],
                &[FAST, FAST, SLOW, SLOW, FAST],
            ),
        ];
        for (latencies, expected) in cases {
            assert_eq!(states_of(latencies), expected);
            let reversed: Vec<_> = latencies.iter().rev().map(|&(before, after)| (after, before)).collect();
            assert!(states_of(&reversed).iter().eq(expected.iter().rev()), "{latencies:?}");
        }
        // A disturbed reading does not hide two states, and fewer than a tenth of the blocks are not one.
        for (fast, slow, disturbed, expected) in [(12, 12, 1, SLOW), (19, 1, 0, FAST), (19, 3, 0, SLOW)] {
            let readings = [((33.0, 34.0), fast), ((190.0, 191.0), slow), ((5000.0, 191.0), disturbed)];
            let latencies = readings.map(|(reading, count)| vec![reading; count]).concat();
            assert_eq!(states_of(&latencies), [vec![FAST; fast], vec![expected; slow + disturbed]].concat());
        }
    }

    #[test]
    fn the_state_used_is_that_of_most_whole_rounds() {
        let mixed = State::Mixed;
        assert_eq!(used_state(&[vec![FAST, FAST], vec![SLOW, SLOW], vec![SLOW, SLOW]]), Some(SLOW));
        assert_eq!(used_state(&[vec![FAST, FAST], vec![SLOW, SLOW]]), Some(FAST));
        assert_eq!(used_state(&[vec![FAST, SLOW], vec![SLOW, SLOW], vec![mixed, FAST]]), Some(SLOW));
        assert_eq!(used_state(&[vec![FAST, SLOW], vec![mixed, mixed]]), None);
        assert_eq!(used_state(&[]), None);
    }
}
