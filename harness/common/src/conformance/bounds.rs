//! Size and bounds that the standard allows for a type, given those of its children.
//!
//! Implementations differ on purpose in three points, so that several answers are accepted, and the answer of the MPI is used for the
//! layers above:
//!
//! - **Sticky bounds** (MPI-4.1, section 5.1.6): if only some members have explicit bounds, by `resized` or `subarray`, the others may
//!   count or not.
//! - **Rounding of the extent** (epsilon): to the alignment of the type map or of a member, from the extents of the members, or not
//!   at all.
//! - **Types without data**: anything, and members without data may count or not.

use datatypes::{Constructor, Layout};

/// The bounds of a type as reported by MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// `MPI_Type_size`.
    pub size: i64,
    /// `MPI_Type_get_extent`.
    pub lower_bound: i64,
    /// `MPI_Type_get_extent`.
    pub extent: i64,
    /// `MPI_Type_get_true_extent`.
    pub true_lower_bound: i64,
    /// `MPI_Type_get_true_extent`.
    pub true_extent: i64,
}

/// Part of a type: its bounds as those of its copies, and whether they are explicit.
struct PartBounds {
    lower: i64,
    upper: i64,
    is_explicit: bool,
    has_data: bool,
}

impl Reported {
    /// The expected report, with this project's bounds.
    pub fn of(layout: &Layout) -> Self {
        Self {
            size: layout.size() as i64,
            lower_bound: layout.lower_bound(),
            extent: layout.extent(),
            true_lower_bound: layout.true_lower_bound(),
            true_extent: layout.true_extent(),
        }
    }

    /// How the report about `layout`, whose children have the bounds that the MPI has reported, differs from everything that the
    /// standard allows; `None` if it is right.
    pub fn fault(&self, layout: &Layout) -> Option<String> {
        let expected = Self::of(layout);
        if self.size != expected.size {
            return Some(format!("MPI_Type_size gives {} instead of {}", self.size, expected.size));
        }
        if layout.size() == 0 {
            return None;
        }
        if (self.true_lower_bound, self.true_extent) != (expected.true_lower_bound, expected.true_extent) {
            return Some(format!(
                "MPI_Type_get_true_extent gives lower bound {}, extent {} instead of {}, {}",
                self.true_lower_bound, self.true_extent, expected.true_lower_bound, expected.true_extent
            ));
        }
        (!self.has_allowed_bounds(layout)).then(|| {
            format!(
                "MPI_Type_get_extent gives lower bound {}, extent {} instead of {}, {}",
                self.lower_bound, self.extent, expected.lower_bound, expected.extent
            )
        })
    }

    fn has_allowed_bounds(&self, layout: &Layout) -> bool {
        let expected = Self::of(layout);
        if (self.lower_bound, self.extent) == (expected.lower_bound, expected.extent) {
            return true;
        }
        match layout.constructor() {
            Constructor::Named { .. }
            | Constructor::Resized { .. }
            | Constructor::Subarray { .. }
            | Constructor::Darray { .. } => {
                return false;
            }
            _ => {}
        }
        let parts = parts(layout);
        let with_data: Vec<_> = parts.iter().filter(|part| part.has_data).collect();
        let all: Vec<_> = parts.iter().collect();
        let alignments = alignments(layout);
        [with_data, all].iter().any(|parts| {
            let explicit: Vec<_> = parts.iter().filter(|part| part.is_explicit).copied().collect();
            [&explicit, parts].into_iter().any(|parts| self.are_bounds_of(parts, layout, &alignments))
        })
    }

    /// Whether these are the bounds of these parts, with any accepted rounding.
    fn are_bounds_of(&self, parts: &[&PartBounds], layout: &Layout, alignments: &[i64]) -> bool {
        let Some(lower) = parts.iter().map(|part| part.lower).min() else { return false };
        let Some(upper) = parts.iter().map(|part| part.upper).max() else { return false };
        let found = self.lower_bound + self.extent;
        self.lower_bound == lower
            && [upper, layout.true_upper_bound()].into_iter().any(|upper| {
                found == upper
                    || alignments.iter().any(|alignment| {
                        found > upper && found - upper < *alignment && self.extent % alignment == 0
                    })
            })
    }

    /// The layout with the bounds that the MPI has reported; `None` if they are too large to be used.
    pub fn adopted(&self, layout: &Layout) -> Option<Layout> {
        if (self.lower_bound, self.extent) == (layout.lower_bound(), layout.extent()) {
            return Some(layout.clone());
        }
        Layout::resized(self.lower_bound, self.extent, layout).ok()
    }
}

/// Alignments to which extents may be rounded: those of the predefined types in it, those of members without data among them, and
/// their sizes.
fn alignments(layout: &Layout) -> Vec<i64> {
    let mut found = vec![layout.bounds().alignment as i64];
    if let Constructor::Named { element } = layout.constructor() {
        found.push(element.size() as i64);
    }
    layout.constructor().children().iter().for_each(|child| found.extend(alignments(child)));
    found
}

/// The parts of a type with their bounds. Parts without copies do not count.
fn parts(layout: &Layout) -> Vec<PartBounds> {
    let part = |part: datatypes::Part<'_>| {
        let copies = part.repeat as i64;
        (copies > 0).then(|| {
            let last = (copies - 1) * part.child.extent();
            PartBounds {
                lower: part.displacement + last.min(0) + part.child.lower_bound(),
                upper: part.displacement + last.max(0) + part.child.upper_bound(),
                is_explicit: part.child.bounds().markers.is_some(),
                has_data: part.child.size() > 0,
            }
        })
    };
    layout.constructor().parts().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use datatypes::unusual::unusual_layout;

    use super::*;

    fn fault(text: &str, lower_bound: i64, extent: i64) -> Option<String> {
        let layout: Layout = text.parse().unwrap();
        Reported { lower_bound, extent, ..Reported::of(&layout) }.fault(&layout)
    }

    #[test]
    fn our_own_bounds_are_right() {
        for seed in 0..5000 {
            let layout = unusual_layout(seed, 1 + (seed % 4) as u32);
            assert_eq!(Reported::of(&layout).fault(&layout), None, "{}", layout.to_text());
        }
    }

    #[test]
    fn what_the_standard_leaves_open_is_accepted_and_nothing_else() {
        let rounded = "struct([1, 1], [0, 4], [int32, byte])";
        for (extent, is_right) in [(5, true), (8, true), (6, false), (12, false), (4, false)] {
            assert_eq!(fault(rounded, 0, extent).is_none(), is_right, "{extent}");
        }
        let sticky = "struct([1, 1], [0, 8], [resized(0, 2, byte), int32])";
        for (lower, extent, is_right) in [(0, 2, true), (0, 12, true), (0, 9, false), (1, 2, false)] {
            assert_eq!(fault(sticky, lower, extent).is_none(), is_right, "{lower}, {extent}");
        }
        for (extent, is_right) in [(20, true), (16, false), (24, false)] {
            assert_eq!(fault("vector(3, 1, 2, int32)", 0, extent).is_none(), is_right, "{extent}");
        }
        assert!(fault("resized(0, 5, int32)", 0, 8).is_some());
        assert_eq!(fault("contiguous(0, int32)", 3, 8), None, "no data");
    }

    #[test]
    fn a_wrong_size_or_true_extent_is_a_fault() {
        let layout: Layout = "resized(-4, 16, int32)".parse().unwrap();
        let right = Reported::of(&layout);
        assert!(Reported { size: 8, ..right }.fault(&layout).unwrap().contains("gives 8 instead of 4"));
        assert!(Reported { true_extent: 3, ..right }.fault(&layout).unwrap().contains("true_extent"));
        assert_eq!(Reported { extent: 20, ..right }.adopted(&layout).unwrap().extent(), 20);
    }
}
