//! The trend of a baseline: the results of its checks, and the first check in which a method differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Comparison, ComparisonRow, Comparisons, StateChange, Subject, Verdict, states};
use crate::model::Case;
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::{Compared, Section};
use crate::report::pictures::Datum;

/// A check of a baseline.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its date as text.
    pub date: String,
    /// Days from the baseline to it.
    pub days: f64,
    /// Its comparison with the baseline.
    pub found: Comparisons,
}

/// The checks of a baseline, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Trend(pub Vec<Check>);

/// A method of a case with its row of each check that has one, by the check's number.
type History<'a> = (&'a Subject, BTreeMap<usize, &'a ComparisonRow>);

impl Check {
    /// The comparison with the baseline: a check has one.
    fn comparison(&self) -> Option<&Comparison> {
        self.found.comparisons.first()
    }
}

impl Trend {
    /// The trend for text, Markdown and pages: a column per check, and since when a method differs.
    pub fn compared(&self) -> Compared<'_> {
        let histories = self.histories();
        let (mut differing, rest): (Vec<_>, Vec<_>) =
            histories.iter().partition(|history| self.since(history).is_some());
        differing.sort_by_key(|(_, rows)| rows.last_key_value().map(|(_, row)| row.verdict));
        let mut sentences: Vec<String> =
            differing.iter().filter_map(|history| self.sentence(history)).collect();
        if sentences.is_empty() {
            sentences.push("The newest check shows no change.".to_owned());
        }
        let rows = differing.into_iter().chain(rest).map(|history| self.cells(history)).collect();
        let title = self.0.last().and_then(Check::comparison).map(|newest| {
            format!(
                "{} ({}) and {} checks, the newest of {}",
                newest.base.name,
                newest.base.mpi,
                self.0.len(),
                newest.new.mpi
            )
        });
        Compared {
            sections: vec![Section {
                title: title.unwrap_or_default(),
                sentences,
                table: Table { columns: self.columns(), rows },
                matrix: None,
            }],
            legend: "A column per check, the newest first: time relative to the baseline, and the verdict if it is a change. since: the \
                     first of the checks that have had the newest verdict without a break."
                .to_owned(),
            changes: self.marks(),
        }
    }

    /// All methods of all cases, in their order.
    fn histories(&self) -> Vec<History<'_>> {
        let mut histories: BTreeMap<&Subject, BTreeMap<usize, &ComparisonRow>> = BTreeMap::new();
        for (number, check) in self.0.iter().enumerate() {
            for row in check.comparison().into_iter().flat_map(|comparison| &comparison.rows) {
                histories.entry(&row.subject).or_default().insert(number, row);
            }
        }
        histories.into_iter().collect()
    }

    /// The first of the last checks in a row that agree that a method differs, if it differs in the newest check.
    fn since(&self, (_, rows): &History<'_>) -> Option<&Check> {
        let (newest, row) = rows.last_key_value()?;
        let is_newest = newest + 1 == self.0.len();
        let newest = row.verdict;
        if !is_newest || !newest.is_change() && newest != Verdict::Broken {
            return None;
        }
        let is_alike = |row: &ComparisonRow| row.verdict == newest || !row.is_decided();
        let unbroken = rows.iter().rev().take_while(|(_, row)| is_alike(row));
        let first = unbroken.filter(|(_, row)| row.verdict == newest).last()?;
        self.0.get(*first.0)
    }

    /// Example: `nas_lu_y 408x408 ddt: slower since 2026-11-20 (mpich 5.1.0), now 1.22x [1.18, 1.26]`.
    fn sentence(&self, history: &History<'_>) -> Option<String> {
        let (subject, rows) = history;
        let since = self.since(history)?;
        let row = rows.last_key_value()?.1;
        let name = [subject.test.as_str(), subject.sizes(), subject.method.as_str()];
        let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let mpi = since.comparison().map_or("", |comparison| comparison.new.mpi.as_str());
        let now = row.decisive().and_then(|change| {
            let at = change.latency_s.map(|latency_s| format!(" at {}", states::at(latency_s, false)));
            Some(format!(", now {}{}", change.answer()?.text(), at.unwrap_or_default()))
        });
        let now = now.unwrap_or_default();
        Some(format!("{name}: {} since {} ({mpi}){now}.", row.verdict_text(), since.date))
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let names = [
            Column::new("test", Align::Left, 0),
            Column::new("set", Align::Left, 2).rank(1),
            Column::new("method", Align::Left, 2),
            Column::new("since", Align::Left, 2),
        ];
        // The oldest columns are hidden first.
        let rank = |age: usize| u8::try_from(age + 1).unwrap_or(u8::MAX);
        let checks = self.0.iter().rev().enumerate();
        names
            .into_iter()
            .chain(checks.map(|(age, check)| Column::new(&check.date, Align::Right, 2).rank(rank(age))))
            .collect()
    }

    fn cells(&self, history: &History<'_>) -> Vec<String> {
        let (subject, rows) = history;
        let of_check = |number: usize| {
            let Some(row) = rows.get(&number) else { return String::new() };
            let answer = row.decisive().and_then(StateChange::answer);
            let ratio = answer.map(|answer| format!("{:.2}x", answer.ratio));
            let verdict = (row.verdict.is_change() || row.verdict == Verdict::Broken)
                .then(|| row.verdict_text().to_owned());
            [ratio, verdict].into_iter().flatten().collect::<Vec<_>>().join(" ")
        };
        let since = self.since(history).map(|check| check.date.clone());
        [subject.test.clone(), subject.sizes().to_owned(), subject.method.clone(), since.unwrap_or_default()]
            .into_iter()
            .chain((0..self.0.len()).rev().map(of_check))
            .collect()
    }

    /// A mark per method and check, by the days since the baseline; a panel per case.
    fn marks(&self) -> Vec<Datum> {
        let of_check = |check: &'_ Check| -> Vec<Datum> {
            let Some(comparison) = check.comparison() else { return Vec::new() };
            let place = |datum: Datum| Datum {
                panel: [datum.case.test.as_str(), datum.case.set.as_str()].join(" ").trim_end().to_owned(),
                // One panel for all checks, although their folders have different names.
                case: Arc::new(Case { mpi: comparison.base.mpi.clone(), ..(*datum.case).clone() }),
                x_name: DAYS.to_owned(),
                x: Some(check.days.to_string()),
                series: String::new(),
                ..datum
            };
            comparison.marks().map(place).collect()
        };
        self.0.iter().flat_map(of_check).collect()
    }
}

/// The name of the axis of a trend.
const DAYS: &str = "days since the baseline";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::{comparisons, row};

    fn trend(of_ddt: &[Verdict]) -> Trend {
        let check = |(number, verdict): (usize, &Verdict)| {
            let ratio = if *verdict == Verdict::Slower { 1.22 } else { 1.0 };
            let rows = vec![row("a", "manual", 8, 1.0, Verdict::Same), row("a", "ddt", 8, ratio, *verdict)];
            Check { date: format!("day {number}"), days: number as f64, found: comparisons(rows) }
        };
        Trend(of_ddt.iter().enumerate().map(check).collect())
    }

    #[test]
    fn a_method_differs_since_the_first_check_that_none_contradicts() {
        use Verdict::{Faster, Same, Slower, Undecided};
        let since = |verdicts: &[Verdict]| {
            let trend = trend(verdicts);
            let histories = trend.histories();
            let of_ddt = histories.iter().find(|(subject, _)| subject.method == "ddt").unwrap();
            trend.since(of_ddt).map(|check| check.date.clone())
        };
        assert_eq!(since(&[Same, Slower, Slower]).as_deref(), Some("day 1"));
        assert_eq!(since(&[Slower, Same, Slower]).as_deref(), Some("day 2"));
        assert_eq!(since(&[Same, Slower, Undecided, Slower]).as_deref(), Some("day 1"));
        assert_eq!(since(&[Faster, Slower]).as_deref(), Some("day 1"));
        assert_eq!(since(&[Undecided, Slower]).as_deref(), Some("day 1"));
        assert_eq!(since(&[Slower, Same]), None);
    }

    #[test]
    fn what_differs_comes_first_and_the_newest_check_is_the_first_column() {
        let trend = trend(&[Verdict::Same, Verdict::Slower]);
        let compared = trend.compared();
        let text = compared.text(Some(100));
        assert!(text.contains("ddt: slower since day 1 (mpich 5.0.2), now 1.22x [1.21, 1.23]"), "{text}");
        let rows = &compared.sections[0].table.rows;
        assert_eq!(rows[0][2..], ["ddt", "day 1", "1.22x slower", "1.00x"]);
        assert_eq!(rows[1][2..], ["manual", "", "1.00x", "1.00x"]);
        let marks = compared.changes;
        assert!(marks.len() == 4 && marks.iter().all(|mark| mark.panel == "a 4x4"), "{marks:?}");
        let quiet = self::trend(&[Verdict::Same]);
        assert!(quiet.compared().text(None).contains("The newest check shows no change."));
    }
}
