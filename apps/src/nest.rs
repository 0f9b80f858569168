//! The loop nest of regular exchanges: planes of rows, a row being one contiguous run of an array.
//!
//! WRF, MILC, NAS, SPECFEM3D's transpose and the FFT's gather all have this nest, at different sizes. The inner
//! loop over a run is replaced by copies of a size that the compiler knows, chosen once per plane: where a run
//! is as short as three floats, a call of `memcpy` costs more than the copy.

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

impl Nest {
    /// One plane of runs.
    pub fn plane(start: usize, length: usize, rows: usize, row_stride: usize) -> Self {
        Self { start, length, rows, row_stride, planes: 1, plane_stride: 0 }
    }

    /// Elements in all runs.
    pub fn elements(&self) -> usize {
        self.length * self.rows * self.planes
    }

    /// Packs: every run of `array`, one behind the other.
    #[inline]
    pub fn gather<T: Copy>(&self, array: &[T], packed: &mut [T]) {
        for (plane, to) in packed.chunks_exact_mut(self.length * self.rows).enumerate() {
            let from = &array[self.start + plane * self.plane_stride..];
            copy_runs(to.chunks_exact_mut(self.length).zip(from.chunks(self.row_stride)), self.length);
        }
    }

    /// Unpacks: `packed` to every run of `array`.
    #[inline]
    pub fn scatter<T: Copy>(&self, packed: &[T], array: &mut [T]) {
        for (plane, from) in packed.chunks_exact(self.length * self.rows).enumerate() {
            let to = &mut array[self.start + plane * self.plane_stride..];
            copy_runs(to.chunks_mut(self.row_stride).zip(from.chunks_exact(self.length)), self.length);
        }
    }
}

/// Copies the first `length` elements of each (to, from), by the copy that suits that length.
#[inline]
fn copy_runs<'a, T: Copy + 'a>(runs: impl Iterator<Item = (&'a mut [T], &'a [T])>, length: usize) {
    match length {
        1 => runs.for_each(|(to, from)| to[0] = from[0]),
        2..4 => runs.for_each(|(to, from)| copy_overlapping::<2, T>(&mut to[..length], &from[..length])),
        4..8 => runs.for_each(|(to, from)| copy_overlapping::<4, T>(&mut to[..length], &from[..length])),
        8..16 => runs.for_each(|(to, from)| copy_overlapping::<8, T>(&mut to[..length], &from[..length])),
        16..=32 => runs.for_each(|(to, from)| copy_overlapping::<16, T>(&mut to[..length], &from[..length])),
        // From here on the C library's copy wins: it knows the processor's vectors.
        _ => runs.for_each(|(to, from)| to[..length].copy_from_slice(&from[..length])),
    }
}

/// Copies a run of `N` to `2 N` elements as its first `N` and its last `N`, which may overlap: no loop, no call.
#[inline(always)]
fn copy_overlapping<const N: usize, T: Copy>(to: &mut [T], from: &[T]) {
    let (first, last) = (from.first_chunk::<N>(), from.last_chunk::<N>());
    *to.first_chunk_mut::<N>().expect("a run of at least N") = *first.expect("a run of at least N");
    *to.last_chunk_mut::<N>().expect("a run of at least N") = *last.expect("a run of at least N");
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
        for length in 1..70 {
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
