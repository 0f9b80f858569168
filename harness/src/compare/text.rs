//! Comparisons for people: sentences, then the rows, the worst first.

use std::sync::Arc;

use super::phases::{self, from_to};
use super::{
    Comparison, ComparisonRow, ComparisonUnit, Comparisons, Estimate, FEWEST_RUNS, Subject, Verdict,
    findings, states,
};
use crate::model::{Case, FigureUnit};
use crate::report::case::OVERSUBSCRIBED;
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::{Compared, Section};
use crate::report::pictures::Datum;
use crate::report::units;

const COLUMNS: [Column; 7] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2).rank(1),
    Column::new("method", Align::Left, 2),
    Column::new("time", Align::Right, 2),
    Column::new("change", Align::Right, 2),
    Column::new("verdict", Align::Left, 2),
    Column::new("note", Align::Left, 2).rank(2),
];

impl Comparisons {
    /// The comparison for text, Markdown and pages.
    pub fn compared(&self) -> Compared<'_> {
        let section = |comparison: &Comparison| Section {
            title: comparison.title(),
            sentences: comparison
                .disturbance
                .text()
                .into_iter()
                .chain(comparison.oversubscribed.then(|| OVERSUBSCRIBED.to_owned()))
                .chain(Some(format!("{}.", comparison.conditions)).filter(|conditions| conditions != "."))
                .chain(states::text(&comparison.states))
                .chain(findings(&comparison.rows))
                .collect(),
            table: self.table(comparison),
            matrix: None,
        };
        let mut sections: Vec<Section<'_>> = self.comparisons.iter().map(section).collect();
        // With three or more sides, all of them next to each other are the answer.
        let place = if self.comparisons.len() > 1 { 0 } else { sections.len() };
        sections.insert(place, self.overview.section());
        let changes = self.comparisons.iter().flat_map(Comparison::changes);
        Compared { sections, legend: self.legend(), changes: changes.chain(self.overview.marks()).collect() }
    }

    /// Explains columns and verdicts.
    fn legend(&self) -> String {
        let unit = match self.unit {
            ComparisonUnit::Launch => "launches of both sides in turn",
            ComparisonUnit::Run => {
                "runs at different times: intervals include the variation between runs, at least 1%"
            }
        };
        let rows = || self.comparisons.iter().flat_map(|comparison| &comparison.rows);
        let is_adjusted = rows().filter_map(|row| row.time.as_ref()).any(|time| time.adjusted);
        let adjusted = if is_adjusted { ADJUSTED } else { "" };
        let by_mean = if rows().any(ComparisonRow::is_by_mean) { BY_MEAN } else { "" };
        let threshold = units::percent(self.settings.threshold);
        format!(
            "time: base -> new. change: the time of new divided by that of base, with its interval, from {unit}.{adjusted} slower, faster: \
             shown to take longer, or less time; a gate fails if slower by more than {threshold}.{by_mean} same: any change is shown to be within \
             {threshold}. In 95 of 100 comparisons all intervals and all verdicts are right. Terms: docs/glossary.md."
        )
    }

    /// The rows: the worst verdict first, then the largest change.
    fn table(&self, comparison: &Comparison) -> Table<'static> {
        let mut rows: Vec<&ComparisonRow> = comparison.rows.iter().collect();
        let order = |row: &ComparisonRow| (row.verdict, !row.is_beyond());
        rows.sort_by(|a, b| order(a).cmp(&order(b)).then(b.change().total_cmp(&a.change())));
        let sets = Subject::sizes_alike(&rows.iter().map(|row| &row.subject).collect::<Vec<_>>());
        let cells = |(row, set): (&ComparisonRow, &str)| {
            let subject = &row.subject;
            vec![
                subject.test.clone(),
                set.to_owned(),
                subject.method.clone(),
                row.times().unwrap_or_default(),
                row.time.as_ref().map_or_else(String::new, Estimate::text),
                row.verdict_text().to_owned(),
                self.notes(comparison, row).join("; "),
            ]
        };
        Table { columns: COLUMNS.to_vec(), rows: rows.into_iter().zip(sets).map(cells).collect() }
            .with_distinct_sets()
    }

    pub(super) fn sentence(&self, comparison: &Comparison, row: &ComparisonRow) -> String {
        let subject = &row.subject;
        let name = [subject.test.as_str(), subject.sizes(), subject.method.as_str()];
        let name = name.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
        let change = row.time.as_ref().map(|time| format!(" ({})", time.text())).unwrap_or_default();
        let times = row.times().map(|times| format!(": {times}{change}")).unwrap_or_default();
        let parts: Vec<String> =
            [format!("{name}{times}")].into_iter().chain(self.notes(comparison, row)).collect();
        format!("{}; {}", parts.join(", "), comparison.mpis())
    }

    /// The failure, the phases that explain a change, the change of the control, the launches needed to decide.
    fn notes(&self, comparison: &Comparison, row: &ComparisonRow) -> Vec<String> {
        let mut notes = Vec::new();
        if !row.note.is_empty() {
            notes.push(row.note.clone());
        }
        if let (Some(mean), Some(base), Some(new)) = (row.differing_mean(), row.base_mean_s, row.new_mean_s) {
            notes.push(format!("mean {} ({})", from_to(base, new), mean.text()));
        }
        if row.time.as_ref().is_some_and(|time| time.verdict.is_change() && time.verdict == row.verdict) {
            let is_slower = row.verdict == Verdict::Slower;
            notes.extend(phases::explanation(&row.phases, is_slower, self.settings.threshold));
            notes.extend(comparison.attribution(row));
        }
        if row.time.as_ref().is_some_and(|time| time.depends) {
            notes.push("a different change in other states of the machine".to_owned());
        }
        let unit = match self.unit {
            ComparisonUnit::Launch => "launches",
            ComparisonUnit::Run => "runs",
        };
        // So many launches are not practical, and a change that close to the threshold may never be decided.
        const MANY: usize = 1000;
        match &row.time {
            Some(time) if !row.is_decided() => {
                notes.push(match row.verdict.is_change() {
                    true => format!("may be less than {}", units::percent(self.settings.threshold)),
                    false => time.detectable_text(),
                });
                notes.extend(match time.would_decide {
                    Some(needed) if needed <= MANY => {
                        Some(format!("about {needed} {unit} are needed to decide"))
                    }
                    Some(_) => Some(format!("more than {MANY} {unit} are needed to decide")),
                    None if row.verdict.is_change() => None,
                    None => Some(format!("more {unit} may not decide")),
                });
            }
            None if !row.is_decided() => notes.push(match self.unit {
                ComparisonUnit::Launch => "fewer than three launches of each side".to_owned(),
                ComparisonUnit::Run => format!("at least {FEWEST_RUNS} runs of each side are needed"),
            }),
            _ => {}
        }
        notes
    }
}

/// Verdicts on means.
const BY_MEAN: &str = " by mean: shown by the mean, not by the median that the change is of.";

/// The adjustment for the state of the machine.
const ADJUSTED: &str = " Both are adjusted to the most common state of the machine (core-to-core latency and speed of copies, \
     measured next to each block).";

impl ComparisonRow {
    /// The change that determines the verdict; also that of the mean, if it differs.
    pub(super) fn changes(&self) -> Option<String> {
        let time = self.time.as_ref().map(Estimate::text);
        Some(match self.differing_mean() {
            None => time?,
            Some(mean) if mean.verdict == self.verdict => format!("mean {}, median {}", mean.text(), time?),
            Some(mean) => format!("{}, but mean {}", time?, mean.text()),
        })
    }

    /// Its times on both sides.
    fn times(&self) -> Option<String> {
        match (self.base_s, self.new_s) {
            (Some(base), Some(new)) => Some(from_to(base, new)),
            (Some(base), None) => Some(format!("{} -> none", units::seconds(base))),
            (None, Some(new)) => Some(format!("none -> {}", units::seconds(new))),
            (None, None) => None,
        }
    }
}

impl Comparison {
    /// Whether the control has changed in the same direction, and the change relative to it.
    fn attribution(&self, row: &ComparisonRow) -> Option<String> {
        let name = row.control.as_ref()?;
        let control = row.subject.with(name);
        let control = self.rows.iter().find(|row| row.subject == control)?;
        let change = control.time.as_ref().filter(|_| control.verdict == row.verdict)?;
        let text = format!("{name} ({:.2}x)", change.ratio);
        Some(match row.over_control.as_ref().map(|over| over.verdict) {
            Some(Verdict::Same) => format!("as {text}"),
            Some(over) if over == row.verdict => format!("more than {text}"),
            Some(over) if over.is_change() => format!("less than {text}"),
            _ => format!("{text} as well"),
        })
    }

    /// The title: the sides, and where they were measured, once if it is the same.
    fn title(&self) -> String {
        let (base, new) = (self.base.text("base"), self.new.text("new"));
        match self.base.place == self.new.place {
            true => format!("{base} and {new}: {}", self.base.place),
            false => format!("{base}: {}\n{new}: {}", self.base.place, self.new.place),
        }
    }

    /// The answers of all rows as marks.
    pub(super) fn changes(&self) -> impl Iterator<Item = Datum> {
        self.rows.iter().filter_map(|row| self.change(row))
    }

    /// The answer of a row as a mark; `None` without one.
    fn change(&self, row: &ComparisonRow) -> Option<Datum> {
        let time = row.decisive()?;
        let subject = &row.subject;
        let case = Case {
            experiment: subject.experiment,
            test: subject.test.clone(),
            set: subject.set.clone(),
            params: subject.params.clone(),
            mpi: self.new.name.clone(),
            ranks: subject.ranks,
            cache: subject.cache,
            ..Case::default()
        };
        Some(Datum {
            case: Arc::new(case),
            method: subject.method.clone(),
            series: row.verdict.name().to_owned(),
            quantity: "change".to_owned(),
            against: self.base.name.clone(),
            bytes: row.bytes,
            value: time.ratio,
            interval: Some((time.low, time.high)),
            unit: FigureUnit::Ratio,
            ..Datum::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::made::{comparisons, row};
    use crate::compare::{ComparisonRow, Estimate, Verdict};

    #[test]
    fn the_answer_comes_before_the_table_and_the_worst_before_the_rest() {
        let rows = vec![
            row("a", "ddt", 1, 1.0, Verdict::Same),
            row("b", "ddt", 1, 1.5, Verdict::Slower),
            ComparisonRow { note: "a|b".to_owned(), ..row("c", "ddt", 1, 22.4, Verdict::Undecided) },
        ];
        let comparisons = comparisons(rows);
        let text = comparisons.compared().text(Some(200));
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(
            text.starts_with("one (base, mpich 5.0.2) and other (new, mpich 5.0.2): 2 ranks, warm\n\n  ddt: slower in 1 of 3"),
            "{text}"
        );
        assert!(
            at("ddt: slower") < at("test  set") && at("\nb ") < at("\nc ") && at("\nc ") < at("\na "),
            "{text}"
        );
        assert!(
            text.contains(
                "a|b; only changes above 1.0% would be detected; about 12 launches are needed to decide"
            ),
            "{text}"
        );
        assert!(at("time: base -> new") > at("\na "), "{text}");
        let markdown = comparisons.compared().markdown();
        assert!(
            markdown.contains("| a\\|b; only changes above"),
            "a bar in a note is not a column: {markdown}"
        );
    }

    #[test]
    fn conditions_that_differ_come_before_the_findings() {
        let mut comparisons = comparisons(vec![row("a", "ddt", 1, 1.5, Verdict::Slower)]);
        comparisons.comparisons[0].conditions = "FI_PROVIDER: tcp and not set".to_owned();
        let text = comparisons.compared().text(Some(80));
        assert!(text.find("FI_PROVIDER").unwrap() < text.find("ddt: slower").unwrap(), "{text}");
        assert!(comparisons.junit().unwrap().contains("FI_PROVIDER: tcp and not set"));
    }

    #[test]
    fn times_and_changes_fit_into_80_columns() {
        let rows = vec![
            row("specfem3d_oc", "ddt_to_packed", 1, 22.4, Verdict::Slower),
            row("nas_lu_y", "ddt", 1, 1.0, Verdict::SameOrSlower),
        ];
        let text = comparisons(rows).compared().text(Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("10.0 -> 224 µs  22.4x [22.2, 22.6]  slower"), "{text}");
    }

    #[test]
    fn a_change_that_others_share_is_attributed_and_stays_a_change() {
        let slower = |method: &str, ratio: f64, over: Verdict| {
            let mut row = row("a", method, 1, ratio, Verdict::Slower);
            let time = row.time.clone().unwrap();
            (row.control, row.over_control) =
                (Some("manual".to_owned()), Some(Estimate { verdict: over, ..time }));
            row
        };
        let manual = row("a", "manual", 1, 2.57, Verdict::Slower);
        let note = |of: ComparisonRow| {
            let comparisons = comparisons(vec![of.clone(), manual.clone()]);
            comparisons.notes(&comparisons.comparisons[0], &of).join("; ")
        };
        assert_eq!(note(slower("ddt", 23.0, Verdict::Slower)), "more than manual (2.57x)");
        assert_eq!(note(slower("ddt", 1.79, Verdict::Faster)), "less than manual (2.57x)");
        assert_eq!(note(slower("ddt", 2.60, Verdict::Same)), "as manual (2.57x)");
        assert_eq!(note(slower("ddt", 2.60, Verdict::Undecided)), "manual (2.57x) as well");
        let mut faster = ComparisonRow { verdict: Verdict::Faster, ..slower("ddt", 0.5, Verdict::Faster) };
        faster.time.as_mut().unwrap().verdict = Verdict::Faster;
        assert_eq!(note(faster), "", "the control has changed the other way");
        let mut little = slower("ddt", 2.60, Verdict::Same);
        little.time.as_mut().unwrap().beyond = false;
        assert_eq!(note(little), "as manual (2.57x); may be less than 5.0%");
    }

    #[test]
    fn each_answer_is_a_mark() {
        let mut silent = row("c", "ddt", 8, 1.0, Verdict::NotCompared);
        silent.time = None;
        let rows =
            vec![row("a", "ddt", 8, 2.0, Verdict::Slower), row("b", "ddt", 8, 1.0, Verdict::Same), silent];
        let comparisons = comparisons(rows);
        let mut changes = comparisons.compared().changes;
        changes.retain(|mark| mark.quantity == "change");
        let marks: Vec<_> = changes
            .iter()
            .map(|mark| (&*mark.case.test, &*mark.case.mpi, &*mark.against, &*mark.series, mark.value))
            .collect();
        assert_eq!(marks, [("a", "other", "one", "slower", 2.0), ("b", "other", "one", "same", 1.0)]);
        assert_eq!(changes[0].interval, Some((1.98, 2.02)));
    }
}
