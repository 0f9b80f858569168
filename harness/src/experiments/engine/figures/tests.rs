use super::*;
use crate::experiments::Kind;
use crate::experiments::summary;
use crate::model::event::{Block, LineBytes, MessageFacts};
use crate::model::{Case, CaseResult, Measured, Outcome};
use crate::report::made;

/// A method whose packing takes `pack_s` and whose unpacking takes twice as long, in rounds of states 1, 3, 1, 3, ...
pub(in crate::experiments) fn measured(method: &str, pack_s: f64, create_s: Option<f64>) -> Measured {
    let slowness = |round: usize| if round.is_multiple_of(2) { 1.0 } else { 3.0 };
    let block = |round: usize| {
        made::block([
            (Phase::Create, create_s.map(|time| time * slowness(round)).into_iter().collect()),
            (Phase::Free, create_s.map(|_| 1e-7).into_iter().collect()),
            (Phase::Pack, vec![pack_s * slowness(round); 5]),
            (Phase::Unpack, vec![2.0 * pack_s * slowness(round); 5]),
        ])
    };
    made::measured(method, (0..11).map(|round| Block { batch: 4, ..block(round) }))
}

/// A case of `test` with `mpi` in which the engine takes a microsecond, and the others the given times.
pub(in crate::experiments) fn result(test: &str, mpi: &str, manual_s: f64, mpi_pack_s: f64) -> CaseResult {
    let case = Case { experiment: Kind::Engine, ranks: 1, ..made::case(test, mpi, "count=1000") };
    let methods = vec![
        measured("engine", 1e-6, Some(1e-6)),
        measured("manual", manual_s, None),
        measured("mpi_pack", mpi_pack_s, Some(2e-6)),
        measured("memcpy", 0.25e-6, None),
        measured("bound", 0.5e-6, None),
    ];
    let message = MessageFacts {
        bytes: 8000,
        segments: 1000,
        array_bytes: 16_000,
        line_bytes: Some(LineBytes { pack: 24_000, unpack: 16_000 }),
    };
    CaseResult { message, ..made::result(case, methods) }
}

fn of<'a>(records: &'a [Record], method: &str, phase: Phase) -> &'a Record {
    records.iter().find(|record| record.method == method && record.phase == phase).unwrap()
}

pub(in crate::experiments) fn records(result: &CaseResult) -> Vec<Record> {
    summary::records(Kind::Engine, result)
}

fn ratio(record: &Record) -> Option<f64> {
    record.over("engine")?.value
}

fn lines(record: &Record) -> Option<f64> {
    record.value(Quantity::LineBytes)
}

#[test]
fn every_phase_of_every_method_has_a_record() {
    let records = records(&result("strided", "mpich", 2e-6, 3e-6));
    assert_eq!(records.len(), 5 * 2 + 2 * 2, "packing and unpacking; two make and free something");
    let engine = of(&records, "engine", Phase::Pack);
    assert_eq!((engine.blocks, engine.n, engine.batch), (11, 55, 4));
    assert_eq!((engine.median_s, engine.value(Quantity::Bandwidth)), (Some(1e-6), Some(8e9)));
    assert_eq!(engine.over("engine"), None);
    assert_eq!((engine.value(Quantity::BoundShare), lines(engine)), (Some(0.5), Some(24_000.0)));
    assert_eq!(lines(of(&records, "engine", Phase::Unpack)), Some(16_000.0));
    let create = of(&records, "mpi_pack", Phase::Create);
    assert_eq!(
        (create.batch, create.value(Quantity::Bandwidth), create.value(Quantity::BoundShare)),
        (1, None, None)
    );
    assert_eq!((ratio(create), create.n), (Some(2.0), 11));
    let bound = of(&records, "bound", Phase::Pack);
    assert_eq!(bound.value(Quantity::BoundShare), None, "of itself it has no share");
}

#[test]
fn without_the_engine_there_are_times_but_no_ratios() {
    let mut result = result("strided", "mpich", 2e-6, 3e-6);
    result.methods[0].outcome = Outcome::WrongData { detail: "byte 7".to_owned() };
    let records = records(&result);
    let manual = of(&records, "manual", Phase::Pack);
    assert!(
        manual.median_s.is_some() && ratio(manual).is_none() && manual.figure(Quantity::BoundShare).is_some()
    );
}

#[test]
fn a_method_is_known_when_its_packing_and_its_unpacking_are() {
    let mut methods = result("strided", "mpich", 2e-6, 3e-6).methods;
    for block in methods.iter_mut().flat_map(|method| &mut method.blocks) {
        block.times[Phase::Pack].fill(1e-6);
        block.times[Phase::Unpack].fill(1e-6);
    }
    assert_eq!(common::summary::narrow(Kind::Engine, &methods, 0.01), [true; 5]);
    for block in methods[1].blocks.iter_mut().step_by(2) {
        block.times[Phase::Unpack].fill(2e-6);
    }
    assert_eq!(common::summary::narrow(Kind::Engine, &methods, 0.05), [true, false, true, true, true]);
}
