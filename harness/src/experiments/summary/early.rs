//! The fraction of bytes that arrive early, with its interval.

use super::RowContext;
use crate::model::{Figure, Quantity};
use crate::stats;

/// The median fraction over all repetitions in which the receiver checked, in the blocks of the record. It is
/// shown only with its interval: with fewer than six rounds, as under bench-pcomm's rule, there is none.
pub fn figure(context: &RowContext<'_>) -> Option<Figure> {
    let rounds = context.view.rounds_of(context.phase, context.scope, |block| block.early.clone());
    let rounds: Vec<_> = rounds.into_values().collect();
    let (low, high) = stats::blocks_interval(&rounds)?;
    let value = stats::median(&stats::sorted(rounds.into_iter().flatten()))?;
    // Correlated rounds widen an interval, but no fraction is below 0 or above 1.
    Some(Figure::with_interval(Quantity::EarlyBird, value, (low.max(0.0), high.min(1.0))))
}
