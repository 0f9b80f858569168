//! A comparison for people: the answer, then the rows, then what words mean; as text, Markdown or tab-separated values.

use super::{
    ADJUSTED_FROM, Comparison, ComparisonRow, ComparisonUnit, Comparisons, Estimate, Verdict, findings,
    phases,
};
use crate::report::columns::{Align, Column, fitted, markdown, wrapped};
use crate::report::table::text_width;
use crate::report::units;

/// The columns of the rows.
pub(super) const COLUMNS: [Column; 9] = [
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

/// The columns of tab-separated values.
const TSV: [&str; 21] = [
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

impl Comparisons {
    /// As text, nothing of it wider than a terminal of `width`.
    pub fn text(&self, width: Option<u16>) -> String {
        let (room, width) = (width.map(usize::from), text_width(width));
        let mut text = String::new();
        for comparison in &self.comparisons {
            text += &format!("{}\n\n", comparison.title());
            for finding in findings(&comparison.rows) {
                text += &wrapped("  ", &finding, width, 4);
            }
            text.push('\n');
            text += &fitted(&COLUMNS, &self.table(comparison), room, 0).text(width);
            text.push('\n');
        }
        text + &self.overview.text(room, width) + "\n" + &wrapped("", &self.legend(), width, 0)
    }

    /// As Markdown, for a pull request.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for comparison in &self.comparisons {
            text += &format!("### {}\n\n", comparison.title());
            text.extend(findings(&comparison.rows).iter().map(|finding| format!("- {finding}\n")));
            text += &format!("\n{}\n", markdown(&self.table(comparison)));
        }
        format!("{text}{}\n{}\n", self.overview.markdown(), self.legend())
    }

    /// As tab-separated values, a row of a comparison each: all that is known, figures in full.
    pub fn tsv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().delimiter(b'\t').from_writer(Vec::new());
        let rows = self.comparisons.iter().flat_map(|of| of.rows.iter().map(move |row| (of, row)));
        let header = TSV.map(str::to_owned).to_vec();
        for cells in std::iter::once(header).chain(rows.map(|(of, row)| self.values(of, row))) {
            writer.write_record(cells).expect("a row of plain fields always fits into memory");
        }
        let bytes = writer.into_inner().expect("writing to memory does not fail");
        String::from_utf8(bytes).expect("cells are text")
    }

    /// What columns and verdicts mean.
    pub(super) fn legend(&self) -> String {
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

    /// The header and the rows as people read them: the worst first, and the largest change first among equals.
    pub(super) fn table(&self, comparison: &Comparison) -> Vec<Vec<String>> {
        let mut rows: Vec<&ComparisonRow> = comparison.rows.iter().collect();
        rows.sort_by(|a, b| a.verdict.cmp(&b.verdict).then(b.change().total_cmp(&a.change())));
        let header = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
        std::iter::once(header).chain(rows.into_iter().map(|row| self.cells(row))).collect()
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

    fn values(&self, comparison: &Comparison, row: &ComparisonRow) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let subject = &row.subject;
        let mut cells = vec![
            comparison.base.name.clone(),
            comparison.new.name.clone(),
            subject.experiment.name().to_owned(),
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
            let of = |value: fn(&Estimate) -> f64| number(answer.as_ref().map(value));
            cells.extend([of(|a| a.ratio), of(|a| a.low), of(|a| a.high)]);
        }
        cells.extend([row.verdict.name().to_owned(), self.note(row)]);
        cells
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
    pub(super) fn title(&self) -> String {
        let (base, new) = (&self.base, &self.new);
        if base.place == new.place {
            return format!("{} (base) and {} (new): {}", base.name, new.name, base.place);
        }
        format!("{} (base): {}\n{} (new): {}", base.name, base.place, new.name, new.place)
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
            ComparisonRow { note: "crashed".to_owned(), ..row("c", "ddt", 1, 22.4, Verdict::Undecided) },
        ];
        let text = comparisons(rows).text(Some(200));
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(
            text.starts_with("one (base) and other (new): 2 ranks, warm\n\n  ddt: slower in 1 of 3"),
            "{text}"
        );
        assert!(
            at("ddt: slower") < at("test  set") && at("\nb ") < at("\nc ") && at("\nc ") < at("\na "),
            "{text}"
        );
        assert!(text.contains("crashed; saw changes from 1.0% on, some 12 launches would decide"), "{text}");
        assert!(at("Ratios of new over base") > at("\na "), "{text}");
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let rows = vec![row("specfem3d_oc", "ddt_to_packed", 1, 22.4, Verdict::Slower)];
        let text = comparisons(rows).text(Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn values_are_a_table_that_programs_read() {
        let broken =
            ComparisonRow { note: "exit\tcode \"3\"".to_owned(), ..row("b", "ddt", 1, 1.5, Verdict::Broken) };
        let text = comparisons(vec![broken]).tsv();
        let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!((rows.len(), rows[0].len(), &rows[0][20]), (1, super::TSV.len(), "exit\tcode \"3\""));
    }

    #[test]
    fn a_bar_in_a_note_is_no_column() {
        let noted = ComparisonRow { note: "a|b".to_owned(), ..row("b", "ddt", 1, 1.5, Verdict::Broken) };
        assert!(comparisons(vec![noted]).markdown().contains("a\\|b |\n"));
    }
}
