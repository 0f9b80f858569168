//! Figures of ping-pongs: both estimates of the pack overhead, the bandwidth, and the ranks' start times.

use crate::experiments::summary::RowContext;
use crate::experiments::summary::overhead::{with_packing, without_packing};
use crate::model::{Figure, PairScope, Phase, Quantity, Record};
use crate::stats;
use common::summary::pairs;

pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    record.add(context.overhead());
    if !context.kind.method(&record.method).is_ok_and(|method| method.is_reference) {
        record.add(context.packing(with_packing, without_packing));
    }
    let blocks = context.blocks();
    let skew = stats::median(&stats::sorted(blocks.iter().filter_map(|block| block.start_skew_s)));
    record.add(skew.map(|skew| Figure::plain(Quantity::StartSkew, skew)));
    record.add(context.clock_error());
    record.add(context.device_bytes());
    record.add(context.device_copies());
    record.add(bandwidth(context));
}

/// Payload per second in one direction, added up over pairs, which send at the same time.
fn bandwidth(context: &RowContext<'_>) -> Option<Figure> {
    let of_pair = |pair: usize| {
        let t_pp = context.view.median(Phase::RoundTrip, PairScope::One(pair))?;
        context.bandwidth(t_pp / 2.0)?.value
    };
    let value = match context.scope {
        PairScope::One(pair) => of_pair(pair),
        PairScope::All => pairs(&context.result.methods).into_iter().map(of_pair).sum(),
    };
    value.map(|value| Figure::plain(Quantity::Bandwidth, value))
}
