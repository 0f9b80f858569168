//! Single values at listed places, by the processor's instruction for gathering.

use std::arch::x86_64::{
    _mm256_loadu_si256, _mm256_storeu_si256, _mm512_cvtepu32_epi64, _mm512_i64gather_epi32,
};

use crate::block_copy::Exact;
use crate::loops;

/// Values that one instruction copies.
const AT_ONCE: usize = 8;

/// Packs values of 4 bytes.
#[target_feature(enable = "avx512f,avx512vl")]
pub(crate) unsafe fn words(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
    offsets: &[u32],
) {
    #[cfg(test)]
    crate::tests::ran::note(words as *const ());
    let (many, rest) = match packed_step == bytes {
        true => offsets.as_chunks::<AT_ONCE>(),
        false => (&[][..], offsets),
    };
    let mut packed = packed;
    for offsets in many {
        // SAFETY: eight of the caller's values.
        unsafe {
            // Numbers of 64 bits, because offsets of 32 bits would be signed.
            let places = _mm512_cvtepu32_epi64(_mm256_loadu_si256(offsets.as_ptr().cast()));
            _mm256_storeu_si256(packed.cast(), _mm512_i64gather_epi32::<1>(places, array.cast()));
        }
        packed = packed.wrapping_add(AT_ONCE * bytes);
    }
    // SAFETY: the remainder.
    unsafe { loops::indexed::<Exact<4>, true, 0>(array, packed, bytes, packed_step, rest) }
}
