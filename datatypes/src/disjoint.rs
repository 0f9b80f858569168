//! Whether a layout contains each byte at most once, derived from its constructors, without listing its segments.

use crate::{Constructor, Layout, Part};

impl Layout {
    /// Whether its constructors show that no byte is in two of its segments. If not, the segments must be compared: lists may
    /// repeat a place, copies may overlap.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::random_layout;

    /// The oracle: all segments, sorted.
    fn is_disjoint(layout: &Layout) -> bool {
        let mut all: Vec<_> = layout.segments().map(|segment| (segment.offset, segment.end())).collect();
        all.sort_unstable();
        all.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }

    #[test]
    fn results_are_right() {
        let mut found = 0;
        for seed in 0..20_000 {
            let layout = random_layout(seed, 4, 200);
            if layout.is_plainly_disjoint() {
                found += 1;
                assert!(is_disjoint(&layout), "{}", layout.to_text());
            }
        }
        assert!(found > 1000, "{found} of 20,000");
    }

    #[test]
    fn regular_layouts_of_any_size_are_known() {
        let parse = |text: &str| text.parse::<Layout>().unwrap();
        for text in [
            "vector(1000000000000, 1, 2, byte)",
            "vector(408, 5, 2050, double)",
            "hvector(10, 1, -1000, contiguous(5, double))",
            "darray(4, 1, [1000000000000, 7], [cyclic, block], [3, default], [2, 2], c, double)",
        ] {
            assert!(parse(text).is_plainly_disjoint(), "{text}");
        }
        for text in ["vector(3, 2, 1, double)", "hvector(3, 1, 4, double)", "hvector(3, 1, 0, double)"] {
            assert!(!parse(text).is_plainly_disjoint() && !is_disjoint(&parse(text)), "{text}");
        }
    }
}
