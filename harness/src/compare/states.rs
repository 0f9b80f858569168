//! The states of the machine during the launches of several sides: core-to-core latencies that are clearly
//! apart. Launches are compared only with launches in the same state.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::case_of;
use super::side::{LaunchId, Side, Subject};
use crate::model::Case;
use crate::report::verdict::{apart, short};
use crate::stats::{levels, median, sorted};

/// The states, the nearest cores first. Latencies are comparable between cases with the same number of ranks,
/// so each number of ranks has its own states.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    /// The lowest latency of each state except the first, as logarithms; `None` if no latency is known.
    starts: BTreeMap<usize, Option<Vec<f64>>>,
}

impl States {
    /// All states of the launches of these sides. If no latency is known, all launches are in one state, which has no name.
    pub fn from_sides<'a>(sides: impl IntoIterator<Item = &'a Side>) -> Self {
        let mut latencies: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for side in sides {
            for subject in side.subjects() {
                let machine = side.values(subject).into_iter().flat_map(|values| values.machine.values());
                let known = machine.filter_map(|machine| machine.measures[0].map(f64::exp));
                latencies.entry(subject.ranks).or_default().extend(known);
            }
        }
        let starts = |all: Vec<f64>| {
            (!all.is_empty()).then(|| levels(&sorted(all)).into_iter().map(f64::ln).collect())
        };
        Self { starts: latencies.into_iter().map(|(ranks, all)| (ranks, starts(all))).collect() }
    }

    pub fn count(&self) -> usize {
        self.starts.values().map(Self::count_of).sum::<usize>().max(1)
    }

    fn count_of(starts: &Option<Vec<f64>>) -> usize {
        starts.as_ref().map_or(0, Vec::len) + 1
    }

    /// The number of the state with this latency, a logarithm; `None` for a launch of which it is not known, if it is of others.
    pub fn number(&self, ranks: usize, latency: Option<f64>) -> Option<usize> {
        let before: usize = self.starts.range(..ranks).map(|(_, starts)| Self::count_of(starts)).sum();
        match (self.starts.get(&ranks).and_then(Option::as_ref), latency) {
            (None, _) => Some(before),
            (Some(starts), Some(latency)) => Some(before + starts.partition_point(|start| *start <= latency)),
            (Some(_), None) => None,
        }
    }

    /// The launches of a side in a state.
    pub fn part(&self, side: &Side, number: usize) -> Side {
        side.restricted(&|ranks, latency| self.number(ranks, latency) == Some(number))
    }

    /// Launches of all cases of these sides that are in no state, because their latency is not known, or changed meanwhile.
    pub fn without_state(&self, sides: &[&Side]) -> usize {
        let of_side = |side: &&Side| {
            let launches = side.subjects().flat_map(|subject| {
                let machine = side.values(subject).into_iter().flat_map(|values| &values.machine);
                let unknown =
                    machine.filter(|(_, machine)| self.number(subject.ranks, machine.measures[0]).is_none());
                unknown.map(move |(launch, _)| (case_of(subject), launch)).collect::<Vec<_>>()
            });
            launches.collect::<BTreeSet<_>>().len()
        };
        sides.iter().map(of_side).sum()
    }
}

/// Launches of cases in one state of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateMet {
    /// Its number, the nearest cores first.
    pub state: usize,
    /// Their median core-to-core latency, in seconds.
    pub latency_s: f64,
    /// Launches of each side, of all cases together.
    pub launches: Vec<usize>,
}

impl StateMet {
    /// Launches of all sides.
    pub(super) fn all(&self) -> usize {
        self.launches.iter().sum()
    }
}

/// The states during the launches of some sides, the nearest cores first; empty if latencies are not known.
pub(super) fn met(sides: &[&Side], states: &States) -> Vec<StateMet> {
    let mut met: BTreeMap<usize, (Vec<f64>, Vec<usize>)> = BTreeMap::new();
    for (i, side) in sides.iter().enumerate() {
        let mut launches: BTreeMap<(Subject, &LaunchId), Vec<f64>> = BTreeMap::new();
        for subject in side.subjects() {
            // The methods of a case share its launches.
            let machine = side.values(subject).into_iter().flat_map(|values| &values.machine);
            let known = machine.filter_map(|(launch, machine)| Some((launch, machine.measures[0]?)));
            known.for_each(|(launch, latency)| {
                launches.entry((case_of(subject), launch)).or_default().push(latency);
            });
        }
        for ((case, _), of_methods) in launches {
            let Some(latency) = median(&sorted(of_methods)) else { continue };
            let Some(number) = states.number(case.ranks, Some(latency)) else { continue };
            let (all, launches) = met.entry(number).or_default();
            launches.resize(sides.len(), 0);
            all.push(latency.exp());
            launches[i] += 1;
        }
    }
    let state = |(state, (all, launches)): (usize, (Vec<f64>, Vec<usize>))| {
        Some(StateMet { state, latency_s: median(&sorted(all))?, launches })
    };
    met.into_iter().filter_map(state).collect()
}

/// Example: `cores 30 ns apart in 52 launches, 165 ns in 28`; `None` if no state is known.
pub(super) fn text(states: &[StateMet]) -> Option<String> {
    let of = |(place, state): (usize, &StateMet)| match (place, state.all()) {
        (0, 1) => format!("{} in 1 launch", at(state.latency_s, true)),
        (0, launches) => format!("{} in {launches} launches", at(state.latency_s, true)),
        (_, launches) => format!("{} in {launches}", at(state.latency_s, false)),
    };
    let all: Vec<String> = states.iter().enumerate().map(of).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The distance of cores, as words or only the latency: latencies are known on one host only.
pub(super) fn at(latency_s: f64, with_words: bool) -> String {
    if with_words { apart(&Case::default(), latency_s) } else { short(latency_s) }
}
