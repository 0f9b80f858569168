//! The loops over a box of an array with any number of dimensions: a nest, and further loops around it if a
//! nest has too few.

use crate::Loops;
use crate::nest::Nest;

/// A loop of `count` iterations, `stride` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub count: usize,
    /// Elements from one iteration to the next.
    pub stride: usize,
}

/// Elements from one index to the next, for each dimension of an array, the slowest dimension first.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|d| shape[d + 1..].iter().product()).collect()
}

/// Elements of a contiguous run of a box of `size` whose indices are so many elements apart in each dimension, and the loops around it,
/// outermost first, one for each dimension with more than one index. Both lists have the slowest dimension first.
pub(crate) fn loops(strides: &[usize], size: &[usize]) -> (usize, Vec<Loop>) {
    let (mut run, mut loops) = (1, Vec::new());
    for (&count, &stride) in size.iter().zip(strides).rev().filter(|&(&count, _)| count > 1) {
        if loops.is_empty() && stride == run {
            run *= count;
        } else {
            loops.push(Loop { count, stride });
        }
    }
    loops.reverse();
    (run, loops)
}

/// The box as a nest that is repeated. Dimensions without a gap between them are joined into one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nests {
    nest: Nest,
    /// Outermost first.
    around: Vec<Loop>,
}

impl Nests {
    /// The loops over a box of `size` from element `first` on, whose indices are so many elements apart in each dimension.
    pub fn strided(first: usize, strides: &[usize], size: &[usize]) -> Self {
        let (length, all) = loops(strides, size);
        let mut around: Vec<Loop> = Vec::with_capacity(all.len());
        for inner in all {
            match around.last_mut() {
                // Without a gap this is one longer loop.
                Some(outer) if outer.stride == inner.count * inner.stride => {
                    *outer = Loop { count: outer.count * inner.count, stride: inner.stride };
                }
                _ => around.push(inner),
            }
        }
        let rows = around.pop().unwrap_or(Loop { count: 1, stride: length });
        let planes = around.pop().unwrap_or(Loop { count: 1, stride: 0 });
        let nest = Nest {
            planes: planes.count,
            plane_stride: planes.stride,
            ..Nest::plane(first, length, rows.count, rows.stride)
        };
        Self { nest, around }
    }

    /// Each nest, in the order of the array.
    pub fn each(&self) -> impl Iterator<Item = Nest> + '_ {
        let times: usize = self.around.iter().map(|around| around.count).product();
        (0..times).map(|time| {
            let (mut rest, mut start) = (time, self.nest.start);
            for around in self.around.iter().rev() {
                start += rest % around.count * around.stride;
                rest /= around.count;
            }
            Nest { start, ..self.nest }
        })
    }

    pub fn elements(&self) -> usize {
        self.nest.elements() * self.around.iter().map(|around| around.count).product::<usize>()
    }

    /// Packs elements of `element_bytes` bytes.
    #[inline]
    pub fn pack(&self, loops: Loops, element_bytes: usize, array: &[u8], packed: &mut [u8]) {
        if self.around.is_empty() {
            return self.nest.pack_bytes(loops, element_bytes, array, packed);
        }
        let bytes = self.nest.elements() * element_bytes;
        for (nest, packed) in self.each().zip(packed.chunks_exact_mut(bytes)) {
            nest.pack_bytes(loops, element_bytes, array, packed);
        }
    }

    /// Unpacks elements of `element_bytes` bytes.
    #[inline]
    pub fn unpack(&self, loops: Loops, element_bytes: usize, packed: &[u8], array: &mut [u8]) {
        if self.around.is_empty() {
            return self.nest.unpack_bytes(loops, element_bytes, packed, array);
        }
        let bytes = self.nest.elements() * element_bytes;
        for (nest, packed) in self.each().zip(packed.chunks_exact(bytes)) {
            nest.unpack_bytes(loops, element_bytes, packed, array);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// The loops over the indices `bounds` of an array of `shape`; both lists with the slowest dimension first.
    fn nests(shape: &[usize], bounds: &[Range<usize>]) -> Nests {
        let strides = strides(shape);
        let first = strides.iter().zip(bounds).map(|(stride, at)| stride * at.start).sum();
        Nests::strided(first, &strides, &bounds.iter().map(Range::len).collect::<Vec<_>>())
    }

    #[test]
    fn dimensions_without_a_gap_are_one_loop() {
        // WRF: all levels of three columns.
        let of_planes = nests(&[6, 4, 9], &[1..6, 0..4, 2..5]);
        assert_eq!(of_planes.each().collect::<Vec<_>>(), [Nest::plane(36 + 2, 3, 20, 9)]);
        let whole = nests(&[4, 5, 6], &[0..4, 0..5, 0..6]);
        assert_eq!(whole.each().collect::<Vec<_>>(), [Nest::plane(0, 120, 1, 120)]);
    }

    #[test]
    fn what_a_nest_has_too_few_loops_for_is_repeated_in_the_order_of_the_array() {
        let (shape, bounds) = ([3, 4, 5, 6, 7], [1..3, 1..3, 2..5, 3..5, 4..6]);
        let all = nests(&shape, &bounds);
        let starts: Vec<usize> = all.each().map(|nest| nest.start).collect();
        let strides = strides(&shape);
        let first: usize = strides.iter().zip(bounds).map(|(stride, at)| stride * at.start).sum();
        assert_eq!(starts, [0, 1, 2, 3].map(|i| first + i / 2 * strides[0] + i % 2 * strides[1]));
        assert_eq!(all.elements(), 2 * 2 * 3 * 2 * 2);
    }
}
