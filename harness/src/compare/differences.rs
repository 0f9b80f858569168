//! How far two sides are apart, in a method's time and in its time over that of another: of launches that took turns, or of runs
//! of different times, and as if the machine had been in one state beside all of them, where that is known.

use std::collections::BTreeMap;

use super::side::{ComparisonUnit, LaunchId, Side, StateValues, Subject, by_run};
use crate::stats::difference::{Difference, Explained};

/// A difference between two sides, and of how many units of each.
pub(super) type CountedDifference = (Difference, (usize, usize));

/// What is asked for of a side: a subject, and its values, logarithms by launch.
#[derive(Clone, Copy)]
struct LaunchSeries<'a> {
    side: &'a Side,
    subject: &'a Subject,
    values: &'a BTreeMap<LaunchId, f64>,
}

/// Launches of each side from which on differences are adjusted for the machine's state. Each figure of the state costs a
/// degree of freedom: with three launches two of four, which costs more than it gains.
pub(super) const ADJUSTED_FROM: usize = 5;

/// The difference in time of a subject.
pub(super) fn times(base: &Side, new: &Side, subject: &Subject) -> Option<CountedDifference> {
    let sides = [LaunchSeries::of_times(base, subject)?, LaunchSeries::of_times(new, subject)?];
    match base.unit {
        ComparisonUnit::Run => of_runs(sides),
        ComparisonUnit::Launch => adjusted(sides).or_else(|| neighbours(sides)),
    }
}

/// The difference in time of two methods, each on its side: of neighbouring launches or of runs.
pub(super) fn between(base: (&Side, &Subject), new: (&Side, &Subject)) -> Option<CountedDifference> {
    let sides = [LaunchSeries::of_times(base.0, base.1)?, LaunchSeries::of_times(new.0, new.1)?];
    match base.0.unit {
        ComparisonUnit::Run => of_runs(sides),
        ComparisonUnit::Launch => neighbours(sides),
    }
}

/// The difference of a subject's time over that of another method.
pub(super) fn over(base: &Side, new: &Side, subject: &Subject, other: &str) -> Option<CountedDifference> {
    let (of_base, of_new) = (base.over(subject, other), new.over(subject, other));
    let sides = [
        LaunchSeries { side: base, subject, values: &of_base },
        LaunchSeries { side: new, subject, values: &of_new },
    ];
    match base.unit {
        ComparisonUnit::Run => of_runs(sides),
        ComparisonUnit::Launch => adjusted(sides).or_else(|| groups(sides)),
    }
}

impl<'a> LaunchSeries<'a> {
    fn of_times(side: &'a Side, subject: &'a Subject) -> Option<Self> {
        Some(Self { side, subject, values: &side.values(subject)?.times })
    }
}

/// The difference of two series of launches: of neighbours, where the sides took turns.
fn neighbours([base, new]: [LaunchSeries; 2]) -> Option<CountedDifference> {
    let pair = |(number, time): (&LaunchId, &f64)| Some(new.values.get(number)? - time);
    let pairs: Vec<f64> = base.values.iter().filter_map(pair).collect();
    match pairs.is_empty() {
        true => groups([base, new]),
        false => Difference::of_pairs(&pairs).map(|difference| (difference, (pairs.len(), pairs.len()))),
    }
}

/// The difference of values that have no neighbours on the other side.
fn groups([base, new]: [LaunchSeries; 2]) -> Option<CountedDifference> {
    let values = |side: LaunchSeries| side.values.values().copied().collect::<Vec<_>>();
    let difference = Difference::of_groups(&values(base), &values(new))?;
    Some((difference, (base.values.len(), new.values.len())))
}

/// The difference of two series of launches as it would be if the machine had been in one state beside all of them; `None` with
/// few of them, and where no figure of the state is known beside all.
///
/// Launches differ most by how far apart their cores are and how fast these are at the moment, and methods follow that each in its own
/// measure, so that neither a ratio nor a neighbour takes it off.
fn adjusted(sides: [LaunchSeries; 2]) -> Option<CountedDifference> {
    if sides.iter().any(|side| side.values.len() < ADJUSTED_FROM) {
        return None;
    }
    let [base, new] = explained(sides).map(|side| side.into_values().collect::<Vec<_>>());
    let difference = Difference::of_explained(&base, &new)?;
    difference.is_adjusted.then_some((difference, (base.len(), new.len())))
}

/// The difference of two series of runs, whose launches tell by how much values follow the machine's state.
fn of_runs(sides: [LaunchSeries; 2]) -> Option<CountedDifference> {
    let [base, new] = explained(sides).map(by_run);
    let difference = Difference::of_nested(&base, &new)?;
    Some((difference, (base.len(), new.len())))
}

/// The values of both sides, with those figures of the machine's state that are known beside all of them.
fn explained(sides: [LaunchSeries<'_>; 2]) -> [BTreeMap<&LaunchId, Explained>; 2] {
    let state = |side: &LaunchSeries, number: &LaunchId| -> StateValues {
        let states = side.side.values(side.subject).map(|values| &values.states);
        states.and_then(|states| states.get(number).copied()).unwrap_or_default()
    };
    let all = || sides.iter().flat_map(|side| side.values.keys().map(move |number| state(side, number)));
    let known = [0, 1].map(|i| all().all(|state| state[i].is_some()));
    let by = |state: StateValues| {
        state.into_iter().zip(known).filter(|(_, known)| *known).filter_map(|(value, _)| value).collect()
    };
    sides.map(|side| {
        let values = side.values.iter();
        values
            .map(|(number, value)| (number, Explained { value: *value, by: by(state(&side, number)) }))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::record;
    use crate::model::Record;

    /// Three runs of four launches, of which `ddt` takes as long as is said of a run and a launch, and follows the latency between
    /// cores, which is as is said of a run and a launch.
    fn runs(
        name: &str,
        time: impl Fn(usize, usize) -> f64,
        latency: impl Fn(usize, usize) -> f64,
    ) -> Vec<Record> {
        let launches = (0..3).flat_map(|run| (0..4).map(move |launch| (run, launch)));
        launches
            .map(|(run, launch)| {
                let latency = latency(run, launch);
                let time = time(run, launch) * latency.powf(0.4);
                let record = record(&format!("{name} {run}"), launch, "ddt", time);
                Record { state_latency_s: Some(latency), ..record }
            })
            .collect()
    }

    fn difference(base: &[Record], new: &[Record], unit: ComparisonUnit) -> CountedDifference {
        let [base, new] = [("base", base), ("new", new)].map(|(name, records)| Side::of(name, records, unit));
        let subject = base.subjects().next().unwrap().clone();
        times(&base, &new, &subject).unwrap()
    }

    /// Small differences that have no order.
    fn noise(run: usize, launch: usize) -> f64 {
        1.0 + 0.001 * ((7 * run + 5 * launch) % 4) as f64
    }

    #[test]
    fn runs_are_counted_and_brought_to_one_state() {
        let base = runs("base", noise, |run, launch| 20e-9 * (1.0 + 0.1 * (run + launch) as f64));
        let slow = |run, launch| 1.2 * noise(run, launch);
        let new = runs("new", slow, |run, launch| 30e-9 * (1.0 + 0.1 * (2 * run + launch) as f64));
        let (adjusted, units) = difference(&base, &new, ComparisonUnit::Run);
        assert_eq!(units, (3, 3));
        assert!(adjusted.is_adjusted && adjusted.freedom <= 4.0, "{adjusted:?}");
        let (low, high) = adjusted.interval(0.05);
        assert!(low > 1.18_f64.ln() && high < 1.22_f64.ln(), "{adjusted:?}");
        // A state that is not known beside all launches is not taken off: cores that are farther apart look like a slower MPI.
        let mut lacking = new.clone();
        lacking[5].state_latency_s = None;
        let (plain, _) = difference(&base, &lacking, ComparisonUnit::Run);
        assert!(!plain.is_adjusted && plain.value > 1.4_f64.ln(), "{plain:?}");
    }

    #[test]
    fn runs_whose_means_are_alike_by_chance_are_no_surer_than_their_launches() {
        let apart = |_: usize, launch: usize| 1.0 + 0.1 * launch as f64;
        let alike = runs("base", apart, |_, _| 20e-9);
        let other = runs("new", |run, launch| 1.001 * apart(run, launch), |_, _| 20e-9);
        let (of_means, _) = difference(&alike, &other, ComparisonUnit::Run);
        // The standard error of a mean of twelve launches that deviate by some 11%, twice.
        assert!(of_means.error > 0.04 && of_means.error < 0.05, "{of_means:?}");
        let (of_launches, units) = difference(&alike, &other, ComparisonUnit::Launch);
        assert_eq!(units, (12, 12));
        assert!((of_launches.error / of_means.error - 1.0).abs() < 0.1, "{of_launches:?}");
    }
}
