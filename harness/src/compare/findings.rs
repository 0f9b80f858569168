//! Findings in sentences: a change that all methods share, then rows that share a method and a verdict, the worst first.

use std::collections::{BTreeMap, BTreeSet};

use super::verdict::ratio_text;
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
    let is_open = |rows: &Vec<&ComparisonRow>| rows.iter().all(|row| row.verdict == Verdict::Undecided);
    let open: Vec<usize> =
        methods.iter().filter(|(_, rows)| is_open(rows)).map(|(_, rows)| rows.len()).collect();
    let share_a_line = open.len() > 1;
    if share_a_line {
        methods.retain(|(_, rows)| !is_open(rows));
    }
    let rows_open: usize = open.iter().sum();
    let open =
        share_a_line.then(|| format!("{} methods: undecided in all of their {rows_open} rows", open.len()));
    all_methods(rows)
        .into_iter()
        .chain(methods.iter().map(|(method, rows)| sentence(method, rows)))
        .chain(open)
        .collect()
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
            let is_one = large.iter().all(|row| row.bytes == least);
            let least = units::bytes(least);
            let sizes = if is_one { format!("of {least}") } else { format!("from {least} on") };
            return Some(format!("All messages {sizes} take {}.", times_as_long(&large)));
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
        return format!("{} to {} times as long", ratio_text(low), ratio_text(high));
    }
    let [low, middle, high] = [low, middle, high].map(ratio_text);
    format!("about {middle} times as long ({low}x to {high}x)")
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
    for (verdict, by_mean) in verdicts.into_iter().flat_map(|verdict| [(verdict, false), (verdict, true)]) {
        let is_it = |row: &&ComparisonRow| row.verdict == verdict && row.is_by_mean() == by_mean;
        let of: Vec<&ComparisonRow> = rows.iter().copied().filter(is_it).collect();
        let Some(first) = of.first() else { continue };
        let all = if of.len() == rows.len() { String::new() } else { format!(" of {}", rows.len()) };
        parts.push(format!("{} in {}{all}{}", first.verdict_text(), of.len(), extent(verdict, &of)));
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
        assert_eq!(first(&all), "All methods in all tests take 2.90 to 23.3 times as long.");
        let alike = [of(16_320, "ddt", 3.1), manual.clone(), of(98_304, "manual", 2.9)];
        assert_eq!(first(&alike), "All methods in all tests take about 3.00 times as long (2.90x to 3.10x).");
        let large = [ddt.clone(), manual.clone(), of(100, "ddt", 1.0), of(100, "manual", 1.0)];
        assert_eq!(first(&large), "All messages of 16.32 kB take 3.00 to 23.3 times as long.");
        let larger = [&large[..], &[of(98_304, "ddt", 2.0)]].concat();
        assert_eq!(first(&larger), "All messages from 16.32 kB on take 2.00 to 23.3 times as long.");
        let faster = |ratio| row("big", "ddt", 8192, ratio, Verdict::Faster);
        let tiny = [faster(0.0042), ComparisonRow { subject: manual.subject.clone(), ..faster(0.78) }];
        assert_eq!(first(&tiny), "All methods in all tests take 0.0042 to 0.78 times as long.");
        let of_test = [ddt.clone(), manual, row("other", "ddt", 1_000_000, 1.0, Verdict::Same)];
        assert!(
            first(&of_test).starts_with("All methods of big take 3.00 to 23.3 times"),
            "{}",
            first(&of_test)
        );
        // One method only.
        assert!(first(&[ddt, of(16_320, "manual", 1.0)]).starts_with("ddt: slower in 1"));
    }

    #[test]
    fn methods_that_are_undecided_share_a_line() {
        let open = |method: &str| row("a", method, 100, 1.1, Verdict::Undecided);
        let rows = [open("ddt"), row("a", "manual", 100, 1.0, Verdict::Same), open("engine"), open("engine")];
        assert_eq!(findings(&rows), ["manual: same in 1", "2 methods: undecided in all of their 3 rows"]);
    }

    #[test]
    fn one_is_named() {
        let rows =
            [row("a", "ddt", 100, 0.5, Verdict::Faster), row("b", "ddt", 200, 1.0, Verdict::Undecided)];
        assert_eq!(findings(&rows), ["ddt: faster in 1 of 2: a 0.50x [0.49, 0.51], undecided in 1 of 2"]);
    }
}
