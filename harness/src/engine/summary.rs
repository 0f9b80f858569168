//! Records from blocks: medians, and ratios paired by rounds.

use std::collections::BTreeMap;

use super::{Contender, EngineRecord, EngineResult};
use crate::earlier::SCHEMA;
use crate::event::Block;
use crate::record::{Measured, Phase};
use crate::stats::{self, Ratio};

/// The phases that a comparison has.
const PHASES: [Phase; 4] = [Phase::Pack, Phase::Unpack, Phase::Create, Phase::Free];

/// Those by whose ratios it is known well enough.
const DECISIVE: [Phase; 2] = [Phase::Pack, Phase::Unpack];

/// The records of a case: per contender one of each phase that has samples.
pub fn records(result: &EngineResult) -> Vec<EngineRecord> {
    let mut records = Vec::new();
    for measured in &result.methods {
        let before = records.len();
        if measured.outcome.is_measured() {
            records.extend(PHASES.into_iter().filter_map(|phase| record(result, measured, phase)));
        }
        if records.len() == before {
            records.push(empty(result, measured, Phase::Pack));
        }
    }
    records
}

/// Whether the interval of each contender's ratio to the engine lies within `precision` of it, packing and unpacking.
pub fn is_narrow(methods: &[Measured], precision: f64) -> bool {
    let Some(engine) = of(methods, Contender::Engine) else { return false };
    let rivals = || methods.iter().filter(|measured| measured.method != Contender::Engine.name());
    let is_narrow = |measured: &Measured, phase| {
        ratio(measured, engine, phase).is_some_and(|ratio| ratio.is_narrow(precision))
    };
    DECISIVE.into_iter().all(|phase| rivals().all(|measured| is_narrow(measured, phase)))
}

/// A contender with times.
fn of(methods: &[Measured], contender: Contender) -> Option<&Measured> {
    methods.iter().find(|measured| measured.method == contender.name() && measured.outcome.is_measured())
}

/// The ratio of one's times to another's in a phase, over the rounds that have both.
fn ratio(one: &Measured, other: &Measured, phase: Phase) -> Option<Ratio> {
    let (one, other) = (medians(one, phase), medians(other, phase));
    stats::paired_ratio(one.iter().filter_map(|(round, &time)| Some((time, *other.get(round)?))))
}

/// The median of each round.
fn medians(measured: &Measured, phase: Phase) -> BTreeMap<usize, f64> {
    let median = |block: &Block| {
        Some((block.block, stats::median(&stats::sorted(phase.samples(block).iter().copied()))?))
    };
    measured.blocks.iter().filter_map(median).collect()
}

/// The record of a phase; `None` without samples.
fn record(result: &EngineResult, measured: &Measured, phase: Phase) -> Option<EngineRecord> {
    let blocks: Vec<&[f64]> = measured.blocks.iter().map(|block| phase.samples(block)).collect();
    let samples = stats::sorted(blocks.iter().flat_map(|samples| samples.iter().copied()));
    let median = stats::median(&samples)?;
    let interval = stats::blocks_interval(&blocks);
    let moves = DECISIVE.contains(&phase);
    let against = |contender: Contender| {
        let other = of(&result.methods, contender).filter(|other| other.method != measured.method)?;
        ratio(measured, other, phase)
    };
    // Neither stands without its interval.
    let with_interval = |ratio: &Ratio| ratio.interval.is_some();
    let to_engine = against(Contender::Engine).filter(with_interval);
    let bound = of(&result.methods, Contender::Bound)
        .filter(|bound| moves && bound.method != measured.method)
        .and_then(|bound| ratio(bound, measured, phase))
        .filter(with_interval);
    let lines = result.message.line_bytes;
    Some(EngineRecord {
        line_bytes: match phase {
            Phase::Pack => lines.map(|lines| lines.pack),
            Phase::Unpack => lines.map(|lines| lines.unpack),
            _ => None,
        },
        rounds: blocks.iter().filter(|samples| !samples.is_empty()).count(),
        n: samples.len(),
        // Creation and freeing are timed one by one, whatever the repetitions are.
        batch: if moves { measured.blocks.iter().map(|block| block.batch).max()? } else { 1 },
        median_s: Some(median),
        median_low_s: interval.map(|interval| interval.0),
        median_high_s: interval.map(|interval| interval.1),
        gb_per_s: (moves && median > 0.0).then(|| result.message.bytes as f64 / median / 1e9),
        ratio: to_engine.map(|ratio| ratio.value),
        ratio_low: to_engine.and_then(|ratio| Some(ratio.interval?.0)),
        ratio_high: to_engine.and_then(|ratio| Some(ratio.interval?.1)),
        ratio_unsteady: to_engine.map(|ratio| ratio.unsteady),
        bound_share: bound.map(|share| share.value),
        bound_share_low: bound.and_then(|share| Some(share.interval?.0)),
        bound_share_high: bound.and_then(|share| Some(share.interval?.1)),
        ..empty(result, measured, phase)
    })
}

/// A contender's record without any figures.
fn empty(result: &EngineResult, measured: &Measured, phase: Phase) -> EngineRecord {
    let case = &result.case.case;
    EngineRecord {
        schema: SCHEMA,
        test: case.test.clone(),
        set: case.set.clone(),
        params: case.params.clone(),
        order: result.case.order.clone(),
        mpi: case.mpi.clone(),
        cache: case.cache.clone(),
        method: measured.method.clone(),
        phase,
        bytes: result.message.bytes,
        segments: result.message.segments,
        line_bytes: None,
        rounds: 0,
        n: 0,
        batch: 0,
        median_s: None,
        median_low_s: None,
        median_high_s: None,
        gb_per_s: None,
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        bound_share: None,
        ratio_unsteady: None,
        bound_share_low: None,
        bound_share_high: None,
        outcome: measured.outcome.label().to_owned(),
        detail: measured.outcome.detail().map(str::to_owned),
    }
}

#[cfg(test)]
pub(crate) mod tests;
