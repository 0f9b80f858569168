//! The loop nest of regular exchanges: planes of rows, a row being one contiguous run of an array.
//!
//! WRF, MILC, NAS, SPECFEM3D's transpose and the FFT's gather all have this nest, at different sizes. The inner
//! loop over a run is replaced by copies of a size that the compiler knows, chosen once per plane: where a run
//! is as short as three floats, a call of `memcpy` costs more than the copy.

use std::ops::RangeInclusive;

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

/// Runs up to this many elements are not scattered with wide vectors: such stores straddle cache lines more often,
/// which costs more than it saves where the array is not in the innermost cache.
const NARROW: usize = 8;

/// Runs beyond this many elements are left to the C library's copy, which chooses its own vectors.
const LONGEST_INLINE: usize = 32;

/// Runs of so many bytes are copied inline again: from 2 to 4 KiB on, by processor, the C library's copy is the
/// instruction `rep movsb`, which takes a fifth longer for rows that do not begin at a cache line. Runs beyond these
/// are rare enough for its start to vanish.
const MOVSB: RangeInclusive<usize> = 2048..=16384;

impl Nest {
    /// One plane of runs.
    pub fn plane(start: usize, length: usize, rows: usize, row_stride: usize) -> Self {
        Self { start, length, rows, row_stride, planes: 1, plane_stride: 0 }
    }

    /// Elements in all runs.
    pub fn elements(&self) -> usize {
        self.length * self.rows * self.planes
    }

    /// Whether runs are copied without a call, where `shortest` elements are enough for wide vectors.
    fn is_inline<T>(&self, shortest: usize) -> bool {
        (shortest..=LONGEST_INLINE).contains(&self.length) || MOVSB.contains(&(self.length * size_of::<T>()))
    }

    /// Packs: every run of `array`, one behind the other.
    pub fn gather<T: Copy>(&self, array: &[T], packed: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if self.is_inline::<T>(2) && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, it was asked just now.
            return unsafe { self.gather_avx2(array, packed) };
        }
        self.gather_runs(array, packed);
    }

    /// Unpacks: `packed` to every run of `array`.
    pub fn scatter<T: Copy>(&self, packed: &[T], array: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if self.is_inline::<T>(NARROW + 1) && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, it was asked just now.
            return unsafe { self.scatter_avx2(packed, array) };
        }
        self.scatter_runs(packed, array);
    }

    /// As [`Nest::gather`], of elements of `element_bytes` bytes: a power of 2 up to 16.
    pub fn gather_bytes(&self, element_bytes: usize, array: &[u8], packed: &mut [u8]) {
        use bytemuck::{cast_slice, cast_slice_mut};
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
        use bytemuck::{cast_slice, cast_slice_mut};
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
    fn gather_avx2<T: Copy>(&self, array: &[T], packed: &mut [T]) {
        self.gather_runs(array, packed);
    }

    /// As [`Nest::scatter_runs`], compiled for vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn scatter_avx2<T: Copy>(&self, packed: &[T], array: &mut [T]) {
        self.scatter_runs(packed, array);
    }

    #[inline(always)]
    fn gather_runs<T: Copy>(&self, array: &[T], packed: &mut [T]) {
        for (plane, to) in packed.chunks_exact_mut(self.length * self.rows).enumerate() {
            let from = &array[self.start + plane * self.plane_stride..];
            let stride = self.row_stride;
            match self.length {
                1 => gather_column(to, from, stride),
                2 => gather_short::<2, T>(to, from, stride),
                3 => gather_short::<3, T>(to, from, stride),
                4 => gather_short::<4, T>(to, from, stride),
                5 => gather_plain::<5, T>(to, from, stride),
                // Less overlap than in `copy_runs`: measured faster here, and slower where the array is written.
                length @ 17..=24 => {
                    copy_each(to.chunks_exact_mut(length).zip(from.chunks(stride)), |to, from| {
                        copy_exact::<16, T>(to, from);
                        copy_exact::<8, T>(&mut to[length - 8..], &from[length - 8..length]);
                    })
                }
                length => copy_runs(to.chunks_exact_mut(length).zip(from.chunks(stride)), length),
            }
        }
    }

    #[inline(always)]
    fn scatter_runs<T: Copy>(&self, packed: &[T], array: &mut [T]) {
        for (plane, from) in packed.chunks_exact(self.length * self.rows).enumerate() {
            let to = &mut array[self.start + plane * self.plane_stride..];
            if self.length == 1 {
                let mut at = 0;
                for from in from {
                    to[at] = *from;
                    at += self.row_stride;
                }
            } else {
                copy_runs(to.chunks_mut(self.row_stride).zip(from.chunks_exact(self.length)), self.length);
            }
        }
    }
}

/// Gathers single elements, four at a time so that they can be written as whole vectors.
#[inline(always)]
fn gather_column<T: Copy>(to: &mut [T], from: &[T], stride: usize) {
    let (fours, rest) = to.as_chunks_mut::<4>();
    let mut at = 0;
    for four in fours {
        *four = [from[at], from[at + stride], from[at + 2 * stride], from[at + 3 * stride]];
        at += 4 * stride;
    }
    for to in rest {
        *to = from[at];
        at += stride;
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

/// Gathers runs of `N` elements one by one: where four of them fill more vectors than they are, joining costs more.
#[inline(always)]
fn gather_plain<const N: usize, T: Copy>(to: &mut [T], from: &[T], stride: usize) {
    let (runs, _) = to.as_chunks_mut::<N>();
    let mut at = 0;
    for to in runs {
        *to = *from[at..].first_chunk::<N>().expect("a run lies in the array");
        at += stride;
    }
}

/// Copies the first `length` elements of each (to, from), by the copy that suits that length.
#[inline(always)]
fn copy_runs<'a, T: Copy + 'a>(runs: impl Iterator<Item = (&'a mut [T], &'a [T])>, length: usize) {
    match length {
        2 => copy_each(runs, copy_exact::<2, T>),
        3 => copy_each(runs, copy_exact::<3, T>),
        4 => copy_each(runs, copy_exact::<4, T>),
        5 => copy_each(runs, copy_exact::<5, T>),
        6 => copy_each(runs, copy_exact::<6, T>),
        7 => copy_each(runs, copy_exact::<7, T>),
        8 => copy_each(runs, copy_exact::<8, T>),
        9..=16 => copy_each(runs, |to, from| copy_overlapping::<8, T>(&mut to[..length], &from[..length])),
        17..=32 => copy_each(runs, |to, from| copy_overlapping::<16, T>(&mut to[..length], &from[..length])),
        _ if MOVSB.contains(&(length * size_of::<T>())) => {
            copy_each(runs, |to, from| copy_long(&mut to[..length], &from[..length]))
        }
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
                let mut packed = vec![u32::MAX; nest.elements()];
                nest.gather(&array, &mut packed);
                assert_eq!(packed, elements.iter().map(|&e| e as u32).collect::<Vec<_>>(), "{nest:?}");

                let mut scattered = vec![u32::MAX; array.len()];
                nest.scatter(&packed, &mut scattered);
                let untouched = |i: usize| !elements.contains(&i);
                for (i, &value) in scattered.iter().enumerate() {
                    assert_eq!(value, if untouched(i) { u32::MAX } else { i as u32 }, "{nest:?}");
                }
            }
        }
    }
}
