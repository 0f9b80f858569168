//! A box of an array, described once: nested vectors or a subarray, the loop nest and the planes all come from it.

use std::ops::Range;
use std::sync::Arc;

use datatypes::{Element, Layout, LayoutError, Order};

use crate::face::FaceBlock;
use crate::nests::{Nests, loops, strides};
use crate::subarray::slowest_first;
use crate::{Arrays, Loops, Piece, WireOrder};

/// An application's own loops over a box of one of its arrays, value by value. Its message between two ranks and its
/// halo exchange share them, whole or as a thread's part. The indices are the sent ones of each dimension, the
/// slowest first. Dimensions within a value (the components at a point) have all their indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxLoops {
    /// Packs these indices of an array.
    pub pack: fn(&Arrays, usize, &[Range<usize>], &mut [u8]),
    /// Unpacks to these indices of an array.
    pub unpack: fn(&[u8], &mut Arrays, usize, &[Range<usize>]),
}

/// The constructors that describe a box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Description {
    /// The application's own, from the first element; for a box that is not cut.
    Own(Layout),
    /// Nested `vector` and `hvector`, from the first element.
    Vectors,
    /// `subarray` of the whole array; its lists have this order.
    Subarray(Order),
}

/// An array that boxes are taken from.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub array: usize,
    /// Type of its elements.
    pub element: Element,
    /// Extent of each dimension, the slowest first.
    pub shape: Vec<usize>,
    /// The number of fastest dimensions that the application treats as one value. Its vectors have a
    /// contiguous type for them: 1 for components at a point, else 0.
    pub value_dimensions: usize,
    pub description: Description,
    /// The application's loops over these boxes; `None` if no application has any.
    pub loops: Option<BoxLoops>,
}

impl Whole {
    /// The array with number `array`; see the fields.
    pub fn new(
        array: usize,
        element: Element,
        shape: &[usize],
        value_dimensions: usize,
        loops: Option<BoxLoops>,
        description: Description,
    ) -> Arc<Self> {
        Arc::new(Self { array, element, shape: shape.to_vec(), value_dimensions, description, loops })
    }

    /// An array whose boxes are nested vectors.
    pub fn vectors(
        array: usize,
        element: Element,
        shape: &[usize],
        value_dimensions: usize,
        loops: Option<BoxLoops>,
    ) -> Arc<Self> {
        Self::new(array, element, shape, value_dimensions, loops, Description::Vectors)
    }
}

/// The box of `whole` with the indices `bounds` in each dimension, sent in the array's order. It includes all
/// indices of a value.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    whole: Arc<Whole>,
    /// From the first index on, as many as are sent.
    bounds: Vec<Range<usize>>,
    /// From one index that is sent to the next.
    steps: Vec<usize>,
    nests: Nests,
}

impl Region {
    /// # Panics
    /// If the box is empty or leaves the array.
    pub fn new(whole: &Arc<Whole>, bounds: impl Into<Vec<Range<usize>>>) -> Self {
        Self::stepped(whole, bounds, vec![1; whole.shape.len()])
    }

    /// As [`Region::new`], but of every `steps`th index: from the first index of `bounds` on, as many as these are.
    ///
    /// # Panics
    /// If the box is empty or leaves the array.
    pub fn stepped(whole: &Arc<Whole>, bounds: impl Into<Vec<Range<usize>>>, steps: Vec<usize>) -> Self {
        let bounds = bounds.into();
        let last = |d: usize| bounds[d].start + (bounds[d].len() - 1) * steps[d];
        let inside = |d: usize| !bounds[d].is_empty() && last(d) < whole.shape[d];
        assert!((0..whole.shape.len()).all(inside), "{bounds:?} is not a box of {:?}", whole.shape);
        let mut of_values = whole.shape.len() - whole.value_dimensions..whole.shape.len();
        assert!(of_values.all(|d| bounds[d] == (0..whole.shape[d])), "{bounds:?} cuts a value");
        let mut region = Self { whole: whole.clone(), bounds, steps, nests: Nests::strided(0, &[], &[]) };
        region.nests = Nests::strided(region.first(), &region.strides(), &region.list(Range::len));
        region
    }

    /// Like [`Region::new`], as a block of a face.
    pub fn block(whole: &Arc<Whole>, bounds: impl Into<Vec<Range<usize>>>) -> Arc<dyn FaceBlock> {
        Arc::new(Self::new(whole, bounds))
    }

    /// Applies `of` to the indices of each dimension.
    fn list(&self, of: impl Fn(&Range<usize>) -> usize) -> Vec<usize> {
        self.bounds.iter().map(of).collect()
    }

    /// Elements of the array from one index that is sent of each dimension to the next.
    fn strides(&self) -> Vec<usize> {
        strides(&self.whole.shape).iter().zip(&self.steps).map(|(stride, step)| stride * step).collect()
    }

    /// Element of the array at which the box starts.
    fn first(&self) -> usize {
        strides(&self.whole.shape).iter().zip(&self.bounds).map(|(stride, at)| stride * at.start).sum()
    }

    fn element_bytes(&self) -> usize {
        self.whole.element.size() as usize
    }

    /// The application's loops, if `loops` are the plain ones.
    fn own_loops(&self, loops: Loops) -> Option<BoxLoops> {
        self.whole.loops.filter(|_| loops == Loops::Plain)
    }

    /// The slowest dimension with more than one index, unless that is within a value.
    fn slowest(&self) -> usize {
        let cut = &self.bounds[..self.bounds.len() - self.whole.value_dimensions];
        cut.iter().position(|indices| indices.len() > 1).unwrap_or(cut.len() - 1)
    }

    fn vectors(&self) -> Result<Layout, LayoutError> {
        let element = Layout::named(self.whole.element);
        let value: usize =
            self.whole.shape[self.whole.shape.len() - self.whole.value_dimensions..].iter().product();
        let (run, mut loops) = loops(&self.strides(), &self.list(Range::len));
        let base = match value {
            1 => element,
            _ => Layout::contiguous(value as i64, &element)?,
        };
        let units = |elements: usize| (elements / value) as i64;
        let Some(rows) = loops.pop() else { return Layout::contiguous(units(run), &base) };
        let plane = Layout::vector(rows.count as i64, units(run), units(rows.stride), &base)?;
        loops.iter().rev().try_fold(plane, |inner, around| {
            Layout::hvector(around.count as i64, 1, (around.stride * self.element_bytes()) as i64, &inner)
        })
    }

    fn subarray(&self, order: Order) -> Result<Layout, LayoutError> {
        let [sizes, subsizes, starts] =
            [self.whole.shape.clone(), self.list(Range::len), self.list(|indices| indices.start)]
                .map(|list| slowest_first(order, &list).into_iter().map(|n| n as i64).collect::<Vec<_>>());
        Layout::subarray(&sizes, &subsizes, &starts, order, &Layout::named(self.whole.element))
    }
}

impl FaceBlock for Region {
    fn planes(&self) -> usize {
        self.bounds[self.slowest()].len()
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let (mut bounds, slowest) = (self.bounds.clone(), self.slowest());
        let first = bounds[slowest].start;
        let first = first + range.start * self.steps[slowest];
        bounds[slowest] = first..first + range.len();
        Arc::new(Self::stepped(&self.whole, bounds, self.steps.clone()))
    }

    fn bytes(&self) -> usize {
        self.nests.elements() * self.element_bytes()
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let (origin, layout) = match &self.whole.description {
            Description::Own(layout) => (self.first(), Ok(layout.clone())),
            Description::Vectors => (self.first(), self.vectors()),
            // A subarray has no steps.
            Description::Subarray(order) if self.steps.iter().all(|&step| step == 1) => {
                (0, self.subarray(*order))
            }
            Description::Subarray(_) => (self.first(), self.vectors()),
        };
        vec![Piece {
            array: self.whole.array,
            origin_bytes: (origin * self.element_bytes()) as i64,
            layout: layout.expect("the box is in the array"),
        }]
    }

    fn pack(&self, loops: Loops, arrays: &Arrays, packed: &mut [u8]) {
        let array = self.whole.array;
        match self.own_loops(loops) {
            Some(own) => (own.pack)(arrays, array, &self.bounds, packed),
            None => self.nests.pack(loops, self.element_bytes(), arrays.slice(array), packed),
        }
    }

    fn unpack(&self, loops: Loops, packed: &[u8], arrays: &mut Arrays) {
        let array = self.whole.array;
        match self.own_loops(loops) {
            Some(own) => (own.unpack)(packed, arrays, array, &self.bounds),
            None => self.nests.unpack(loops, self.element_bytes(), packed, arrays.slice_mut(array)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_have_the_layouts_of_the_tests_of_one_direction() {
        // Shape and bounds, the slowest dimension first. NAS MG has d3, d2, d1 = 5, 6, 7; NAS LU ny, nx = 4, 3, with five components.
        for (shape, value_dimensions, bounds, expected) in [
            ([5, 6, 7], 0, [1..4, 1..5, 5..6], "hvector(3, 1, 336, vector(4, 1, 7, double))"),
            ([5, 6, 7], 0, [1..4, 4..5, 1..6], "vector(3, 5, 42, double)"),
            ([5, 6, 7], 0, [1..2, 1..5, 1..6], "vector(4, 5, 7, double)"),
            ([6, 5, 5], 1, [4..5, 1..4, 0..5], "contiguous(3, contiguous(5, double))"),
            ([6, 5, 5], 1, [1..5, 3..4, 0..5], "vector(4, 1, 5, contiguous(5, double))"),
            // WRF: all levels of three columns. Every dimension is a separate vector.
            ([6, 4, 9], 0, [1..6, 0..4, 2..5], "hvector(5, 1, 288, vector(4, 3, 9, double))"),
            // A whole array is one run.
            ([4, 5, 6], 0, [0..4, 0..5, 0..6], "contiguous(120, double)"),
        ] {
            let whole = Whole::vectors(0, Element::Double, &shape, value_dimensions, None);
            let layout = Region::new(&whole, bounds.clone()).vectors().unwrap();
            assert_eq!(layout, expected.parse().unwrap(), "{bounds:?} of {shape:?}");
        }
    }
}
