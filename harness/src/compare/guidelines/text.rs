//! Guidelines for people: the standing of each, then its violations, the worst first.

use std::collections::BTreeSet;

use super::{BreakEven, Findings, GUIDELINES, Guideline, GuidelineRow, Standing, states};
use crate::report::columns::{Align, Column, Table};
use crate::report::compared::{Compared, Section};
use crate::report::units;

/// The column of the state of the machine, by its core-to-core latency.
const AT: &str = "at";

const COLUMNS: [Column; 9] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2).rank(1),
    Column::new("guideline", Align::Left, 2),
    Column::new(AT, Align::Right, 2),
    Column::new("takes", Align::Left, 2).rank(3),
    Column::new("instead of", Align::Left, 2).rank(2),
    Column::new("ratio", Align::Right, 2),
    Column::new("", Align::Left, 2),
    Column::new("instead, write", Align::Left, 2),
];

/// The findings about several MPIs for text and Markdown.
pub fn compared(all: &[Findings]) -> Compared<'static> {
    let legend = all.first().map_or_else(String::new, Findings::legend);
    Compared { sections: all.iter().map(Findings::section).collect(), legend, ..Compared::default() }
}

impl Findings {
    fn section(&self) -> Section<'static> {
        let rows = self.rows.iter().filter(|row| row.standing != Standing::Holds);
        let table = Table { columns: COLUMNS.to_vec(), rows: rows.map(|row| self.cells(row)).collect() };
        let table = table.with_distinct_sets();
        let place = format!("{}, {}", self.mpi, self.place);
        let title = [Some(place), states::text(&self.states)].into_iter().flatten();
        Section {
            title: title.collect::<Vec<_>>().join("; "),
            sentences: self.sentences(),
            table: if self.states.len() > 1 { table } else { table.without(&[AT]) },
            ..Section::default()
        }
    }

    /// A sentence for each tested guideline, in each state of the machine.
    fn sentences(&self) -> Vec<String> {
        let failed = (!self.failed.is_empty()).then(|| format!("failed: {}", self.failed.join("; ")));
        let states: BTreeSet<usize> = self.rows.iter().map(|row| row.state).collect();
        states.iter().flat_map(|state| self.sentences_of(*state)).chain(failed).collect()
    }

    fn sentences_of(&self, state: usize) -> Vec<String> {
        let all = GUIDELINES.iter().filter(|guideline| self.rows_of(guideline, state).next().is_some());
        let is_open = |guideline: &&Guideline| {
            self.rows_of(guideline, state).all(|row| row.standing == Standing::Undecided)
        };
        let (open, others): (Vec<_>, Vec<_>) = all.partition(is_open);
        let names = open.iter().map(|guideline| guideline.name.as_str()).collect::<Vec<_>>().join(", ");
        let open = (!open.is_empty()).then(|| format!("undecided in all rows: {names}"));
        let sentences = others.into_iter().filter_map(|guideline| self.sentence(guideline, state));
        let at = if self.states.len() > 1 { format!("At {}, ", self.at(state)) } else { String::new() };
        sentences.chain(open).map(|sentence| format!("{at}{sentence}")).collect()
    }

    /// The core-to-core latency of a state; empty if it is not known.
    pub(super) fn at(&self, state: usize) -> String {
        let met = self.states.iter().find(|met| met.state == state);
        met.map_or_else(String::new, |met| states::at(met.latency_s, false))
    }

    fn rows_of(&self, guideline: &Guideline, state: usize) -> impl Iterator<Item = &GuidelineRow> {
        self.rows.iter().filter(move |row| row.guideline == guideline.name && row.state == state)
    }

    fn sentence(&self, guideline: &Guideline, state: usize) -> Option<String> {
        let rows: Vec<&GuidelineRow> = self.rows_of(guideline, state).collect();
        let count = |standing| rows.iter().filter(|row| row.standing == standing).count();
        let first = rows.first()?;
        let mut parts = Vec::new();
        if count(Standing::Violated) > 0 {
            let (test, measure) = (&first.subject.test, first.measure());
            let by = if rows.iter().any(|row| row.description.is_some()) {
                first.than.trim_start_matches("ddt:")
            } else {
                ""
            };
            let by = if by.is_empty() { String::new() } else { format!(", by {by}") };
            parts.push(format!("violated in {}, most in {test}: {measure}{by}", count(Standing::Violated)));
        }
        for standing in [Standing::Holds, Standing::Undecided] {
            if count(standing) > 0 {
                parts.push(format!("{} in {}", standing.name(), count(standing)));
            }
        }
        let pays =
            rows.iter().rev().filter(|row| row.standing == Standing::Holds && row.break_even.is_some());
        parts.extend(pays.map(|row| format!("{} pays {}", row.subject.test, row.measure())));
        Some(format!("{}, {}: {}", guideline.name, guideline.statement, parts.join("; ")))
    }

    fn cells(&self, row: &GuidelineRow) -> Vec<String> {
        let takes = |method: &str, time_s: f64| match time_s > 0.0 {
            true => format!("{method} {}", units::seconds(time_s)),
            false => method.to_owned(),
        };
        vec![
            row.subject.test.clone(),
            row.subject.sizes().to_owned(),
            row.guideline.to_owned(),
            self.at(row.state),
            takes(row.takes(), row.time_s),
            takes(&row.than, row.than_s),
            row.measure(),
            row.standing.name().to_owned(),
            match (row.standing, &row.description) {
                (Standing::Violated, Some(faster)) => shortened(&faster.send),
                (Standing::Violated, None) => row.instead.to_owned(),
                _ => String::new(),
            },
        ]
    }

    fn legend(&self) -> String {
        format!(
            "Times are medians over launches, ratios geometric means over them, with corrected intervals, in one state of the machine. violated: the interval is above \
             1 and extends beyond {}, which happens by chance in at most 5 of 100 such lists; holds: it is below that; undecided: \
             neither. Times with a datatype are round trips; D2 and D12 are for packing only, D10 for creating and freeing.",
            units::short_percent(self.settings.threshold)
        )
    }
}

impl GuidelineRow {
    /// Its result: a ratio, or the number of round trips until it pays.
    fn measure(&self) -> String {
        self.break_even.as_ref().map_or_else(|| self.answer.text(), BreakEven::text)
    }

    fn takes(&self) -> &str {
        if self.break_even.is_some() { "create and free" } else { &self.subject.method }
    }
}

/// A layout for a cell: its beginning, if it is long.
fn shortened(layout: &str) -> String {
    /// Maximum characters of a cell, to leave room for others in its row.
    const MOST: usize = 48;
    match layout.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &layout[..end]),
        None => layout.to_owned(),
    }
}
