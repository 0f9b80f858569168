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

/// The name of each state of records over launches, the same for all cases: `cores 30 ns apart`. A state that was not measured has
/// none.
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

/// In how many of its launches a case was in this state: ` in 5 of 6 launches`; for several cases the fewest and the most. Empty if
/// all launches were.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Phase;
    use crate::report::made::{case, record};
    use crate::report::table::TableFormat;

    static FORM: TableFormat = TableFormat::new(&|_| None, Phase::RoundTrip, "reference");

    fn of(test: &str, hosts: usize, state: Option<(usize, f64)>, launches: usize) -> Record {
        let mut record = record(&case(test, "mpich", "n=1"), "ddt", 1e-6);
        record.case_mut().hosts = hosts;
        let (state, state_latency_s) = state.unzip();
        Record { state, state_latency_s, launches, ..record }
    }

    #[test]
    fn the_heading_names_the_state_and_its_launches_if_there_were_others() {
        let text = |records: &[Record]| {
            let cases = CaseView::all(&FORM, records);
            let heading = |case: &CaseView| format!("{}{}", case.conditions(), counted_of([case]));
            cases.iter().map(heading).collect::<Vec<_>>()
        };
        let near = |test: &str, launches| of(test, 1, Some((0, 30e-9)), launches);
        assert_eq!(text(&[near("a", 5)]), ["mpich, 2 ranks, warm; cores 30 ns apart"]);
        let far = of("a", 1, Some((1, 180e-9)), 1);
        let of_b = Record { state_latency_s: Some(32e-9), ..near("b", 6) };
        let records = [near("a", 5), far, of_b];
        let expected = [
            "mpich, 2 ranks, warm; cores 31 ns apart in 5 of 6 launches",
            "mpich, 2 ranks, warm; cores 180 ns apart in 1 of 6 launches",
            "mpich, 2 ranks, warm; cores 31 ns apart",
        ];
        assert_eq!(text(&records), expected);
        let cases = CaseView::all(&FORM, &records);
        assert_eq!(counted_of([&cases[0], &cases[2]]), " in 5 to 6 of 6 launches");
        assert_eq!(cases[0].side(), "mpich, cores 31 ns apart");
        assert_eq!(
            text(&[of("a", 2, Some((0, 1.26e-6)), 6)]),
            ["mpich, 2 ranks on 2 hosts, warm; hosts 1.3 µs apart"]
        );
        assert_eq!(text(&[of("a", 1, None, 6)]), ["mpich, 2 ranks, warm"]);
        let mixed = Record { mixed_states: true, ..of("a", 1, None, 1) };
        assert_eq!(
            text(&[near("a", 5), mixed])[1],
            "mpich, 2 ranks, warm; cores at a changing distance in 1 of 6 launches"
        );
    }

    #[test]
    fn a_state_with_few_launches_is_not_in_the_answer_unless_it_is_the_most_common_one() {
        let shown = |launches: [usize; 2]| {
            let records =
                [of("a", 1, Some((0, 30e-9)), launches[0]), of("a", 1, Some((1, 180e-9)), launches[1])];
            CaseView::all(&FORM, &records).iter().map(CaseView::has_too_few_launches).collect::<Vec<_>>()
        };
        assert_eq!(shown([3, 3]), [false, false]);
        assert_eq!(shown([5, 2]), [false, true]);
        assert_eq!(shown([1, 2]), [true, false]);
        assert_eq!(shown([1, 1]), [false, true]);
    }
}
