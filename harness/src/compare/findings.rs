//! What was found, in sentences: rows that share a method and a verdict are told together, the worst first.

use std::collections::BTreeMap;

use super::{ComparisonRow, Verdict};

/// A sentence for each method, those with the worst verdict and the largest change first.
pub fn findings(rows: &[ComparisonRow]) -> Vec<String> {
    let mut methods: BTreeMap<&str, Vec<&ComparisonRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::NotCompared) {
        methods.entry(&row.subject.method).or_default().push(row);
    }
    let mut methods: Vec<_> = methods.into_iter().collect();
    methods.sort_by(|(_, a), (_, b)| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    methods.iter().map(|(method, rows)| sentence(method, rows)).collect()
}

/// The worst verdict of some rows, and the largest change among those that have it, turned around.
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

/// How far rows that have a verdict are apart, and where the most is.
fn extent(verdict: Verdict, of: &[&ComparisonRow]) -> String {
    let names = || of.iter().map(|row| row.subject.test.as_str()).collect::<Vec<_>>().join(", ");
    match verdict {
        Verdict::Broken | Verdict::Repaired => format!(" ({})", names()),
        Verdict::Slower | Verdict::Faster => {
            let most = of.iter().max_by(|a, b| a.change().total_cmp(&b.change()));
            let most = most.and_then(|row| Some((&row.subject.test, row.answer()?.text())));
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
    fn one_is_named() {
        let rows =
            [row("a", "ddt", 100, 0.5, Verdict::Faster), row("b", "ddt", 200, 1.0, Verdict::Undecided)];
        assert_eq!(findings(&rows), ["ddt: faster in 1 of 2: a 0.50x [0.49, 0.51], undecided in 1 of 2"]);
    }
}
