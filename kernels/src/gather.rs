//! Single values at listed places, by the processor's instructions for gathering and scattering.

use std::arch::x86_64::{
    __m512i, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_cvtepu32_epi64, _mm512_i64gather_epi32,
    _mm512_i64gather_epi64, _mm512_i64scatter_epi32, _mm512_i64scatter_epi64, _mm512_loadu_si512,
    _mm512_storeu_si512,
};

use crate::block_copy::Exact;
use crate::loops;
use crate::select::{IndexedKernel, Pair};

/// Values that one instruction copies.
const AT_ONCE: usize = 8;

/// Their places as numbers of 64 bits, because offsets of 32 bits would be signed.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn places(offsets: &[u32; AT_ONCE]) -> __m512i {
    // SAFETY: reads the array.
    _mm512_cvtepu32_epi64(unsafe { _mm256_loadu_si256(offsets.as_ptr().cast()) })
}

/// Values of `B` bytes, 4 or 8.
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn words<const B: usize, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
    offsets: &[u32],
) {
    #[cfg(test)]
    crate::tests::ran::note(words::<B, PACK> as *const ());
    let (many, rest) = match packed_step == B {
        true => offsets.as_chunks::<AT_ONCE>(),
        false => (&[][..], offsets),
    };
    let mut packed = packed;
    for offsets in many {
        // SAFETY: eight of the caller's values. If two are at the same place, scattering writes them in order.
        unsafe {
            let places = places(offsets);
            match (B, PACK) {
                (4, true) => {
                    _mm256_storeu_si256(packed.cast(), _mm512_i64gather_epi32::<1>(places, array.cast()))
                }
                (4, false) => {
                    _mm512_i64scatter_epi32::<1>(array.cast(), places, _mm256_loadu_si256(packed.cast()));
                }
                (_, true) => {
                    _mm512_storeu_si512(packed.cast(), _mm512_i64gather_epi64::<1>(places, array.cast()))
                }
                (_, false) => {
                    _mm512_i64scatter_epi64::<1>(array.cast(), places, _mm512_loadu_si512(packed.cast()));
                }
            }
        }
        packed = packed.wrapping_add(AT_ONCE * B);
    }
    // SAFETY: the remainder.
    unsafe { loops::indexed::<Exact<B>, PACK, 0>(array, packed, bytes, packed_step, rest) }
}

/// The kernels for values of `B` bytes, 4 or 8.
pub(crate) fn words_of<const B: usize>() -> Pair<IndexedKernel> {
    Pair { pack: words::<B, true>, unpack: words::<B, false> }
}
