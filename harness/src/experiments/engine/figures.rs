//! Figures of the engine's comparison: rates, ratios to the engine paired by rounds, shares of the bound.

use std::collections::BTreeMap;

use super::methods::{BOUND, ENGINE};
use crate::experiments::summary::{RowContext, ratios};
use crate::model::event::Block;
use crate::model::{Figure, Measured, Phase, Quantity, Record};
use crate::stats::{self, Ratio};

/// The phases by whose ratios a comparison is known well enough.
const DECISIVE: [Phase; 2] = [Phase::Pack, Phase::Unpack];

/// Adds what can be known of a phase. No ratio stands without its interval.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    let (view, phase, scope) = (context.view, context.phase, context.scope);
    let other = |method: &str| context.measured(method).filter(|_| record.method != method);
    let over = other(ENGINE).and_then(|engine| {
        ratios::figure(Quantity::TimeOver, engine.ratio(view, phase, scope), &engine.method.method)
    });
    let bound = other(BOUND).filter(|_| DECISIVE.contains(&phase)).and_then(|bound| {
        ratios::figure(Quantity::BoundShare, view.ratio(bound, phase, scope), &bound.method.method)
    });
    record.add(over);
    record.add(bound);
    let lines = context.result.message.line_bytes;
    let lines = match phase {
        Phase::Pack => lines.map(|lines| lines.pack),
        Phase::Unpack => lines.map(|lines| lines.unpack),
        _ => return,
    };
    record.add(record.median_s.and_then(|median| context.bandwidth(median)));
    record.add(lines.map(|lines| Figure::plain(Quantity::LineBytes, lines as f64)));
}

/// Whether the interval of each method's ratio to the engine lies within `precision` of it, packing and unpacking.
pub fn is_narrow(methods: &[Measured], precision: f64) -> bool {
    let Some(engine) = of(methods, ENGINE) else { return false };
    let others = || methods.iter().filter(|measured| measured.method != ENGINE);
    let is_narrow = |measured: &Measured, phase| {
        ratio(measured, engine, phase).is_some_and(|ratio| ratio.is_narrow(precision))
    };
    DECISIVE.into_iter().all(|phase| others().all(|measured| is_narrow(measured, phase)))
}

/// A method with times.
fn of<'a>(methods: &'a [Measured], method: &str) -> Option<&'a Measured> {
    methods.iter().find(|measured| measured.method == method && measured.outcome.is_measured())
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

#[cfg(test)]
pub(super) mod tests;
