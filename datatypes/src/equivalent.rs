//! Other descriptions of a layout: the same type map by other constructors. What an application sends is the same, and a good
//! datatype engine needs as long for it.

use crate::{Layout, LayoutError};

/// A way to describe a type map anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equivalent {
    /// A list of runs (`MPI_Type_create_hindexed`).
    Hindexed,
    /// A structure of the same runs (`MPI_Type_create_struct`).
    Struct,
    /// One of it (`MPI_Type_contiguous`).
    Wrapped,
    /// With the bounds that it has (`MPI_Type_create_resized`).
    Resized,
    /// All of these around each other: a structure of one, resized, contiguous.
    Nested,
}

impl Equivalent {
    /// The layout, so described. Size, type map, bounds and extent are the same.
    ///
    /// # Errors
    /// A nesting deeper than [`crate::MAX_DEPTH`].
    pub fn of(self, layout: &Layout) -> Result<Layout, LayoutError> {
        let bounds = |layout: &Layout| (layout.lower_bound(), layout.extent());
        let (lower_bound, extent) = bounds(layout);
        let described = match self {
            Self::Hindexed => by_runs(layout, false)?,
            Self::Struct => by_runs(layout, true)?,
            Self::Wrapped => Layout::contiguous(1, layout)?,
            Self::Resized => Layout::resized(lower_bound, extent, layout)?,
            Self::Nested => {
                let inner = Layout::structure(&[1], &[0], std::slice::from_ref(layout))?;
                Layout::contiguous(1, &Layout::resized(lower_bound, extent, &inner)?)?
            }
        };
        if bounds(&described) == (lower_bound, extent) {
            return Ok(described);
        }
        Layout::resized(lower_bound, extent, &described)
    }
}

/// As a list of runs, or where types differ or it is asked for, a structure of them.
fn by_runs(layout: &Layout, as_struct: bool) -> Result<Layout, LayoutError> {
    let runs: Vec<_> = layout.runs().collect();
    let (lengths, displacements): (Vec<i64>, Vec<i64>) =
        runs.iter().map(|run| (run.count as i64, run.offset)).unzip();
    match runs.first() {
        Some(first) if !as_struct && runs.iter().all(|run| run.element == first.element) => {
            Layout::hindexed(&lengths, &displacements, &Layout::named(first.element))
        }
        _ => {
            let children: Vec<Layout> = runs.iter().map(|run| Layout::named(run.element)).collect();
            Layout::structure(&lengths, &displacements, &children)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Element;

    #[test]
    fn every_description_has_the_same_type_map_and_bounds() {
        let double = Layout::named(Element::Double);
        let vector = Layout::vector(4, 2, 3, &double).unwrap();
        let mixed =
            Layout::structure(&[1, 3], &[0, 8], &[double.clone(), Layout::named(Element::Int32)]).unwrap();
        let padded = Layout::resized(-8, 100, &vector).unwrap();
        let nothing = Layout::contiguous(0, &double).unwrap();
        for layout in [vector, mixed, padded, nothing, double] {
            for way in [
                Equivalent::Hindexed,
                Equivalent::Struct,
                Equivalent::Wrapped,
                Equivalent::Resized,
                Equivalent::Nested,
            ] {
                let other = way.of(&layout).unwrap();
                assert!(other.runs().eq(layout.runs()), "{way:?} of {layout:?}");
                assert_eq!((other.lower_bound(), other.extent()), (layout.lower_bound(), layout.extent()));
                assert_eq!(other.size(), layout.size());
            }
        }
    }
}
