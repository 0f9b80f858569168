//! Gaps that kernels must not touch, as far as AddressSanitizer can detect it.
//!
//! The bytes between a kernel's blocks may belong to another thread. A kernel may not even write their old values
//! back, which a comparison of bytes would not show. With `--cfg asan` the gaps are marked as inaccessible while a
//! program unpacks. AddressSanitizer works in units of 8 bytes: it misses gaps before data within the same 8.

use std::ops::Range;

/// Calls `run(array)` while `gaps` of it are out of bounds.
#[cfg(not(asan))]
pub(super) fn around(array: &mut [u8], _gaps: &[Range<usize>], run: &mut dyn FnMut(&mut [u8])) {
    run(array);
}

/// Calls `run(array)` while `gaps` of it are out of bounds.
#[cfg(asan)]
pub(super) fn around(array: &mut [u8], gaps: &[Range<usize>], run: &mut dyn FnMut(&mut [u8])) {
    unsafe extern "C" {
        fn __asan_poison_memory_region(first: *const u8, bytes: usize);
        fn __asan_unpoison_memory_region(first: *const u8, bytes: usize);
    }
    for gap in gaps {
        // SAFETY: marks memory of the array and changes none. It is marked as usable again below, or by its
        // next owner if `run` panics.
        unsafe { __asan_poison_memory_region(array[gap.clone()].as_ptr(), gap.len()) };
    }
    run(array);
    // SAFETY: as above.
    unsafe { __asan_unpoison_memory_region(array.as_ptr(), array.len()) };
}
