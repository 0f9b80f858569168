//! Gaps that nobody may touch, as far as AddressSanitizer can tell.
//!
//! What lies between a kernel's blocks may be another thread's, so it must be left alone: a kernel may not even write
//! back what was there. No comparison of bytes would show that. With `--cfg asan` the gaps count as foreign memory while
//! a program unpacks. AddressSanitizer knows 8 bytes at a time: it misses gaps before data within the same 8.

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
        // SAFETY: marks memory of the array and changes none; it is marked as usable again below, or by whoever
        // gets it next should `run` panic.
        unsafe { __asan_poison_memory_region(array[gap.clone()].as_ptr(), gap.len()) };
    }
    run(array);
    // SAFETY: as above.
    unsafe { __asan_unpoison_memory_region(array.as_ptr(), array.len()) };
}
