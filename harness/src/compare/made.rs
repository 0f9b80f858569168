//! Made-up records for tests.

use super::{ComparisonRow, ComparisonUnit, Comparisons, Estimate, Settings, Side, StateChange, Verdict};
use crate::experiments::Kind;
use crate::model::{Case, Record};

/// The headline record of a launch of a run.
pub fn record(run: &str, launch: usize, method: &str, median_s: f64) -> Record {
    let kind = Kind::default();
    let case = Case {
        run: run.to_owned(),
        test: "wrf_x_vec".to_owned(),
        set: "4x4".to_owned(),
        mpi: "mpich".to_owned(),
        mpi_version: "5.0.2".to_owned(),
        ranks: 2,
        hosts: 1,
        ..Case::default()
    };
    Record {
        case: case.into(),
        method: method.to_owned(),
        launch: Some(launch),
        phase: kind.headline(),
        median_s: Some(median_s),
        mean_s: Some(1.02 * median_s),
        ..Record::default()
    }
}

/// A row with a verdict, whose interval is 1% on each side.
pub fn row(test: &str, method: &str, bytes: u64, ratio: f64, verdict: Verdict) -> ComparisonRow {
    let mut record = record("r", 0, method, 1.0);
    record.case_mut().test = test.to_owned();
    let side = Side::from_records("x", [&record], ComparisonUnit::Launch);
    let answer = Estimate {
        ratio,
        low: 0.99 * ratio,
        high: 1.01 * ratio,
        units: (3, 3),
        verdict,
        beyond: verdict.is_change(),
        detectable: 1.01,
        would_decide: (!verdict.is_change() && verdict != Verdict::Same).then_some(12),
        adjusted: false,
    };
    let change = StateChange {
        launches: (3, 3),
        base_s: Some(1e-5),
        new_s: Some(1e-5 * ratio),
        time: Some(answer),
        base_mean_s: Some(1.02e-5),
        new_mean_s: Some(1.02e-5 * ratio),
        verdict,
        ..StateChange::default()
    };
    let subject = side.subjects().next().expect("one was made").clone();
    ComparisonRow {
        subject,
        bytes,
        changes: vec![change],
        without_state: (0, 0),
        copies: None,
        verdict,
        note: String::new(),
    }
}

/// A comparison of one other side with these rows.
pub fn comparisons(rows: Vec<ComparisonRow>) -> Comparisons {
    let side = |name: &str| Side::from_records(name, [&record("r", 0, "ddt", 1.0)], ComparisonUnit::Launch);
    let sides = [side("one"), side("other")];
    Comparisons::from_sides(Settings::default(), &sides, vec![rows])
}

/// A latency in seconds, and a ratio with its verdict.
type MadeState = (f64, Option<(f64, Verdict)>);

/// The row with a change in each of these states, by their latencies in seconds: that of the row, or one with this ratio and verdict.
pub fn in_states(of: &ComparisonRow, states: &[MadeState]) -> ComparisonRow {
    let change = |(state, &(latency_s, other)): (usize, &MadeState)| {
        let change = match other {
            Some((ratio, verdict)) => row("x", "x", 1, ratio, verdict).changes.remove(0),
            None => of.changes[0].clone(),
        };
        StateChange { state, latency_s: Some(latency_s), ..change }
    };
    let changes: Vec<StateChange> = states.iter().enumerate().map(change).collect();
    ComparisonRow { verdict: ComparisonRow::worst(&changes), changes, ..of.clone() }
}

/// The change of a row in its only state.
pub fn only(row: &ComparisonRow) -> &StateChange {
    let [change] = &row.changes[..] else { panic!("{row:?}") };
    change
}
