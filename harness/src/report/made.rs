//! Made-up cases, results and records for tests.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_str, from_value, json, to_value};

use crate::model::event::{Block, MessageFacts};
use crate::model::{Case, CaseResult, Figure, Measured, Outcome, Phase, Record, Times};

/// A case of a test on an MPI, with its own set.
pub fn case(test: &str, mpi: &str, params: &str) -> Case {
    Case {
        test: test.into(),
        set: "custom".into(),
        params: params.into(),
        mpi: mpi.into(),
        ranks: 2,
        ..Case::default()
    }
}

/// A record of the headline phase with an interval of 10% on each side.
pub fn record(case: &Case, method: &str, median_s: f64) -> Record {
    Record {
        case: case.clone().into(),
        method: method.into(),
        bytes: 800,
        median_s: Some(median_s),
        median_low_s: Some(0.9 * median_s),
        median_high_s: Some(1.1 * median_s),
        ..Record::default()
    }
}

/// Sets a field of a record or of its case, or adds a figure: `name=value[low,high]`, what it is relative to
/// after a slash, and `steady` or `unsteady` after another one. In texts with blanks these are underscores.
pub fn set(record: &mut Record, key: &str, text: &str) {
    match key {
        "params" => record.case_mut().params = text.replace(',', " "),
        "plain" => (record.median_low_s, record.median_high_s) = (None, None),
        "state" => record.state = (text != "null").then(|| text.parse().unwrap()),
        "outcome" => record.outcome = outcome(text),
        key => {
            if let Some(case) = with_field(&*record.case, key, text) {
                *record.case_mut() = case;
            } else if let Some(changed) = with_field(record, key, text) {
                let Record { case, outcome, figures, state, .. } = record.clone();
                *record = Record { case, outcome, figures, state, ..changed };
            } else {
                record.figures.push(figure(key, text));
            }
        }
    }
}

/// The sections of a file of made-up rows: the title, what the rows are, and the rows.
pub fn sections(text: &str) -> impl Iterator<Item = [&str; 3]> {
    text.split("\n== ").skip(1).map(|section| {
        let (head, rows) = section.split_once('\n').unwrap_or((section, ""));
        let (title, kind) = head.split_once(" | ").unwrap();
        [title, kind, rows]
    })
}

/// With blanks as underscores, and a detail after a colon.
pub fn outcome(text: &str) -> Outcome {
    let text = text.replace('_', " ");
    let (label, detail) = text.split_once(':').unwrap_or((&text, ""));
    Outcome::from_label(label).unwrap().with_detail(detail.to_owned())
}

/// The same with another value of a field, if it has that field.
pub fn with_field<T: Serialize + DeserializeOwned>(of: &T, name: &str, text: &str) -> Option<T> {
    let mut fields = to_value(of).unwrap();
    let is_known = fields.get(name).is_some();
    let values = [Some(json!(text)), from_str(text).ok()];
    let has_it = |changed: &T| to_value(changed).unwrap().get(name).is_some();
    let with = |value: Value| {
        fields[name] = value;
        from_value(fields.clone()).ok().filter(has_it)
    };
    let changed = values.into_iter().flatten().find_map(with);
    assert!(changed.is_some() || !is_known, "{name}={text}");
    changed
}

fn figure(quantity: &str, text: &str) -> Figure {
    let mut parts = text.split('/');
    let value = parts.next().unwrap_or_default();
    let (value, interval) = value.split_once('[').unwrap_or((value, ""));
    let ends = interval.trim_end_matches(']').split_once(',');
    // An end can be missing.
    let end = |text: &str| (text != "null").then(|| text.parse().unwrap());
    let (low, high) = ends.map_or((None, None), |(low, high)| (end(low), end(high)));
    let figure = Figure::plain(from_value(json!(quantity)).unwrap(), value.parse().unwrap());
    let figure = figure.against(parts.next().unwrap_or_default());
    Figure { low, high, unsteady: parts.next().and_then(unsteady), ..figure }
}

/// Whether a figure is unsteady, by a word, which may be missing.
pub fn unsteady(word: &str) -> Option<bool> {
    match word {
        "" => None,
        "steady" => Some(false),
        "unsteady" => Some(true),
        other => panic!("{other}"),
    }
}

pub fn block<const PHASES: usize>(times: [(Phase, Vec<f64>); PHASES]) -> Block {
    Block { batch: 1, times: Times::from(times), ..Block::default() }
}

/// A method with one round per block.
pub fn measured(method: &str, blocks: impl IntoIterator<Item = Block>) -> Measured {
    let numbered = blocks.into_iter().enumerate().map(|(round, block)| Block {
        method: method.into(),
        block: round,
        ..block
    });
    Measured { method: method.into(), outcome: Outcome::Converged, blocks: numbered.collect() }
}

/// The results of a case whose messages have 1,000 bytes in ten segments.
pub fn result(case: Case, methods: Vec<Measured>) -> CaseResult {
    let message = MessageFacts { bytes: 1000, segments: 10, array_bytes: 9000, line_bytes: None };
    CaseResult { case: case.into(), message, methods, ..CaseResult::default() }
}

/// Fails unless these texts with titles are those in a file below `src`. `SNAPSHOTS=overwrite` writes it.
#[track_caller]
pub fn expect_texts<'a>(file: &str, texts: impl IntoIterator<Item = (&'a str, String)>) {
    let texts = texts.into_iter().map(|(title, text)| format!("=== {title}\n{}\n\n", text.trim_end()));
    let texts: Vec<String> = texts.collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "overwrite") {
        std::fs::write(&path, texts.concat()).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    for text in &texts {
        assert!(
            expected.contains(text),
            "{file} has another text, or SNAPSHOTS=overwrite writes it:\n{text}"
        );
    }
    assert!(expected == texts.concat(), "{file} has more texts, or another order");
}
