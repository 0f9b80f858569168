//! The summary in front of the tables: a line per case, and the findings in sentences (`sentences.rs`).

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use indexmap::IndexSet;
use serde::Serialize;

use super::case::{CaseView, cell, launches, measured, share, warnings};
use super::columns::{Align, Column, Fitted, distinct_sets, fitted, text_width, wrapped};
use super::names::{distinct, grouped};
use super::sentences::{decided_by_loop, decisions, negative_overheads, sentences};
use super::state;
use super::table::TableFormat;
use super::units;
use super::verdict::Claim;
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
            record_of(case, name)
                .map_or_else(Default::default, |record| share(record, Quantity::OverheadReference))
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
    sentences: |cases| negative_overheads(cases).into_iter().collect(),
    ..Answer::PLAIN
};

/// The record of a method.
fn record_of<'a>(case: &CaseView<'a>, name: &str) -> Option<&'a Record> {
    case.methods().find(|record| record.method == name)
}

/// The time of a method; empty if it was not measured.
fn time(case: &CaseView, name: &str) -> String {
    record_of(case, name)
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
    let (shown, length) = lines(form, &groups, room);
    let first = |sentence: String| wrapped("", &painted(CLIFF, &sentence), width, 2);
    let mut text: String = decisions(form, &cases, length == Length::Ratio)
        .iter()
        .map(|decision| wrapped("", &painted(FASTEST, decision), width, 2))
        .collect();
    text.extend(decided_by_loop(form, &cases).map(first));
    text.extend(loops.map(|loops| wrapped("", loops, width, 2)));
    // Warnings about all cases come before them.
    for warning in warnings(records) {
        text += &wrapped("", &painted(CLIFF, &warning), width, 0);
    }
    let about =
        [legend(form, &shown, length), launches(records, length != Length::Ratio).unwrap_or_default()];
    text += &wrapped("", &about.join(" "), width, 0);
    let mut rows = shown.rows.iter();
    for group in &groups {
        text += &format!("\n{}", wrapped("", &group.heading(), width, 2));
        rows.by_ref().take(group.rows.len() + 1).for_each(|line| text += &format!("{line}\n"));
    }
    let few = cases.iter().filter(|case| case.has_too_few_launches());
    let has_several = distinct(cases.iter().map(CaseView::side_in_all_states)).len() > 1;
    let side = |case: &CaseView| if has_several { case.side_in_all_states() + ", " } else { String::new() };
    let what = |((side, state), cases): ((String, Option<&str>), Vec<&CaseView>)| {
        format!("{side}{}{}", state.unwrap_or_default(), state::counted_of(cases))
    };
    let few: Vec<String> = grouped(few, |case| (side(case), case.state())).into_iter().map(what).collect();
    if !few.is_empty() {
        let few = format!("Too few launches for an interval: {} (--details: times).", few.join("; "));
        text += &wrapped("", &few, width, 2);
    }
    if length != Length::Ratio {
        text += &format!("{}\n", shown.left_out_text(width));
    }
    for sentence in sentences(form, &cases, has_more(form, &shown)) {
        text += &wrapped("", &sentence, width, 2);
    }
    text
}

/// Cases of one place: a row per case, with its view in each state of the machine that it was measured in.
struct Group<'c, 'a> {
    /// Cases in each state. Times are those of the first, which most cases met.
    states: Vec<Vec<&'c CaseView<'a>>>,
    rows: Vec<Vec<Option<&'c CaseView<'a>>>>,
}

impl Group<'_, '_> {
    /// The place, and each state with its launches.
    fn heading(&self) -> String {
        let counted = |cases: &Vec<&CaseView>| {
            cases[0].state().unwrap_or_default().to_owned() + &state::counted_of(cases.iter().copied())
        };
        let place = self.states[0][0].place();
        match (&self.states[..], counted(&self.states[0]).as_str()) {
            ([_], "") => place,
            ([_], one) => format!("{place}; {one}"),
            (_, first) => {
                let others = self.verdicts().split_off(1).join(", ").replace("at ", "");
                format!("{place}; times at {}; also {others}", state::distance(first))
            }
        }
    }

    /// The names of columns of verdicts.
    fn verdicts(&self) -> Vec<String> {
        let at =
            |cases: &Vec<&CaseView>| format!("at {}", state::distance(cases[0].state().unwrap_or_default()));
        match &self.states[..] {
            [_] => vec!["verdict".to_owned()],
            several => several.iter().map(at).collect(),
        }
    }
}

/// Cases of the same place, in the order of their first one.
fn groups<'c, 'a>(cases: impl Iterator<Item = &'c CaseView<'a>>) -> Vec<Group<'c, 'a>> {
    let group = |of_place: Vec<&'c CaseView<'a>>| {
        let mut states = grouped(of_place.iter().copied(), |case| case.first().state);
        states.sort_by(|a, of_a, b, of_b| of_b.len().cmp(&of_a.len()).then(a.cmp(b)));
        let row = |of_case: Vec<&'c CaseView<'a>>| {
            let of_state =
                |state: &Option<usize>| of_case.iter().find(|case| case.first().state == *state).copied();
            states.keys().map(of_state).collect()
        };
        let rows = grouped(of_place, |case| &case.first().case).into_values().map(row).collect();
        Group { rows, states: states.into_values().collect() }
    };
    grouped(cases, |case| case.place()).into_values().map(group).collect()
}

/// Whether the figures behind the verdict are shown.
fn has_more(form: &TableFormat, shown: &Fitted<'_>) -> bool {
    form.answer.more.iter().any(|column| shown.names.contains(&column.name))
}

/// An explanation of the columns that are shown.
fn legend(form: &TableFormat, shown: &Fitted<'_>, length: Length) -> String {
    let Answer { legend, more_legend, .. } = form.answer;
    let rows: String = shown.rows.iter().map(|row| strip_str(row).to_string()).collect();
    let has_ratios = length == Length::Interval && rows.contains("x [");
    let texts = [
        (true, legend),
        (shown.names.contains(&"best"), "best: the fastest method."),
        (has_ratios, "ddt 3.00x: ddt is 3.00 times as fast as the other method."),
        (
            length == Length::Ratio,
            "ddt 3.00x: ddt is 3.00 times as fast as the other method (--details shows more).",
        ),
        (has_more(form, shown), more_legend),
        (rows.contains('['), "[..]: 95% interval."),
    ];
    let texts = texts.into_iter().filter(|(is_so, text)| *is_so && !text.is_empty());
    texts.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

/// The length of verdicts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Sentence,
    /// The faster method, its ratio and the interval.
    Interval,
    /// The faster method and its ratio.
    Ratio,
}

/// For each group a heading and a line per case, with the longest verdicts that leave a case on one line.
fn lines<'a>(
    form: &'static TableFormat,
    groups: &[Group<'_, 'a>],
    room: Option<usize>,
) -> (Fitted<'a>, Length) {
    let with = |length| {
        let (columns, groups) = columns_and_rows(form, groups, length);
        let rows: Vec<Vec<String>> = groups.into_iter().flatten().collect();
        fitted(&columns, &rows, room, 0)
    };
    let fits = |shown: &Fitted| {
        !shown.rows.iter().any(|row| row.contains('\n')) && !shown.left_out.contains(&"best")
    };
    let longer = [Length::Sentence, Length::Interval].map(|length| (length, with(length)));
    let found = longer.into_iter().find(|(_, shown)| fits(shown));
    found.map_or_else(|| (with(Length::Ratio), Length::Ratio), |(length, shown)| (shown, length))
}

/// A table of a page, with the conditions of all its rows.
#[derive(Serialize)]
pub(super) struct PageTable {
    heading: String,
    header: Vec<String>,
    rows: Vec<AnswerRow>,
}

#[derive(Serialize)]
struct AnswerRow {
    /// The number of the case, of all.
    case: usize,
    cells: Vec<String>,
}

/// The answers as tables without codes for colours. Verdicts come after the test, because a phone shows only the first columns.
pub(super) fn page_tables(form: &'static TableFormat, cases: &[CaseView]) -> Vec<PageTable> {
    let groups = groups(cases.iter().filter(|case| !case.has_too_few_launches()));
    let (columns, tables) = columns_and_rows(form, &groups, Length::Interval);
    let table = |(group, rows): (&Group<'_, '_>, Vec<Vec<String>>)| {
        let is_shown = |&at: &usize| {
            !columns[at].is_hidden_on_pages() && rows[1..].iter().any(|row| !row[at].is_empty())
        };
        let (mut shown, others): (Vec<usize>, Vec<usize>) =
            (0..columns.len()).filter(is_shown).partition(|&at| LEADING.contains(&columns[at].name));
        shown.extend(others);
        let cells = |row: &Vec<String>| shown.iter().map(|&at| strip_str(&row[at]).to_string()).collect();
        let row = |(views, cells_of): (&Vec<Option<&CaseView>>, &Vec<String>)| {
            let first = views.iter().flatten().next();
            let case = cases.iter().position(|case| first.is_some_and(|first| std::ptr::eq(*first, case)));
            AnswerRow { case: case.unwrap_or_default() + 1, cells: cells(cells_of) }
        };
        let heading = group.heading();
        let all = group.rows.iter().zip(&rows[1..]).map(row).collect();
        PageTable { heading, header: cells(&rows[0]), rows: all }
    };
    groups.iter().zip(tables).map(table).collect()
}

const VERDICT: &str = "verdict";
/// The first columns of a page.
const LEADING: [&str; 3] = ["test", "set", VERDICT];

/// Columns with times of methods if no method can be the best one: as many as fit next to the other columns in 80 characters.
const MOST_TIMES: usize = 3;

/// The columns, and of each group the header and the rows.
fn columns_and_rows<'a>(
    form: &'static TableFormat,
    groups: &[Group<'_, 'a>],
    length: Length,
) -> (Vec<Column<'a>>, Vec<Vec<Vec<String>>>) {
    let cases = || groups.iter().flat_map(|group| &group.rows).flatten().flatten();
    // If a test was measured with several sets, only these distinguish its lines. That of a layout is its file.
    let is_named =
        |case: &CaseView| apps::is_of_layouts(&case.first().case.test) && (form.set)(case).len() < 20;
    let has_sets = cases().any(|case| case.distinguished_by.is_some() || is_named(case));
    let set_rank = if has_sets { 0 } else { 7 };
    let Answer { times, columns: figures, cells, more, more_cells, .. } = form.answer;
    let measured_in_any = |name: &&str| cases().any(|case| !time(case, name).is_empty());
    let mut times: Vec<&str> = times.iter().copied().filter(measured_in_any).collect();
    let has_best = cases().any(|case| !best(case, &times, length).is_empty());
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
    columns.extend(has_best.then(|| Column::new("best", Align::Left, 2).rank(4)));
    let states = groups.iter().map(|group| group.states.len()).max().unwrap_or_default();
    columns.extend(vec![Column::new(VERDICT, Align::Left, 2); states]);
    columns.extend(more);
    let values = |case: &CaseView| {
        let mut row: Vec<String> = times.iter().map(|name| time(case, name)).collect();
        row.extend(cells(case));
        row.extend(has_best.then(|| painted(FASTEST, &best(case, &times, length))));
        row
    };
    let row = |(views, set): (&Vec<Option<&CaseView>>, String)| {
        let any = views.iter().flatten().next().expect("a row has a case");
        let first = any.first();
        let segments = if first.segments > 1 { first.segments.to_string() } else { String::new() };
        let mut row = vec![first.case.test.clone(), set, units::bytes(first.bytes), segments];
        // Times of another state than the others' would not be comparable.
        row.extend(views[0].map_or_else(|| vec![String::new(); values(any).len()], &values));
        let verdicts = views.iter().map(|case| case.map(|case| verdict(&form.answer.claim(case), length)));
        row.extend(verdicts.map(Option::unwrap_or_default).chain(vec![String::new(); states - views.len()]));
        row.extend(views[0].map_or_else(|| vec![String::new(); more.len()], |case| more_cells(case)));
        row
    };
    // Over all groups: cases with other numbers of threads have other headings.
    let rows = || groups.iter().flat_map(|group| &group.rows);
    let set = |case: &&CaseView| (case.first().case.test.clone(), (form.set)(case));
    let all_sets: Vec<_> = rows().filter_map(|views| views.iter().flatten().next().map(set)).collect();
    let mut sets = distinct_sets(&all_sets).0.into_iter();
    let table = |group: &Group<'_, '_>| {
        let mut header: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
        let at = columns.iter().position(|column| column.name == VERDICT).unwrap_or_default();
        let names = group.verdicts().into_iter().chain(vec![String::new(); states - group.states.len()]);
        header.splice(at..at + states, names);
        std::iter::once(header).chain(group.rows.iter().zip(sets.by_ref()).map(row)).collect()
    };
    let tables = groups.iter().map(table).collect();
    (columns, tables)
}

/// The fastest method, with its time unless that has a column; or which methods, or how many, may be the fastest too.
fn best(case: &CaseView, times: &[&str], length: Length) -> String {
    let timed = |name: &str| match times.contains(&name) {
        true => name.to_owned(),
        false => format!("{name} {}", time(case, name)).trim_end().to_owned(),
    };
    match &case.fastest().candidates()[..] {
        [] => String::new(),
        [first] => timed(first),
        [first, other] if length != Length::Ratio => format!("{} or {other}", timed(first)),
        [first, others @ ..] if length == Length::Ratio => format!("{first} or {} more", others.len()),
        [first, others @ ..] => format!("{} or {} more", timed(first), others.len()),
    }
}

/// A claim in one cell.
fn verdict(claim: &Claim, length: Length) -> String {
    let text = match length {
        Length::Sentence if claim.winner().is_some() => claim.text(),
        Length::Sentence | Length::Interval => claim.cell_text(),
        Length::Ratio => claim.shortest_text(),
    };
    painted(style(claim), &text)
}

/// The colour of a verdict.
fn style(claim: &Claim) -> Style {
    match claim.winner() {
        Some((_, _, (_, low, _))) if low >= STANDS_OUT => CLIFF,
        Some(_) => FASTER,
        None => Style::new(),
    }
}
