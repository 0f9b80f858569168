//! The states of the machine during launches, as text: core-to-core latency.

use std::collections::{BTreeMap, HashMap};

use indexmap::IndexMap;

use super::case::CaseView;
use super::verdict::{apart, places};
use crate::model::{Case, Record};
use crate::stats;

/// A state of a run: states are numbered for each number of ranks and hosts.
pub type RunState<'a> = (&'a str, usize, usize, Option<usize>);

/// The state of a record over launches.
pub fn of_run(record: &Record) -> RunState<'_> {
    let Case { run, hosts, ranks, .. } = &*record.case;
    (run, *hosts, *ranks, record.state)
}

/// The name of each state of records over launches, the same for all cases: `cores 30 ns apart`. A state that
/// was not measured has none.
pub fn names(records: &[Record]) -> HashMap<RunState<'_>, String> {
    let mut states: HashMap<RunState<'_>, Vec<&Record>> = HashMap::new();
    records.iter().for_each(|record| states.entry(of_run(record)).or_default().push(record));
    let mut names = HashMap::new();
    for (state, records) in states {
        let case = &records[0].case;
        let latency_s =
            stats::median(&stats::sorted(records.iter().filter_map(|record| record.state_latency_s)));
        let changed = records.iter().any(|record| record.mixed_states);
        match (state.3, latency_s) {
            (Some(_), Some(latency_s)) => names.insert(state, apart(case, latency_s)),
            (None, _) if changed => names.insert(state, format!("{} at a changing distance", places(case))),
            _ => None,
        };
    }
    names
}

/// The states of records over launches as one text, the nearest first; with several, each with its launches of all cases.
pub fn text(records: &[Record]) -> String {
    let names = names(records);
    let mut launches: BTreeMap<RunState<'_>, BTreeMap<&Case, usize>> = BTreeMap::new();
    for record in records {
        let most = launches.entry(of_run(record)).or_default().entry(&record.case).or_default();
        *most = record.launches.max(*most);
    }
    let mut counts: IndexMap<&str, usize> = IndexMap::new();
    for (state, cases) in launches {
        let Some(name) = names.get(&state) else { continue };
        *counts.entry(name).or_default() += cases.values().sum::<usize>();
    }
    let counted = |(place, (name, launches)): (usize, (&&str, &usize))| match place {
        _ if counts.len() == 1 => (*name).to_owned(),
        0 if *launches == 1 => format!("{name} in 1 launch"),
        0 => format!("{name} in {launches} launches"),
        _ => format!("{} in {launches}", distance(name)),
    };
    counts.iter().enumerate().map(counted).collect::<Vec<_>>().join(", ")
}

/// The distance in the name of a state, with the text behind it: `30 ns`.
pub fn distance(name: &str) -> String {
    let start = |name, start| str::trim_start_matches(name, start);
    ["cores ", "hosts ", "at "].into_iter().fold(name, start).replace(" apart", "")
}

/// In how many of its launches a case was in this state: ` in 5 of 6 launches`; for several cases the fewest
/// and the most. Empty if all launches were.
pub fn counted_of<'c>(cases: impl IntoIterator<Item = &'c CaseView<'c>>) -> String {
    let mut counts: Vec<(usize, usize)> = cases.into_iter().map(CaseView::launches).collect();
    counts.sort_unstable();
    let all = counts.iter().map(|count| count.1).max().unwrap_or_default();
    match (counts.first(), counts.last()) {
        (Some(first), Some(last)) if counts.iter().any(|(of_state, all)| of_state < all) => {
            let range =
                if first.0 == last.0 { first.0.to_string() } else { format!("{} to {}", first.0, last.0) };
            format!(" in {range} of {all} launches")
        }
        _ => String::new(),
    }
}
