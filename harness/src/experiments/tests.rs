//! Made-up results and launches, and the records that are expected of them: `tests/*.txt`.
//!
//! A section is a title, the kind of experiment or `launches`, with values of the case, and rows. A row is a method with its values.
//! `NAME=1;2` is 1 in the first block, 2 in the second, 1 in the third; `-` leaves it out. `rounds` is the number of blocks, if that is
//! not the length of the longest list. Times of a phase are five samples of a value, or `1:2:3*4`. `all of TITLE: VALUES` are the rows
//! of another section with these values. The rows of `launches` are those of records, one per launch.
//!
//! `> METHOD PHASE PAIR: VALUES` is what the next such record has; the phase is the headline unless it is
//! given, and the pair is `all`. A figure is `NAME=VALUE[LOW,HIGH]/AGAINST/steady`, each part only if it
//! matters. One that is there without a value is `null/AGAINST`; `none` is not there.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, from_value, json, to_value};

use super::launches::{most_common_state, over_launches};
use super::summary;
use crate::model::event::Block;
use crate::model::{BlockState, Case, CaseResult, Figure, Measured, Outcome, Phase, Record, State};
use crate::report::made::{self, sections, set, with_field};

/// The values of a row by their names: a text for each block or launch.
type ValueLists<'a> = IndexMap<&'a str, Vec<&'a str>>;

const KINDS: &str = include_str!("tests/kinds.txt");

fn pairs(values: &str) -> impl Iterator<Item = (&str, &str)> {
    values.split_whitespace().map(|word| word.split_once('=').unwrap_or_else(|| panic!("{word}")))
}

/// The methods of a section with their values.
fn rows<'a>(text: &'a str, rows: &'a str) -> Vec<(&'a str, ValueLists<'a>)> {
    let lists = |values: &'a str| pairs(values).map(|(name, list)| (name, list.split(';').collect()));
    let is_given = |row: &&str| !row.is_empty() && !row.starts_with(['>', '#']);
    let of_row = |row: &'a str| match row.strip_prefix("all of ") {
        Some(other) => {
            let (title, values) = other.split_once(": ").unwrap_or((other, ""));
            let mut all = self::rows(text, sections(text).find(|section| section[0] == title).unwrap()[2]);
            all.iter_mut().for_each(|(_, row)| row.extend(lists(values)));
            all
        }
        None => {
            let (method, values) = row.split_once(' ').unwrap_or((row, ""));
            vec![(method, lists(values).collect())]
        }
    };
    rows.lines().filter(is_given).flat_map(of_row).collect()
}

/// The values in each block or launch.
fn rounds<'a>(lists: &'a ValueLists<'a>) -> impl Iterator<Item = Vec<(&'a str, &'a str)>> {
    let longest = lists.values().map(Vec::len).max().unwrap_or(0);
    let count = lists.get("rounds").map_or(longest, |count| count[0].parse().unwrap());
    let of = |round: usize| lists.iter().map(move |(name, list)| (*name, list[round % list.len()]));
    (0..count).map(move |round| of(round).filter(|(name, text)| *name != "rounds" && *text != "-").collect())
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

fn samples(phase: Phase, text: &str) -> Vec<f64> {
    let of = |part: &str| {
        let (value, count) = part.split_once('*').unwrap_or((part, "1"));
        vec![number(value); count.parse().unwrap()]
    };
    let samples: Vec<f64> = text.split(':').flat_map(of).collect();
    let is_once = matches!(phase, Phase::Create | Phase::Free | Phase::Init);
    if samples.len() == 1 && !is_once { vec![samples[0]; 5] } else { samples }
}

fn block(round: usize, values: Vec<(&str, &str)>) -> Block {
    let mut block = Block { block: round, ..made::block([]) };
    for (name, text) in values {
        match (name, from_value(json!(name))) {
            (_, Ok(phase)) => block.times[phase] = samples(phase, text),
            ("latency_ns", _) => {
                block.before.latency_s = 1e-9 * number(text);
                block.after = block.before;
            }
            ("waited", _) => block.disturbance.waited = number(text),
            ("outcome", _) => {}
            _ => block = with_field(&block, name, text).unwrap_or_else(|| panic!("{name}")),
        }
    }
    block
}

fn measured((method, lists): &(&str, ValueLists<'_>)) -> Measured {
    let outcome = lists.get("outcome").map_or(Outcome::Converged, |outcome| made::outcome(outcome[0]));
    let blocks = rounds(lists).enumerate().map(|(round, values)| block(round, values));
    Measured { method: (*method).to_owned(), outcome, blocks: blocks.collect() }
}

fn result(kind: &str, methods: Vec<Measured>) -> CaseResult {
    let (kind, values) = kind.split_once(' ').unwrap_or((kind, ""));
    let case = Case {
        experiment: from_value(json!(kind)).unwrap(),
        ..made::case("wrf_x_vec", "mpich", "nx=8 ny=8")
    };
    let mut result = made::result(case, methods);
    for (name, text) in pairs(values) {
        let case = Arc::make_mut(&mut result.case);
        match name {
            "params" => case.params = text.replace(',', " "),
            "rule" => result.rule = from_value(json!(text)).unwrap(),
            name => match with_field(case, name, text) {
                Some(changed) => *case = changed,
                None => result.message = with_field(&result.message, name, text).unwrap(),
            },
        }
    }
    result
}

fn launches((method, lists): &(&str, ValueLists<'_>)) -> Vec<Record> {
    let of_launch = |(launch, values): (usize, Vec<(&str, &str)>)| {
        let median_s = values.iter().find(|(name, _)| *name == "median_s").map(|of| number(of.1));
        let record = made::record(&Case::default(), method, median_s.unwrap_or(1.0));
        let mut record = Record { launch: Some(launch), launches: 1, n: 10, median_s, ..record };
        values.into_iter().for_each(|(name, text)| set(&mut record, name, text));
        record
    };
    rounds(lists).enumerate().map(of_launch).collect()
}

/// The case of a section, if it is one, and its records.
fn made(text: &str, [_, kind, all]: [&str; 3]) -> (CaseResult, Vec<Record>) {
    let rows = rows(text, all);
    if let Some(precision) = kind.strip_prefix("launches") {
        let launches: Vec<Record> = rows.iter().flat_map(launches).collect();
        let precision = precision.split_whitespace().next().map(number);
        return (CaseResult::default(), over_launches(&launches, precision));
    }
    let result = result(kind, rows.iter().map(measured).collect());
    let records = summary::records(result.case.experiment, &result);
    (result, records)
}

/// The records of a section of `kinds.txt`.
pub(super) fn records(title: &str) -> Vec<Record> {
    made(KINDS, sections(KINDS).find(|section| section[0] == title).unwrap()).1
}

fn is_alike(found: Option<f64>, expected: &str) -> bool {
    let Ok(expected) = expected.parse::<f64>() else { return expected == "null" && found.is_none() };
    found.is_some_and(|found| found == expected || (found - expected).abs() <= 1e-7 * expected.abs())
}

/// Whether a record has a figure, and the parts of it that are given.
fn has_figure(record: &Record, name: &str, expected: &str) -> bool {
    let [value, against, steadiness] = expected.split('/').chain([""; 2]).collect::<Vec<_>>()[..3] else {
        panic!("{expected}")
    };
    let (quantity, against) = (from_value(json!(name)).unwrap(), against.replace('_', " "));
    let is_it = |figure: &&Figure| {
        figure.quantity == quantity && (against.is_empty() || figure.against.replace('_', " ") == against)
    };
    let figure = record.figures.iter().find(is_it);
    if value == "none" || (value == "null" && !against.is_empty()) {
        return figure.is_some() == (value == "null") && figure.is_none_or(|figure| figure.value.is_none());
    }
    let found = figure.map_or([None; 3], |figure| [figure.value, figure.low, figure.high]);
    let mut parts = value.split(['[', ',', ']']).filter(|part| !part.is_empty());
    let is_steady = |figure: &Figure| figure.unsteady == made::unsteady(steadiness);
    found.into_iter().all(|found| parts.next().is_none_or(|part| is_alike(found, part)))
        && (steadiness.is_empty() || figure.is_some_and(is_steady))
}

fn has(record: &Record, name: &str, expected: &str) -> bool {
    assert!(!expected.is_empty() || name == "figures", "{name}");
    let fields = to_value(record).unwrap();
    match (name, fields.get(name)) {
        ("run", _) => record.case.run == expected,
        ("state", _) => record.state.map_or("null".to_owned(), |state| state.to_string()) == expected,
        ("outcome", _) => record.outcome == made::outcome(expected),
        ("figures", _) => {
            let of = |figure: &Figure| {
                format!("{}/{}", to_value(figure.quantity).unwrap(), figure.against).replace('"', "")
            };
            record.figures.iter().map(of).collect::<Vec<_>>().join(",") == expected
        }
        ("positive_mean", _) => record.has_positive_mean().to_string() == expected,
        (_, Some(Value::Number(number))) => is_alike(number.as_f64(), expected),
        (_, Some(Value::String(text))) => text == expected,
        (_, Some(field)) => format!("{field}") == expected,
        (_, None) => has_figure(record, name, expected),
    }
}

/// The state of each block, in brackets if nothing rests on it.
fn states(result: &CaseResult, method: &str) -> String {
    let of = |block: &BlockState| {
        let state = block.state.map_or("?", State::name);
        if block.used { state.to_owned() } else { format!("({state})") }
    };
    let states = common::summary::block_states(result.case.experiment, &result.methods, result.rule);
    let of_method = result.methods.iter().position(|measured| measured.method == method).unwrap();
    states[of_method].iter().map(of).collect::<Vec<_>>().join(" ")
}

/// A value that is not one of a record.
fn value(result: &CaseResult, records: &[Record], of: &[&str]) -> Option<String> {
    let narrow =
        |precision| common::summary::narrow(result.case.experiment, &result.methods, number(precision));
    Some(match of {
        ["records"] => records.len().to_string(),
        ["most_common_state"] => {
            let states: Vec<_> = most_common_state(records).iter().map(|record| record.state).collect();
            format!("{states:?}")
        }
        ["states", method] => states(result, method),
        ["narrow", precision] => format!("{:?}", narrow(precision)),
        _ => return None,
    })
}

/// Whether a record is of a method, of a phase and of a pair.
fn is_of(record: &Record, of: &[&str]) -> bool {
    let headline = record.case.experiment.headline();
    let phase = of.get(1).map_or(headline, |name| from_value(json!(name)).unwrap());
    (&*record.method, record.phase, &*record.pair.to_string()) == (of[0], phase, *of.get(2).unwrap_or(&"all"))
}

#[track_caller]
fn check(text: &str) {
    for section in sections(text) {
        let (result, records) = made(text, section);
        let (mut rest, mut wrong) = (records.iter(), Vec::new());
        let expected: Vec<&str> = section[2].lines().filter_map(|line| line.strip_prefix('>')).collect();
        assert!(!expected.is_empty(), "{}: nothing is expected", section[0]);
        for line in expected {
            let line = line.strip_prefix(' ').unwrap_or_else(|| panic!(">{line}"));
            let (of, values) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            let of: Vec<&str> = of.split(' ').collect();
            let is_right = match value(&result, &records, &of) {
                Some(found) => found == values,
                None => rest
                    .find(|record| is_of(record, &of))
                    .is_some_and(|record| pairs(values).all(|(name, expected)| has(record, name, expected))),
            };
            if !is_right {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{}: {wrong:#?} in {records:#?}", section[0]);
    }
}

#[test]
fn each_section_has_the_expected_values() {
    check(include_str!("tests/common.txt"));
    check(include_str!("tests/ratios.txt"));
    check(include_str!("tests/launches.txt"));
    check(KINDS);
}
