//! The share of bytes that are there early, with its interval.

use super::RowContext;
use crate::model::{Figure, Quantity};
use crate::stats;

/// The median share over all repetitions at which the receiver looked, beside the blocks that the record rests on. It stands
/// with its interval alone: with fewer than six rounds, as under bench-pcomm's rule, there is none.
pub fn figure(context: &RowContext<'_>) -> Option<Figure> {
    let rounds = context.view.rounds_of(context.phase, context.scope, |block| block.early.clone());
    let rounds: Vec<_> = rounds.into_values().collect();
    let (low, high) = stats::blocks_interval(&rounds)?;
    let value = stats::median(&stats::sorted(rounds.into_iter().flatten()))?;
    // What is alike from round to round widens an interval, but no share is below 0 or above 1.
    Some(Figure::with_interval(Quantity::EarlyBird, value, (low.max(0.0), high.min(1.0))))
}
