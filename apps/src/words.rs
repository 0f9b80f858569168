//! Loops over elements whose size is known only at run time, as loops over words; pairs of words; prefetching.

/// Runs a block for elements of the given number of bytes, a power of 2 up to 32; in the block their type is
/// called `$Word`.
macro_rules! of_words {
    ($bytes:expr, $Word:ident => $block:block) => {
        match $bytes {
            1 => of_words!(@ $Word = u8, $block),
            2 => of_words!(@ $Word = u16, $block),
            4 => of_words!(@ $Word = u32, $block),
            8 => of_words!(@ $Word = u64, $block),
            16 => of_words!(@ $Word = [u64; 2], $block),
            _ => of_words!(@ $Word = [u64; 4], $block),
        }
    };
    (@ $Word:ident = $word:ty, $block:block) => {{
        type $Word = $word;
        $block
    }};
}

pub(crate) use of_words;

/// Two values, written as one vector of 16 bytes.
pub(crate) type Pair = [f64; 2];

/// Joins two values from different places: half as many stores as values, in order.
#[inline(always)]
pub(crate) fn join(to: &mut Pair, first: &f64, second: &f64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 belongs to the base instruction set; one double is read from each of the two places, and
    // two are written to `to`.
    unsafe {
        use std::arch::x86_64::{_mm_load_sd, _mm_loadh_pd, _mm_storeu_pd};
        _mm_storeu_pd(to.as_mut_ptr(), _mm_loadh_pd(_mm_load_sd(first), second));
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        *to = [*first, *second];
    }
}

/// Begins to load a cache line that will be written. Any address will do.
#[inline(always)]
pub(crate) fn fetch_to_write<T>(_at: *const T) {
    // SAFETY: the instruction changes no memory and no register, and no address makes it fail; processors without it do
    // nothing. Not an intrinsic: for the base instruction set, the compiler would only load the line to read it.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) _at, options(nostack, preserves_flags, readonly));
    }
}
