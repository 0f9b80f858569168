//! Findings in sentences: a change that all methods share, then rows that share a method and a verdict, the worst first.

use std::collections::{BTreeMap, BTreeSet};

use super::{ComparisonRow, Verdict};
use crate::report::units;
use crate::stats::{median, sorted};

/// A change that all methods share, if there is one; then a sentence for each method, starting with the worst verdict and the
/// largest change.
pub fn findings(rows: &[ComparisonRow]) -> Vec<String> {
    let mut methods: BTreeMap<&str, Vec<&ComparisonRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::NotCompared) {
        methods.entry(&row.subject.method).or_default().push(row);
    }
    let mut methods: Vec<_> = methods.into_iter().collect();
    methods.sort_by(|(_, a), (_, b)| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    all_methods(rows).into_iter().chain(methods.iter().map(|(method, rows)| sentence(method, rows))).collect()
}

/// A change that all methods share: in all tests, in messages above some size, or in some tests.
fn all_methods(rows: &[ComparisonRow]) -> Option<String> {
    let rows: Vec<&ComparisonRow> = rows.iter().filter(|row| row.time.is_some()).collect();
    [Verdict::Slower, Verdict::Faster].into_iter().find_map(|verdict| {
        let shared = |rows: &[&ComparisonRow]| {
            let methods: BTreeSet<&str> = rows.iter().map(|row| row.subject.method.as_str()).collect();
            methods.len() > 1 && rows.iter().all(|row| is_so(row, verdict))
        };
        if shared(&rows) {
            return Some(format!("All methods in all tests take {}.", times_as_long(&rows)));
        }
        let smallest = rows.iter().filter(|row| !is_so(row, verdict)).map(|row| row.bytes).max()?;
        let large: Vec<&ComparisonRow> = rows.iter().copied().filter(|row| row.bytes > smallest).collect();
        if let Some(least) = large.iter().map(|row| row.bytes).min().filter(|_| shared(&large)) {
            let least = units::bytes(least);
            return Some(format!("All messages from {least} on take {}.", times_as_long(&large)));
        }
        let mut tests: BTreeMap<&str, Vec<&ComparisonRow>> = BTreeMap::new();
        rows.iter().for_each(|row| tests.entry(&row.subject.test).or_default().push(row));
        tests.retain(|_, rows| shared(rows));
        let of: Vec<&ComparisonRow> = tests.values().flatten().copied().collect();
        let names = tests.keys().copied().collect::<Vec<_>>().join(", ");
        (!of.is_empty()).then(|| format!("All methods of {names} take {}.", times_as_long(&of)))
    })
}

/// Whether the time has this verdict.
fn is_so(row: &ComparisonRow, verdict: Verdict) -> bool {
    row.time.as_ref().is_some_and(|time| time.verdict == verdict)
}

/// Changes that differ by more than this factor have no common size: only their range is reported.
const ALIKE: f64 = 1.5;

/// The median of similar changes, otherwise their range.
fn times_as_long(rows: &[&ComparisonRow]) -> String {
    let ratios = sorted(rows.iter().filter_map(|row| Some(row.time.as_ref()?.ratio)));
    let [Some(low), Some(middle), Some(high)] =
        [ratios.first().copied(), median(&ratios), ratios.last().copied()]
    else {
        return "a different time".to_owned();
    };
    if high > ALIKE * low {
        return format!("{low:.2} to {high:.2} times as long");
    }
    format!("about {middle:.2} times as long ({low:.2}x to {high:.2}x)")
}

/// The worst verdict of some rows, and the largest change among the rows that have it, for sorting.
fn order(rows: &[&ComparisonRow]) -> (Verdict, f64) {
    let worst = rows.iter().map(|row| row.verdict).min().unwrap_or(Verdict::NotCompared);
    let largest = rows.iter().filter(|row| row.verdict == worst).map(|row| row.change()).fold(0.0, f64::max);
    (worst, -largest)
}

fn sentence(method: &str, rows: &[&ComparisonRow]) -> String {
    let mut parts = Vec::new();
    let verdicts = [
        Verdict::Broken,
        Verdict::Slower,
        Verdict::Faster,
        Verdict::Repaired,
        Verdict::Same,
        Verdict::SameOrSlower,
        Verdict::SameOrFaster,
        Verdict::Undecided,
    ];
    for verdict in verdicts {
        let of: Vec<&ComparisonRow> = rows.iter().copied().filter(|row| row.verdict == verdict).collect();
        if of.is_empty() {
            continue;
        }
        let all = if of.len() == rows.len() { String::new() } else { format!(" of {}", rows.len()) };
        parts.push(format!("{} in {}{all}{}", verdict.name(), of.len(), extent(verdict, &of)));
    }
    format!("{method}: {}", parts.join(", "))
}

/// The range of the rows with a verdict, and the largest one.
fn extent(verdict: Verdict, of: &[&ComparisonRow]) -> String {
    let names = || of.iter().map(|row| row.subject.test.as_str()).collect::<Vec<_>>().join(", ");
    match verdict {
        Verdict::Broken | Verdict::Repaired => format!(" ({})", names()),
        Verdict::Slower | Verdict::Faster => {
            let most = of.iter().max_by(|a, b| a.change().total_cmp(&b.change()));
            let most = most.and_then(|row| Some((&row.subject.test, row.changes()?)));
            most.map_or_else(String::new, |(test, text)| match of.len() {
                1 => format!(": {test} {text}"),
                _ => format!(", most in {test}: {text}"),
            })
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::row;

    #[test]
    fn rows_are_listed_by_method_the_worst_first() {
        let rows = [
            row("a", "ddt", 100, 1.0, Verdict::Same),
            row("b", "ddt", 200, 1.0, Verdict::Same),
            row("c", "ddt", 3000, 22.4, Verdict::Slower),
            row("d", "ddt", 4000, 1.5, Verdict::Slower),
            row("a", "mpi_pack", 100, 1.0, Verdict::Same),
            row("a", "put_ddt", 100, 1.0, Verdict::Broken),
        ];
        assert_eq!(
            findings(&rows),
            [
                "put_ddt: broken in 1 (a)",
                "ddt: slower in 2 of 4, most in c: 22.4x [22.2, 22.6], same in 2 of 4",
                "mpi_pack: same in 1",
            ]
        );
    }

    #[test]
    fn what_all_methods_share_comes_first() {
        let of = |bytes: u64, method: &str, ratio: f64| {
            let verdict = if ratio > 1.1 { Verdict::Slower } else { Verdict::Same };
            row(if bytes > 100 { "big" } else { "small" }, method, bytes, ratio, verdict)
        };
        let first = |rows: &[ComparisonRow]| findings(rows)[0].clone();
        let (ddt, manual) = (of(16_320, "ddt", 23.3), of(16_320, "manual", 3.0));
        let all = [ddt.clone(), manual.clone(), of(98_304, "manual", 2.9)];
        assert_eq!(first(&all), "All methods in all tests take 2.90 to 23.30 times as long.");
        let alike = [of(16_320, "ddt", 3.1), manual.clone(), of(98_304, "manual", 2.9)];
        assert_eq!(first(&alike), "All methods in all tests take about 3.00 times as long (2.90x to 3.10x).");
        let large = [ddt.clone(), manual.clone(), of(100, "ddt", 1.0), of(100, "manual", 1.0)];
        assert_eq!(first(&large), "All messages from 16.32 kB on take 3.00 to 23.30 times as long.");
        let of_test = [ddt.clone(), manual, row("other", "ddt", 1_000_000, 1.0, Verdict::Same)];
        assert!(
            first(&of_test).starts_with("All methods of big take 3.00 to 23.30 times"),
            "{}",
            first(&of_test)
        );
        // One method only.
        assert!(first(&[ddt, of(16_320, "manual", 1.0)]).starts_with("ddt: slower in 1"));
    }

    #[test]
    fn one_is_named() {
        let rows =
            [row("a", "ddt", 100, 0.5, Verdict::Faster), row("b", "ddt", 200, 1.0, Verdict::Undecided)];
        assert_eq!(findings(&rows), ["ddt: faster in 1 of 2: a 0.50x [0.49, 0.51], undecided in 1 of 2"]);
    }
}
