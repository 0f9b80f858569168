//! Figures of halo exchanges relative to the bulk-synchronous exchange that packs by hand, or by the plain
//! loop if it has no hand-written one.

use common::kinds::halo::methods::{Call, HaloTransfer, transfer};

use super::MANUAL;
use crate::experiments::summary::{RowContext, early, overhead::exchange_without_packing};
use crate::model::event::Block;
use crate::model::{LOOP, Phase, Record};

/// Adds the figures of the exchange: its overhead, if it consists of messages as the reference does; the
/// fraction of packing and unpacking; gain and speed-up relative to `manual`, or to `loop` if `manual` was
/// not measured; the bandwidth of the rank that sends most; its messages; and the fraction of the first
/// stage's bytes that were in the receiver's memory when its own threads had handed over everything.
pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    // The difference to other calls is not only packing.
    if matches!(transfer(&record.method), Ok(HaloTransfer::Bulk(Call::Messages(_), _))) {
        record.add(context.overhead());
    }
    record.add(record.median_s.and_then(|exchange| context.bandwidth(exchange)));
    record.add(early::figure(context));
    record.add(context.messages());
    record.add(context.clock_error());
    record.add(context.device_bytes());
    record.add(context.device_copies());
    if record.method != context.kind.reference() {
        record.add(
            context.packing(|block: &Block| block.times[Phase::Exchange].clone(), exchange_without_packing),
        );
    }
    let base = context.measured(MANUAL).or_else(|| context.measured(LOOP));
    if let Some(base) = base.filter(|base| record.method != base.method.method) {
        record.add(context.gain(base));
        record.add(context.speedup(base));
    }
}
