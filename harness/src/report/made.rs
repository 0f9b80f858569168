//! Made-up cases, results and records for tests.

use std::path::Path;

use serde_json::{from_value, json};

use crate::model::event::{Block, MessageFacts};
use crate::model::{Case, CaseResult, Figure, Measured, Outcome, PairScope, Phase, Quantity, Record, Times};

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

/// Sets a field of a record, or adds a figure: `name=value[low,high]` and what it is relative to after a slash.
pub fn set(record: &mut Record, key: &str, text: &str) {
    let number = |text: &str| text.parse::<f64>().unwrap();
    match key {
        "test" => record.case_mut().test = text.to_owned(),
        "mpi" => record.case_mut().mpi = text.to_owned(),
        "params" => record.case_mut().params = text.replace(',', " "),
        "set" => record.case_mut().set = text.to_owned(),
        "ranks" => record.case_mut().ranks = text.parse().unwrap(),
        "phase" => record.phase = from_value(json!(text)).unwrap(),
        "bytes" => record.bytes = text.parse().unwrap(),
        "plain" => (record.median_low_s, record.median_high_s) = (None, None),
        "pair" => record.pair = PairScope::One(text.parse().unwrap()),
        "launch" => record.launch = text.parse().ok(),
        "launches" => record.launches = text.parse().unwrap(),
        "state" => record.state = text.parse().ok(),
        "latency" => record.state_latency_s = text.parse().ok(),
        "mixed" => record.mixed_states = true,
        "blocks" => record.blocks = text.parse().unwrap(),
        "disturbed" => record.blocks_disturbed = text.parse().unwrap(),
        "failed" => record.outcome = Outcome::WrongData { detail: String::new() },
        quantity => {
            let (text, against) = text.split_once('/').unwrap_or((text, ""));
            let (value, interval) = text.split_once('[').unwrap_or((text, ""));
            let quantity: Quantity = from_value(json!(quantity)).unwrap();
            let mut figure = Figure::plain(quantity, number(value)).against(against);
            let ends = interval.trim_end_matches(']').split_once(',');
            (figure.low, figure.high) = ends.map(|(low, high)| (number(low), number(high))).unzip();
            record.figures.push(figure);
        }
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
