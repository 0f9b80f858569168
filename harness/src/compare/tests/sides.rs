//! Sides of made-up launches: `made.txt` has their times, and `found.txt` what guidelines, overviews and comparisons find in them.

use indexmap::IndexMap;

use super::super::guidelines::{self, Findings};
use super::texts;
use super::*;
use crate::report::made::{expect_texts, sections, set};

/// The side of a row, and its launches.
fn launches(row: &str) -> (&str, Vec<Record>) {
    let [side, method, times, given @ ..] = &row.split(' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
    let (mut launches, mut noise, mut mean, mut latencies) = (0..6, 0.002, None, None);
    let mut of = record("r", 0, method, 1.0);
    for (key, text) in given.iter().map(|word| word.split_once('=').unwrap()) {
        match key {
            "launches" => {
                let (start, end) = text.split_once("..").unwrap();
                launches = start.parse().unwrap()..end.parse().unwrap();
            }
            "noise" => noise = text.parse().unwrap(),
            "mean" => mean = text.parse::<f64>().ok(),
            "latency" => latencies = Some(text),
            _ => set(&mut of, key, text),
        }
    }
    let at = |list: &str, launch: usize| {
        let all: Vec<f64> = list.split(',').map(|number| number.parse().unwrap()).collect();
        all[launch % all.len()]
    };
    let launch = |launch: usize| {
        let varies = 1.0 + noise * (launch % 5) as f64;
        let median_s = of.outcome.counts().then(|| 1e-6 * at(times, launch) * varies);
        Record {
            launch: Some(launch),
            median_s,
            mean_s: mean.map(|mean| mean * varies).or(median_s.map(|median_s| 1.02 * median_s)),
            state_latency_s: latencies.map(|latencies| at(latencies, launch)),
            ..of.clone()
        }
    };
    (side, launches.map(launch).collect())
}

/// Overviews without their explanation, at several widths.
fn overviews(sides: &[Side], widths: &[Option<u16>]) -> String {
    let all = Overview::of_states(sides, &Settings::default(), None).unwrap();
    let text = |overview: &Overview| {
        let section = overview.section();
        let tables = widths.iter().map(|width| section.table_text(*width)).collect::<Vec<_>>();
        format!("{}\n{}\n{}", section.title, section.sentences.join("\n"), tables.join("---\n"))
    };
    all.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[test]
fn findings_of_made_up_sides() {
    let found = sections(include_str!("made.txt")).map(|[title, question, rows]| {
        let mut all: IndexMap<&str, Vec<Record>> = IndexMap::new();
        for (side, records) in rows.lines().map(launches) {
            all.entry(side).or_default().extend(records);
        }
        let of = |(name, records): (&&str, &Vec<Record>)| {
            Side::from_records(name, records, ComparisonUnit::Launch)
        };
        let sides: Vec<Side> = all.iter().map(of).collect();
        let found = match question {
            "guidelines" => {
                let found = Findings::from_side(&sides[0], &Settings::default());
                let sections = guidelines::compared(&[found]).sections;
                Compared { sections, ..Compared::default() }.text(Some(120))
            }
            "overview" => overviews(&sides, &[None]),
            "comparison" => {
                let rows =
                    Comparer::new(Settings::default()).interim_test(&sides[0], &sides[1], &|_| Some(1.0));
                let found = Comparisons::from_sides(Settings::default(), &sides, vec![rows]);
                texts::text(&found, None)
            }
            _ => overviews(&sides, &[None, Some(120), Some(80), Some(60)]),
        };
        (title, found)
    });
    expect_texts("compare/tests/found.txt", found);
}
