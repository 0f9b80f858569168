//! Launches by the state of the machine: times and ratios differ more between states than within one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::{Case, Record};
use crate::stats;

/// Launches with comparable latencies: same run, same number of ranks and hosts.
type LatencyGroup<'a> = (&'a str, usize, usize);

fn place(case: &Case) -> LatencyGroup<'_> {
    (&case.run, case.hosts, case.ranks)
}

#[derive(Default)]
struct OfCase {
    launches: HashSet<Option<usize>>,
    /// The number of each launch's state; `None` if it changed within the launch. Without launches in which it was not measured.
    known: HashMap<Option<usize>, Option<usize>>,
    /// The median of the latencies of the run's launches in each of its states, in seconds.
    latency_s: BTreeMap<usize, f64>,
    most_common: Option<usize>,
}

/// The states of launches. All cases and methods of a run together show at which latencies they begin.
pub(super) struct States<'a>(HashMap<&'a Case, OfCase>);

impl<'a> States<'a> {
    pub(super) fn from_records(records: &'a [Record]) -> Self {
        let mut all: HashMap<LatencyGroup<'_>, Vec<f64>> = HashMap::new();
        let mut cases: HashMap<&Case, OfCase> = HashMap::new();
        let mut of_launches: HashMap<(&Case, Option<usize>), Vec<&Record>> = HashMap::new();
        for record in records.iter().filter(|record| super::is_headline(record)) {
            cases.entry(&record.case).or_default().launches.insert(record.launch);
            if let Some(latency_s) = latency(record) {
                all.entry(place(&record.case)).or_default().push(latency_s);
                of_launches.entry((&record.case, record.launch)).or_default().push(record);
            }
        }
        let begins: HashMap<_, _> =
            all.into_iter().map(|(place, all)| (place, stats::levels(&stats::sorted(all)))).collect();
        let mut latencies: HashMap<(LatencyGroup<'_>, usize), Vec<f64>> = HashMap::new();
        for ((case, launch), methods) in of_launches {
            let Some(latency_s) = median(methods.iter().filter_map(|record| latency(record))) else {
                continue;
            };
            // The times of a launch that changed its state are of neither.
            let is_mixed = methods.iter().any(|record| record.mixed_states);
            let number = begins[&place(case)].partition_point(|&begin| begin <= latency_s);
            let number = (!is_mixed).then_some(number);
            let of_state = number.map(|number| latencies.entry((place(case), number)).or_default());
            of_state.into_iter().for_each(|of_state| of_state.push(latency_s));
            cases.entry(case).or_default().known.insert(launch, number);
        }
        let latencies: HashMap<_, _> =
            latencies.into_iter().filter_map(|(of, all)| Some((of, median(all)?))).collect();
        for (case, of_case) in &mut cases {
            let met = of_case.known.values().flatten();
            of_case.latency_s = met.map(|&number| (number, latencies[&(place(case), number)])).collect();
            let count = |number: &&usize| {
                let launches = of_case.known.values().filter(|state| **state == Some(**number)).count();
                (launches, Reverse(**number))
            };
            of_case.most_common = of_case.latency_s.keys().max_by_key(count).copied();
        }
        Self(cases)
    }

    /// The state of the record's launch; if that was not measured, because all methods failed, the most common one of the case.
    pub(super) fn number(&self, record: &Record) -> Option<usize> {
        let of_case = self.0.get(&*record.case)?;
        of_case.known.get(&record.launch).copied().unwrap_or(of_case.most_common)
    }

    /// The state that most launches of the record's case were in; of equal ones the fastest.
    pub(super) fn most_common(&self, record: &Record) -> Option<usize> {
        self.0.get(&*record.case)?.most_common
    }

    /// The core-to-core latency of a state in the launches of the record's case, in seconds.
    pub(super) fn latency_s(&self, record: &Record, state: Option<usize>) -> Option<f64> {
        self.0.get(&*record.case)?.latency_s.get(&state?).copied()
    }

    pub(super) fn has_several_launches(&self, record: &Record) -> bool {
        self.0.get(&*record.case).is_some_and(|of_case| of_case.launches.len() > 1)
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    stats::median(&stats::sorted(values))
}

/// The latency of a launch's blocks, if it was measured.
fn latency(record: &Record) -> Option<f64> {
    record.state_latency_s.filter(|&latency_s| latency_s > 0.0 && latency_s.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::{most_common_state, over_launches};
    use crate::experiments::Kind;
    use crate::model::{Basis, Figure, Quantity, Record};

    /// Launches at these latencies in nanoseconds, with times in microseconds and the ratios of `ddt` to `manual`.
    fn records(launches: &[(f64, f64, f64)]) -> Vec<Record> {
        let record = |(launch, &(latency_ns, time_us, ratio)): (usize, &(f64, f64, f64))| Record {
            method: "ddt".to_owned(),
            phase: Kind::PingPong.headline(),
            launch: Some(launch),
            median_s: Some(time_us / 1e6),
            state_latency_s: Some(1e-9 * latency_ns),
            figures: vec![Figure::with_interval(Quantity::TimeOver, ratio, (ratio, ratio)).against("manual")],
            ..Record::default()
        };
        launches.iter().enumerate().map(record).collect()
    }

    fn over(launches: &[(f64, f64, f64)]) -> Vec<Record> {
        over_launches(&records(launches), None)
    }

    #[test]
    fn no_value_lies_between_states() {
        // 55 and 110 µs: in turn, so that a median over all launches would be 82.5.
        let near = [(30.0, 55.0, 3.5), (30.5, 55.2, 3.6), (31.0, 54.8, 3.4)];
        let far = [(186.0, 110.0, 1.7), (185.0, 110.4, 1.6), (187.0, 109.6, 1.8)];
        let in_turn: Vec<_> = near.into_iter().zip(far).flat_map(|(near, far)| [near, far]).collect();
        let over = over(&in_turn);
        let facts: Vec<_> = over.iter().map(|r| (r.state, r.launches, r.median_s, r.basis)).collect();
        assert_eq!(
            facts,
            [(Some(0), 3, Some(55.0e-6), Basis::LaunchesT), (Some(1), 3, Some(110.0e-6), Basis::LaunchesT)]
        );
        let ends = |of: &Record| {
            [of.median_low_s, of.median_high_s, of.repeat_low_s, of.repeat_high_s].map(Option::unwrap)
        };
        assert!(ends(&over[0]).iter().all(|end| (53e-6..57e-6).contains(end)), "{over:?}");
        assert!(ends(&over[1]).iter().all(|end| (107e-6..113e-6).contains(end)), "{over:?}");
        let latencies: Vec<_> = over.iter().map(|record| record.state_latency_s.unwrap()).collect();
        assert!(
            (latencies[0] - 30.5e-9).abs() < 1e-15 && (latencies[1] - 186e-9).abs() < 1e-15,
            "{latencies:?}"
        );
        let ratios: Vec<_> = over.iter().map(|record| record.over("manual").unwrap()).collect();
        assert_eq!((ratios[0].value, ratios[1].value), (Some(3.5), Some(1.7)));
        assert!(ratios[0].low.unwrap() > 3.2 && ratios[1].high.unwrap() < 2.1, "{ratios:?}");
        // With equally many launches the faster state is named.
        assert_eq!(most_common_state(&over), over[..1]);
    }

    #[test]
    fn a_launch_that_failed_is_of_the_state_of_its_other_methods_or_of_the_most_common_one() {
        let mut records = records(&[
            (30.0, 1.0, 1.0),
            (185.0, 2.0, 1.0),
            (186.0, 2.0, 1.0),
            (30.0, 1.0, 1.0),
            (30.0, 1.0, 1.0),
        ]);
        let crashed = |launch: usize| Record {
            method: "engine".to_owned(),
            median_s: None,
            state_latency_s: None,
            figures: Vec::new(),
            ..records[launch].clone()
        };
        let [far, unknown] = [1, 4].map(crashed);
        records[4] = Record { median_s: None, state_latency_s: None, ..records[4].clone() };
        records.extend([far, unknown]);
        let states: Vec<_> =
            over_launches(&records, None).into_iter().map(|r| (r.method, r.state, r.launches)).collect();
        let of = |method: &str, state, launches| (method.to_owned(), Some(state), launches);
        assert_eq!(states, [of("ddt", 0, 2), of("engine", 0, 1), of("ddt", 1, 2), of("engine", 1, 1)]);
    }

    #[test]
    fn a_launch_that_changed_its_state_is_of_none() {
        let mut records = records(&[(30.0, 1.0, 1.0), (31.0, 1.0, 1.0), (30.0, 1.5, 1.0)]);
        records[2].mixed_states = true;
        let states: Vec<_> =
            over_launches(&records, None).iter().map(|r| (r.state, r.launches, r.median_s)).collect();
        assert_eq!(states, [(None, 1, Some(1.5e-6)), (Some(0), 2, Some(1e-6))]);
    }

    #[test]
    fn without_latencies_all_launches_are_of_one_state_without_a_number() {
        let unknown = over(&[(0.0, 1.0, 1.14), (0.0, 1.1, 1.13)]);
        assert_eq!((unknown.len(), unknown[0].state, unknown[0].launches), (1, None, 2));
        let one = over(&[(30.0, 1.0, 1.14)]);
        assert_eq!((one.len(), one[0].state, one[0].launches), (1, Some(0), 1));
    }
}
