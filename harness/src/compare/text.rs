//! Comparisons for people: the answer in sentences, then the rows, the worst first.

use std::sync::Arc;

use super::{
    ADJUSTED_FROM, Comparison, ComparisonRow, ComparisonUnit, Comparisons, Estimate, Verdict, findings,
    phases,
};
use crate::model::{Case, FigureUnit};
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::{Compared, Section};
use crate::report::pictures::Datum;
use crate::report::units;

/// The columns of the rows.
const COLUMNS: [Column; 9] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2).rank(1),
    Column::new("method", Align::Left, 2),
    Column::new("base", Align::Right, 2).rank(4),
    Column::new("new", Align::Right, 2).rank(4),
    Column::new("over control", Align::Right, 2),
    Column::new("time", Align::Right, 2),
    Column::new("verdict", Align::Left, 2),
    Column::new("note", Align::Left, 2).rank(3),
];

impl Comparisons {
    /// What was found, as text, Markdown and pages show it.
    pub fn compared(&self) -> Compared<'_> {
        let section = |comparison: &Comparison| Section {
            title: comparison.title(),
            sentences: findings(&comparison.rows),
            table: self.table(comparison),
        };
        Compared {
            sections: self.comparisons.iter().map(section).chain([self.overview.section()]).collect(),
            legend: self.legend(),
            changes: self
                .comparisons
                .iter()
                .flat_map(|comparison| comparison.rows.iter().filter_map(|row| comparison.change(row)))
                .collect(),
        }
    }

    /// What columns and verdicts mean.
    fn legend(&self) -> String {
        let unit = match self.unit {
            ComparisonUnit::Launch => "launches that took turns",
            ComparisonUnit::Run => {
                "runs at different times, not interleaved: their spread is in the intervals"
            }
        };
        let rows = self.comparisons.iter().flat_map(|comparison| &comparison.rows);
        let mut answers = rows.flat_map(|row| [&row.over_control, &row.time]).flatten();
        let adjusted = match answers.any(|answer| answer.adjusted) {
            true => {
                let from = match self.unit {
                    ComparisonUnit::Launch => {
                        format!("From {ADJUSTED_FROM} launches of each side on, ratios")
                    }
                    ComparisonUnit::Run => "Ratios".to_owned(),
                };
                format!(
                    " {from} are those with the machine in one state: adjusted for core-to-core latency and the speed of copies, measured \
                     beside."
                )
            }
            false => String::new(),
        };
        format!(
            "Ratios of new over base, from {unit}.{adjusted} Over control: the time over the control's, which takes off what the machine does \
             meanwhile; it decides. Time: in seconds; it decides for the control and for references. In 95 of 100 comparisons of a thing with \
             itself no row says slower or faster. Slower, faster: the interval excludes 1 and reaches beyond {}; same: it \
             lies within that; undecided: neither.",
            units::percent(self.settings.threshold)
        )
    }

    /// The rows: the worst first, and the largest change first among equals.
    fn table(&self, comparison: &Comparison) -> Table<'static> {
        let mut rows: Vec<&ComparisonRow> = comparison.rows.iter().collect();
        rows.sort_by(|a, b| a.verdict.cmp(&b.verdict).then(b.change().total_cmp(&a.change())));
        Table { columns: COLUMNS.to_vec(), rows: rows.into_iter().map(|row| self.cells(row)).collect() }
    }

    fn cells(&self, row: &ComparisonRow) -> Vec<String> {
        let seconds = |value: Option<f64>| value.map_or_else(String::new, units::seconds);
        let text = |answer: &Option<Estimate>| answer.as_ref().map_or_else(String::new, Estimate::text);
        vec![
            row.subject.test.clone(),
            row.subject.sizes().to_owned(),
            row.subject.method.clone(),
            seconds(row.base_s),
            seconds(row.new_s),
            text(&row.over_control),
            text(&row.time),
            row.verdict.name().to_owned(),
            self.note(row),
        ]
    }

    /// The control where it is not the usual one, what went wrong, which phases explain a change, what would decide.
    fn note(&self, row: &ComparisonRow) -> String {
        let mut notes = Vec::new();
        if let Some(control) = row.control.as_ref().filter(|control| *control != super::CONTROLS[0]) {
            notes.push(format!("over {control}"));
        }
        if !row.note.is_empty() {
            notes.push(row.note.clone());
        }
        if matches!(row.verdict, Verdict::Slower | Verdict::Faster) {
            let is_slower = row.verdict == Verdict::Slower;
            notes.extend(phases::explanation(&row.phases, is_slower, self.settings.threshold));
        }
        let unit = match self.unit {
            ComparisonUnit::Launch => "launches",
            ComparisonUnit::Run => "runs",
        };
        // Nobody waits for so many; and what is that near to the threshold may never be decided.
        const MANY: usize = 1000;
        match row.answer() {
            Some(answer) if row.verdict == Verdict::Undecided => {
                let seen = units::percent(answer.could_see - 1.0);
                let needed = answer.would_decide.map(|needed| match needed > MANY {
                    true => format!(", more than {MANY} {unit} would decide"),
                    false => format!(", some {needed} {unit} would decide"),
                });
                notes.push(format!("saw changes from {seen} on{}", needed.unwrap_or_default()));
            }
            None if row.verdict == Verdict::Undecided => {
                notes.push(format!("fewer than three {unit} of each side"))
            }
            _ => {}
        }
        notes.join("; ")
    }
}

impl Comparison {
    /// The title: who is compared, and where they were measured, which is said once if it is the same.
    fn title(&self) -> String {
        let (base, new) = (&self.base, &self.new);
        if base.place == new.place {
            return format!("{} (base) and {} (new): {}", base.name, new.name, base.place);
        }
        format!("{} (base): {}\n{} (new): {}", base.name, base.place, new.name, new.place)
    }

    /// The answer of a row as a mark; `None` where there is none.
    fn change(&self, row: &ComparisonRow) -> Option<Datum> {
        let answer = row.answer()?;
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
            quantity: if row.over_control.is_some() { "change_over_control" } else { "change" }.to_owned(),
            against: self.base.name.clone(),
            bytes: row.bytes,
            value: answer.ratio,
            interval: Some((answer.low, answer.high)),
            unit: FigureUnit::Ratio,
            ..Datum::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::made::{comparisons, row};
    use crate::compare::{ComparisonRow, Verdict};

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
            text.starts_with("one (base) and other (new): 2 ranks, warm\n\n  ddt: slower in 1 of 3"),
            "{text}"
        );
        assert!(
            at("ddt: slower") < at("test  set") && at("\nb ") < at("\nc ") && at("\nc ") < at("\na "),
            "{text}"
        );
        assert!(text.contains("a|b; saw changes from 1.0% on, some 12 launches would decide"), "{text}");
        assert!(at("Ratios of new over base") > at("\na "), "{text}");
        let markdown = comparisons.compared().markdown();
        assert!(markdown.contains("| a\\|b; saw changes"), "a bar in a note is no column: {markdown}");
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let rows = vec![row("specfem3d_oc", "ddt_to_packed", 1, 22.4, Verdict::Slower)];
        let text = comparisons(rows).compared().text(Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn each_answer_is_a_mark() {
        let mut silent = row("c", "ddt", 8, 1.0, Verdict::NotCompared);
        (silent.over_control, silent.time) = (None, None);
        let rows =
            vec![row("a", "ddt", 8, 2.0, Verdict::Slower), row("b", "ddt", 8, 1.0, Verdict::Same), silent];
        let comparisons = comparisons(rows);
        let changes = comparisons.compared().changes;
        let marks: Vec<_> = changes
            .iter()
            .map(|mark| (&*mark.case.test, &*mark.case.mpi, &*mark.against, &*mark.series, mark.value))
            .collect();
        assert_eq!(marks, [("a", "other", "one", "slower", 2.0), ("b", "other", "one", "same", 1.0)]);
        assert_eq!(changes[0].interval, Some((1.98, 2.02)));
    }
}
