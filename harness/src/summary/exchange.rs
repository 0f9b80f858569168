//! Figures of halo exchanges: how they stand to the bulk-synchronous exchange that packs by hand.

use super::overhead::exchange_without_packing;
use super::{Scope, View, add_packing, finite, ratios};
use crate::event::Block;
use crate::halo::MANUAL;
use crate::record::{CaseResult, Phase, Record};
use crate::stats;

/// Adds what can be known: the share of packing and unpacking in the exchange; the speed-up over `manual`, computing left
/// out, as `gain`, and with it as `speedup`; the bandwidth of the rank that sends most; its messages; and the share
/// of the first stage's bytes that lay in the receiver's memory when its own threads had all handed over.
pub(super) fn add(
    record: &mut Record,
    result: &CaseResult,
    view: &View<'_>,
    views: &[View<'_>],
    scope: Scope<'_>,
) {
    let Some(exchange) = record.median_s else { return };
    record.bandwidth_bytes_per_s = finite(result.message.bytes as f64 / exchange);
    let blocks = view.blocks(Phase::Exchange, scope, true);
    record.early_bird =
        stats::median(&stats::sorted(blocks.iter().flat_map(|block| block.early.iter().copied())));
    record.messages = view.blocks(Phase::Exchange, scope, true).last().and_then(|block| block.messages);
    if view.method.method != result.case.experiment.reference() {
        let whole = |block: &Block| block.times[Phase::Exchange].clone();
        add_packing(record, view, scope, whole, exchange_without_packing);
    }
    let manual = views.iter().find(|view| view.method.method == MANUAL && view.method.outcome.is_measured());
    let Some(manual) = manual.filter(|manual| manual.method.method != view.method.method) else { return };
    let ratio = |phase: Phase| ratios::figures(view.ratio(manual, phase, scope));
    (record.gain, record.gain_low, record.gain_high, record.gain_unsteady) = ratio(Phase::Exchange);
    let total = ratio(Phase::Total);
    [record.speedup, record.speedup_low, record.speedup_high] =
        [total.0, total.1, total.2].map(|ratio| ratio.map(|ratio| 1.0 - 1.0 / ratio));
}
