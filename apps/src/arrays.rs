//! The arrays of an application, each at its own place in one allocation.
//!
//! One allocation, so that a one-sided window can cover all arrays and both ranks have the same displacements. A gap
//! of at least a page between two arrays, so that a stray write hits a guard and not a neighbour.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use datatypes::Element;
use ndarray::{ArrayView, ArrayViewMut, Dimension, Slice};

/// Bytes of a page, the unit of allocation and of the gaps.
pub const PAGE_BYTES: usize = 4096;

const LINE_BYTES: usize = 64;

/// Successive arrays start this many lines further into their page. Otherwise equal indices of different arrays would
/// all fall into the same cache sets. The number is odd, so that 64 arrays get 64 different lines.
const STAGGER_LINES: usize = 7;

/// The name of an array in its program, and the notation of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayName {
    /// The name without indices.
    pub name: Cow<'static, str>,
    /// The first index of each dimension of Fortran, the slowest first. `None` in C.
    pub firsts: Option<Vec<i64>>,
}

impl From<&'static str> for ArrayName {
    fn from(name: &'static str) -> Self {
        Self { name: name.into(), firsts: None }
    }
}

impl fmt::Display for ArrayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// One array: its name in the application, its element type and its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArraySpec {
    /// The application's name for it.
    pub name: ArrayName,
    /// The predefined type of an element.
    pub element: Element,
    /// Extent of each dimension, the slowest first (C order); the applications' Fortran indices read backwards.
    pub shape: Vec<usize>,
}

impl ArraySpec {
    /// An array of `shape`, slowest dimension first.
    pub fn new(name: impl Into<ArrayName>, element: Element, shape: &[usize]) -> Self {
        Self { name: name.into(), element, shape: shape.to_vec() }
    }

    /// An element as the program writes it: `u[2][3]`, or `u(3,2)` in Fortran. `None` if C has only one index.
    pub fn element_text(&self, element: usize) -> Option<String> {
        let (firsts, mut left, mut indices) = (&self.name.firsts, element, String::new());
        for (d, extent) in self.shape.iter().enumerate().rev() {
            let index = left % extent;
            left /= extent;
            match firsts {
                Some(firsts) if indices.is_empty() => indices = format!("({}", index as i64 + firsts[d]),
                Some(firsts) => indices += &format!(",{}", index as i64 + firsts[d]),
                None => indices.insert_str(0, &format!("[{index}]")),
            }
        }
        let end = if firsts.is_some() { ")" } else { "" };
        (self.shape.len() > 1 || firsts.is_some()).then(|| format!("{}{indices}{end}", self.name))
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> usize {
        self.elements() * self.element.size() as usize
    }
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// All arrays of a micro-app, zeroed when made.
pub struct Arrays {
    pages: Vec<Page>,
    specs: Vec<ArraySpec>,
    places: Vec<Range<usize>>,
}

impl Arrays {
    /// Bytes that [`Arrays::new`] will allocate for these arrays, gaps included; `None` beyond the address space.
    pub fn footprint_bytes(specs: &[ArraySpec]) -> Option<usize> {
        specs.iter().try_fold(PAGE_BYTES, |sum, spec| {
            let elements = spec.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n))?;
            let bytes = elements.checked_mul(spec.element.size() as usize)?;
            sum.checked_add(bytes)?.checked_add(3 * PAGE_BYTES)
        })
    }

    pub fn new(specs: Vec<ArraySpec>) -> Self {
        let (places, bytes) = places(&specs);
        Self { pages: bytemuck::zeroed_vec(bytes / PAGE_BYTES), specs, places }
    }

    /// The places of these arrays, without memory: it is empty. Allocating zeroed pages writes all of them.
    pub fn without_memory(specs: Vec<ArraySpec>) -> Self {
        let (places, _) = places(&specs);
        Self { pages: Vec::new(), specs, places }
    }

    /// The future [`Arrays::displacements`] of these arrays, without allocating them.
    pub fn displacements_of(specs: &[ArraySpec]) -> Vec<i64> {
        displacements(&places(specs).0)
    }

    pub fn specs(&self) -> &[ArraySpec] {
        &self.specs
    }

    /// The allocation with all arrays, gaps and guards.
    #[inline]
    pub fn memory(&self) -> &[u8] {
        bytemuck::cast_slice(&self.pages)
    }

    /// The allocation with all arrays, gaps and guards.
    #[inline]
    pub fn memory_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.pages)
    }

    /// Address of that allocation, valid for all of it as long as the arrays exist. An address taken from a
    /// slice would become invalid when the next slice is taken.
    pub fn base(&mut self) -> *mut u8 {
        self.pages.as_mut_ptr().cast()
    }

    /// The bytes of array `i` in [`Arrays::memory`].
    #[inline]
    pub fn place(&self, i: usize) -> Range<usize> {
        self.places[i].clone()
    }

    /// Bytes from the start of array 0 to the start of each array; array 0 comes first.
    pub fn displacements(&self) -> Vec<i64> {
        displacements(&self.places)
    }

    /// Exchanges the roles of arrays `a` and `b`, which must have the same type and shape; no byte moves.
    ///
    /// # Panics
    /// If the two have different types or shapes.
    pub fn swap(&mut self, a: usize, b: usize) {
        assert_eq!(
            (&self.specs[a].shape, self.specs[a].element),
            (&self.specs[b].shape, self.specs[b].element)
        );
        self.places.swap(a, b);
    }

    /// Array `i` as a slice in memory order. `T` is the array's element, or a part of it (a complex number is
    /// two floats).
    #[inline]
    pub fn slice<T: Pod>(&self, i: usize) -> &[T] {
        bytemuck::cast_slice(&self.memory()[self.places[i].clone()])
    }

    /// Array `i` as a slice in memory order.
    #[inline]
    pub fn slice_mut<T: Pod>(&mut self, i: usize) -> &mut [T] {
        let place = self.places[i].clone();
        bytemuck::cast_slice_mut(&mut self.memory_mut()[place])
    }

    /// Several arrays at once, for loops that write to all of them.
    ///
    /// # Panics
    /// If an array is asked for twice.
    #[inline]
    pub fn slices_mut<T: Pod, const N: usize>(&mut self, which: [usize; N]) -> [&mut [T]; N] {
        let places = which.map(|i| self.places[i].clone());
        let memory = self.memory_mut().get_disjoint_mut(places).expect("arrays are disjoint");
        memory.map(bytemuck::cast_slice_mut)
    }

    /// Array `i` as an n-dimensional view, slowest index first. `T` is the array's element, or all elements
    /// of its fastest dimensions (the components at a point). The view then lacks these dimensions.
    ///
    /// # Panics
    /// If the array has another number of dimensions.
    #[inline]
    pub fn view<T: Pod, D: Dimension>(&self, i: usize) -> ArrayView<'_, T, D> {
        ArrayView::from_shape(shape::<T, D>(&self.specs[i]), self.slice(i)).expect("the shape fits")
    }

    /// Like [`Arrays::view`], mutable.
    ///
    /// # Panics
    /// If the array has another number of dimensions.
    #[inline]
    pub fn view_mut<T: Pod, D: Dimension>(&mut self, i: usize) -> ArrayViewMut<'_, T, D> {
        ArrayViewMut::from_shape(shape::<T, D>(&self.specs[i]), self.slice_mut(i)).expect("the shape fits")
    }

    /// The indices `bounds` of array `i`, slowest dimension first, as such a view. In dimensions that the
    /// view lacks, `bounds` must cover all indices.
    ///
    /// # Panics
    /// If the array has another number of dimensions, or fewer indices.
    #[inline]
    pub(crate) fn block<T: Pod, D: Dimension>(
        &self,
        i: usize,
        bounds: &[Range<usize>],
    ) -> ArrayView<'_, T, D> {
        let mut view = self.view::<T, D>(i);
        view.slice_each_axis_inplace(|axis| Slice::from(bounds[axis.axis.index()].clone()));
        view
    }

    /// Like [`Arrays::block`], mutable.
    ///
    /// # Panics
    /// If the array has another number of dimensions, or fewer indices.
    #[inline]
    pub(crate) fn block_mut<T: Pod, D: Dimension>(
        &mut self,
        i: usize,
        bounds: &[Range<usize>],
    ) -> ArrayViewMut<'_, T, D> {
        let mut view = self.view_mut::<T, D>(i);
        view.slice_each_axis_inplace(|axis| Slice::from(bounds[axis.axis.index()].clone()));
        view
    }
}

/// The shape of an array for `ndarray`, without an allocation, because the loops of small messages use views too.
#[inline]
fn shape<T, D: Dimension>(spec: &ArraySpec) -> D {
    let (dimensions, value) = spec.shape.split_at(D::NDIM.unwrap_or(spec.shape.len()));
    let value_bytes = value.iter().product::<usize>() * spec.element.size() as usize;
    assert_eq!(size_of::<T>(), value_bytes, "bytes of a value of {}", spec.name);
    let mut shape = D::zeros(dimensions.len());
    shape.slice_mut().copy_from_slice(dimensions);
    shape
}

/// The place of each array in an allocation, and the bytes of the allocation.
fn places(specs: &[ArraySpec]) -> (Vec<Range<usize>>, usize) {
    let mut next = PAGE_BYTES; // a guard page before the first
    let mut places = Vec::with_capacity(specs.len());
    for (i, spec) in specs.iter().enumerate() {
        let start = next + (i * STAGGER_LINES % (PAGE_BYTES / LINE_BYTES)) * LINE_BYTES;
        places.push(start..start + spec.bytes());
        next = (start + spec.bytes() + PAGE_BYTES).next_multiple_of(PAGE_BYTES);
    }
    (places, next)
}

fn displacements(places: &[Range<usize>]) -> Vec<i64> {
    let first = places.first().map_or(0, |place| place.start as i64);
    places.iter().map(|place| place.start as i64 - first).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Ix2;

    use super::*;

    /// Arrays of different types and sizes. One of them is a multiple of a page, and one is empty.
    fn specs() -> Vec<ArraySpec> {
        vec![
            ArraySpec::new("a", Element::Double, &[3, 5]),
            ArraySpec::new("b", Element::Byte, &[PAGE_BYTES]),
            ArraySpec::new("c", Element::Float, &[0, 7]),
            ArraySpec::new("d", Element::DoubleComplex, &[1000]),
        ]
    }

    #[test]
    fn arrays_are_a_page_apart_and_a_page_from_the_ends() {
        let arrays = Arrays::new(specs());
        let mut free_from = 0;
        for (i, spec) in arrays.specs().iter().enumerate() {
            let place = arrays.place(i);
            assert_eq!(place.len(), spec.bytes());
            assert!(place.start >= free_from + PAGE_BYTES, "{} has no guard before it", spec.name);
            assert_eq!(place.start % LINE_BYTES, 0, "{} starts within a cache line", spec.name);
            free_from = place.end;
        }
        assert!(arrays.memory().len() >= free_from + PAGE_BYTES);
        assert_eq!(arrays.memory().as_ptr() as usize % PAGE_BYTES, 0);
    }

    #[test]
    fn the_footprint_covers_the_allocation_and_does_not_overflow() {
        assert!(Arrays::new(specs()).memory().len() <= Arrays::footprint_bytes(&specs()).unwrap());
        let huge = ArraySpec::new("huge", Element::Double, &[usize::MAX / 4, 1]);
        assert_eq!(Arrays::footprint_bytes(&[huge]), None);
    }

    #[test]
    fn what_is_written_to_one_array_is_in_its_place_and_nowhere_else() {
        let mut arrays = Arrays::new(specs());
        arrays.slice_mut::<u8>(1).fill(1);
        arrays.slice_mut::<[f64; 2]>(3).fill([-1.0, 1.0]);
        let [a, d] = arrays.slices_mut::<f64, 2>([0, 3]);
        (a[14], d[0]) = (2.0, 3.0);
        assert_eq!(arrays.view::<f64, Ix2>(0)[[2, 4]], 2.0);
        let outside: usize = arrays.memory().iter().filter(|&&byte| byte != 0).count();
        let inside: usize = (0..4).map(|i| arrays.slice::<u8>(i).iter().filter(|&&b| b != 0).count()).sum();
        assert_eq!(outside, inside);
        arrays.view_mut::<f64, Ix2>(0)[[0, 0]] = 4.0;
        assert_eq!(arrays.slice::<f64>(0)[0], 4.0);
    }

    #[test]
    fn swapped_arrays_keep_their_bytes() {
        let spec = |name| ArraySpec::new(name, Element::Int32, &[4]);
        let mut arrays = Arrays::new(vec![spec("there"), spec("back")]);
        arrays.slice_mut::<i32>(0).fill(7);
        arrays.swap(0, 1);
        assert_eq!((arrays.slice::<i32>(0), arrays.slice::<i32>(1)), (&[0; 4][..], &[7; 4][..]));
    }

    #[test]
    #[should_panic(expected = "disjoint")]
    fn one_array_cannot_be_borrowed_twice() {
        Arrays::new(specs()).slices_mut::<f64, 2>([0, 0]);
    }
}
