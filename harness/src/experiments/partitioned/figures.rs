//! Figures of partitioned transfers, relative to `single`, the bulk-synchronous transfer.
//!
//! T is the time to solution: from the start to the end at the receiver, without the time
//! that the slowest thread computes (Gillis et al., ICPP 2023, section 2.1); all times are medians.
//!
//! - **effective bandwidth**: bytes / T.
//! - **perceived bandwidth**: bytes / (time from the last ready partition to the end), the bandwidth of a message that is
//!   sent at that time (Grant et al., "Finepoints", ISC 2019; Temuçin et al., ICPP 2022).
//! - **overhead** relative to `single`: (T - T_single) / T.
//! - **gain**: T_single / T, the median over rounds, or of the means under bench-pcomm's rule; eta of Gillis et al. in their
//!   equation 1. **model**: the prediction of their equation for this size, 4 or 5, or none (see
//!   [`equation`](super::model::equation)), with the partitions of this transfer. Gamma times its bytes is the delay from the first
//!   partition to the last, measured with `single` in the same run. Beta is the bytes divided by the time of `single` minus that of
//!   an empty message, or a given value. The prediction is the median over rounds, each with its own times. **difference**: the gain
//!   minus the prediction, also the median over rounds, so that the three need not add up to the last digit.
//! - **speed-up** over bulk-synchronous: (t_single - t) / t_single, with computation, as in CMB (CCGrid 2024).
//! - **availability**: 1 - (time from the last partition to the end) / T_single, the median over rounds: the share of the
//!   bulk-synchronous message's time that the application does not wait for (after Temuçin et al.).
//! - **early-bird fraction**: the share of the bytes that were seen in the receiver's memory before the last partition
//!   became ready. Bytes in transit, or in a buffer of the MPI, cannot be seen and do not count: a gain is possible with 0%.

use super::{Setting, expected};
use crate::experiments::summary::{RowContext, early};
use crate::model::{Figure, Phase, Quantity, Record};

pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    record.add(context.overhead());
    let (view, scope) = (context.view, context.scope);
    record.add(record.median_s.and_then(|t| context.bandwidth(t)));
    let perceived = view.median(Phase::AfterLast, scope).and_then(|t| context.bandwidth(t)?.value);
    record.add(perceived.map(|value| Figure::plain(Quantity::PerceivedBandwidth, value)));
    record.add(early::figure(context));
    record.add(context.messages());
    record.add(context.clock_error());
    record.add(context.device_bytes());
    let is_single = context.reference.is_none() && record.method == context.kind.reference();
    let Some(single) = context.reference.or(is_single.then_some(view)) else { return };
    if !is_single {
        let gain = context.gain(single);
        record.add(context.speedup(single));
        if let (Some(gain), Some(setting)) = (&gain, setting(&record.case.params)) {
            expected::add(record, gain, &setting, [view, single], scope);
        }
        record.add(gain);
    }
    let (after, whole) = (view.rounds(Phase::AfterLast, scope), single.rounds(Phase::Solution, scope));
    let waited = common::summary::ratio(&after, &whole, view.rule)
        .and_then(|ratio| Some((ratio.value, ratio.interval?)));
    // The longest wait has the lowest availability.
    record.add(waited.map(|(value, (low, high))| {
        let figure = Figure::with_interval(Quantity::Availability, 1.0 - value, (1.0 - high, 1.0 - low));
        figure.against(&single.method.method)
    }));
}

fn setting(params: &str) -> Option<Setting> {
    Setting::parse(params.split_whitespace().filter_map(|pair| pair.split_once('='))).ok()
}
