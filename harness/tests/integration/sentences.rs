//! Sentences of the recorded results against the tables of which they are made: each ratio is that of the
//! methods it names, within the interval of their row, and no sentence lacks a number.

use serde_json::Value;

use crate::quotes::{printed, unpacked};

/// A value with both ends of its interval.
type JsonEstimate = (f64, f64, f64);

/// A figure with an interval, as a ratio or in percent, and the two methods that it is about.
struct JsonRow {
    methods: [String; 2],
    estimate: JsonEstimate,
}

/// All figures over launches of a run, in both directions.
fn rows(json: &str) -> Vec<JsonRow> {
    let json: Value = serde_json::from_str(json).unwrap();
    let mut rows = Vec::new();
    for result in json["results"].as_array().unwrap() {
        for figure in result["figures"].as_array().unwrap() {
            let number = |name: &str| figure[name].as_f64();
            let (Some(value), Some(low), Some(high)) = (number("value"), number("low"), number("high"))
            else {
                continue;
            };
            let methods =
                [&result["method"], &figure["against"]].map(|name| name.as_str().unwrap().to_owned());
            let estimates = match figure["unit"].as_str() {
                Some("fraction") => vec![(100.0 * value, 100.0 * low, 100.0 * high)],
                _ => vec![(value, low, high), (1.0 / value, 1.0 / high, 1.0 / low)],
            };
            rows.extend(estimates.into_iter().map(|estimate| JsonRow { methods: methods.clone(), estimate }));
        }
    }
    rows
}

/// The numbers with intervals in a text, such as `20.0 [19.7, 20.3]` or `97% [97, 98]`, with the digits after the point.
fn estimates(text: &str) -> Vec<(JsonEstimate, usize)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" [") {
        let Some((ends, _)) = text[at + 2..].split_once(']') else { continue };
        let Some((low, high)) = ends.split_once(", ") else { continue };
        let value = text[..at].rsplit([' ', '(']).next().unwrap_or_default();
        let value = value.trim_end_matches(['%', 'x']);
        let numbers = [value, low, high].map(|number| number.parse::<f64>());
        let [Ok(number), Ok(low), Ok(high)] = numbers else { panic!("{text}: {value} [{ends}]") };
        let digits = value.split_once('.').map_or(0, |(_, digits)| digits.len());
        found.push(((number, low, high), digits));
    }
    found
}

/// Whether a text names a method.
fn names(text: &str, method: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || ['_', ':'].contains(&letter);
    text.split(|letter| !is_part(letter)).any(|word| word.trim_end_matches(':') == method)
}

/// The fault of a sentence, if it has one.
fn fault(sentence: &str, rows: &[JsonRow]) -> Option<String> {
    let text = sentence.trim();
    for empty in ["  ", "NaN", "inf ", ":  ", " ,", "[]", "()", " .", "-> "] {
        if text.contains(empty) {
            return Some(format!("{empty:?} in {text}"));
        }
    }
    for ((value, low, high), digits) in estimates(text) {
        if !(low <= value && value <= high) {
            return Some(format!("{value} is not in [{low}, {high}]: {text}"));
        }
        // Half of the last digit, and as much again for rounding.
        let near = |a: f64, b: f64| (a - b).abs() <= 0.51 * 0.1_f64.powi(digits as i32);
        let is_it = |row: &&JsonRow| {
            let methods = row.methods.iter().filter(|method| !method.is_empty());
            let (of, from, to) = row.estimate;
            near(of, value)
                && near(from, low)
                && near(to, high)
                && methods.into_iter().all(|method| {
                    // The overhead is relative to the reference, which a sentence need not name.
                    names(text, method) || method.ends_with("reference")
                })
        };
        if !rows.iter().any(|row| is_it(&row)) {
            return Some(format!("{value} [{low}, {high}] is in no row of the methods: {text}"));
        }
    }
    None
}

/// The sentences of an answer: the lines after its tables, and those of each case in the table of all methods.
fn sentences(text: &str) -> Vec<&str> {
    let begins = ["mpich", "openmpi", "impi", "Largest gap: ", "Slow at times: ", "Conclusion: "];
    text.lines().map(str::trim).filter(|line| begins.iter().any(|begin| line.starts_with(begin))).collect()
}

#[test]
fn every_sentence_of_recorded_results_agrees_with_its_table() {
    let dir = unpacked();
    let mut count = 0;
    for run in std::fs::read_dir(dir.path().join("recorded")).unwrap() {
        let run = run.unwrap().file_name().into_string().unwrap();
        let of = |arguments: &str| printed(&format!("report recorded/{run} {arguments}"), dir.path(), "2000");
        let rows = rows(&of("--format json"));
        for text in [of(""), of("--details")] {
            for sentence in sentences(&text) {
                assert_eq!(fault(sentence, &rows), None, "{run}");
                count += estimates(sentence).len();
            }
        }
    }
    assert!(count > 30, "{count} numbers in sentences");
}

/// All ratios with intervals in a comparison or in findings about guidelines, each with the name in its table that a sentence gives.
fn ratios(json: &Value, name: &str, rows: &mut Vec<JsonRow>) {
    let name = ["method", "name"].iter().find_map(|key| json[*key].as_str()).unwrap_or(name);
    let number = |name: &str| json[name].as_f64();
    // Whole uses are shown.
    let uses = |of: &str| number(of).map(f64::ceil);
    let (ratio, uses) = (["ratio", "low", "high"].map(number), ["uses", "low", "high"].map(uses));
    let found = [ratio, uses].into_iter().filter_map(|[value, low, high]| Some((value?, low?, high?)));
    rows.extend(found.map(|estimate| JsonRow { methods: [name.to_owned(), String::new()], estimate }));
    match json {
        Value::Array(all) => all.iter().for_each(|of| ratios(of, name, rows)),
        Value::Object(all) => all.values().for_each(|of| ratios(of, name, rows)),
        _ => {}
    }
}

/// The numbers of `by at least 1.02 to 23.1 times`.
fn least(sentence: &str) -> Vec<f64> {
    let Some((_, range)) = sentence.split_once("by at least ") else { return Vec::new() };
    range.split(' ').filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn every_sentence_of_recorded_comparisons_agrees_with_its_rows() {
    let dir = unpacked();
    let mut count = 0;
    for command in ["compare recorded/compare", "compare recorded/run", "guidelines recorded/guidelines"] {
        let json: Value =
            serde_json::from_str(&printed(&format!("{command} --format json"), dir.path(), "2000")).unwrap();
        let mut rows = Vec::new();
        ratios(&json, "", &mut rows);
        // Geometric means have the order of the sides, and guidelines name no method.
        let is_guidelines = command.starts_with("guidelines");
        rows.iter_mut().filter(|_| is_guidelines).for_each(|row| row.methods = Default::default());
        let text = printed(command, dir.path(), "2000");
        for sentence in text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
            assert_eq!(fault(sentence, &rows), None, "{command}");
            let is_end = |end: &f64| {
                let near = |of: f64| (of - end).abs() <= 0.006 * end;
                rows.iter().any(|row| near(row.estimate.1) || near(1.0 / row.estimate.2))
            };
            assert!(least(sentence).iter().all(is_end), "{command}: {sentence}");
            count += estimates(sentence).len() + least(sentence).len();
        }
    }
    assert!(count > 20, "{count} numbers in sentences");
}

#[test]
fn a_sentence_with_a_wrong_or_a_missing_number_is_found() {
    let row = JsonRow { methods: ["ddt".to_owned(), "manual".to_owned()], estimate: (20.04, 19.71, 20.33) };
    let fault = |text: &str| fault(text, std::slice::from_ref(&row)).is_some();
    assert!(!fault("mpich: manual is 20.0 [19.7, 20.3] times as fast as ddt."));
    assert!(fault("mpich: manual is 20.2 [19.7, 20.3] times as fast as ddt."));
    assert!(fault("mpich: manual is 20.0 [19.7, 20.3] times as fast as ddt_pieces."));
    assert!(fault("mpich: manual is 20.4 [19.7, 20.3] times as fast as ddt."));
    assert!(fault("openmpi:tcp:  of the time of ddt is pack overhead."));
}
