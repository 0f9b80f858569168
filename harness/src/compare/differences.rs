//! The difference of two sides in one state of the machine, from interleaved launches or from runs at
//! different times, adjusted to one latency and speed of copies within the state if these are known.

use std::collections::BTreeMap;

use super::side::{ComparisonUnit, LaunchId, MachineThen, Side, Subject, SubjectValues, by_run};
use super::verdict::Estimate;
use crate::stats::adjusted::{Explained, SlopePrior};
use crate::stats::difference::{BetweenGroups, Compared, Difference};
use crate::stats::moderated::Level;
use crate::stats::ranks::RankDifference;
use crate::stats::{median, sorted};

/// A difference between two sides with their levels (logarithms), and the number of units of each.
pub(super) type CountedDifference = (Compared, (usize, usize));

/// Launches of a side to compare: a subject, and its values, logarithms by launch.
#[derive(Clone, Copy)]
pub(super) struct LaunchSeries<'a> {
    pub side: &'a Side,
    pub subject: &'a Subject,
    pub values: &'a BTreeMap<LaunchId, f64>,
}

impl<'a> LaunchSeries<'a> {
    /// The values of a subject that `of` picks.
    pub fn pick(
        side: &'a Side,
        subject: &'a Subject,
        of: fn(&SubjectValues) -> &BTreeMap<LaunchId, f64>,
    ) -> Option<Self> {
        Some(Self { side, subject, values: of(side.values(subject)?) })
    }

    /// Each value, and the machine next to it.
    pub fn with_machine(&self) -> Vec<(f64, MachineThen)> {
        self.values.values().copied().zip(self.machine()).collect()
    }

    fn machine(&self) -> impl Iterator<Item = MachineThen> + use<'a> {
        let machine = self.side.values(self.subject).map(|values| &values.machine);
        let of = move |number| machine.and_then(|machine| machine.get(number).copied()).unwrap_or_default();
        self.values.keys().map(of)
    }
}

/// How times follow the machine's state: the slopes of their logarithm against those of the core-to-core latency and of the speed of
/// copies. In the recordings with states of `harness/benches/recorded/` (until commit e0a91fef), nine of ten slopes are between 0.1 and
/// 0.85 and between -1.25 and -0.17; those of copies only where their speed varies.
pub(super) const TIMES: [SlopePrior; 2] =
    [SlopePrior { expected: 0.45, deviation: 0.4 }, SlopePrior { expected: -0.5, deviation: 0.5 }];

/// The same for ratios of two methods' times, which follow the state either way.
pub(super) const RATIOS: [SlopePrior; 2] =
    [SlopePrior { expected: 0.0, deviation: 0.4 }, SlopePrior { expected: 0.0, deviation: 0.5 }];

/// How far runs of the same thing are apart, as logarithms, besides what their launches show: by 1%, as runs of one machine within 12
/// minutes are (docs/evidence/statistics.md, "Short runs"); and those of two days by as much again. Known as well as from five runs.
const BETWEEN_RUNS: BetweenGroups = BetweenGroups { of_a_side: 0.01, of_sides: 0.01, freedom: 4.0 };

/// Minimum runs of each side for a difference: a single run may have been disturbed as a whole, which none of its launches shows.
pub(super) const FEWEST_RUNS: usize = 2;

/// The difference of the times of two series, the base first. Launches that took turns are compared as two groups: by the state that was
/// measured next to them more is explained than by pairing neighbours, which costs half of the degrees of freedom.
pub(super) fn difference(sides: [LaunchSeries; 2]) -> Option<CountedDifference> {
    adjusted(sides, TIMES)
}

fn adjusted(sides: [LaunchSeries; 2], slopes: [SlopePrior; 2]) -> Option<CountedDifference> {
    let ([base, new], slopes) = explained(sides, slopes);
    match sides[0].side.unit {
        ComparisonUnit::Run => {
            let [base, new] = [base, new].map(by_run);
            if base.len().min(new.len()) < FEWEST_RUNS {
                return None;
            }
            let difference = Difference::of_nested(&base, &new, &slopes, BETWEEN_RUNS)?;
            Some((difference, (base.len(), new.len())))
        }
        ComparisonUnit::Launch => {
            let [base, new] = [base, new].map(|side| side.into_values().collect::<Vec<_>>());
            Some((Difference::of_explained(&base, &new, &slopes)?, (base.len(), new.len())))
        }
    }
}

/// The change of the mean. For launches, from their ranks, which a disturbed launch hardly affects. Runs are
/// too few for ranks, but each is the mean of several launches. `None` with too few values for an interval.
pub(super) fn mean(sides: [LaunchSeries; 2], alpha: f64, threshold: f64) -> Option<Estimate> {
    match sides[0].side.unit {
        ComparisonUnit::Run => {
            let (difference, units) = difference(sides)?;
            Some(Estimate::from_difference(&difference.difference, units, alpha, threshold))
        }
        ComparisonUnit::Launch => {
            let [base, new] = sides.map(values);
            let ranks = RankDifference::from_samples(&base, &new)?;
            let (low, high) = ranks.interval(alpha)?;
            let units = (base.len(), new.len());
            Some(Estimate::of_interval(ranks.value().exp(), (low.exp(), high.exp()), units, threshold))
        }
    }
}

/// The means of both sides, as far apart as the change of the mean.
pub(super) fn mean_levels(sides: [LaunchSeries; 2]) -> Option<[f64; 2]> {
    match sides[0].side.unit {
        ComparisonUnit::Run => difference(sides).map(|(compared, _)| compared.locations),
        ComparisonUnit::Launch => {
            let [base, new] = sides.map(values);
            RankDifference::from_samples(&base, &new)?.levels(&base, &new)
        }
    }
}

fn values(series: LaunchSeries) -> Vec<f64> {
    series.values.values().copied().collect()
}

/// The difference of a subject's time over that of another method.
pub(super) fn over(base: &Side, new: &Side, subject: &Subject, other: &str) -> Option<CountedDifference> {
    let (of_base, of_new) = (base.over(subject, other), new.over(subject, other));
    let series = [
        LaunchSeries { side: base, subject, values: &of_base },
        LaunchSeries { side: new, subject, values: &of_new },
    ];
    adjusted(series, RATIOS)
}

/// The values of both sides with those measures of the machine that are known for all of them, and the slopes of these.
///
/// Within a state, launches differ most by the speed of the cores at the moment, and methods follow that each
/// in its own measure, so that neither a ratio nor a neighbour removes it.
fn explained(
    sides: [LaunchSeries<'_>; 2],
    slopes: [SlopePrior; 2],
) -> ([BTreeMap<&LaunchId, Explained>; 2], Vec<SlopePrior>) {
    let middles = Middles::from_machines(sides.iter().flat_map(LaunchSeries::machine));
    let values = sides.map(|side| {
        let values = side.values.iter().zip(side.machine());
        values.map(|((number, value), machine)| (number, middles.explained(*value, machine))).collect()
    });
    (values, middles.slopes(slopes))
}

/// The level of each series of values next to their machine, at the median latency and copy speed of all of them, each with its own
/// slopes: other MPIs, and other methods, follow these in another measure. `None` with too few launches.
pub(super) fn levels(series: &[Vec<(f64, MachineThen)>], slopes: [SlopePrior; 2]) -> Vec<Option<Level>> {
    let middles = Middles::from_machines(series.iter().flatten().map(|(_, machine)| *machine));
    let level = |series: &Vec<(f64, MachineThen)>| {
        let values = series.iter().map(|(value, machine)| middles.explained(*value, *machine));
        Level::from_values(&values.collect::<Vec<_>>(), &middles.slopes(slopes))
    };
    series.iter().map(level).collect()
}

/// The medians, within a state, of those measures of the machine that are known for all values that are compared.
struct Middles([Option<f64>; 2]);

impl Middles {
    fn from_machines(all: impl Iterator<Item = MachineThen>) -> Self {
        let all: Vec<MachineThen> = all.collect();
        let middle = |i: usize| {
            let values: Option<Vec<f64>> = all.iter().map(|machine| machine.measures[i]).collect();
            median(&sorted(values?))
        };
        Self([0, 1].map(middle))
    }

    /// A value with its measures, relative to the medians.
    fn explained(&self, value: f64, machine: MachineThen) -> Explained {
        let by = self.0.iter().zip(machine.measures).filter_map(|(middle, of)| Some(of? - (*middle)?));
        Explained { value, by: by.collect() }
    }

    fn slopes(&self, slopes: [SlopePrior; 2]) -> Vec<SlopePrior> {
        self.0.iter().zip(slopes).filter_map(|(middle, slope)| middle.map(|_| slope)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::record;
    use crate::model::Record;

    /// Three runs of four launches. `ddt` takes the given time of a run and a launch, and follows the given core-to-core latency.
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

    fn of(base: &[Record], new: &[Record], unit: ComparisonUnit) -> CountedDifference {
        let [base, new] =
            [("base", base), ("new", new)].map(|(name, records)| Side::from_records(name, records, unit));
        let subject = base.subjects().next().unwrap().clone();
        let times = |side| LaunchSeries::pick(side, &subject, |values| &values.times).unwrap();
        difference([times(&base), times(&new)]).unwrap()
    }

    /// Small differences without a pattern.
    fn noise(run: usize, launch: usize) -> f64 {
        1.0 + 0.001 * ((7 * run + 5 * launch) % 4) as f64
    }

    #[test]
    fn runs_are_counted_and_brought_to_one_state() {
        let base = runs("base", noise, |run, launch| 20e-9 * (1.0 + 0.1 * (run + launch) as f64));
        let slow = |run, launch| 1.2 * noise(run, launch);
        let new = runs("new", slow, |run, launch| 30e-9 * (1.0 + 0.1 * (2 * run + launch) as f64));
        let (Compared { difference: adjusted, locations }, units) = of(&base, &new, ComparisonUnit::Run);
        assert!((locations[1] - locations[0] - adjusted.value).abs() < 1e-9, "{locations:?}");
        assert_eq!(units, (3, 3));
        assert!(adjusted.is_adjusted, "{adjusted:?}");
        // By the state only: the latencies of the two sides are 1.4 to 1.8 times as far apart as those of a side.
        let (low, high) = adjusted.interval(0.05);
        assert!(
            low > 1.1_f64.ln() && high < 1.3_f64.ln() && (adjusted.value - 1.2_f64.ln()).abs() < 0.02,
            "{adjusted:?}"
        );
        let of_one_run = |records: &[Record]| records[..4].to_vec();
        let side = |records: &[Record]| Side::from_records("one", records, ComparisonUnit::Run);
        let [one, other] = [side(&of_one_run(&base)), side(&new)];
        let subject = one.subjects().next().unwrap().clone();
        let times = |side| LaunchSeries::pick(side, &subject, |values| &values.times).unwrap();
        assert_eq!(difference([times(&one), times(&other)]), None, "one run of a side shows nothing");
        // Without the state of all launches times are not adjusted: a greater distance of the cores would count as a slower MPI.
        let mut lacking = new.clone();
        lacking[5].state_latency_s = None;
        let plain = of(&base, &lacking, ComparisonUnit::Run).0.difference;
        assert!(!plain.is_adjusted && plain.value > 1.4_f64.ln(), "{plain:?}");
    }

    #[test]
    fn runs_whose_means_are_alike_by_chance_are_no_surer_than_their_launches() {
        let apart = |_: usize, launch: usize| 1.0 + 0.1 * launch as f64;
        let alike = runs("base", apart, |_, _| 20e-9);
        let other = runs("new", |run, launch| 1.001 * apart(run, launch), |_, _| 20e-9);
        let of_means = of(&alike, &other, ComparisonUnit::Run).0.difference;
        // The standard error of the mean of twelve launches with a deviation of about 11%, twice.
        assert!(of_means.error > 0.04 && of_means.error < 0.05, "{of_means:?}");
        let (Compared { difference: of_launches, .. }, units) = of(&alike, &other, ComparisonUnit::Launch);
        assert_eq!(units, (12, 12));
        assert!(of_launches.error > 0.04 && of_launches.error < of_means.error, "{of_launches:?}");
    }
}
