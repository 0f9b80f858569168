//! The loop nest of regular exchanges: planes of rows, a row being one contiguous run of an array.
//!
//! WRF, MILC, NAS, SPECFEM3D's transpose and the FFT's gather all have this nest, at different sizes. The inner
//! loop over a run is replaced by copies of a size that the compiler knows, chosen once per plane: where a run
//! is as short as three floats, a call of `memcpy` costs more than the copy.

use std::ops::RangeInclusive;
#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut3, Ix3, ShapeBuilder, StrideShape};

use crate::rows::{pack_column, pack_rows, unpack_column, unpack_rows};

/// Runs of `length` elements of one array, `rows` of them in a plane, `planes` times; all in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nest {
    /// Element at which the first run starts.
    pub start: usize,
    /// Elements of a run, at least 1.
    pub length: usize,
    /// Runs of a plane, at least 1.
    pub rows: usize,
    /// Elements from one run of a plane to the next, at least `length`.
    pub row_stride: usize,
    /// Number of planes.
    pub planes: usize,
    /// Elements from one plane to the next.
    pub plane_stride: usize,
}

/// Runs up to this many elements are not scattered with vectors of 32 bytes: such stores straddle cache lines more often,
/// which costs more than it saves where the array is not in the innermost cache.
const NARROW: usize = 8;

/// Runs up to this many elements are copied as their first and their last part, with vectors of 32 bytes. For longer ones
/// vectors of 16 bytes are faster: a buffer begins at a multiple of 16, so that none of their stores straddles a line.
const OVERLAPPING: usize = 16;

/// Runs of so many bytes are scattered by the C library's copy, which writes whole lines where it can.
const SCATTERED_INLINE_BYTES: usize = 256;

/// Runs of so many bytes are copied inline where the processor has no fast `rep movsb`: from 2 to 4 KiB on, by processor,
/// the C library's copy is that instruction, which there takes a fifth longer for rows that do not begin at a cache line.
/// Runs beyond these are rare enough for its start to vanish.
const MOVSB: RangeInclusive<usize> = 2048..=16384;

/// Whether the processor says that its `rep movsb` is fast for short runs, too (FSRM: leaf 7, EDX, bit 4); the standard
/// library has no question for that. Asked once: in a virtual machine the answer takes microseconds.
#[cfg(target_arch = "x86_64")]
fn has_fast_rep_movsb() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        // SAFETY: every processor of 64 bits has the instruction. Newer compilers call it safe.
        #[allow(unused_unsafe)]
        unsafe {
            __cpuid(0).eax >= 7 && __cpuid_count(7, 0).edx & (1 << 4) != 0
        }
    });
    *ANSWER
}

/// Why a nest is a view of its array.
const WITHIN: &str = "all runs lie in the array, and none in another";

impl Nest {
    /// One plane of runs.
    pub fn plane(start: usize, length: usize, rows: usize, row_stride: usize) -> Self {
        Self { start, length, rows, row_stride, planes: 1, plane_stride: 0 }
    }

    /// Elements in all runs.
    pub fn elements(&self) -> usize {
        self.length * self.rows * self.planes
    }

    /// Whether runs are copied with vectors of 32 bytes, where `shortest` elements are enough for them.
    #[cfg(target_arch = "x86_64")]
    fn is_wide<T>(&self, shortest: usize) -> bool {
        let is_short = (shortest..=OVERLAPPING).contains(&self.length);
        let is_long = MOVSB.contains(&(self.length * size_of::<T>())) && !has_fast_rep_movsb();
        (is_short || is_long) && is_x86_feature_detected!("avx2")
    }

    /// Whether runs of some length below a limit are copied with vectors of 16 bytes.
    fn is_inline<T>(&self, is_wide: bool, limit_bytes: usize) -> bool {
        let bytes = self.length * size_of::<T>();
        !is_wide && self.length > OVERLAPPING && (32..limit_bytes).contains(&bytes)
    }

    /// Packs: every run of `array`, one behind the other.
    pub fn gather<T: Pod>(&self, array: &[T], mut packed: &mut [T]) {
        if self.length == 1 {
            let shape = (self.planes, self.rows).strides((self.plane_stride, self.row_stride));
            let columns = ArrayView2::from_shape(shape, &array[self.start..]);
            for column in columns.expect(WITHIN).outer_iter() {
                pack_column(column, &mut packed);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if self.is_wide::<T>(2) {
            // SAFETY: the processor has AVX2, it was asked just now.
            return unsafe { self.gather_avx2(array, packed) };
        }
        self.gather_runs(array, packed, false);
    }

    /// Unpacks: `packed` to every run of `array`.
    pub fn scatter<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide::<T>(NARROW + 1) {
            // SAFETY: the processor has AVX2, it was asked just now.
            return unsafe { self.scatter_avx2(packed, array) };
        }
        self.scatter_runs(packed, array, false);
    }

    /// Packs value by value: the nest as the application has it.
    pub fn pack<T: Pod>(&self, array: &[T], mut packed: &mut [T]) {
        let view = ArrayView3::from_shape(self.shape(), &array[self.start..]).expect(WITHIN);
        for plane in view.outer_iter() {
            match self.length {
                1 => pack_column(plane.column(0), &mut packed),
                _ => pack_rows(plane, &mut packed),
            }
        }
    }

    /// Unpacks value by value: the nest as the application has it.
    pub fn unpack<T: Pod>(&self, mut packed: &[T], array: &mut [T]) {
        let mut view = ArrayViewMut3::from_shape(self.shape(), &mut array[self.start..]).expect(WITHIN);
        for mut plane in view.outer_iter_mut() {
            match self.length {
                1 => unpack_column(&mut packed, plane.column_mut(0)),
                _ => unpack_rows(&mut packed, plane),
            }
        }
    }

    /// The runs as an array of three dimensions with gaps.
    fn shape(&self) -> StrideShape<Ix3> {
        (self.planes, self.rows, self.length).strides((self.plane_stride, self.row_stride, 1))
    }

    /// As [`Nest::pack`], of elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn pack_bytes(&self, element_bytes: usize, array: &[u8], packed: &mut [u8]) {
        match element_bytes {
            1 => self.pack::<u8>(array, packed),
            2 => self.pack::<u16>(cast_slice(array), cast_slice_mut(packed)),
            4 => self.pack::<u32>(cast_slice(array), cast_slice_mut(packed)),
            8 => self.pack::<u64>(cast_slice(array), cast_slice_mut(packed)),
            _ => self.pack::<[u64; 2]>(cast_slice(array), cast_slice_mut(packed)),
        }
    }

    /// As [`Nest::unpack`], of elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn unpack_bytes(&self, element_bytes: usize, packed: &[u8], array: &mut [u8]) {
        match element_bytes {
            1 => self.unpack::<u8>(packed, array),
            2 => self.unpack::<u16>(cast_slice(packed), cast_slice_mut(array)),
            4 => self.unpack::<u32>(cast_slice(packed), cast_slice_mut(array)),
            8 => self.unpack::<u64>(cast_slice(packed), cast_slice_mut(array)),
            _ => self.unpack::<[u64; 2]>(cast_slice(packed), cast_slice_mut(array)),
        }
    }

    /// As [`Nest::gather`], of elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn gather_bytes(&self, element_bytes: usize, array: &[u8], packed: &mut [u8]) {
        match element_bytes {
            1 => self.gather::<u8>(array, packed),
            2 => self.gather::<u16>(cast_slice(array), cast_slice_mut(packed)),
            4 => self.gather::<u32>(cast_slice(array), cast_slice_mut(packed)),
            8 => self.gather::<u64>(cast_slice(array), cast_slice_mut(packed)),
            _ => self.gather::<[u64; 2]>(cast_slice(array), cast_slice_mut(packed)),
        }
    }

    /// As [`Nest::scatter`], of elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn scatter_bytes(&self, element_bytes: usize, packed: &[u8], array: &mut [u8]) {
        match element_bytes {
            1 => self.scatter::<u8>(packed, array),
            2 => self.scatter::<u16>(cast_slice(packed), cast_slice_mut(array)),
            4 => self.scatter::<u32>(cast_slice(packed), cast_slice_mut(array)),
            8 => self.scatter::<u64>(cast_slice(packed), cast_slice_mut(array)),
            _ => self.scatter::<[u64; 2]>(cast_slice(packed), cast_slice_mut(array)),
        }
    }

    /// As [`Nest::gather_runs`], compiled for vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn gather_avx2<T: Pod>(&self, array: &[T], packed: &mut [T]) {
        self.gather_runs(array, packed, true);
    }

    /// As [`Nest::scatter_runs`], compiled for vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn scatter_avx2<T: Pod>(&self, packed: &[T], array: &mut [T]) {
        self.scatter_runs(packed, array, true);
    }

    /// Packs; `is_wide` where vectors of 32 bytes are meant, which the caller is compiled for.
    #[inline(always)]
    fn gather_runs<T: Pod>(&self, array: &[T], packed: &mut [T], is_wide: bool) {
        for (plane, to) in packed.chunks_exact_mut(self.length * self.rows).enumerate() {
            let from = &array[self.start + plane * self.plane_stride..];
            let stride = self.row_stride;
            match self.length {
                2 => gather_short::<2, T>(to, from, stride),
                3 => gather_short::<3, T>(to, from, stride),
                4 => gather_short::<4, T>(to, from, stride),
                5 => gather_fives(to, from, stride),
                length if self.is_inline::<T>(is_wide, *MOVSB.start()) => {
                    copy_each(to.chunks_exact_mut(length).zip(from.chunks(stride)), |to, from| {
                        copy_narrow(cast_slice_mut(to), cast_slice(&from[..length]));
                    });
                }
                length => copy_runs(to.chunks_exact_mut(length).zip(from.chunks(stride)), length, is_wide),
            }
        }
    }

    /// Unpacks; `is_wide` as in [`Nest::gather_runs`].
    #[inline(always)]
    fn scatter_runs<T: Pod>(&self, packed: &[T], array: &mut [T], is_wide: bool) {
        for (plane, from) in packed.chunks_exact(self.length * self.rows).enumerate() {
            let to = &mut array[self.start + plane * self.plane_stride..];
            if self.length == 1 {
                let mut at = 0;
                for from in from {
                    to[at] = *from;
                    at += self.row_stride;
                }
            } else if self.is_inline::<T>(is_wide, SCATTERED_INLINE_BYTES) {
                let runs = to.chunks_mut(self.row_stride).zip(from.chunks_exact(self.length));
                copy_each(runs, |to, from| {
                    copy_narrow(cast_slice_mut(&mut to[..self.length]), cast_slice(from));
                });
            } else {
                let runs = to.chunks_mut(self.row_stride).zip(from.chunks_exact(self.length));
                copy_runs(runs, self.length, is_wide);
            }
        }
    }
}

/// Gathers runs of `N` elements, four at a time so that they can be written as whole vectors.
#[inline(always)]
fn gather_short<const N: usize, T: Copy>(to: &mut [T], from: &[T], stride: usize) {
    let (runs, _) = to.as_chunks_mut::<N>();
    let (fours, rest) = runs.as_chunks_mut::<4>();
    let mut at = 0;
    let mut next = || {
        let run = from[at..].first_chunk::<N>().expect("a run lies in the array");
        at += stride;
        run
    };
    for four in fours {
        let from = [next(), next(), next(), next()];
        for (to, from) in four.iter_mut().zip(from) {
            // Element by element: the compiler then joins elements of neighbouring runs to vectors.
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
    }
    for to in rest {
        *to = *next();
    }
}

/// Gathers runs of five elements one by one: four of them fill more vectors than they are, so that joining costs more.
/// Each from its start on, so that all stores follow each other.
#[inline(always)]
fn gather_fives<T: Copy>(to: &mut [T], from: &[T], stride: usize) {
    let (runs, _) = to.as_chunks_mut::<5>();
    for (to, from) in runs.iter_mut().zip(from.chunks(stride)) {
        let from = from.first_chunk::<5>().expect("a run lies in the array");
        copy_exact::<4, T>(&mut to[..4], &from[..4]);
        to[4] = from[4];
    }
}

/// Copies the first `length` elements of each (to, from), by the copy that suits that length: long ones with vectors
/// of 32 bytes where `is_wide`, else by the C library.
#[inline(always)]
fn copy_runs<'a, T: Copy + 'a>(
    runs: impl Iterator<Item = (&'a mut [T], &'a [T])>,
    length: usize,
    is_wide: bool,
) {
    match length {
        2 => copy_each(runs, copy_exact::<2, T>),
        3 => copy_each(runs, copy_exact::<3, T>),
        4 => copy_each(runs, copy_exact::<4, T>),
        5 => copy_each(runs, copy_exact::<5, T>),
        6 => copy_each(runs, copy_exact::<6, T>),
        7 => copy_each(runs, copy_exact::<7, T>),
        8 => copy_each(runs, copy_exact::<8, T>),
        9..=OVERLAPPING => {
            copy_each(runs, |to, from| copy_overlapping::<8, T>(&mut to[..length], &from[..length]))
        }
        _ if is_wide => copy_each(runs, |to, from| copy_long(&mut to[..length], &from[..length])),
        _ => copy_each(runs, |to, from| to[..length].copy_from_slice(&from[..length])),
    }
}

#[inline(always)]
fn copy_each<'a, T: 'a>(runs: impl Iterator<Item = (&'a mut [T], &'a [T])>, copy: impl Fn(&mut [T], &[T])) {
    for (to, from) in runs {
        copy(to, from);
    }
}

/// Copies a run of `N` elements.
#[inline(always)]
fn copy_exact<const N: usize, T: Copy>(to: &mut [T], from: &[T]) {
    let from = from.first_chunk::<N>().expect("a run of N");
    *to.first_chunk_mut::<N>().expect("a run of N") = *from;
}

/// Copies a run of `N` to `2 N` elements as its first `N` and its last `N`, which may overlap: no loop, no call.
#[inline(always)]
fn copy_overlapping<const N: usize, T: Copy>(to: &mut [T], from: &[T]) {
    let (first, last) = (from.first_chunk::<N>(), from.last_chunk::<N>());
    *to.first_chunk_mut::<N>().expect("a run of at least N") = *first.expect("a run of at least N");
    *to.last_chunk_mut::<N>().expect("a run of at least N") = *last.expect("a run of at least N");
}

/// Copies a run of at least 32 bytes in pairs of narrow vectors; the last pair may overlap.
#[inline(always)]
fn copy_narrow(to: &mut [u8], from: &[u8]) {
    // Two copies: of one alone the compiler would make a call of `memcpy` again.
    let copy_pair = |to: &mut [u8; 32], from: &[u8; 32]| {
        copy_exact::<16, u8>(&mut to[..16], &from[..16]);
        copy_exact::<16, u8>(&mut to[16..], &from[16..]);
    };
    let pairs = to.as_chunks_mut::<32>().0.iter_mut().zip(from.as_chunks::<32>().0);
    pairs.for_each(|(to, from)| copy_pair(to, from));
    copy_pair(
        to.last_chunk_mut().expect("a run of at least 32"),
        from.last_chunk().expect("a run of at least 32"),
    );
}

/// Copies a run of some KiB in pairs of wide copies, to whole cache lines but for its ends: a line that is written in two
/// parts costs two writes.
#[inline(always)]
fn copy_long<T: Copy>(to: &mut [T], from: &[T]) {
    const LINE_BYTES: usize = 64;
    *to.first_chunk_mut::<16>().expect("a run of at least 16") = *from.first_chunk::<16>().expect("as long");
    let first = to.as_ptr().align_offset(LINE_BYTES).min(16);
    let (to_chunks, _) = to[first..].as_chunks_mut::<16>();
    for (to, from) in to_chunks.iter_mut().zip(from[first..].as_chunks::<16>().0) {
        // Two copies: of one alone the compiler would make a call of `memcpy` again.
        copy_exact::<8, T>(&mut to[..8], &from[..8]);
        copy_exact::<8, T>(&mut to[8..], &from[8..]);
    }
    *to.last_chunk_mut::<16>().expect("a run of at least 16") = *from.last_chunk::<16>().expect("as long");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element of the array at which each packed element lies, by three plain loops.
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

    #[test]
    fn every_run_length_is_gathered_and_scattered_as_by_plain_loops() {
        for length in (1..70).chain([512, 517]) {
            for gap in [0, 1, 5] {
                let row_stride = length + gap;
                let nest =
                    Nest { start: 3, length, rows: 4, row_stride, planes: 2, plane_stride: 5 * row_stride };
                let elements = elements_of(&nest);
                // The last run ends with the array: no loop may look further.
                let array: Vec<u32> = (0..=*elements.last().unwrap() as u32).collect();
                let expected: Vec<u32> = elements.iter().map(|&e| e as u32).collect();
                for pack in [Nest::gather::<u32>, Nest::pack] {
                    let mut packed = vec![u32::MAX; nest.elements()];
                    pack(&nest, &array, &mut packed);
                    assert_eq!(packed, expected, "{nest:?}");
                }
                let untouched = |i: usize| !elements.contains(&i);
                for unpack in [Nest::scatter::<u32>, Nest::unpack] {
                    let mut scattered = vec![u32::MAX; array.len()];
                    unpack(&nest, &expected, &mut scattered);
                    for (i, &value) in scattered.iter().enumerate() {
                        assert_eq!(value, if untouched(i) { u32::MAX } else { i as u32 }, "{nest:?}");
                    }
                }
            }
        }
    }
}
