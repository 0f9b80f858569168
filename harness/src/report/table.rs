//! Records as a table for people: a block per case, a row per method, and what can be said from it.

use std::fmt::Write as _;

use super::case::{CaseView, interval, measured, place};
use super::columns::{Align, Column, aligned, wrapped};
use super::units;
use crate::record::{Phase, Record};

/// Columns of text where no width is given.
const DEFAULT_WIDTH: usize = 120;

/// Below this, text is not made narrower.
const LEAST_WIDTH: usize = 60;

pub(super) const REFERENCE: &str = "reference";

/// A row per method: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 12] = [
    Column::new("method", Align::Left, 0),
    Column::new("round trip", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("create", Align::Right, 2),
    Column::new("pack", Align::Right, 2),
    Column::new("comm", Align::Right, 2),
    Column::new("unpack", Align::Right, 2),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("pack%", Align::Right, 2),
    Column::new("rate", Align::Right, 2),
    Column::new("note", Align::Left, 2),
];

pub(super) const LEGEND: &str = "round trip: median of a whole ping-pong, creation left out, ± the larger side of its 95% \
    interval. create, pack, comm, unpack: medians at the origin. ovh: (t - t_reference) / t, with its 95% \
    interval. pack%: share of timed packing and unpacking, both sides. rate: payload per second one way.";

/// The cells of a method.
fn row(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = vec![record.method.clone()];
    if !measured(record) {
        row.resize(COLUMNS.len() - 1, String::new());
        row.push(record.outcome.clone());
        return row;
    }
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    let half = interval(record)
        .and_then(|(low, median, high)| (median > 0.0).then(|| (median - low).max(high - median) / median));
    row.push(text(record.median_s, units::seconds));
    row.push(half.map_or_else(String::new, |half| format!("±{}", units::percent(half))));
    row.extend(
        [Phase::Create, Phase::Pack, Phase::Communicate, Phase::Unpack]
            .map(|phase| text(case.median(&record.method, phase), units::seconds)),
    );
    let overhead = record.overhead_reference.filter(|_| record.method != REFERENCE);
    row.push(text(overhead, units::percent));
    row.push(match (overhead, record.overhead_reference_low, record.overhead_reference_high) {
        (Some(value), Some(low), Some(high)) => {
            let figure = |end| units::percent_figure(end, units::percent_decimals(value));
            format!("[{}, {}]", figure(low), figure(high))
        }
        _ => String::new(),
    });
    row.push(text(record.overhead_pack.filter(|_| record.method != REFERENCE), units::percent));
    row.push(text(record.bandwidth_bytes_per_s, units::rate));
    row.push(if record.outcome == "converged" { String::new() } else { record.outcome.clone() });
    row
}

/// Columns that headings and notes may take.
pub(super) fn text_width(width: Option<u16>) -> usize {
    width.map_or(DEFAULT_WIDTH, |width| usize::from(width).max(LEAST_WIDTH))
}

/// The records as text. Headings and notes are broken at `width`; rows keep their columns.
pub fn table(records: &[Record], width: Option<u16>) -> String {
    let width = text_width(width);
    let cases = CaseView::all(records);
    let Some(first) = cases.first().map(CaseView::first) else {
        return "No records.\n".to_owned();
    };
    // What is the same everywhere is said once.
    let same = cases.iter().all(|case| place(case.first()) == place(first));
    let mut text = wrapped("", LEGEND, width, 0);
    if same {
        let _ = writeln!(text, "All: {}", place(first));
    }

    let header: Vec<String> = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
    let rows_of = |case: &CaseView| {
        let rows = case.methods().map(|record| row(case, record));
        std::iter::once(header.clone()).chain(rows).collect::<Vec<_>>()
    };
    let rows: Vec<_> = cases.iter().flat_map(rows_of).collect();
    let mut lines = aligned(&COLUMNS, &rows).into_iter();
    for case in &cases {
        let r = case.first();
        let size = format!("{} in {} segments", units::bytes(r.bytes), r.segments);
        let at = if same { String::new() } else { format!("  {}", place(r)) };
        text.push('\n');
        text += &wrapped(&format!("{}  {size}{at}  ", case.name()), &format!("({})", r.params), width, 4);
        for line in lines.by_ref().take(case.methods().count() + 1) {
            let _ = writeln!(text, "  {line}");
        }
    }

    text += "\nFastest from arrays to arrays (a difference is shown only where 95% intervals part)\n";
    let columns =
        ["test", "set", "at", "fastest", "manual or ddt"].map(|name| Column::new(name, Align::Left, 2));
    let mut rows = vec![columns.iter().map(|column| column.name.to_owned()).collect::<Vec<_>>()];
    rows.extend(cases.iter().map(|case| {
        let r = case.first();
        let at = if same { String::new() } else { place(r) };
        vec![r.test.clone(), r.set.clone(), at, case.fastest(), case.manual_or_ddt()]
    }));
    if same {
        rows[0][2].clear();
    }
    for line in aligned(&columns, &rows) {
        let _ = writeln!(text, "  {line}");
    }
    text + &notes(&cases, width, same)
}

/// What is to be said of each case besides.
fn notes(cases: &[CaseView], width: usize, same: bool) -> String {
    let of_case = |case: &CaseView| {
        let at = if same { String::new() } else { format!("  {}", place(case.first())) };
        let start = format!("  {}{at}: ", case.name());
        case.notes().iter().map(|note| wrapped(&start, note, width, 4)).collect::<String>()
    };
    let text: String = cases.iter().map(of_case).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

#[cfg(test)]
pub(super) mod tests;
