//! Texts of made-up ping-pongs: `tests/made.txt` has their records; `tests/texts.txt` the answer and the tables with all details for
//! each of them, and `tests/verdicts.txt` the first line of the answer and the end of the table.

use super::*;
use crate::experiments::{self, Kind};
use crate::model::{Case, Outcome, SCHEMA};
use crate::report::columns::{text_width, wrapped};
use crate::report::compared::Compared;
use crate::report::html::html;
use crate::report::made::{self, expect_texts, set};

mod page;

/// A row: a method, its median and other values.
fn record(row: &str) -> Record {
    let [method, median, values] = row.splitn(3, ' ').chain([""]).collect::<Vec<_>>()[..3] else {
        panic!("{row}")
    };
    let median: f64 = median.parse().unwrap();
    let case = Case { set: "4x4".into(), ..made::case("wrf_x_vec", "mpich", "ims=4 ime=27") };
    let mut record = Record {
        phase: Phase::RoundTrip,
        bytes: 102_648,
        segments: 8554,
        n: 100,
        blocks: 10,
        batch: 1,
        median_low_s: Some(median * 0.99),
        median_high_s: Some(median * 1.012),
        schema: SCHEMA,
        ..made::record(&case, method, median)
    };
    set_all(&mut record, values);
    record
}

fn set_all(record: &mut Record, values: &str) {
    let pairs = values.split_whitespace().map(|word| word.split_once('=').unwrap());
    pairs.for_each(|(key, text)| set(record, key, text));
}

/// The sections of `made.txt`: the title, the kind of text with the widths of terminals, and the rows.
fn sections() -> impl Iterator<Item = [&'static str; 3]> {
    made::sections(include_str!("tests/made.txt"))
}

fn records(rows: &str) -> Vec<Record> {
    let of_row = |row: &str| match row.strip_prefix("all of ") {
        Some(other) => {
            let (title, values) = other.split_once(": ").unwrap_or((other, ""));
            let mut records = section(title);
            records.iter_mut().for_each(|record| set_all(record, values));
            records
        }
        None => vec![record(row)],
    };
    rows.lines().flat_map(of_row).collect()
}

fn section(title: &str) -> Vec<Record> {
    records(sections().find(|section| section[0] == title).unwrap()[2])
}

/// A case with everything that a case can have: times, failures, pairs.
fn sample() -> Vec<Record> {
    section("all that a case can have")
}

fn table(records: &[Record], width: Option<u16>) -> String {
    experiments::of_kind(Kind::PingPong).table(records, width)
}

/// Without the codes of its colours.
fn answer(records: &[Record], width: Option<u16>) -> String {
    let text = experiments::of_kind(Kind::PingPong).answer(records, width, None);
    anstream::adapter::strip_str(&text).to_string()
}

#[test]
fn answers_and_tables_of_made_up_ping_pongs() {
    let text = |records: &[Record], width: Option<u16>| {
        let (answer, table) = (answer(records, width), table(records, width));
        let most = width.map_or(usize::MAX, usize::from);
        let is_within = |line: &str| line.chars().count() <= most;
        assert!(answer.lines().chain(table.lines()).all(is_within), "{most}: {answer}{table}");
        // The legend is the same for all.
        let table = table.replace(&wrapped("", LEGEND, text_width(width), 0), "");
        format!("{answer}--- details\n{table}")
    };
    let texts = sections().filter_map(|[title, kind, rows]| Some((title, kind.strip_prefix("text")?, rows)));
    let texts = texts.flat_map(|(title, widths, rows)| {
        let widths: Vec<Option<u16>> = widths.split_whitespace().map(|width| width.parse().ok()).collect();
        let widths = if widths.is_empty() { vec![None] } else { widths };
        widths.into_iter().map(move |width| (title, text(&records(rows), width)))
    });
    expect_texts("experiments/pingpong/table/tests/texts.txt", texts);
}

#[test]
fn twenty_tests_in_two_states_fit_a_screen() {
    let records = section("a line per test of two states");
    let text =
        experiments::of_kind(Kind::PingPong).answer(&records, Some(80), Some("Loops: rustc, opt-level 3"));
    assert!(text.lines().count() <= 38, "the section of same bytes needs two more lines of 40:\n{text}");
}

#[test]
fn verdicts_on_made_up_ratios() {
    let texts = sections().filter(|section| section[1] == "verdict").map(|[title, _, rows]| {
        let records = records(rows);
        let (answer, table) = (answer(&records, None).replace("\n  ", " "), table(&records, None));
        let [(_, answered), (_, detailed)] =
            [answer.split_once("\nmpich, 2 ranks"), table.split_once("\nwrf_x_vec")].map(Option::unwrap);
        let (decision, _) = answer.split_once("\n").unwrap();
        (title, format!("{decision}\n{answered}\n{detailed}"))
    });
    expect_texts("experiments/pingpong/table/tests/verdicts.txt", texts);
}

#[test]
fn the_thread_level_is_in_the_heading_of_what_more_than_two_ranks_do() {
    let heading = |kind| {
        let mut records = sample();
        for record in &mut records {
            record.case_mut().experiment = kind;
            record.thread_level = Some("MPI_THREAD_MULTIPLE".to_owned());
        }
        experiments::of_kind(kind).answer(&records, None, None).contains("2 ranks, warm, MPI_THREAD_MULTIPLE")
    };
    assert_eq!((heading(Kind::Halo), heading(Kind::PingPong)), (true, false));
}
