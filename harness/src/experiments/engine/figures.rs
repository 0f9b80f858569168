//! Figures of the engine's comparison: rates, ratios to the engine paired by rounds, fractions of the bound.

use super::methods::{BOUND, ENGINE};
use crate::experiments::summary::{RowContext, ratios};
use crate::model::{Figure, Phase, Quantity, Record};

/// No ratio is shown without its interval.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    let (view, phase, scope) = (context.view, context.phase, context.scope);
    let other = |method: &str| context.measured(method).filter(|_| record.method != method);
    let over = other(ENGINE).and_then(|engine| {
        ratios::figure(Quantity::TimeOver, engine.ratio(view, phase, scope), &engine.method.method)
    });
    let bound = other(BOUND).filter(|_| matches!(phase, Phase::Pack | Phase::Unpack)).and_then(|bound| {
        ratios::figure(Quantity::BoundShare, view.ratio(bound, phase, scope), &bound.method.method)
    });
    if context.is_headline() {
        record.add(context.device_copies());
    }
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
