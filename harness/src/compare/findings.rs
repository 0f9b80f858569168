//! Findings in sentences: verdicts that depend on the state of the machine; then for each state a change that
//! all methods share, and rows that share a method and a verdict, the worst first.

use std::collections::{BTreeMap, BTreeSet};

use super::text::RowInState;
use super::verdict::ratio_text;
use super::{Comparison, ComparisonRow, StateChange, Verdict, states};
use crate::report::units;

/// Verdicts that depend on the state; then, for each state, a change that all methods share, and a sentence
/// for each method, starting with the worst verdict and the largest change.
pub fn findings(comparison: &Comparison) -> Vec<String> {
    let rows: Vec<&ComparisonRow> =
        comparison.rows.iter().filter(|row| row.verdict != Verdict::NotCompared).collect();
    let (failed, working): (Vec<&ComparisonRow>, Vec<_>) =
        rows.iter().copied().partition(|row| row.untimed());
    let failed: Vec<RowInState<'_>> = failed.into_iter().map(|row| (row, None)).collect();
    let of_state = |state: usize| -> Vec<RowInState<'_>> {
        let changes = working.iter().flat_map(|row| row.compared().map(move |change| (*row, Some(change))));
        changes.filter(|(_, change)| change.is_some_and(|change| change.state == state)).collect()
    };
    let met: BTreeSet<usize> = working.iter().flat_map(|row| row.compared().map(|of| of.state)).collect();
    let in_state = |state: usize| {
        let lines = of_state(state);
        let sentences = all_methods(&lines, &comparison.new.name).into_iter().chain(of_methods(&lines));
        let latency_s = comparison.states.iter().find(|met| met.state == state).map(|met| met.latency_s);
        let at = latency_s.filter(|_| met.len() > 1);
        let at = at.map_or_else(String::new, |latency_s| format!("At {}, ", states::at(latency_s, false)));
        sentences.map(|sentence| format!("{at}{sentence}")).collect::<Vec<_>>()
    };
    of_methods(&failed)
        .into_iter()
        .chain(depending(&working))
        .chain(met.iter().copied().flat_map(in_state))
        .collect()
}

/// The rows whose verdict depends on the state of the machine: it differs, and so do the intervals of two states.
fn depending(rows: &[&ComparisonRow]) -> Option<String> {
    /// Maximum rows that are named.
    const MOST: usize = 3;
    let differs = |row: &ComparisonRow| {
        let answers = || row.compared().filter_map(StateChange::answer);
        let highest_low = answers().map(|answer| answer.low).fold(0.0, f64::max);
        row.compared().map(|change| change.verdict).collect::<BTreeSet<_>>().len() > 1
            && answers().any(|answer| answer.high <= highest_low)
    };
    let all: Vec<&&ComparisonRow> = rows.iter().filter(|row| differs(row)).collect();
    let named = |row: &&&ComparisonRow| {
        let change = |change: &StateChange| {
            let at = change.latency_s.map_or_else(String::new, |of| format!(" at {}", states::at(of, false)));
            Some(format!("{}{at}", change.changes()?))
        };
        let changes = row.compared().filter_map(change).collect::<Vec<_>>();
        format!("{} {} ({})", row.subject.test, row.subject.method, changes.join(", "))
    };
    let names = all.iter().take(MOST).map(named).collect::<Vec<_>>().join("; ");
    let more = all.len().saturating_sub(MOST);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| format!("Depends on the state of the machine: {names}{more}."))
}

/// A sentence for each method, starting with the worst verdict and the largest change.
fn of_methods(lines: &[RowInState<'_>]) -> Vec<String> {
    let mut methods: BTreeMap<&str, Vec<RowInState<'_>>> = BTreeMap::new();
    for line in lines {
        methods.entry(&line.0.subject.method).or_default().push(*line);
    }
    let mut methods: Vec<_> = methods.into_iter().collect();
    methods.sort_by(|(_, a), (_, b)| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    let is_open = |lines: &Vec<RowInState<'_>>| lines.iter().all(|line| verdict(line) == Verdict::Undecided);
    let open: Vec<usize> =
        methods.iter().filter(|(_, lines)| is_open(lines)).map(|(_, lines)| lines.len()).collect();
    let share_a_line = open.len() > 1;
    if share_a_line {
        methods.retain(|(_, lines)| !is_open(lines));
    }
    let rows_open: usize = open.iter().sum();
    let open =
        share_a_line.then(|| format!("{} methods: undecided in all of their {rows_open} rows", open.len()));
    methods.iter().map(|(method, lines)| sentence(method, lines)).chain(open).collect()
}

fn verdict((row, change): &RowInState<'_>) -> Verdict {
    change.map_or(row.verdict, |change| change.verdict)
}

/// A change that all methods share: in all tests, in messages above some size, or in some tests.
fn all_methods(lines: &[RowInState<'_>], new: &str) -> Option<String> {
    let has_time = |line: &&RowInState<'_>| line.1.is_some_and(|change| change.time.is_some());
    let lines: Vec<&RowInState<'_>> = lines.iter().filter(has_time).collect();
    [Verdict::Slower, Verdict::Faster].into_iter().find_map(|verdict| {
        let shared = |lines: &[&RowInState<'_>]| {
            let methods: BTreeSet<&str> = lines.iter().map(|(row, _)| row.subject.method.as_str()).collect();
            methods.len() > 1 && lines.iter().all(|line| is_so(line, verdict))
        };
        let all = |what: &str, of: &[&RowInState<'_>]| {
            format!("{new} is {} in all {what}: {}.", verdict.name(), at_least(of, verdict))
        };
        if shared(&lines) {
            return Some(all("methods and tests", &lines));
        }
        let smallest = lines.iter().filter(|line| !is_so(line, verdict)).map(|line| line.0.bytes).max()?;
        let large: Vec<&RowInState<'_>> =
            lines.iter().copied().filter(|line| line.0.bytes > smallest).collect();
        if let Some(least) = large.iter().map(|line| line.0.bytes).min().filter(|_| shared(&large)) {
            let is_one = large.iter().all(|line| line.0.bytes == least);
            let least = units::bytes(least);
            let sizes = if is_one { format!("of {least}") } else { format!("from {least} on") };
            return Some(all(&format!("messages {sizes}"), &large));
        }
        let mut tests: BTreeMap<&str, Vec<&RowInState<'_>>> = BTreeMap::new();
        lines.iter().for_each(|line| tests.entry(&line.0.subject.test).or_default().push(line));
        tests.retain(|_, lines| shared(lines));
        let of: Vec<&RowInState<'_>> = tests.values().flatten().copied().collect();
        let names = tests.keys().copied().collect::<Vec<_>>().join(", ");
        (!of.is_empty()).then(|| all(&format!("methods of {names}"), &of))
    })
}

/// Whether the time has this verdict.
fn is_so((_, change): &RowInState<'_>, verdict: Verdict) -> bool {
    change.and_then(|change| change.time.as_ref()).is_some_and(|time| time.verdict == verdict)
}

/// The range of the smallest changes that the intervals allow: `by at least 2.90 to 22.3 times`.
fn at_least(lines: &[&RowInState<'_>], verdict: Verdict) -> String {
    let times = lines.iter().filter_map(|(_, change)| change.as_ref()?.time.as_ref());
    let ends = times.map(|time| if verdict == Verdict::Slower { time.low } else { 1.0 / time.high });
    let (low, high) =
        ends.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let [low, high] = [low, high].map(ratio_text);
    if low == high {
        format!("by at least {low} times")
    } else {
        format!("by at least {low} to {high} times")
    }
}

/// The worst verdict of some lines, and the largest change among those that have it, for sorting.
fn order(lines: &[RowInState<'_>]) -> (Verdict, f64) {
    let worst = lines.iter().map(verdict).min().unwrap_or(Verdict::NotCompared);
    let sizes = lines.iter().filter(|line| verdict(line) == worst).filter_map(|line| line.1);
    (worst, -sizes.map(StateChange::size).fold(0.0, f64::max))
}

fn sentence(method: &str, lines: &[RowInState<'_>]) -> String {
    let mut parts = Vec::new();
    for (found, by_mean) in Verdict::ALL.into_iter().flat_map(|verdict| [(verdict, false), (verdict, true)]) {
        let is_it = |line: &&RowInState<'_>| {
            verdict(line) == found && line.1.is_some_and(StateChange::is_by_mean) == by_mean
        };
        let of: Vec<RowInState<'_>> = lines.iter().filter(is_it).copied().collect();
        let Some((row, change)) = of.first() else { continue };
        let all = if of.len() == lines.len() { String::new() } else { format!(" of {}", lines.len()) };
        let name = change.map_or(row.verdict.name(), StateChange::verdict_text);
        parts.push(format!("{name} in {}{all}{}", of.len(), extent(found, &of)));
    }
    format!("{method}: {}", parts.join(", "))
}

/// The range of the lines with a verdict, and the change that is largest by the near end of its interval.
fn extent(verdict: Verdict, of: &[RowInState<'_>]) -> String {
    let name = |(row, _): &RowInState<'_>| {
        let parts = [Some(row.subject.test.clone()), row.copies_text()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let names = || of.iter().map(name).collect::<Vec<_>>().join(", ");
    match verdict {
        Verdict::Broken | Verdict::MoreCopies | Verdict::Repaired | Verdict::FewerCopies => {
            format!(" ({})", names())
        }
        Verdict::Slower | Verdict::Faster => {
            let changes = of.iter().filter_map(|(row, change)| Some((&row.subject.test, (*change)?)));
            let most = changes.max_by(|a, b| a.1.size().total_cmp(&b.1.size()));
            let most = most.and_then(|(test, change)| Some((test, change.changes()?)));
            most.map_or_else(String::new, |(test, text)| match of.len() {
                1 => format!(": {test} {text}"),
                _ => format!(", most in {test}: {text}"),
            })
        }
        _ => String::new(),
    }
}
