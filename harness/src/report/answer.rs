//! The summary in front of the tables: a line per case, and the findings in sentences.

use std::collections::BTreeSet;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use indexmap::{IndexMap, IndexSet};

use super::case::{CaseView, both_overheads, cell, launches, measured, overhead_gap, share, warnings};
use super::columns::{Align, Column, Fitted, Table, distinct_sets, fitted, text_width, wrapped};
use super::names::{distinct, grouped};
use super::state;
use super::table::TableFormat;
use super::units;
use super::verdict::{Against, Claim, diagnoses, times_text};
use crate::model::{LOOP, LOOPS, Quantity, Record};
use crate::stats::SlowSamples;

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
const PACKED: [&str; 3] = ["manual", LOOP, "ddt"];

/// For kinds whose methods pack: times of loop and datatype, the faster one, and their pack overheads.
pub const PACKING: Answer = Answer {
    times: &PACKED,
    more: &const {
        [
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
    methods: &["reference", "manual", "ddt"],
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
const CLIFF: Style = AnsiColor::Yellow.on_default().bold();
const FAILED: Style = AnsiColor::Red.on_default().bold();

/// A method that is shown to be so many times slower than the fastest is reported.
const STANDS_OUT: f64 = 2.0;

/// Maximum failures in sentences; the others are counted.
const REPORTED: usize = 5;

fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// A line per case, and the findings, within the width of a terminal. With codes for colours.
pub fn answer(form: &'static TableFormat, records: &[Record], width: Option<u16>) -> String {
    let (room, width) = (width.map(usize::from), text_width(width));
    let cases = CaseView::all(form, records);
    if cases.is_empty() {
        return "No records.\n".to_owned();
    }
    let groups = groups(cases.iter().filter(|case| !case.has_too_few_launches()));
    let (shown, is_short) = lines(form, &groups, room);
    let first = |sentence: String| wrapped("", &painted(CLIFF, &sentence), width, 2);
    let mut text = decided_by_loop(form, &cases).map(first).unwrap_or_default();
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
        Claim::NoDifference(_) => "no difference shown".to_owned(),
        Claim::MeanDiffers { median, faster, .. } => {
            let by_median = median.winner().map_or("no difference", |(faster, ..)| faster);
            format!("{by_median} by the median, {faster} by the mean")
        }
        Claim::Unsteady(_) => "unsteady: no verdict".to_owned(),
        Claim::Faster { .. } | Claim::OfLoops(_) | Claim::Diagnosis { .. } => text,
        Claim::Unknown { names, why } if !names.is_empty() => format!("not known: {why}"),
        Claim::Unknown { .. } => text,
    }
}

/// The findings, the largest gap, and the failures, without codes for colours.
pub(super) fn plain_sentences(form: &'static TableFormat, cases: &[CaseView]) -> Vec<String> {
    let all = decided_by_loop(form, cases).into_iter().chain(sentences(form, cases));
    all.map(|sentence| strip_str(&sentence).to_string()).collect()
}

/// The cases in which one hand-written loop is faster than the other method, and another loop slower.
fn decided_by_loop(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let of_case = |case: &CaseView| {
        let Claim::OfLoops(claims) = form.answer.claim(case) else { return None };
        let won = |claim: &Claim| claim.winner().map(|(faster, ..)| LOOPS.contains(&faster));
        let has = |result| claims.iter().any(|claim| won(claim) == Some(result));
        let texts: Vec<String> =
            claims.iter().filter(|claim| won(claim).is_some()).map(Claim::text).collect();
        (has(true) && has(false))
            .then(|| format!("{}, {}: {}", case.name().replace("  ", " "), case.side(), texts.join(", but ")))
    };
    let all: Vec<String> = cases.iter().filter_map(of_case).collect();
    let more = all.len().saturating_sub(REPORTED);
    let more = if more > 0 { format!("; and in {more} more") } else { String::new() };
    let shown = all[..all.len().min(REPORTED)].join("; ");
    (!all.is_empty()).then(|| format!("The loop decides: {shown}{more}."))
}

/// The findings, the largest gap, and the failures.
fn sentences(form: &'static TableFormat, cases: &[CaseView]) -> Vec<String> {
    let shown: Vec<CaseView> = cases.iter().filter(|case| !case.has_too_few_launches()).cloned().collect();
    let sides = grouped(&shown, |case| case.side());
    let mut sentences: Vec<String> = sides.iter().map(|(side, cases)| found(form, side, cases)).collect();
    sentences.extend(decided_by_state(form, &shown));
    sentences.extend((form.answer.sentences)(&shown));
    sentences.extend(stands_out(form, &shown));
    sentences.extend(slow_repetitions(form, &shown));
    sentences.extend(failures(cases));
    sentences
}

/// The cases in which one method is faster in one state of the machine, and not in another one.
fn decided_by_state(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let of_case = |states: Vec<&CaseView>| {
        let claims: Vec<Claim> = states.iter().map(|case| form.answer.claim(case)).collect();
        let winners: Vec<_> = claims.iter().map(|claim| claim.winner().map(|(faster, ..)| faster)).collect();
        let is_known = |claim: &Claim| claim.winner().is_some() || matches!(claim, Claim::NoDifference(_));
        (claims.iter().all(is_known) && winners.iter().any(|winner| *winner != winners[0])).then(|| {
            let each = states
                .iter()
                .zip(&claims)
                .map(|(case, claim)| format!("{} with {}", claim.text(), case.state().unwrap_or_default()));
            let each = each.collect::<Vec<_>>().join(", ");
            format!("{}, {}: {each}", states[0].name().replace("  ", " "), states[0].first().case.mpi_label())
        })
    };
    let all: Vec<String> =
        grouped(cases, |case| &case.first().case).into_values().filter_map(of_case).collect();
    let more = all.len().saturating_sub(REPORTED);
    let more = if more > 0 { format!("; and in {more} more") } else { String::new() };
    let shown = all[..all.len().min(REPORTED)].join("; ");
    (!all.is_empty()).then(|| format!("The state of the machine decides: {shown}{more}."))
}

/// How often each of two methods is faster, on one MPI.
fn found(form: &'static TableFormat, mpi: &str, cases: &[&CaseView]) -> String {
    let claims: Vec<Claim> = cases.iter().map(|case| form.answer.claim(case)).collect();
    let compares = !claims.iter().any(|claim| matches!(claim, Claim::Diagnosis { .. }));
    if let Some(known) = without_verdict(form, cases).filter(|_| compares) {
        return format!("Found, {mpi}: {known}");
    }
    if let [claim] = &claims[..] {
        return format!("Found, {mpi}: {}.", claim.text());
    }
    // Pairs of a faster and a slower method, the number of cases, and the largest factor.
    type Pair<'a> = ((&'a str, &'a str), usize, (f64, f64, f64));
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (faster, slower, times) in claims.iter().filter_map(Claim::winner) {
        match pairs.iter_mut().find(|pair| pair.0 == (faster, slower)) {
            // By the near ends of the intervals, because a wide one may reach anywhere.
            Some(pair) => (pair.1, pair.2) = (pair.1 + 1, if times.1 > pair.2.1 { times } else { pair.2 }),
            None => pairs.push(((faster, slower), 1, times)),
        }
    }
    pairs.sort_by_key(|pair| std::cmp::Reverse(pair.1));
    let mut parts: Vec<String> = pairs
        .iter()
        .map(|((faster, slower), count, most)| {
            format!(
                "{faster} is faster than {slower} in {count} of {} (up to {} times)",
                claims.len(),
                times_text(*most)
            )
        })
        .collect();
    parts.extend(diagnoses(&claims));
    let count = |is: fn(&Claim) -> bool| claims.iter().filter(|claim| is(claim)).count();
    let rest = [
        (count(|claim| matches!(claim, Claim::OfLoops(_))), "depends on the loop in"),
        (count(|claim| matches!(claim, Claim::NoDifference(_))), "no difference shown in"),
        (count(|claim| matches!(claim, Claim::MeanDiffers { .. })), "median and mean disagree in"),
        (count(|claim| matches!(claim, Claim::Unsteady(_))), "unsteady in"),
        (count(|claim| matches!(claim, Claim::Unknown { .. })), "not known in"),
    ];
    parts.extend(rest.into_iter().filter(|rest| rest.0 > 0).map(|(count, what)| format!("{what} {count}")));
    format!("Found, {mpi}: {}.", parts.join("; "))
}

/// The results if no case has two comparable methods, and what to measure for a verdict. `None` if one has.
fn without_verdict(form: &'static TableFormat, cases: &[&CaseView]) -> Option<String> {
    let names: BTreeSet<&str> =
        cases.iter().flat_map(|case| case.methods()).filter(|r| measured(r)).map(|r| &*r.method).collect();
    if names.is_empty() || cases.iter().any(|case| compared(form, case) > 1) {
        return None;
    }
    let overheads = names.iter().filter_map(|name| {
        let of = |case: &&CaseView| {
            let record = case.methods().find(|record| record.method == *name)?;
            let shown = share(record, Quantity::OverheadReference);
            Some((record.value(Quantity::OverheadReference)?, shown))
        };
        let mut shares: Vec<_> = cases.iter().filter_map(of).collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        let text = |[share, interval]: &[String; 2]| match interval.as_str() {
            "" => format!("{share} (no interval)"),
            _ => format!("{share} {interval}"),
        };
        let (least, most) = (text(&shares.first()?.1), text(&shares.last()?.1));
        let shares = if least == most { least } else { format!("{least} to {most}") };
        Some(format!("{shares} of the time of {name} is pack overhead"))
    });
    let overheads: Vec<String> = overheads.collect();
    let of = match cases {
        [one] => format!(" in {}", one.name().replace("  ", " ")),
        _ => format!(" in {} cases", cases.len()),
    };
    let known = match &overheads[..] {
        // A reference without an interval has no meaning yet.
        [] => {
            let is_reference = |name: &&str| (form.method)(name).is_some_and(|method| method.is_reference);
            let own: Vec<&str> = names.iter().copied().filter(|name| !is_reference(name)).collect();
            let alone = if own.is_empty() { names.into_iter().collect() } else { own };
            format!("only {} was measured", alone.join(", "))
        }
        _ => format!("{}{of}", overheads.join("; ")),
    };
    // Layouts have no hand-written loops.
    let is_layout = cases.iter().all(|case| case.first().case.test == apps::LAYOUT.name);
    let wanted =
        form.answer.methods.iter().map(|&name| if is_layout && name == "manual" { LOOP } else { name });
    let wanted: Vec<&str> = wanted.collect();
    // Methods that failed are not suggested.
    let is_asked_for =
        |name: &str| cases.iter().any(|case| case.methods().any(|record| record.method == name));
    let missing: Vec<&str> = wanted.iter().copied().filter(|method| !is_asked_for(method)).collect();
    let advice = match (&wanted[..], &missing[..]) {
        ([], _) => "; for a verdict, measure a second method".to_owned(),
        (_, []) => String::new(),
        (all, missing) => {
            format!("; for a verdict, measure {} too: -m {}", missing.join(" and "), all.join(","))
        }
    };
    Some(format!("{known}{advice}."))
}

/// The number of comparable methods of a case: methods for contiguous bytes do not move arrays.
fn compared(form: &'static TableFormat, case: &CaseView) -> usize {
    let is_reference =
        |record: &&Record| (form.method)(&record.method).is_some_and(|method| method.is_reference);
    case.methods().filter(|record| measured(record) && !is_reference(record)).count()
}

fn times(value: f64) -> String {
    let text = times_text((value, value, value));
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// An explanation of overheads below 0, if one is shown to be below.
fn negative_overheads(cases: &[CaseView]) -> Option<String> {
    let is_negative = |record: &Record| {
        record
            .figure(Quantity::OverheadReference)
            .and_then(|figure| figure.high)
            .is_some_and(|high| high < 0.0)
    };
    cases.iter().flat_map(CaseView::methods).any(is_negative).then(|| NEGATIVE_OVERHEAD.to_owned())
}

/// How many methods have two estimates of the pack overhead with disjoint intervals, and the largest gap between these.
fn estimates_that_disagree(cases: &[CaseView]) -> Option<String> {
    let mut all: Vec<(f64, &Record, &CaseView)> = Vec::new();
    for case in cases {
        let of_case = case.methods().filter(|record| measured(record));
        all.extend(of_case.filter_map(|record| Some((overhead_gap(record)?, record, case))));
    }
    let (_, record, case) = all.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(", and of {more} more"),
    };
    Some(format!(
        "Two estimates of the pack overhead disagree, {} of {}: {}{more}; see docs/concepts.md#the-two-pack-overheads.",
        record.method,
        case.name().replace("  ", " "),
        both_overheads(record),
    ))
}

/// The method with the largest ratio to the fastest of its case. `None` if no ratio has an interval.
fn stands_out(form: &'static TableFormat, cases: &[CaseView]) -> Option<String> {
    let mut all: Vec<(Against, &CaseView)> = Vec::new();
    for case in cases {
        let is_whole = |name: &str| (form.method)(name).is_some_and(|method| method.array_to_array);
        let ratios = case.methods().filter(|record| is_whole(&record.method));
        let ratios =
            ratios.filter_map(|record| Against::of(record, record.figure(Quantity::TimeOverFastest)));
        all.extend(ratios.map(|ratio| (ratio, case)));
    }
    // Without ratios there is no sentence.
    if all.is_empty() {
        return None;
    }
    let mut slow = all;
    slow.retain(|(ratio, _)| !ratio.unsteady && ratio.low >= STANDS_OUT);
    // Sorted by the lower end, because a wide interval may reach anywhere.
    slow.sort_by(|a, b| b.0.low.total_cmp(&a.0.low));
    let Some((ratio, case)) = slow.first() else {
        return Some(format!(
            "No large gaps: no method is shown to be {STANDS_OUT} times slower than the fastest."
        ));
    };
    let fastest = case.methods().find_map(|record| record.fastest.as_deref()).unwrap_or_default();
    let more = match slow.len() - 1 {
        0 => String::new(),
        more => {
            let results = if more == 1 { "result is" } else { "results are" };
            format!(" {more} other {results} at least {STANDS_OUT} times slower than the fastest method.")
        }
    };
    let what = format!(
        "{} of {}, {}, takes {} times as long as {fastest}.",
        ratio.name,
        case.name().replace("  ", " "),
        case.conditions(),
        times_text((ratio.value, ratio.low, ratio.high)),
    );
    Some(format!("Largest gap: {}{more}", painted(CLIFF, &what)))
}

/// Slow repetitions are reported if they take this fraction of the time. Without a fault, it was at most 6% in the median launch
/// of any method, also while other programs ran.
pub(super) const SLOW_TIME: f64 = 0.1;

/// Fewer slow repetitions may be a single random event.
const SLOW_LEAST: f64 = 3.0;

/// The method whose slow repetitions in undisturbed blocks take the largest fraction of its time in most launches, which no median
/// shows. `None` if that is small.
fn slow_repetitions(form: &TableFormat, cases: &[CaseView]) -> Option<String> {
    let is_slow = |record: &&Record| {
        let slow = record.slow().filter(|_| measured(record));
        slow.is_some_and(|slow| slow.time >= SLOW_TIME && slow.samples * record.n as f64 >= SLOW_LEAST)
    };
    let mut all: Vec<(&Record, SlowSamples, &CaseView)> = Vec::new();
    for case in cases {
        all.extend(case.methods().filter(is_slow).filter_map(|record| Some((record, record.slow()?, case))));
    }
    all.sort_by(|a, b| b.1.time.total_cmp(&a.1.time));
    let (record, slow, case) = all.first()?;
    let is_reference = |name: &str| (form.method)(name).is_some_and(|method| method.is_reference);
    let of_references = all[1..].iter().any(|(record, ..)| is_reference(&record.method));
    let more = match all.len() - 1 {
        0 => String::new(),
        more => format!(
            " {more} {} at least {} of {} time in slow repetitions{}.",
            if more == 1 { "other method spends" } else { "other methods spend" },
            units::percent(SLOW_TIME),
            if more == 1 { "its" } else { "their" },
            if of_references { ", contiguous messages too" } else { "" }
        ),
    };
    let what = format!(
        "{} of {}, {}: 1 in {:.0} repetitions takes {} times as long as the others, {} of the time.",
        record.method,
        case.name().replace("  ", " "),
        case.conditions(),
        1.0 / slow.samples,
        times(slow.times_as_long()?),
        units::percent(slow.time),
    );
    Some(format!("Slow at times: {}{more}", painted(CLIFF, &what)))
}

/// The failures: a line for each outcome of the same methods on the same MPI, with the cases that have it.
fn failures(cases: &[CaseView]) -> Vec<String> {
    type Failure<'a> = (String, Vec<&'a str>, (&'static str, &'a str));
    let mut lines: IndexMap<Failure<'_>, Vec<String>> = IndexMap::new();
    for case in cases {
        for (outcome, methods) in case.failures() {
            let name = case.name().replace("  ", " ").trim_end().to_owned();
            let ended = (outcome.label(), outcome.detail().unwrap_or_default());
            lines.entry((case.side(), methods, ended)).or_default().push(name);
        }
    }
    let line = |((mpi, methods, (label, detail)), names): (Failure<'_>, Vec<String>)| {
        let what = painted(FAILED, &format!("{} {label}", methods.join(", ")));
        let cases = match &names[..] {
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} more", others.len()),
            [] => String::new(),
        };
        format!("{cases}, {mpi}: {what}: {detail}")
    };
    let mut all: Vec<String> = lines.into_iter().map(line).collect();
    let more = all.len().saturating_sub(REPORTED);
    all.truncate(REPORTED);
    if more > 0 {
        all.push(format!("{more} more without times: --details shows them."));
    }
    all
}
