//! Figures of halo exchanges: how they stand to the bulk-synchronous exchange that packs by hand.

use super::{Scope, View, finite, pack_share};
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
        record.overhead_pack = finite(pack_share(view, scope) / exchange);
    }
    let manual = views.iter().find(|view| view.method.method == MANUAL && view.method.outcome.is_measured());
    let Some(manual) = manual.filter(|manual| manual.method.method != view.method.method) else { return };
    let gain = view.ratio(manual, Phase::Exchange, scope);
    record.gain = gain.map(|gain| gain.value);
    record.gain_low = gain.and_then(|gain| Some(gain.interval?.0));
    record.gain_high = gain.and_then(|gain| Some(gain.interval?.1));
    record.speedup = view.ratio(manual, Phase::Total, scope).map(|ratio| 1.0 - 1.0 / ratio.value);
}
