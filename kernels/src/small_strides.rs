//! Rows of short blocks at small distances. If the size and the distance are constants, the compiler copies
//! several blocks at once with shuffles of whole vectors.

use crate::block_copy::Exact;
use crate::loops::{Grid, block};

/// The shortest row, in blocks: for shorter ones the start of a vectorised loop costs more than it saves.
const SHORTEST: usize = 16;

/// Copies the blocks of `grid`, which have `B` bytes, if there is a loop for their distance. Returns whether there is.
///
/// # Safety
/// As for [`strided`](crate::loops::strided).
#[inline(always)]
pub(crate) unsafe fn rows<const B: usize, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    grid: &Grid,
) -> bool {
    macro_rules! by_stride {
        ($($stride:literal)*) => {
            match grid.inner.stride {
                _ if grid.packed_step != B || grid.inner.count < SHORTEST => return false,
                // SAFETY: guaranteed by the caller; the distance is the grid's, and larger than a block.
                $($stride if B < $stride => unsafe { rows_at::<B, $stride, PACK>(array, packed, grid) },)*
                _ => return false,
            }
        };
    }
    by_stride!(2 3 4 6 8 12 16 20 24 32 40 48 56 64);
    true
}

/// Copies the blocks of `grid`, which have `B` bytes and are `S` bytes apart.
///
/// # Safety
/// As for [`rows`].
#[inline(always)]
unsafe fn rows_at<const B: usize, const S: usize, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    grid: &Grid,
) {
    let (mut row, mut packed) = (array, packed);
    for _ in 0..grid.outer.count {
        for i in 0..grid.inner.count {
            let (array, packed) = (row.wrapping_add(i * S), packed.wrapping_add(i * B));
            // SAFETY: one of the caller's blocks.
            unsafe { block::<Exact<B>, PACK>(array, packed, B) };
        }
        row = row.wrapping_offset(grid.outer.stride);
        packed = packed.wrapping_add(grid.inner.count * B);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::Axis;

    #[test]
    fn rows_that_are_long_and_dense_have_a_loop() {
        let mut packed = [0_u8; 8 * SHORTEST];
        let mut has_loop = |count: usize, stride: isize, packed_step: usize| {
            let mut array = [1_u8; 64 * SHORTEST];
            let grid = Grid::row(Axis { count, stride }, packed_step);
            // SAFETY: both have room for the longest row at the largest distance that has a loop.
            unsafe { rows::<8, true>(array.as_mut_ptr(), packed.as_mut_ptr(), &grid) }
        };
        assert!([16, 24, 32, 40, 48, 56, 64].into_iter().all(|stride| has_loop(SHORTEST, stride, 8)));
        assert!(!has_loop(SHORTEST - 1, 16, 8), "too short");
        assert!(!has_loop(SHORTEST, 16, 16), "the blocks of a column of records");
        assert!([8, 4, -16, 17, 72].into_iter().all(|stride| !has_loop(SHORTEST, stride, 8)));
    }
}
