//! The share of bytes that are there early, with its interval.

use super::{Scope, View};
use crate::record::{Phase, Record};
use crate::stats;

/// Adds the median share over all repetitions at which the receiver looked, beside the blocks of `phase` that figures rest on.
/// It stands with its interval alone: with fewer than six rounds, as under bench-pcomm's rule, there is none.
pub(super) fn add(record: &mut Record, view: &View<'_>, phase: Phase, scope: Scope<'_>) {
    let rounds: Vec<_> = view.rounds_of(phase, scope, |block| block.early.clone()).into_values().collect();
    let Some((low, high)) = stats::blocks_interval(&rounds) else { return };
    record.early_bird = stats::median(&stats::sorted(rounds.into_iter().flatten()));
    // What is alike from round to round widens an interval, but no share is below 0 or above 1.
    (record.early_bird_low, record.early_bird_high) = (Some(low.max(0.0)), Some(high.min(1.0)));
}
