//! Whether a layout contains each byte at most once, derived from its constructors, without listing its segments.

use crate::{Constructor, Layout, Part};

impl Layout {
    /// Whether its constructors show that no byte is in two of its segments. If not, the segments must be
    /// compared: lists may repeat a place, copies may overlap.
    pub fn is_plainly_disjoint(&self) -> bool {
        let Some(nest) = self.constructor().nest() else {
            return match self.constructor() {
                Constructor::Named { .. } => true,
                // Every element of the array has its own place.
                Constructor::Darray { child, .. } => {
                    child.is_plainly_disjoint() && child.true_extent() <= child.extent().saturating_abs()
                }
                _ => false,
            };
        };
        let Part { repeat, child, .. } = nest.first;
        // Bytes from the first to the last of the repeated part.
        let mut span = i128::from(child.true_extent());
        let mut is_apart = |(count, stride): (u64, i64)| {
            let (before, stride) = (span, i128::from(stride).abs());
            span += i128::from(count.saturating_sub(1)) * stride;
            count <= 1 || stride >= before
        };
        child.is_plainly_disjoint()
            && is_apart((repeat, child.extent()))
            && nest.loops.into_iter().all(is_apart)
    }
}
