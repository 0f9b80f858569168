//! A comparison for people: the answer, then the rows; as text, Markdown or tab-separated values.

use super::findings::answer;
use super::{Answer, Comparison, Row, Unit, Verdict, findings};
use crate::report::columns::{Align, Column, aligned, wrapped};
use crate::report::units;

/// The columns of the rows.
const COLUMNS: [Column; 9] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2),
    Column::new("method", Align::Left, 2),
    Column::new("base", Align::Right, 2),
    Column::new("new", Align::Right, 2),
    Column::new("over control", Align::Right, 2),
    Column::new("time", Align::Right, 2),
    Column::new("verdict", Align::Left, 2),
    Column::new("note", Align::Left, 2),
];

/// The columns of tab-separated values.
pub(super) const TSV: [&str; 21] = [
    "base",
    "new",
    "experiment",
    "test",
    "set",
    "params",
    "ranks",
    "cache",
    "method",
    "bytes",
    "base_s",
    "new_s",
    "control",
    "over_control",
    "over_control_low",
    "over_control_high",
    "time",
    "time_low",
    "time_high",
    "verdict",
    "note",
];

impl Comparison {
    /// The title: who is compared, and on what.
    fn title(&self) -> String {
        format!("{} (base) and {}", self.base, self.new)
    }

    /// What columns and verdicts mean.
    fn legend(&self) -> String {
        let unit = match self.unit {
            Unit::Launch => "launches that took turns",
            Unit::Run => "runs at different times, not interleaved: their spread is in the intervals",
        };
        format!(
            "Ratios of {} over {}, from {unit}. Over control: the time over the control's, which takes off what the machine does \
             meanwhile; it decides. Time: in seconds; it decides for the control and for references. Intervals miss nothing in 95 of 100 \
             comparisons, all rows and looks together. Slower, faster: the interval excludes 1 and reaches beyond {}; same: it \
             lies within that; undecided: neither.",
            self.new,
            self.base,
            units::percent(self.threshold)
        )
    }

    /// Rows as people read them: the worst first, and the largest change first among equals.
    fn in_order(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let change = |row: &Row| answer(row).map_or(0.0, |answer| answer.ratio.ln().abs());
        rows.sort_by(|a, b| a.verdict.cmp(&b.verdict).then(change(b).total_cmp(&change(a))));
        rows
    }

    /// As text, sentences broken at `width`.
    pub(super) fn text(&self, width: usize) -> String {
        let mut text = format!("{}\n\n", self.title());
        for finding in findings(&self.rows) {
            text += &wrapped("  ", &finding, width, 4);
        }
        text.push('\n');
        let header = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
        let rows: Vec<Vec<String>> =
            std::iter::once(header).chain(self.in_order().into_iter().map(|row| self.cells(row))).collect();
        for line in aligned(&COLUMNS, &rows) {
            text += &format!("{line}\n");
        }
        text.push('\n');
        text + &wrapped("", &self.legend(), width, 0)
    }

    /// As Markdown, for a pull request.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.title());
        for finding in findings(&self.rows) {
            text += &format!("- {finding}\n");
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text.push('\n');
        text += &line(COLUMNS.iter().map(|column| column.name.to_owned()).collect());
        text += &line(vec!["---".to_owned(); COLUMNS.len()]);
        for row in self.in_order() {
            text += &line(self.cells(row).into_iter().map(|cell| cell.replace('|', "\\|")).collect());
        }
        format!("{text}\n{}\n", self.legend())
    }

    /// As rows of tab-separated values: all that is known, figures in full.
    pub(super) fn tsv(&self) -> String {
        let mut lines = Vec::new();
        for row in &self.rows {
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let subject = &row.subject;
            let mut cells = vec![
                self.base.clone(),
                self.new.clone(),
                subject.experiment.clone(),
                subject.test.clone(),
                subject.set.clone(),
                subject.params.clone(),
                subject.ranks.to_string(),
                subject.cache.name().to_owned(),
                subject.method.clone(),
                row.bytes.to_string(),
                number(row.base_s),
                number(row.new_s),
                row.control.clone().unwrap_or_default(),
            ];
            for answer in [&row.over_control, &row.time] {
                let of = |value: fn(&Answer) -> f64| number(answer.as_ref().map(value));
                cells.extend([of(|a| a.ratio), of(|a| a.low), of(|a| a.high)]);
            }
            cells.extend([row.verdict.name().to_owned(), self.note(row)]);
            let clean = cells.iter().map(|cell| cell.replace(['\t', '\n'], " "));
            lines.push(clean.collect::<Vec<_>>().join("\t"));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let seconds = |value: Option<f64>| value.map_or_else(String::new, units::seconds);
        let text = |answer: &Option<Answer>| answer.as_ref().map_or_else(String::new, Answer::text);
        let set = if row.subject.set.is_empty() { &row.subject.params } else { &row.subject.set };
        vec![
            row.subject.test.clone(),
            set.clone(),
            row.subject.method.clone(),
            seconds(row.base_s),
            seconds(row.new_s),
            text(&row.over_control),
            text(&row.time),
            row.verdict.name().to_owned(),
            self.note(row),
        ]
    }

    /// The control where it is not the usual one, what would decide, what went wrong.
    fn note(&self, row: &Row) -> String {
        let mut notes = Vec::new();
        if let Some(control) = row.control.as_ref().filter(|control| *control != super::CONTROLS[0]) {
            notes.push(format!("over {control}"));
        }
        if !row.note.is_empty() {
            notes.push(row.note.clone());
        }
        let unit = match self.unit {
            Unit::Launch => "launches",
            Unit::Run => "runs",
        };
        match answer(row) {
            Some(answer) if row.verdict == Verdict::Undecided => {
                let seen = units::percent(answer.could_see - 1.0);
                let needed = answer.would_decide.map(|needed| format!(", some {needed} {unit} would decide"));
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
