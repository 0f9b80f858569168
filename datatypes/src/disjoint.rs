//! Whether a layout has each byte once, told by its constructors: of however many segments.

use crate::{Constructor, Layout};

impl Layout {
    /// Whether its constructors show that no byte lies in two of its segments. Where they do not, the segments have to be
    /// looked at: lists may repeat a place, copies may reach into each other.
    pub fn is_plainly_disjoint(&self) -> bool {
        match self.constructor() {
            Constructor::Named { .. } => true,
            Constructor::Contiguous { count, child } => copies(child, *count).is_some(),
            Constructor::Vector { count, blocklength, stride, child } => {
                let stride = i128::from(*stride) * i128::from(child.extent());
                blocks(child, *count, *blocklength, stride)
            }
            Constructor::Hvector { count, blocklength, stride_bytes, child } => {
                blocks(child, *count, *blocklength, (*stride_bytes).into())
            }
            // Elements of an array lie where copies side by side would.
            Constructor::Subarray { child, .. } => copies(child, 2).is_some(),
            Constructor::Resized { child, .. } => child.is_plainly_disjoint(),
            Constructor::Indexed { .. }
            | Constructor::Hindexed { .. }
            | Constructor::IndexedBlock { .. }
            | Constructor::HindexedBlock { .. }
            | Constructor::Struct { .. } => false,
        }
    }
}

/// Bytes from the first to the last of so many copies side by side; `None` where they may share some.
fn copies(child: &Layout, count: i64) -> Option<i128> {
    let (extent, span) = (i128::from(child.extent()).abs(), i128::from(child.true_extent()));
    let are_apart = child.is_plainly_disjoint() && (count <= 1 || extent >= span);
    are_apart.then(|| i128::from(count.max(1) - 1) * extent + span)
}

/// Whether blocks of copies, a stride apart, share no byte.
fn blocks(child: &Layout, count: i64, blocklength: i64, stride_bytes: i128) -> bool {
    copies(child, blocklength).is_some_and(|span| count <= 1 || stride_bytes.abs() >= span)
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
        let mut told = 0;
        for seed in 0..20_000 {
            let layout = random_layout(seed, 4, 200);
            if layout.is_plainly_disjoint() {
                told += 1;
                assert!(is_disjoint(&layout), "{}", layout.to_text());
            }
        }
        assert!(told > 1000, "{told} of 20,000");
    }

    #[test]
    fn regular_layouts_of_any_size_are_known() {
        let parse = |text: &str| text.parse::<Layout>().unwrap();
        for text in [
            "vector(1000000000000, 1, 2, byte)",
            "vector(408, 5, 2050, double)",
            "hvector(10, 1, -1000, contiguous(5, double))",
        ] {
            assert!(parse(text).is_plainly_disjoint(), "{text}");
        }
        for text in ["vector(3, 2, 1, double)", "hvector(3, 1, 4, double)", "hvector(3, 1, 0, double)"] {
            assert!(!parse(text).is_plainly_disjoint() && !is_disjoint(&parse(text)), "{text}");
        }
    }
}
