//! Findings in sentences: the decisions; verdicts that depend on the state of the machine; then for each
//! state rows that share a method and a verdict, the worst first.

use std::collections::{BTreeMap, BTreeSet};

use super::text::RowInState;
use super::verdict::ratio_text;
use super::{Comparison, ComparisonRow, StateChange, Verdict, states};

impl Comparison {
    /// Broken methods of the other side; if `is_all`, also the number and range of its changes.
    pub(super) fn decisions(&self, is_all: bool) -> Vec<String> {
        let rows: Vec<&ComparisonRow> =
            self.rows.iter().filter(|row| row.verdict != Verdict::NotCompared).collect();
        let (base, new) = (&self.base.name, &self.new.name);
        let of = |verdict| rows.iter().filter(move |row| row.verdict == verdict);
        let name = |row: &ComparisonRow| format!("{} {}", row.subject.test, row.subject.method);
        let broken: Vec<String> = of(Verdict::Broken)
            .map(|row| if row.note.is_empty() { name(row) } else { format!("{} ({})", name(row), row.note) })
            .collect();
        let broken = (!broken.is_empty()).then(|| format!("Broken with {new}: {}.", broken.join(", ")));
        let change = |verdict: Verdict| {
            let size = |row: &ComparisonRow| {
                let ratio = row.decisive()?.answer()?.ratio;
                Some((if verdict == Verdict::Slower { ratio } else { 1.0 / ratio }, name(row)))
            };
            let mut sizes: Vec<(f64, String)> = of(verdict).filter_map(|row| size(row)).collect();
            sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let text = |(times, name): &(f64, String)| format!("{} times ({name})", ratio_text(*times));
            let range = match &sizes[..] {
                [] => return None,
                [one] => text(one),
                [least, .., most] => format!("{} to {}", text(least), text(most)),
            };
            let part = match (sizes.len(), rows.len()) {
                (1, 1) => String::new(),
                (count, all) if count == all => format!(" in all {all} rows"),
                (count, all) => format!(" in {count} of {all} rows"),
            };
            Some(format!("{new} is {} than {base}{part}: {range}.", verdict.name()))
        };
        let changes = [Verdict::Slower, Verdict::Faster].into_iter().filter(|_| is_all).filter_map(change);
        let mut found: Vec<String> = broken.into_iter().chain(changes).collect();
        if found.is_empty() && is_all && !rows.is_empty() && !rows.iter().any(|row| row.untimed()) {
            found.push(format!("{new} and {base}: no change is shown."));
        }
        found
    }
}

/// Verdicts that depend on the state; then, for each state, a sentence for each method, starting with the
/// worst verdict and the largest change.
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
        let sentences = of_methods(&of_state(state)).into_iter();
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
