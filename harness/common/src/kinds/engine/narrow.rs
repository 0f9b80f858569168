//! When a comparison is known well enough.

use std::collections::BTreeMap;

use super::methods::ENGINE;
use crate::model::event::Block;
use crate::model::{Measured, Phase};
use crate::stats::{self, Ratio};

/// The phases by whose ratios a comparison is known well enough.
pub const DECISIVE: [Phase; 2] = [Phase::Pack, Phase::Unpack];

/// Whether the interval of each method's ratio to the engine lies within `precision` of it, packing and unpacking.
pub fn is_narrow(methods: &[Measured], precision: f64) -> bool {
    let Some(engine) = of(methods, ENGINE) else { return false };
    let others = || methods.iter().filter(|measured| measured.method != ENGINE);
    let is_narrow = |measured: &Measured, phase| {
        ratio(measured, engine, phase).is_some_and(|ratio| ratio.is_narrow(precision))
    };
    DECISIVE.into_iter().all(|phase| others().all(|measured| is_narrow(measured, phase)))
}

/// A method with times.
fn of<'a>(methods: &'a [Measured], method: &str) -> Option<&'a Measured> {
    methods.iter().find(|measured| measured.method == method && measured.outcome.is_measured())
}

/// The ratio of one's times to another's in a phase, over the rounds that have both.
fn ratio(one: &Measured, other: &Measured, phase: Phase) -> Option<Ratio> {
    let (one, other) = (medians(one, phase), medians(other, phase));
    stats::paired_ratio(one.iter().filter_map(|(round, &time)| Some((time, *other.get(round)?))))
}

/// The median of each round.
fn medians(measured: &Measured, phase: Phase) -> BTreeMap<usize, f64> {
    let median = |block: &Block| {
        Some((block.block, stats::median(&stats::sorted(phase.samples(block).iter().copied()))?))
    };
    measured.blocks.iter().filter_map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Outcome, Times};

    /// A method whose packing takes `pack_s` and whose unpacking takes twice as long, in rounds of states 1, 3, 1, 3, ...
    fn measured(method: &str, pack_s: f64) -> Measured {
        let slowness = |round: usize| if round.is_multiple_of(2) { 1.0 } else { 3.0 };
        let block = |round: usize| Block {
            block: round,
            times: Times::from([
                (Phase::Pack, vec![pack_s * slowness(round); 5]),
                (Phase::Unpack, vec![2.0 * pack_s * slowness(round); 5]),
            ]),
            ..Block::default()
        };
        let blocks = (0..11).map(block).collect();
        Measured { method: method.to_owned(), outcome: Outcome::Converged, blocks }
    }

    #[test]
    fn a_comparison_goes_on_until_every_ratio_is_known() {
        let mut methods =
            vec![measured("engine", 1e-6), measured("manual", 2e-6), measured("mpi_pack", 3e-6)];
        assert!(!is_narrow(&methods[1..], 0.01), "no ratio is known");
        assert!(is_narrow(&methods, 0.01));
        for block in methods[1].blocks.iter_mut().step_by(2) {
            block.times[Phase::Unpack].iter_mut().for_each(|time| *time *= 1.2);
        }
        assert!(!is_narrow(&methods, 0.05));
        methods.iter_mut().for_each(|measured| measured.blocks.truncate(5));
        assert!(!is_narrow(&methods, 0.9), "too few rounds for an interval");
    }
}
