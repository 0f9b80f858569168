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
pub(super) struct LaunchStates<'a>(HashMap<&'a Case, OfCase>);

impl<'a> LaunchStates<'a> {
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
