//! The summary in front of the tables: a line per case, and the findings in sentences (`sentences.rs`).

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use indexmap::IndexSet;

use super::case::{CaseView, cell, launches, measured, share, warnings};
use super::columns::{Align, Column, Fitted, Table, distinct_sets, fitted, text_width, wrapped};
use super::names::{distinct, grouped};
use super::sentences::{decided_by_loop, decisions, estimates_that_disagree, negative_overheads, sentences};
use super::state;
use super::table::TableFormat;
use super::units;
use super::verdict::{Claim, Verdict};
use crate::model::{LOOP, MANUAL, OWN, Quantity, Record};

/// How a kind of experiments shows a case in one line.
#[derive(Clone, Copy)]
pub struct Answer {
    /// Methods whose times are always shown.
    pub times: &'static [&'static str],
    /// Other times and figures of a case, in front of the verdict.
    pub columns: &'static [Column<'static>],
    pub cells: fn(&CaseView) -> Vec<String>,
    /// Figures behind the verdict, if there is room.
    pub more: &'static [Column<'static>],
    pub more_cells: fn(&CaseView) -> Vec<String>,
    /// An explanation of the columns.
    pub legend: &'static str,
    /// An explanation of the columns after the verdict.
    pub more_legend: &'static str,
    /// The verdicts, at least one. The line of the case shows the first one.
    pub claims: for<'a> fn(&CaseView<'a>) -> Vec<Claim<'a>>,
    /// The methods needed for a verdict and these values; empty if any two will do.
    pub methods: &'static [&'static str],
    /// Additional sentences of the kind about all cases.
    pub sentences: fn(&[CaseView]) -> Vec<String>,
}

impl Answer {
    /// The verdict in the line of a case.
    pub fn claim<'a>(&self, case: &CaseView<'a>) -> Claim<'a> {
        (self.claims)(case).swap_remove(0)
    }

    pub fn verdict(&self, case: &CaseView) -> String {
        (self.claims)(case).iter().map(Claim::text).collect::<Vec<_>>().join("; ")
    }

    /// The fastest method and all verdicts, each once: the fastest may be that of a verdict.
    pub fn findings(&self, case: &CaseView) -> Vec<String> {
        let has_fastest = case.methods().any(|record| record.fastest.is_some());
        let claims = (self.claims)(case);
        // Kinds that compare all methods with one of them have no fastest one.
        let fastest = (has_fastest || claims.is_empty()).then(|| case.fastest());
        fastest
            .into_iter()
            .chain(claims)
            .map(|claim| claim.text())
            .collect::<IndexSet<String>>()
            .into_iter()
            .collect()
    }

    /// The fastest method, without other values.
    pub const PLAIN: Self = Self {
        times: &[],
        columns: &[],
        cells: |_| Vec::new(),
        more: &[],
        more_cells: |_| Vec::new(),
        legend: "",
        more_legend: "",
        claims: |case| vec![case.fastest()],
        methods: &[],
        sentences: |_| Vec::new(),
    };
}

/// Methods whose times and overheads are shown if methods pack.
const PACKED: [&str; 4] = [OWN, MANUAL, LOOP, "ddt"];

/// For kinds whose methods pack: times of loop and datatype, the faster one, and their pack overheads.
pub const PACKING: Answer = Answer {
    times: &PACKED,
    more: &const {
        [
            Column::new("ovh own", Align::Right, 2).rank(8),
            Column::new("[95%]", Align::Left, 1).rank(9),
            Column::new("ovh manual", Align::Right, 2).rank(8),
            Column::new("[95%]", Align::Left, 1).rank(9),
            Column::new("ovh loop", Align::Right, 2).rank(8),
            Column::new("[95%]", Align::Left, 1).rank(9),
            Column::new("ovh ddt", Align::Right, 2).rank(8),
            Column::new("[95%]", Align::Left, 1).rank(9),
        ]
    },
    more_cells: |case| {
        let share = |name| {
            of(case, name).map_or_else(Default::default, |record| share(record, Quantity::OverheadReference))
        };
        PACKED.map(share).concat()
    },
    more_legend: "ovh: pack overhead, the share of the time that a contiguous message of the same size (reference) does not need, as in \
                  figure 5 of the DDTBench paper.",
    claims: |case| {
        let claims = case.loops_or_ddt();
        if claims.is_empty() { vec![case.fastest()] } else { claims }
    },
    methods: &["reference", MANUAL, "ddt"],
    sentences: |cases| negative_overheads(cases).into_iter().chain(estimates_that_disagree(cases)).collect(),
    ..Answer::PLAIN
};

/// The record of a method.
fn of<'a>(case: &CaseView<'a>, name: &str) -> Option<&'a Record> {
    case.methods().find(|record| record.method == name)
}

/// The time of a method; empty if it was not measured.
fn time(case: &CaseView, name: &str) -> String {
    of(case, name)
        .filter(|record| measured(record))
        .map_or_else(String::new, |r| cell(r.median_s, units::seconds))
}

/// Why an overhead can be below 0.
pub(super) const NEGATIVE_OVERHEAD: &str = "An overhead below 0%: the method takes less time than a contiguous message of the same size. An MPI may \
    send contiguous messages of this size by another protocol than datatypes, and a packed message comes from a buffer that is still in \
    the cache.";

const FASTEST: Style = Style::new().bold();
const FASTER: Style = AnsiColor::Green.on_default();
pub(super) const CLIFF: Style = AnsiColor::Yellow.on_default().bold();

/// A method that is shown to be so many times slower than the fastest is reported.
pub(super) const STANDS_OUT: f64 = 2.0;

pub(super) fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// A line per case, and the findings, within the width of a terminal. With codes for colours.
pub fn answer(
    form: &'static TableFormat,
    records: &[Record],
    width: Option<u16>,
    loops: Option<&str>,
) -> String {
    let (room, width) = (width.map(usize::from), text_width(width));
    let cases = CaseView::all(form, records);
    if cases.is_empty() {
        return "No records.\n".to_owned();
    }
    let groups = groups(cases.iter().filter(|case| !case.has_too_few_launches()));
    let (shown, is_short) = lines(form, &groups, room);
    let first = |sentence: String| wrapped("", &painted(CLIFF, &sentence), width, 2);
    let mut text: String = decisions(form, &cases)
        .iter()
        .map(|decision| wrapped("", &painted(FASTEST, decision), width, 2))
        .collect();
    text.extend(decided_by_loop(form, &cases).map(first));
    text.extend(loops.map(|loops| wrapped("", loops, width, 2)));
    // Warnings about all cases come before them.
    for warning in warnings(records) {
        text += &wrapped("", &painted(CLIFF, &warning), width, 0);
    }
    let legend = Some(legend(form, &shown, is_short)).filter(|legend| !legend.is_empty());
    for about in legend.into_iter().chain(launches(records)) {
        text += &wrapped("", &about, width, 0);
    }
    let left_out = shown.left_out_text(width);
    let mut rows = shown.rows.into_iter();
    for cases in &groups {
        let heading = cases[0].conditions() + &state::counted_of(cases.iter().copied());
        text += &format!("\n{}", wrapped("", &heading, width, 2));
        rows.by_ref().take(cases.len() + 1).for_each(|line| text += &format!("{line}\n"));
    }
    text += &left_out;
    let few = cases.iter().filter(|case| case.has_too_few_launches());
    for (state, cases) in grouped(few, |case| case.state()) {
        let what = format!("{}{}", state.unwrap_or_default(), state::counted_of(cases));
        text +=
            &wrapped("", &format!("Too few launches for an interval: {what} (--details: times)."), width, 2);
    }
    text.push('\n');
    for sentence in sentences(form, &cases) {
        text += &wrapped("", &sentence, width, 2);
    }
    text
}

/// Cases under the same conditions: in the order of their first one, with the states of a place next to each other.
fn groups<'c, 'a>(cases: impl Iterator<Item = &'c CaseView<'a>>) -> Vec<Vec<&'c CaseView<'a>>> {
    let places = grouped(cases, |case| case.place()).into_values();
    let by_state = |mut of_place: Vec<&'c CaseView<'a>>| {
        of_place.sort_by_key(|case| case.first().state);
        grouped(of_place, |case| case.conditions()).into_values()
    };
    places.flat_map(by_state).collect()
}

/// An explanation of the columns that are shown.
fn legend(form: &TableFormat, shown: &Fitted<'_>, is_short: bool) -> String {
    let Answer { more, legend, more_legend, .. } = form.answer;
    let is_shown = |column: &Column| shown.names.contains(&column.name);
    let rows: String = shown.rows.iter().map(|row| strip_str(row).to_string()).collect();
    let texts = [
        (true, legend),
        (shown.names.contains(&"best"), "Values are medians; best: the fastest method."),
        (is_short || rows.contains("x ["), "3.00x: the first method is 3.00 times as fast as the other."),
        (more.iter().any(is_shown), more_legend),
        (rows.contains('['), "[..]: 95% interval."),
    ];
    let texts = texts.into_iter().filter(|(is_so, text)| *is_so && !text.is_empty());
    texts.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// For each group of cases that were measured under the same conditions, a heading and a line per case. Verdicts are short if
/// they would not fit; the second result is whether they are.
fn lines<'a>(
    form: &'static TableFormat,
    groups: &[Vec<&CaseView<'a>>],
    room: Option<usize>,
) -> (Fitted<'a>, bool) {
    let full = lines_with(form, groups, room, verdict);
    match full.rows.iter().any(|row| row.contains('\n')) {
        true => (lines_with(form, groups, room, short_verdict), true),
        false => (full, false),
    }
}

fn lines_with<'a>(
    form: &'static TableFormat,
    groups: &[Vec<&CaseView<'a>>],
    room: Option<usize>,
    verdict: fn(&Claim) -> String,
) -> Fitted<'a> {
    let (columns, groups) = columns_and_rows(form, groups, verdict);
    let header: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let with_header = |rows: Vec<Vec<String>>| std::iter::once(header.clone()).chain(rows);
    let rows: Vec<Vec<String>> = groups.into_iter().flat_map(with_header).collect();
    fitted(&columns, &rows, room, 0)
}

/// The answers as one table, a row per case, without codes for colours.
pub(super) fn plain_table<'a>(form: &'static TableFormat, cases: &[CaseView<'a>]) -> Table<'a> {
    let (columns, rows) = columns_and_rows(form, &[cases.iter().collect()], verdict);
    let plain = |row: Vec<String>| row.iter().map(|cell| strip_str(cell).to_string()).collect();
    Table { columns, rows: rows.into_iter().flatten().map(plain).collect() }
}

/// Columns with times of methods if no method can be the best one: as many as fit next to the other columns in 80 characters.
const MOST_TIMES: usize = 3;

/// The columns, and the rows of each group.
fn columns_and_rows<'a>(
    form: &'static TableFormat,
    groups: &[Vec<&CaseView<'a>>],
    verdict: fn(&Claim) -> String,
) -> (Vec<Column<'a>>, Vec<Vec<Vec<String>>>) {
    // If a test was measured with several sets, only these distinguish its lines.
    let has_several_sets = groups.iter().flatten().any(|case| case.is_one_of_several());
    let set_rank = if has_several_sets { 0 } else { 7 };
    let Answer { times, columns: figures, cells, more, more_cells, .. } = form.answer;
    let cases = || groups.iter().flatten();
    let measured_in_any = |name: &&str| cases().any(|case| !time(case, name).is_empty());
    let mut times: Vec<&str> = times.iter().copied().filter(measured_in_any).collect();
    let has_best = cases().any(|case| !best(case, &times).is_empty());
    if times.is_empty() && !has_best {
        let methods = distinct(cases().flat_map(|case| case.methods()).map(|record| record.method.as_str()));
        times = methods.into_iter().filter(measured_in_any).take(MOST_TIMES).collect();
    }
    let mut columns = vec![
        Column::new("test", Align::Left, 0),
        Column::new("set", Align::Left, 2).rank(set_rank),
        Column::new("bytes", Align::Right, 2).rank(5),
        Column::new("segments", Align::Right, 2).rank(6),
    ];
    columns.extend(times.iter().map(|&name| Column::new(name, Align::Right, 2)));
    columns.extend(figures);
    columns.extend(has_best.then(|| Column::new("best", Align::Left, 2)));
    columns.push(Column::new("verdict", Align::Left, 2));
    columns.extend(more);
    let row = |(case, set): (&&CaseView, String)| {
        let first = case.first();
        let segments = if first.segments > 1 { first.segments.to_string() } else { String::new() };
        let mut row = vec![first.case.test.clone(), set, units::bytes(first.bytes), segments];
        row.extend(times.iter().map(|name| time(case, name)));
        row.extend(cells(case));
        row.extend(has_best.then(|| painted(FASTEST, &best(case, &times))));
        row.push(verdict(&form.answer.claim(case)));
        row.extend(more_cells(case));
        row
    };
    // Over all groups: cases with other numbers of threads have other headings.
    let all_sets: Vec<_> = cases().map(|case| (case.first().case.test.clone(), (form.set)(case))).collect();
    let mut sets = distinct_sets(&all_sets).0.into_iter();
    let rows = groups.iter().map(|cases| cases.iter().zip(sets.by_ref()).map(row).collect()).collect();
    (columns, rows)
}

/// The fastest method, with its time unless that has a column; or which methods, or how many, may be the fastest too.
fn best(case: &CaseView, times: &[&str]) -> String {
    let timed = |name: &str| match times.contains(&name) {
        true => name.to_owned(),
        false => format!("{name} {}", time(case, name)).trim_end().to_owned(),
    };
    let either = |names: &[&str]| match names {
        [] => String::new(),
        [first] => timed(first),
        [first, other] => format!("{} or {other}", timed(first)),
        _ => format!("{} or {} more", timed(names[0]), names.len() - 1),
    };
    either(&case.fastest().candidates())
}

/// A claim in one cell.
fn verdict(claim: &Claim) -> String {
    worded(claim, claim.text())
}

/// The shortest form.
fn short_verdict(claim: &Claim) -> String {
    worded(claim, claim.short_text().unwrap_or_else(|| claim.text()))
}

fn worded(claim: &Claim, text: String) -> String {
    match claim.winner() {
        Some((_, _, (_, low, _))) if low >= STANDS_OUT => return painted(CLIFF, &text),
        Some(_) => return painted(FASTER, &text),
        None => {}
    }
    match claim {
        Claim::MeanDiffers { median, faster, .. } => {
            let by_median = median.winner().map_or(Verdict::Undecided.name(), |(faster, ..)| faster);
            format!("{by_median} by the median, {faster} by the mean")
        }
        Claim::Faster { .. } | Claim::OfLoops(_) | Claim::Diagnosis { .. } => text,
        Claim::Open { .. } => claim.open_text().unwrap_or(text),
    }
}
