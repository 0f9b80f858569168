//! Guidelines for people: how each stands, then where it is violated, the worst first.

use super::{Findings, GUIDELINES, Guideline, GuidelineRow, MONOTONY, Standing};
use crate::report::columns::{Align, Column, fitted, markdown, wrapped};
use crate::report::table::{left_out, text_width};
use crate::report::units;

const COLUMNS: [Column; 8] = [
    Column::new("guideline", Align::Left, 0),
    Column::new("test", Align::Left, 2),
    Column::new("set", Align::Left, 2).rank(1),
    Column::new("takes", Align::Left, 2).rank(3),
    Column::new("instead of", Align::Left, 2).rank(2),
    Column::new("ratio", Align::Right, 2),
    Column::new("", Align::Left, 2),
    Column::new("instead, write", Align::Left, 2),
];

impl Findings {
    /// As text, nothing of it wider than a terminal of `width`.
    pub fn text(&self, width: Option<u16>) -> String {
        let (room, width) = (width.map(usize::from), text_width(width));
        let mut text = format!("{}, {}\n\n", self.mpi, self.place);
        for sentence in self.sentences() {
            text += &wrapped("  ", &sentence, width, 4);
        }
        let rows = self.table();
        if rows.len() > 1 {
            text.push('\n');
            let shown = fitted(&COLUMNS, &rows, room, 0);
            text.extend(shown.rows.into_iter().map(|line| line + "\n"));
            text += &left_out(&shown.left_out, width);
        }
        text + "\n" + &wrapped("", &self.legend(), width, 0)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let sentences: String = self.sentences().iter().map(|sentence| format!("- {sentence}\n")).collect();
        format!(
            "### {}, {}\n\n{sentences}\n{}\n{}\n",
            self.mpi,
            self.place,
            markdown(&self.table()),
            self.legend()
        )
    }

    /// A sentence for each guideline that was looked at.
    fn sentences(&self) -> Vec<String> {
        let all = GUIDELINES.iter().chain([&MONOTONY]);
        let failed = self.failed.iter().map(|failure| format!("failed, {failure}"));
        all.filter_map(|guideline| self.sentence(guideline)).chain(failed).collect()
    }

    fn sentence(&self, guideline: &Guideline) -> Option<String> {
        let rows: Vec<&GuidelineRow> =
            self.rows.iter().filter(|row| row.guideline == guideline.name).collect();
        let count = |standing| rows.iter().filter(|row| row.standing == standing).count();
        let first = rows.first()?;
        let mut parts = Vec::new();
        if count(Standing::Violated) > 0 {
            let (test, ratio) = (&first.subject.test, first.answer.text());
            parts.push(format!("violated in {}, most in {test}: {ratio}", count(Standing::Violated)));
        }
        for standing in [Standing::Holds, Standing::Undecided] {
            if count(standing) > 0 {
                parts.push(format!("{} in {}", standing.name(), count(standing)));
            }
        }
        Some(format!("{}, {}: {}", guideline.name, guideline.says, parts.join("; ")))
    }

    /// The header, and what does not hold.
    fn table(&self) -> Vec<Vec<String>> {
        let header = COLUMNS.map(|column| column.name.to_owned()).to_vec();
        let rows = self.rows.iter().filter(|row| row.standing != Standing::Holds);
        std::iter::once(header).chain(rows.map(cells)).collect()
    }

    fn legend(&self) -> String {
        format!(
            "Times are medians over launches, ratios geometric means over them, with corrected intervals. violated: the interval lies above \
             1 and reaches beyond {}, which happens by chance in at most 5 of 100 such lists; holds: it ends below that; undecided: \
             neither. Times with a datatype are round trips; D2 is of packing alone.",
            units::percent(self.settings.threshold)
        )
    }
}

fn cells(row: &GuidelineRow) -> Vec<String> {
    let takes = |method: &str, time_s: f64| format!("{method} {}", units::seconds(time_s));
    vec![
        row.guideline.to_owned(),
        row.subject.test.clone(),
        row.subject.sizes().to_owned(),
        takes(&row.subject.method, row.time_s),
        takes(&row.than, row.than_s),
        row.answer.text(),
        row.standing.name().to_owned(),
        if row.standing == Standing::Violated { row.instead.to_owned() } else { String::new() },
    ]
}
