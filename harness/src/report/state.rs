//! The states of the machine during launches, as text: core-to-core latency.

use std::collections::BTreeMap;

use super::case::{CaseView, measured};
use super::units;
use super::verdict::{apart, short, times_text};
use crate::model::{Case, InState, Quantity, Record};
use crate::stats;

/// The states during launches of cases together: `cores 30 ns apart in 5 launches, 180 ns in 1`; `None` if they were not
/// measured.
pub fn met<'c>(cases: impl IntoIterator<Item = &'c CaseView<'c>>) -> Option<String> {
    let (mut states, mut place) = (BTreeMap::<usize, (Vec<f64>, usize)>::new(), None);
    for case in cases {
        // The methods of a case share its launches.
        let Some(record) = case.methods().find(|record| !record.states.is_empty()) else { continue };
        place = place.or(Some(&record.case));
        for InState { number, latency_s, launches, .. } in &record.states {
            let state = states.entry(*number).or_default();
            state.0.push(*latency_s);
            state.1 += launches;
        }
    }
    let latency = |latencies: &[f64]| stats::median(&stats::sorted(latencies.iter().copied()));
    let each = states.values().filter_map(|(latencies, launches)| Some((latency(latencies)?, *launches)));
    counted(place?, each)
}

/// States with their latencies and numbers of launches; at least one launch is of this case.
pub fn counted(case: &Case, states: impl IntoIterator<Item = (f64, usize)>) -> Option<String> {
    let mut states = states.into_iter();
    let (nearest_s, launches) = states.next()?;
    let nearest = apart(case, nearest_s);
    let others: Vec<String> =
        states.map(|(latency_s, launches)| format!("{} in {launches}", short(latency_s))).collect();
    match (&others[..], launches) {
        ([], _) => Some(nearest),
        (others, 1) => Some(format!("{nearest} in 1 launch, {}", others.join(", "))),
        (others, _) => Some(format!("{nearest} in {launches} launches, {}", others.join(", "))),
    }
}

/// The times of each method in each state, relative to the fastest method, if launches of the case were in several states.
pub fn note(case: &CaseView) -> Option<String> {
    let several: Vec<&Record> =
        case.methods().filter(|record| measured(record) && record.states.len() > 1).collect();
    let states = several.first()?.states.iter();
    let launches =
        |launches: usize| if launches == 1 { "1 launch".to_owned() } else { format!("{launches} launches") };
    let states = states.map(|state| format!("{} ({})", short(state.latency_s), launches(state.launches)));
    let of_method = |record: &&Record| {
        let times = record.states.iter().map(|state| state.median_s.map_or_else(String::new, units::seconds));
        let times = times.collect::<Vec<_>>().join(" and ");
        let figure = record.figure(Quantity::TimeOverFastest);
        let ratio = |(_, figure): (f64, &crate::model::Figure)| Some((figure.value?, figure.interval()?));
        let ratios = figure.into_iter().flat_map(|figure| record.in_states(figure)).filter_map(ratio);
        let ratios: Vec<String> = ratios.map(|(value, (low, high))| times_text((value, low, high))).collect();
        match (figure, &ratios[..]) {
            (Some(figure), [_, ..]) => {
                format!(
                    "{} {times}, {} times as long as {}",
                    record.method,
                    ratios.join(" and "),
                    figure.against
                )
            }
            _ => format!("{} {times}", record.method),
        }
    };
    let methods: Vec<String> = several.iter().map(of_method).collect();
    let what = if case.first().case.hosts > 1 { "hosts" } else { "cores" };
    let states = states.collect::<Vec<_>>().join(" and ");
    Some(format!("in each state, {what} {states} apart: {}", methods.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Figure, Phase};
    use crate::report::made::{case, record};
    use crate::report::table::TableFormat;

    static FORM: TableFormat = TableFormat::new(&|_| None, Phase::RoundTrip, "reference");

    fn state(number: usize, latency_s: f64, launches: usize) -> InState {
        InState {
            number,
            latency_s,
            launches,
            median_s: Some(1e-6 * (1 + number) as f64),
            ..InState::default()
        }
    }

    fn of(test: &str, hosts: usize, states: Vec<InState>) -> Record {
        let mut record = record(&case(test, "mpich", "n=1"), "ddt", 1e-6);
        record.case_mut().hosts = hosts;
        Record { states, ..record }
    }

    #[test]
    fn the_launches_of_all_cases_are_counted_by_state() {
        let text = |records: &[Record]| met(&CaseView::all(&FORM, records));
        let near = || state(0, 30e-9, 5);
        assert_eq!(text(&[of("a", 1, vec![near()])]).unwrap(), "cores 30 ns apart");
        let records = [of("a", 1, vec![near(), state(1, 180e-9, 1)]), of("b", 1, vec![state(0, 32e-9, 6)])];
        assert_eq!(text(&records).unwrap(), "cores 31 ns apart in 11 launches, 180 ns in 1");
        assert_eq!(text(&[of("a", 2, vec![state(0, 1.26e-6, 6)])]).unwrap(), "hosts 1.3 µs apart");
        assert_eq!(text(&[of("a", 1, vec![])]), None);
    }

    #[test]
    fn a_case_whose_launches_met_several_states_has_its_times_and_ratios_in_each() {
        let ratio = |value| {
            Figure::with_interval(Quantity::TimeOverFastest, value, (0.9 * value, 1.1 * value))
                .against("manual")
        };
        let in_state = |mut state: InState, value| {
            state.figures = vec![ratio(value)];
            state
        };
        let states = vec![in_state(state(0, 30e-9, 5), 2.0), in_state(state(1, 180e-9, 1), 1.0)];
        let record = Record { figures: vec![ratio(1.9)], ..of("a", 1, states) };
        let records = [record];
        let expected = "in each state, cores 30 ns (5 launches) and 180 ns (1 launch) apart: ddt 1.00 µs and 2.00 µs, \
                        2.00 [1.80, 2.20] and 1.00 [0.90, 1.10] times as long as manual";
        assert_eq!(note(&CaseView::all(&FORM, &records)[0]).unwrap(), expected);
        assert_eq!(note(&CaseView::all(&FORM, &[of("a", 1, vec![state(0, 30e-9, 6)])])[0]), None);
    }
}
