//! One geometric mean per side: of the time of the best method of each case, relative to that of the fastest side.
//!
//! The unit is the launch: the means of all cases of a launch are one value, so that its interval includes what all cases of a launch
//! have in common. The best method of a case is chosen for each launch by the mean of the others: if the launch itself had a say, a side
//! with many methods that are equally fast would get the luck of each launch as well.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::differences::{TIMES, levels};
use super::overview::{CaseRow, is_usable};
use super::side::{ComparisonUnit, LaunchId, MachineThen, Side, Subject};
use super::weights::{Weights, test_names};
use crate::report::ratio;
use crate::stats::difference::Difference;
use crate::stats::launches::of_other_runs;
use crate::stats::mean;
use crate::stats::moderated::{Level, moderate};

/// Geometric means of the times of several cases, relative to those of the fastest MPI.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Means {
    /// That of all cases that count.
    pub all: GroupMean,
    pub tests: Vec<GroupMean>,
    /// Launches, or runs, of which each has a value.
    pub units: usize,
    /// The file with the weights of tests; empty if all tests count equally.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub weights: String,
    /// Tests that do not count, and why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

/// The geometric mean of some cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupMean {
    /// Their test; empty for the mean of all.
    pub test: String,
    /// The share of the test's weight in that of all.
    pub weight: f64,
    /// How many cases it is of.
    pub cases: usize,
    /// The mean of each MPI; none if no case has times on all MPIs.
    pub sides: Vec<SideMean>,
}

/// The geometric mean of an MPI, relative to that of the fastest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SideMean {
    /// The ratio: 1 for the fastest.
    pub ratio: f64,
    /// Lower end of its 95% interval; `None` for the fastest, and with fewer than three launches.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl SideMean {
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The ratio and its interval; without one, nothing in its place.
    pub(super) fn texts(&self) -> [String; 2] {
        let number = |value: f64| format!("{value:.2}");
        self.interval().map_or_else(
            || [number(self.ratio), String::new()],
            |interval| ratio::texts(self.ratio, "", interval, number),
        )
    }

    /// The ratio with its interval.
    pub fn text(&self) -> String {
        self.texts().join(" ").trim_end().to_owned()
    }
}

impl GroupMean {
    /// The fastest MPI; `None` without means.
    pub fn first(&self) -> Option<usize> {
        let ratios = self.sides.iter().enumerate();
        ratios.min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)).map(|(i, _)| i)
    }
}

impl Means {
    /// The heading: `Geometric mean of 8 tests`.
    pub fn title(&self) -> String {
        let tests = self.tests.len();
        let weights = match self.weights.as_str() {
            "" => String::new(),
            file => format!(" weighted by {file}"),
        };
        format!("Geometric mean of {tests} {}{weights}", if tests == 1 { "test" } else { "tests" })
    }
}

/// The level at which intervals miss.
const ALPHA: f64 = 0.05;

/// The logarithm of a time, and the machine next to it.
type TimeInState = (f64, MachineThen);

/// A case that counts: its share of the weight of all, and each side's times by launch.
struct Counted<'a> {
    test: &'a str,
    share: f64,
    times: Vec<Vec<TimeInState>>,
}

/// The means of cases. Without weights all tests count equally; a test's weight is shared by its cases.
///
/// # Errors
/// A weight without a test.
pub(super) fn means(sides: &[Side], rows: &[CaseRow], weights: Option<&Weights>) -> Result<Means, String> {
    let all_tests = test_names(rows.iter().map(|row| &row.case));
    let of_tests = match weights {
        Some(weights) => weights.of_tests(&all_tests)?,
        None => all_tests.iter().map(|test| (*test, 1.0)).collect(),
    };
    let mut left_out = BTreeMap::new();
    let mut counted: Vec<Counted<'_>> = Vec::new();
    for row in rows {
        let test = row.case.test.as_str();
        if of_tests.get(test).is_none_or(|weight| *weight <= 0.0) {
            let file = weights.map_or("", |weights| &weights.file);
            left_out.insert(test.to_owned(), format!("no weight in {file}"));
            continue;
        }
        let times: Vec<Vec<TimeInState>> = sides.iter().map(|side| best_times(side, &row.case)).collect();
        match times.iter().any(Vec::is_empty) {
            true => {
                left_out.insert(test.to_owned(), "not measured on all MPIs".to_owned());
            }
            false => counted.push(Counted { test, share: 0.0, times }),
        }
    }
    let counts: Vec<&str> = counted.iter().map(|case| case.test).collect();
    let cases_of = |test: &str| counts.iter().filter(|other| **other == test).count();
    let mut all_tests = all_tests;
    all_tests.retain(|test| cases_of(test) > 0);
    let sum: f64 = all_tests.iter().map(|test| of_tests[test]).sum();
    counted.iter_mut().for_each(|case| case.share = of_tests[case.test] / sum / cases_of(case.test) as f64);
    let units = counted.iter().flat_map(|case| &case.times).map(Vec::len).min().unwrap_or(0);
    let of_test = |test: &&str| {
        let cases: Vec<&Counted<'_>> = counted.iter().filter(|case| case.test == *test).collect();
        GroupMean { test: (*test).to_owned(), weight: of_tests[test] / sum, ..group(&cases, units) }
    };
    Ok(Means {
        all: GroupMean { weight: 1.0, ..group(&counted.iter().collect::<Vec<_>>(), units) },
        tests: all_tests.iter().map(of_test).collect(),
        units,
        weights: weights.map(|weights| weights.file.clone()).unwrap_or_default(),
        left_out,
    })
}

/// The mean of some cases, by the first `units` launches of each side.
fn group(cases: &[&Counted<'_>], units: usize) -> GroupMean {
    let Some(first) = cases.first().filter(|_| units > 0) else { return GroupMean::default() };
    let whole: f64 = cases.iter().map(|case| case.share).sum();
    let average = |of: &dyn Fn(&Counted<'_>) -> Option<f64>| {
        let shares = cases.iter().map(|case| Some(case.share * of(case)?));
        shares.sum::<Option<f64>>().map(|sum| sum / whole)
    };
    let of_unit = |side: usize, unit: usize| {
        let measures = [0, 1].map(|i| average(&|case| case.times[side][unit].1.measures[i]));
        let machine = MachineThen { measures, ..MachineThen::default() };
        (average(&|case| Some(case.times[side][unit].0)).unwrap_or(f64::NAN), machine)
    };
    let sides: Vec<Vec<TimeInState>> =
        (0..first.times.len()).map(|side| (0..units).map(|unit| of_unit(side, unit)).collect()).collect();
    let is_known = sides.iter().flatten().all(|(_, machine)| machine.measures.iter().any(Option::is_some));
    let mut levels = if is_known { levels(&sides, TIMES) } else { Vec::new() };
    moderate(&mut levels.iter_mut().flatten().collect::<Vec<_>>());
    let levels: Option<Vec<Level>> =
        levels.into_iter().collect::<Option<Vec<_>>>().filter(|levels| !levels.is_empty());
    let plain = |side: &Vec<TimeInState>| mean(&times_of(side)).unwrap_or(f64::INFINITY);
    let values: Vec<f64> = match &levels {
        Some(levels) => levels.iter().map(|level| level.value).collect(),
        None => sides.iter().map(plain).collect(),
    };
    let fastest = values.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(i, _)| i);
    let relative = |i: usize| {
        if i == fastest {
            return SideMean { ratio: 1.0, low: None, high: None };
        }
        let difference = match &levels {
            Some(levels) => Some(levels[i].minus(&levels[fastest])),
            // Launches of the same number are neighbours.
            None => {
                let pairs = times_of(&sides[i]).into_iter().zip(times_of(&sides[fastest]));
                Difference::of_pairs(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>())
            }
        };
        let interval = difference.map(|difference| {
            let (low, high) = difference.interval(ALPHA);
            of_other_runs((low.exp(), high.exp()))
        });
        let (low, high) = interval.unzip();
        SideMean { ratio: (values[i] - values[fastest]).exp(), low, high }
    };
    GroupMean { cases: cases.len(), sides: (0..sides.len()).map(relative).collect(), ..GroupMean::default() }
}

fn times_of(side: &[TimeInState]) -> Vec<f64> {
    side.iter().map(|(time, _)| *time).collect()
}

/// The times of the best method of a case, launch by launch, or run by run; empty without any. In each it is
/// the method that is best in the others, if there are any.
fn best_times(side: &Side, case: &Subject) -> Vec<TimeInState> {
    let methods = side.methods_of(case).filter(|subject| is_usable(subject));
    let times: Vec<BTreeMap<LaunchId, TimeInState>> = methods.map(|subject| by_unit(side, subject)).collect();
    let units: BTreeSet<&LaunchId> = times.iter().flat_map(BTreeMap::keys).collect();
    let best = |unit: &&LaunchId| {
        let level = |of: &BTreeMap<LaunchId, TimeInState>| {
            let others = of.iter().filter(|(other, _)| units.len() < 2 || other != unit);
            mean(&others.map(|(_, (time, _))| *time).collect::<Vec<_>>())
        };
        let there = times.iter().filter_map(|of| Some((level(of)?, of.get(*unit)?)));
        there.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, time)| *time)
    };
    units.iter().filter_map(best).collect()
}

/// The times of a method by launch, or by run, with the states of the machine.
fn by_unit(side: &Side, subject: &Subject) -> BTreeMap<LaunchId, TimeInState> {
    let Some(values) = side.values(subject) else { return BTreeMap::new() };
    let machine = |launch: &LaunchId| values.machine.get(launch).copied().unwrap_or_default();
    let times = values.times.iter().map(|(launch, time)| (launch.clone(), (*time, machine(launch))));
    if side.unit == ComparisonUnit::Launch {
        return times.collect();
    }
    let mut runs: BTreeMap<LaunchId, Vec<TimeInState>> = BTreeMap::new();
    times.for_each(|((run, _), time)| runs.entry((run, 0)).or_default().push(time));
    let average = |times: &[TimeInState], i: usize| {
        let of: Option<Vec<f64>> = times.iter().map(|(_, machine)| machine.measures[i]).collect();
        mean(&of?)
    };
    let of_run = |times: Vec<TimeInState>| {
        let measures = [0, 1].map(|i| average(&times, i));
        Some((mean(&times_of(&times))?, MachineThen { measures, ..MachineThen::default() }))
    };
    runs.into_iter().filter_map(|(run, times)| Some((run, of_run(times)?))).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::{Overview, Settings};
    use super::*;
    use crate::compare::made::record;
    use crate::model::Record;

    /// A side of these tests, methods and times, a launch each.
    fn side(name: &str, times: &[(&str, &str, &[f64])]) -> Side {
        let record = |test: &str, method: &str, launch: usize, time: f64| {
            let mut record = record("r", launch, method, time);
            record.case_mut().test = test.to_owned();
            record
        };
        let of = |(test, method, times): &(&str, &str, &[f64])| {
            times.iter().enumerate().map(|(i, time)| record(test, method, i, *time)).collect::<Vec<Record>>()
        };
        Side::from_records(name, &times.iter().flat_map(of).collect::<Vec<_>>(), ComparisonUnit::Launch)
    }

    fn rows(sides: &[Side]) -> Vec<CaseRow> {
        Overview::of_states(sides, &Settings::default(), None).unwrap().remove(0).cases
    }

    fn means_of(sides: &[Side], weights: Option<&str>) -> Result<Means, String> {
        let weights = weights.map(|text| Weights::parse("w.toml", text).unwrap());
        means(sides, &rows(sides), weights.as_ref())
    }

    #[test]
    fn means_are_relative_to_the_fastest_and_weighted() {
        let a = side("a", &[("t", "ddt", &[4.0; 3]), ("u", "ddt", &[1.0; 3]), ("u", "manual", &[9.0; 3])]);
        let b = side("b", &[("t", "ddt", &[1.0; 3]), ("u", "manual", &[2.0; 3]), ("v", "ddt", &[1.0; 3])]);
        let sides = [a, b];
        let found = means_of(&sides, None).unwrap();
        let ratios = |of: &GroupMean| of.sides.iter().map(|side| side.ratio).collect::<Vec<_>>();
        let near = |found: &[f64], expected: [f64; 2]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        };
        // The root of 4 times 1/2.
        near(&ratios(&found.all), [2.0_f64.sqrt(), 1.0]);
        assert_eq!((found.all.cases, found.units, found.all.first()), (2, 3, Some(1)));
        let (low, high) = found.all.sides[0].interval().unwrap();
        near(&[low, high], [2.0_f64.sqrt() / 1.01, 2.0_f64.sqrt() * 1.01]);
        near(&ratios(&found.tests[1]), [1.0, 2.0]);
        assert_eq!(found.left_out["v"], "not measured on all MPIs");
        // 4 to the power of 0.2 times 1/2 to the power of 0.8.
        let weighted = means_of(&sides, Some("t = 20\nu = 80")).unwrap();
        near(&ratios(&weighted.all), [1.0, 1.0 / (4.0_f64.powf(0.2) * 0.5_f64.powf(0.8))]);
        assert_eq!((weighted.tests[0].weight, &*weighted.left_out["v"]), (0.2, "no weight in w.toml"));
        assert!(means_of(&sides, Some("t = 1\nw = 2")).unwrap_err().contains("key w"));
        let one = [side("a", &[("t", "ddt", &[4.0])]), side("b", &[("t", "ddt", &[1.0])])];
        let one = means_of(&one, None).unwrap().all;
        assert_eq!((one.sides[0].ratio, one.sides[0].interval()), (4.0, None), "one launch");
    }

    /// In how many of 100 comparisons the interval includes the ratio of the true times. Both sides have as many tests, launches vary
    /// together and each for itself, and the second side has several methods that are equally fast.
    fn coverage(methods: usize, best: impl Fn(&Side, &Subject) -> Vec<TimeInState>) -> f64 {
        const NAMES: [&str; 4] = ["ddt", "manual", "mpi_pack", "engine"];
        const TESTS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        let mut random = Pcg64::seed_from_u64(5);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut includes = || {
            let common: Vec<f64> = (0..6).map(|_| 0.1 * normal()).collect();
            let mut of = |methods: usize| {
                let names =
                    TESTS.iter().flat_map(|test| NAMES[..methods].iter().map(move |name| (*test, *name)));
                let times: Vec<_> = names
                    .map(|of| {
                        (
                            of,
                            common.iter().map(|common| (common + 0.3 * normal()).exp()).collect::<Vec<f64>>(),
                        )
                    })
                    .collect();
                side(
                    "s",
                    &times.iter().map(|((test, name), times)| (*test, *name, &times[..])).collect::<Vec<_>>(),
                )
            };
            let sides = [of(1), of(methods)];
            let rows = rows(&sides);
            let counted: Vec<Counted<'_>> = rows
                .iter()
                .map(|row| Counted {
                    test: &row.case.test,
                    share: 1.0 / 12.0,
                    times: sides.iter().map(|side| best(side, &row.case)).collect(),
                })
                .collect();
            let mean = group(&counted.iter().collect::<Vec<_>>(), 6);
            let (low, high) = mean.sides.iter().find_map(SideMean::interval).unwrap();
            low <= 1.0 && 1.0 <= high
        };
        (0..400).filter(|_| includes()).count() as f64 / 400.0
    }

    #[test]
    fn intervals_include_the_truth_as_often_as_claimed() {
        // With 400 trials the share varies by 1.1%.
        let one = coverage(1, best_times);
        assert!((0.92..=0.99).contains(&one), "{one}");
        let several = coverage(4, best_times);
        assert!((0.92..=0.99).contains(&several), "{several}");
        // The smallest mean of all launches would not do.
        let lucky = coverage(4, |side, case| {
            let times =
                side.methods_of(case).map(|subject| by_unit(side, subject).into_values().collect::<Vec<_>>());
            let level = |times: &Vec<TimeInState>| mean(&times_of(times)).unwrap();
            times.min_by(|a, b| level(a).total_cmp(&level(b))).unwrap()
        });
        assert!(lucky < 0.8, "{lucky}");
    }
}
