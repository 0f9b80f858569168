//! The states of the machine during the launches of two sides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case_of;
use super::side::{LaunchId, Side, Subject};
use crate::model::Case;
use crate::report::state;
use crate::stats::{levels, median, sorted};

/// Launches of cases in one state of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateMet {
    /// Their median core-to-core latency, in seconds.
    pub latency_s: f64,
    /// Number of launches of a case, on both sides.
    pub launches: usize,
}

/// The states during the launches of two sides, the fastest first; empty if latencies were not measured.
pub(super) fn met(sides: [&Side; 2]) -> Vec<StateMet> {
    let mut latencies: BTreeMap<(usize, Subject, &LaunchId), f64> = BTreeMap::new();
    for (number, side) in sides.into_iter().enumerate() {
        for subject in side.subjects() {
            // The methods of a case share its launches.
            let states = side.values(subject).into_iter().flat_map(|values| &values.states);
            let known = states.filter_map(|(launch, state)| Some((launch, state[0]?.exp())));
            latencies.extend(known.map(|(launch, latency)| ((number, case_of(subject), launch), latency)));
        }
    }
    let all = sorted(latencies.into_values());
    let mut groups: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let starts = levels(&all);
    for latency in all {
        groups.entry(starts.partition_point(|&start| start <= latency)).or_default().push(latency);
    }
    let state = |group: Vec<f64>| Some(StateMet { latency_s: median(&group)?, launches: group.len() });
    groups.into_values().filter_map(state).collect()
}

/// Example: `The machine: cores 30 ns apart in 52 launches, 165 ns in 28.`; `None` if there was one state.
pub(super) fn text(states: &[StateMet]) -> Option<String> {
    if states.len() < 2 {
        return None;
    }
    let each = states.iter().map(|state| (state.latency_s, state.launches));
    // Latencies are known on one host only.
    let counted = state::counted(&Case::default(), each)?;
    Some(format!("The machine: {counted}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::ComparisonUnit;
    use crate::compare::made::record;
    use crate::model::Record;

    #[test]
    fn launches_are_counted_by_state_once_for_all_methods() {
        let side = |latencies: &[f64]| {
            let of = |(launch, ns): (usize, &f64)| {
                ["manual", "ddt"].map(|method| Record {
                    state_latency_s: Some(1e-9 * ns),
                    ..record("r", launch, method, 1e-5)
                })
            };
            let records: Vec<Record> = latencies.iter().enumerate().flat_map(of).collect();
            Side::of("x", &records, ComparisonUnit::Launch)
        };
        let near = side(&[30.0, 31.0, 30.5]);
        assert_eq!(text(&met([&near, &near])), None);
        let found = met([&near, &side(&[29.5, 164.0, 165.0, 166.0])]);
        assert_eq!(text(&found).unwrap(), "The machine: cores 30 ns apart in 4 launches, 165 ns in 3.");
        assert_eq!(met([&side(&[]), &side(&[])]), []);
    }
}
