//! The loop nest of regular exchanges: planes of rows. A row is one contiguous run of an array.
//!
//! WRF, MILC, NAS, SPECFEM3D's transpose and the FFT's gather all have this nest, at different sizes. The
//! inner loop over a run is replaced by copies of a size that the compiler knows, chosen once per plane. For
//! a run as short as three floats, a call of `memcpy` costs more than the copy.

use bytemuck::{Pod, cast_mut, cast_slice, cast_slice_mut};
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3, Ix2, Ix3, ShapeBuilder, StrideShape};

use crate::Loops;
use crate::copy_choice::{Copying, Runs, is_recent_intel};
use crate::rows::{NEIGHBOURS, pack_column, pack_rows, unpack_column, unpack_rows};
use crate::words::{Pair, fetch_to_write, join, of_words};

/// Runs of `length` elements of one array, `rows` of them per plane, in `planes` planes; all in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    /// Element at which the first run starts.
    pub start: usize,
    /// Elements of a run, at least 1.
    pub length: usize,
    /// Runs per plane, at least 1.
    pub rows: usize,
    /// Elements from one run of a plane to the next, at least `length`.
    pub row_stride: usize,
    pub planes: usize,
    /// Elements from one plane to the next.
    pub plane_stride: usize,
}

/// Runs of up to this many elements are not scattered with vectors of 32 bytes. Such stores cross cache line
/// boundaries more often, which costs more than it saves if the array is not in the innermost cache.
const NARROW: usize = 8;

/// Runs of this many elements are gathered with vectors of 32 bytes only on recent Intel processors, where
/// that takes 0.85 of the time. For runs of five doubles, which follow each other every 40 bytes, three in
/// eight such stores cross a cache line boundary, but only one in eight of 16 bytes.
const FIVE: usize = 5;

/// Runs of up to this many elements are copied with a size that the compiler knows, or with two overlapping
/// copies of such sizes. For longer ones the copy is chosen at run time.
const SHORT: usize = 16;

/// Elements by which places of the message are fetched ahead; 64 to 256 are alike.
const AHEAD: usize = 128;

/// The message of the check that a nest is a view of its array.
const WITHIN: &str = "all runs are in the array, and none in another";

impl Nest {
    /// One plane of runs.
    pub fn plane(start: usize, length: usize, rows: usize, row_stride: usize) -> Self {
        Self { start, length, rows, row_stride, planes: 1, plane_stride: 0 }
    }

    pub fn elements(&self) -> usize {
        self.length * self.rows * self.planes
    }

    /// Packs: all runs of `array`, one after the other.
    pub fn gather<T: Pod>(&self, array: &[T], packed: &mut [T]) {
        if self.length == 1 && (size_of::<T>(), align_of::<T>()) == (8, 8) {
            return self.gather_pairs(cast_slice(array), cast_slice_mut(packed));
        }
        if self.length == 1 {
            return self.pack_columns(array, packed);
        }
        if self.length > SHORT {
            return self.gather_long(array, packed);
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && (self.length != FIVE || is_recent_intel()) {
            // SAFETY: the processor has AVX2, as checked just above.
            return unsafe { self.gather_avx2(array, packed) };
        }
        self.gather_short::<_, false>(array, packed);
    }

    /// Unpacks: `packed` into all runs of `array`.
    pub fn scatter<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        if self.length == 1 {
            return self.unpack_columns(packed, array);
        }
        if self.length > SHORT {
            return self.scatter_long(packed, array);
        }
        #[cfg(target_arch = "x86_64")]
        if self.length > NARROW && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as checked just above.
            return unsafe { self.scatter_avx2(packed, array) };
        }
        self.scatter_short(packed, array);
    }

    /// Packs value by value, like the application's nest.
    pub fn pack<T: Pod>(&self, array: &[T], mut packed: &mut [T]) {
        if self.length == 1 {
            return self.pack_columns(array, packed);
        }
        let view = ArrayView3::from_shape(self.shape(), &array[self.start..]).expect(WITHIN);
        view.outer_iter().for_each(|plane| pack_rows(plane, &mut packed));
    }

    /// Unpacks value by value, like the application's nest.
    pub fn unpack<T: Pod>(&self, mut packed: &[T], array: &mut [T]) {
        if self.length == 1 {
            return self.unpack_columns(packed, array);
        }
        let mut view = ArrayViewMut3::from_shape(self.shape(), &mut array[self.start..]).expect(WITHIN);
        view.outer_iter_mut().for_each(|plane| unpack_rows(&mut packed, plane));
    }

    /// Packs runs of one element. Plain and tuned loops both call this function, because the time of two
    /// copies of the same loop can differ by a tenth.
    #[inline(never)]
    fn pack_columns<T: Pod>(&self, array: &[T], mut packed: &mut [T]) {
        let columns = ArrayView2::from_shape(self.columns(), &array[self.start..]).expect(WITHIN);
        columns.outer_iter().for_each(|column| pack_column(column, &mut packed));
    }

    /// Unpacks runs of one element, for the same reason a single function.
    #[inline(never)]
    fn unpack_columns<T: Pod>(&self, mut packed: &[T], array: &mut [T]) {
        let mut columns = ArrayViewMut2::from_shape(self.columns(), &mut array[self.start..]).expect(WITHIN);
        columns.outer_iter_mut().for_each(|column| unpack_column(&mut packed, column));
    }

    /// Runs of one element as an array of columns.
    fn columns(&self) -> StrideShape<Ix2> {
        (self.planes, self.rows).strides((self.plane_stride, self.row_stride))
    }

    /// The runs as a three-dimensional array with gaps.
    fn shape(&self) -> StrideShape<Ix3> {
        (self.planes, self.rows, self.length).strides((self.plane_stride, self.row_stride, 1))
    }

    /// Packs elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn pack_bytes(&self, loops: Loops, element_bytes: usize, array: &[u8], packed: &mut [u8]) {
        of_words!(element_bytes, Word => {
            let (array, packed) = (cast_slice::<u8, Word>(array), cast_slice_mut(packed));
            match loops {
                Loops::Plain => self.pack(array, packed),
                Loops::Tuned => self.gather(array, packed),
            }
        });
    }

    /// Unpacks elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn unpack_bytes(&self, loops: Loops, element_bytes: usize, packed: &[u8], array: &mut [u8]) {
        of_words!(element_bytes, Word => {
            let (packed, array) = (cast_slice::<u8, Word>(packed), cast_slice_mut(array));
            match loops {
                Loops::Plain => self.unpack(packed, array),
                Loops::Tuned => self.scatter(packed, array),
            }
        });
    }

    fn gather_long<T: Pod>(&self, array: &[T], packed: &mut [T]) {
        let [bytes, from_stride] = [self.length, self.row_stride].map(|elements| elements * size_of::<T>());
        let runs = Runs { bytes, to_stride: bytes, from_stride };
        let copying = Copying::chosen(bytes, self.rows * self.planes);
        for (plane, to) in packed.chunks_exact_mut(self.length * self.rows).enumerate() {
            let from = &array[self.start + plane * self.plane_stride..];
            runs.copy(copying, cast_slice_mut(to), cast_slice(from));
        }
    }

    fn scatter_long<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        let [bytes, to_stride] = [self.length, self.row_stride].map(|elements| elements * size_of::<T>());
        let runs = Runs { bytes, to_stride, from_stride: bytes };
        let copying = Copying::chosen(bytes, self.rows * self.planes);
        for (plane, from) in packed.chunks_exact(self.length * self.rows).enumerate() {
            let to = &mut array[self.start + plane * self.plane_stride..];
            runs.copy(copying, cast_slice_mut(to), cast_slice(from));
        }
    }

    /// Packs runs of one element of 8 bytes, each two by one store. If the array is in the second-level
    /// cache, that takes 0.9 of the time of single stores (Intel Xeon, Granite Rapids). Lines of `packed` are
    /// fetched ahead: if another process has read them, as a received message, that takes 0.6 of the time.
    fn gather_pairs(&self, array: &[f64], packed: &mut [f64]) {
        let stride = self.row_stride;
        for (plane, to) in packed.chunks_exact_mut(self.rows).enumerate() {
            let mut from = array[self.start + plane * self.plane_stride..].chunks(4 * stride);
            let (fours, rest) = to.as_chunks_mut::<4>();
            for (to, from) in fours.iter_mut().zip(&mut from) {
                fetch_to_write(to.as_ptr().wrapping_add(AHEAD));
                let [first, second] = cast_mut::<_, [Pair; 2]>(to);
                let from = [0, 1, 2, 3].map(|i| &from[i * stride]);
                join(first, from[0], from[1]);
                join(second, from[2], from[3]);
            }
            let from = from.flat_map(|last| last.iter().step_by(stride));
            rest.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }

    /// [`Nest::gather_short`], compiled for vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn gather_avx2<T: Pod>(&self, array: &[T], packed: &mut [T]) {
        self.gather_short::<_, true>(array, packed);
    }

    /// [`Nest::scatter_short`], compiled for vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn scatter_avx2<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        self.scatter_short(packed, array);
    }

    /// Packs short runs, with the vectors that the caller is compiled for: `WIDE` are those of 32 bytes.
    #[inline(always)]
    fn gather_short<T: Pod, const WIDE: bool>(&self, array: &[T], packed: &mut [T]) {
        for (plane, to) in packed.chunks_exact_mut(self.length * self.rows).enumerate() {
            let from = &array[self.start + plane * self.plane_stride..];
            let stride = self.row_stride;
            match self.length {
                2 => gather_fours::<2, T>(to, from, stride),
                3 => gather_fours::<3, T>(to, from, stride),
                4 => gather_fours::<4, T>(to, from, stride),
                FIVE if WIDE => gather_fives(to, from, stride, |to, from| {
                    copy_exact::<4, T>(to, from);
                    to[4] = from[4];
                }),
                FIVE => gather_fives(to, from, stride, copy_five),
                length => copy_runs(to.chunks_exact_mut(length).zip(from.chunks(stride)), length),
            }
        }
    }

    /// Unpacks short runs, with the vectors that the caller is compiled for.
    #[inline(always)]
    fn scatter_short<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        // As chunks, from which longer runs are copied faster: runs of 16 floats take 0.88 of the time (AMD
        // EPYC, Zen 3).
        if self.length > NARROW {
            for (plane, from) in packed.chunks_exact(self.length * self.rows).enumerate() {
                let to = array[self.start + plane * self.plane_stride..].chunks_mut(self.row_stride);
                copy_runs(to.zip(from.chunks_exact(self.length)), self.length);
            }
            return;
        }
        // Shorter runs as rows of a view, because the ends of chunks would have to be found. If the array is
        // in an outer cache, a loop with fewer instructions has more stores in flight.
        let mut view = ArrayViewMut3::from_shape(self.shape(), &mut array[self.start..]).expect(WITHIN);
        for (mut plane, from) in view.outer_iter_mut().zip(packed.chunks_exact(self.length * self.rows)) {
            let to = plane.outer_iter_mut().map(|row| row.into_slice().expect(NEIGHBOURS));
            copy_runs(to.zip(from.chunks_exact(self.length)), self.length);
        }
    }
}

/// The runs of `N` elements that begin `stride` elements apart.
#[inline(always)]
fn runs<'a, const N: usize, T>(from: &'a [T], stride: usize) -> impl FnMut() -> &'a [T; N] {
    let mut at = 0;
    move || {
        let run = from[at..].first_chunk::<N>().expect("a run is in the array");
        at += stride;
        run
    }
}

/// Gathers runs of `N` elements, four at a time, so that they can be written as whole vectors.
#[inline(always)]
fn gather_fours<const N: usize, T: Copy>(to: &mut [T], from: &[T], stride: usize) {
    let (to_runs, _) = to.as_chunks_mut::<N>();
    let (fours, rest) = to_runs.as_chunks_mut::<4>();
    let mut next = runs::<N, T>(from, stride);
    for four in fours {
        let from = [next(), next(), next(), next()];
        for (to, from) in four.iter_mut().zip(from) {
            // Element by element: the compiler then joins elements of neighbouring runs into vectors.
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }
    for to in rest {
        *to = *next();
    }
}

/// Gathers runs of [`FIVE`] elements one by one: four of them do not fill whole vectors, so that joining costs more.
#[inline(always)]
fn gather_fives<T: Copy>(to: &mut [T], from: &[T], stride: usize, copy: impl Fn(&mut [T], &[T])) {
    let mut next = runs::<FIVE, T>(from, stride);
    for to in to.as_chunks_mut::<FIVE>().0 {
        copy(to, next());
    }
}

/// Copies the first `length` elements of each (to, from), 2 to [`SHORT`], by the copy that fits that length.
#[inline(always)]
fn copy_runs<'a, T: Copy + 'a>(runs: impl Iterator<Item = (&'a mut [T], &'a [T])>, length: usize) {
    match length {
        2 => copy_each(runs, copy_exact::<2, T>),
        3 => copy_each(runs, copy_exact::<3, T>),
        4 => copy_each(runs, copy_exact::<4, T>),
        FIVE => copy_each(runs, copy_five),
        6 => copy_each(runs, copy_exact::<6, T>),
        7 => copy_each(runs, copy_exact::<7, T>),
        8 => copy_each(runs, copy_exact::<8, T>),
        _ => copy_each(runs, |to, from| copy_overlapping::<8, T>(&mut to[..length], &from[..length])),
    }
}

#[inline(always)]
fn copy_each<'a, T: 'a>(runs: impl Iterator<Item = (&'a mut [T], &'a [T])>, copy: impl Fn(&mut [T], &[T])) {
    for (to, from) in runs {
        copy(to, from);
    }
}

/// Copies a run of [`FIVE`] elements from its start, so that stores follow each other: the compiler would
/// turn a single copy into stores in any order.
#[inline(always)]
fn copy_five<T: Copy>(to: &mut [T], from: &[T]) {
    copy_exact::<2, T>(&mut to[..2], &from[..2]);
    copy_exact::<2, T>(&mut to[2..4], &from[2..4]);
    to[4] = from[4];
}

/// Copies a run of `N` elements.
#[inline(always)]
fn copy_exact<const N: usize, T: Copy>(to: &mut [T], from: &[T]) {
    let from = from.first_chunk::<N>().expect("a run of N");
    *to.first_chunk_mut::<N>().expect("a run of N") = *from;
}

/// Copies a run of `N` to `2 N` elements as its first `N` and its last `N`, which may overlap: without a loop
/// or a call.
#[inline(always)]
fn copy_overlapping<const N: usize, T: Copy>(to: &mut [T], from: &[T]) {
    let (first, last) = (from.first_chunk::<N>(), from.last_chunk::<N>());
    *to.first_chunk_mut::<N>().expect("a run of at least N") = *first.expect("a run of at least N");
    *to.last_chunk_mut::<N>().expect("a run of at least N") = *last.expect("a run of at least N");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The array element of each packed element, by three plain loops.
    fn elements_of(nest: &Nest) -> Vec<usize> {
        let mut elements = Vec::new();
        for plane in 0..nest.planes {
            for row in 0..nest.rows {
                for i in 0..nest.length {
                    elements.push(nest.start + plane * nest.plane_stride + row * nest.row_stride + i);
                }
            }
        }
        elements
    }

    /// Compares with plain loops; `element` makes an element of a number.
    fn check<T: Pod + PartialEq + std::fmt::Debug>(nest: &Nest, element: fn(usize) -> T) {
        let elements = elements_of(nest);
        // The last run ends with the array: no loop may read or write beyond it.
        let array: Vec<T> = (0..=*elements.last().unwrap()).map(element).collect();
        let expected: Vec<T> = elements.iter().map(|&e| element(e)).collect();
        let untouched = element(9999);
        let mut expected_array = vec![untouched; array.len()];
        elements.iter().for_each(|&e| expected_array[e] = array[e]);
        for pack in [Nest::gather::<T>, Nest::pack] {
            let mut packed = vec![untouched; nest.elements()];
            pack(nest, &array, &mut packed);
            assert_eq!(packed, expected, "{nest:?}");
        }
        for unpack in [Nest::scatter::<T>, Nest::unpack] {
            let mut scattered = vec![untouched; array.len()];
            unpack(nest, &expected, &mut scattered);
            assert_eq!(scattered, expected_array, "{nest:?}");
        }
    }

    #[test]
    fn every_run_length_is_gathered_and_scattered_as_by_plain_loops() {
        for length in (1..70).chain([512, 517]) {
            for (gap, rows) in [(0, 4), (1, 7), (5, 4), (5, 5)] {
                let row_stride = length + gap;
                let plane_stride = (rows + 1) * row_stride;
                let nest = Nest { start: 3, length, rows, row_stride, planes: 2, plane_stride };
                check(&nest, |i| i as u32);
                check(&nest, |i| i as u64);
            }
        }
    }
}
