//! Long blocks, copied while the next one is prefetched.
//!
//! If the data is not in the second-level cache, this is as fast as `rep movsb`, and up to a fifth faster if it is in no
//! cache (Zen 5). Otherwise `rep movsb` is up to a fifth faster.

use crate::block_copy::{BlockCopy, Long, copy_forward, prefetch};
use crate::loops::Grid;
use crate::select::{IndexedKernel, Pair, StridedKernel};

/// Blocks at `places`, `packed_step` bytes apart in the packed stream.
///
/// # Safety
/// As for [`loops::strided`](crate::loops::strided), for blocks of at least [`LONG`](crate::block_copy::LONG) bytes.
#[inline(always)]
unsafe fn copy<const PACK: bool>(
    places: impl Iterator<Item = *mut u8> + Clone,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
) {
    let mut packed = packed;
    let following = places.clone().skip(1).map(Some).chain([None]);
    for (place, next) in places.zip(following) {
        let (to, from) = if PACK { (packed, place) } else { (place, packed) };
        let prefetch_line = |next: *mut u8, at: usize| match PACK {
            true => prefetch(next.wrapping_add(at)),
            false => prefetch_to_write(next.wrapping_add(at)),
        };
        // SAFETY: one of the caller's blocks.
        unsafe {
            match next {
                Some(next) => copy_forward::<32>(to, from, bytes, |at| prefetch_line(next, at)),
                None => Long::<32>::copy(to, from, bytes),
            }
        }
        packed = packed.wrapping_add(packed_step);
    }
}

/// Like [`prefetch`], for a line that will be written.
#[inline(always)]
fn prefetch_to_write(line: *const u8) {
    // SAFETY: prefetching does not access memory as far as programs can see; processors with vectors of 32 bytes have the
    // instruction or ignore it.
    #[cfg(not(miri))]
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
    }
    #[cfg(miri)]
    let _ = line;
}

#[target_feature(enable = "avx2")]
unsafe fn strided_loop<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize, grid: Grid) {
    #[cfg(test)]
    crate::tests::ran::note(strided_loop::<PACK> as *const ());
    for i in 0..grid.outer.count {
        let row = array.wrapping_offset(i as isize * grid.outer.stride);
        let places = (0..grid.inner.count as isize).map(|i| row.wrapping_offset(i * grid.inner.stride));
        let packed = packed.wrapping_add(i * grid.inner.count * bytes);
        // SAFETY: guaranteed by the caller; blocks of records come in single rows.
        unsafe { copy::<PACK>(places, packed, bytes, grid.packed_step) }
    }
}

#[target_feature(enable = "avx2")]
unsafe fn indexed_loop<const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
    offsets: &[u32],
) {
    #[cfg(test)]
    crate::tests::ran::note(indexed_loop::<PACK> as *const ());
    let places = offsets.iter().map(|&offset| array.wrapping_add(offset as usize));
    // SAFETY: guaranteed by the caller.
    unsafe { copy::<PACK>(places, packed, bytes, packed_step) }
}

/// The kernels for blocks in loops.
pub(crate) fn strided() -> Pair<StridedKernel> {
    Pair { pack: strided_loop::<true>, unpack: strided_loop::<false> }
}

/// The kernels for blocks at listed places.
pub(crate) fn indexed() -> Pair<IndexedKernel> {
    Pair { pack: indexed_loop::<true>, unpack: indexed_loop::<false> }
}
