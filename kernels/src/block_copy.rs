//! How one block is copied, by size.
//!
//! Sizes are constants if [`select`](crate::select) has a kernel for that size. Everything is
//! `inline(always)`, so that it is compiled for each instruction set.

use crate::loops::Grid;
use crate::small_strides;

/// Copies `B` bytes.
///
/// # Safety
/// `from` must be readable and `to` writable for `B` bytes, and the two must not overlap.
#[inline(always)]
unsafe fn copy_exact<const B: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: guaranteed by the caller. The size is a constant, so the compiler generates moves and not a call.
    unsafe { std::ptr::copy_nonoverlapping(from, to, B) }
}

/// Copies `bytes` as the first `HEAD` and the last `TAIL` of them, which may overlap: without a loop or a call.
///
/// # Safety
/// As for [`copy_exact`], for `bytes` bytes. Neither part is longer than `bytes`, nor are both together shorter.
#[inline(always)]
unsafe fn copy_overlapping<const HEAD: usize, const TAIL: usize>(to: *mut u8, from: *const u8, bytes: usize) {
    debug_assert!((HEAD.max(TAIL)..=HEAD + TAIL).contains(&bytes), "{bytes} as {HEAD} and {TAIL}");
    let rest = bytes - TAIL;
    // SAFETY: both parts are within the caller's bytes, since neither is longer.
    unsafe {
        copy_exact::<HEAD>(to, from);
        copy_exact::<TAIL>(to.add(rest), from.add(rest));
    }
}

/// Four blocks of `N` words as one array of `ALL`: the compiler then writes whole vectors.
///
/// # Safety
/// As for [`BlockCopy::join`].
#[inline(always)]
unsafe fn join_runs<T: Copy, const N: usize, const ALL: usize>(to: *mut u8, from: [*const u8; 4]) {
    let word = |i: usize| {
        // SAFETY: a word of one of the caller's blocks.
        unsafe { from[i / N].cast::<T>().add(i % N).read_unaligned() }
    };
    let words: [T; ALL] = std::array::from_fn(word);
    // SAFETY: guaranteed by the caller.
    unsafe { to.cast::<[T; ALL]>().write_unaligned(words) }
}

/// Copies `W` words of 4 or 8 bytes, each from its own place, to one place, with as few stores as possible.
///
/// While loads wait for memory, the processor has room for only so many stores. Fewer stores let it begin more loads: 65,536
/// values on as many pages take 5% less time, and listed values that are in no cache 10 to 25% less (Zen 5).
///
/// # Safety
/// Every place must be readable, and `to` writable, for one word and for all of them; without overlap.
#[inline(always)]
pub(crate) unsafe fn join_words<T: Copy, const W: usize>(to: *mut u8, place: impl Fn(usize) -> *const T) {
    let mut word = 0;
    // The compiler would write word by word.
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_setr_pd, _mm_setr_ps, _mm_storeu_pd, _mm_storeu_ps};
        // SAFETY: words of the caller, of the size that was checked; every processor of the architecture has
        // the instructions, which need no alignment.
        unsafe {
            let double = |word: usize| place(word).cast::<f64>().read_unaligned();
            while size_of::<T>() == 8 && word + 2 <= W {
                _mm_storeu_pd(to.cast::<f64>().add(word), _mm_setr_pd(double(word), double(word + 1)));
                word += 2;
            }
            let float = |word: usize| place(word).cast::<f32>().read_unaligned();
            while size_of::<T>() == 4 && word + 4 <= W {
                let four = _mm_setr_ps(float(word), float(word + 1), float(word + 2), float(word + 3));
                _mm_storeu_ps(to.cast::<f32>().add(word), four);
                word += 4;
            }
        }
    }
    while word < W {
        // SAFETY: one of the caller's words.
        unsafe { to.cast::<T>().add(word).write_unaligned(place(word).read_unaligned()) };
        word += 1;
    }
}

/// How one block is copied. Functions take the size as an argument, for kinds whose size is not a constant.
pub(crate) trait BlockCopy {
    /// Whether an iteration of a loop copies four blocks. If it copies one, the processor prefetches more. Blocks that are in
    /// no cache then take up to a tenth less (4 KiB) or a third (256 bytes); but the latter take half as much again if
    /// they are in a cache, because their gaps are prefetched too (Zen 5). Blocks of more than [`MEDIUM`] bytes are packed
    /// one by one: those of 512 bytes take 0.8 of the time in no cache, and 1.0 to 1.4 times as much in a cache.
    const BY_FOUR: bool = true;

    /// Bytes of a block; if they are a constant, the compiler knows them.
    #[inline(always)]
    fn bytes(given: usize) -> usize {
        given
    }

    /// Copies one block.
    ///
    /// # Safety
    /// `from` must be readable and `to` writable for `bytes` bytes, without overlap, and the type must be
    /// suitable for that size.
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize);

    /// Copies four blocks to one place, one after the other.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`], for each.
    #[inline(always)]
    unsafe fn join(to: *mut u8, from: [*const u8; 4], bytes: usize) {
        for (i, from) in from.into_iter().enumerate() {
            // SAFETY: one of the caller's blocks.
            unsafe { Self::copy(to.wrapping_add(i * bytes), from, bytes) };
        }
    }

    /// Copies the blocks of `grid` if there is a loop for their distance. Returns whether there is.
    ///
    /// # Safety
    /// As for [`strided`](crate::loops::strided).
    #[inline(always)]
    unsafe fn small_strides<const PACK: bool>(_array: *mut u8, _packed: *mut u8, _grid: &Grid) -> bool {
        false
    }

    /// Like [`BlockCopy::copy`], but bypasses the caches if there is an instruction for this size.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`]; `to` must be a multiple of [`STREAM_ALIGN`] if the block size is one.
    #[inline(always)]
    unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::copy(to, from, bytes) }
    }
}

/// Longest block with loops for small distances, in bytes. For the others the compiler does not use vectors;
/// four blocks of 12 bytes as whole vectors take 0.82 of the time.
pub(crate) const SHORT: usize = 8;

/// Blocks of `B` bytes.
pub(crate) struct Exact<const B: usize>;

impl<const B: usize> BlockCopy for Exact<B> {
    #[inline(always)]
    fn bytes(_: usize) -> usize {
        B
    }

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_exact::<B>(to, from) }
    }

    #[inline(always)]
    unsafe fn join(to: *mut u8, from: [*const u8; 4], _: usize) {
        // For others (such as five words of 8 bytes), joining costs more than it saves.
        // SAFETY: guaranteed by the caller; the words are parts of a block whose size is a multiple of theirs.
        unsafe {
            match B {
                4 => join_words::<u32, 4>(to, |i| from[i].cast()),
                8 => join_words::<u64, 4>(to, |i| from[i].cast()),
                12 => join_runs::<u32, 3, 12>(to, from),
                20 => join_runs::<u32, 5, 20>(to, from),
                24 => join_runs::<u64, 3, 12>(to, from),
                // The compiler would write the last 8 bytes first, which takes up to a fifth longer (Intel).
                40 => (0..4).for_each(|i| {
                    copy_exact::<32>(to.add(i * B), from[i]);
                    copy_exact::<8>(to.add(i * B + 32), from[i].add(32));
                }),
                _ => (0..4).for_each(|i| copy_exact::<B>(to.add(i * B), from[i])),
            }
        }
    }

    #[inline(always)]
    unsafe fn small_strides<const PACK: bool>(array: *mut u8, packed: *mut u8, grid: &Grid) -> bool {
        // SAFETY: guaranteed by the caller.
        B <= SHORT && unsafe { small_strides::rows::<B, PACK>(array, packed, grid) }
    }

    #[inline(always)]
    unsafe fn stream(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: guaranteed by the caller, for each 16 bytes of a block whose size is a multiple of 16.
        unsafe {
            match B {
                8 => past::write_8(to, from),
                16 => past::write_16(to, from),
                32 => {
                    past::write_16(to, from);
                    past::write_16(to.add(16), from.add(16));
                }
                _ => copy_exact::<B>(to, from),
            }
        }
    }
}

/// Blocks of `HEAD` to `HEAD + TAIL` bytes.
pub(crate) struct Between<const HEAD: usize, const TAIL: usize>;

impl<const HEAD: usize, const TAIL: usize> BlockCopy for Between<HEAD, TAIL> {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe { copy_overlapping::<HEAD, TAIL>(to, from, bytes) }
    }
}

/// Blocks of 12 bytes, by one load and one store whose mask leaves out the 4 bytes after them. While stores wait for memory,
/// the processor has room for only so many: listed blocks that are in no cache unpack in 0.65 of the time of two stores each.
#[cfg(target_arch = "x86_64")]
pub(crate) struct Masked;

#[cfg(target_arch = "x86_64")]
impl BlockCopy for Masked {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        use std::arch::x86_64::{_mm_mask_storeu_epi32, _mm_maskz_loadu_epi32};
        // SAFETY: guaranteed by the caller, which is compiled for these instructions; they do not access masked bytes.
        unsafe { _mm_mask_storeu_epi32(to.cast(), 0b111, _mm_maskz_loadu_epi32(0b111, from.cast())) }
    }
}

/// Blocks of at least [`LONG`] bytes, in whole lines of the destination except at its ends: a line written in
/// two parts costs two writes. Lines are copied in parts of `PART` bytes.
pub(crate) struct Long<const PART: usize>;

/// Blocks by the C library.
///
/// From a few KiB on its `memcpy` uses the instruction `rep movsb` on processors that report it as fast. For
/// some alignments that runs at a twentieth of the speed of [`Long`] (Zen 4: 3.5 GB/s instead of 58 if the
/// destination is 8 bytes further than the source, modulo 4 KiB), so the library does not copy these.
pub(crate) struct Library;

impl BlockCopy for Library {
    const BY_FOUR: bool = false;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match bytes >= LONG && is_ahead(to, from) {
                true => Long::<32>::copy(to, from, bytes),
                false => std::ptr::copy_nonoverlapping(from, to, bytes),
            }
        }
    }
}

/// Blocks of at least [`LONG`] bytes by the instruction `rep movsb`. `memcpy` aligns the destination before it, which
/// costs up to a fifth if the data is not in the caches (Zen 5: 4 KiB rows reach 21 GB/s instead of 17).
///
/// At the slow alignments of [`Library`] Zen 5 is still as fast as with vectors: 94 GB/s instead of 169 for 39,888
/// bytes, with vectors 95. Trials of this way include such alignments: a processor that is slow there does not choose it.
pub(crate) struct Instruction;

impl BlockCopy for Instruction {
    const BY_FOUR: bool = false;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller. The instruction goes towards higher addresses, as the calling
        // convention guarantees, and changes only the bytes and the named registers.
        #[cfg(all(target_arch = "x86_64", not(any(miri, asan))))]
        unsafe {
            std::arch::asm!(
                "rep movsb",
                inout("rdi") to => _, inout("rsi") from => _, inout("rcx") bytes => _,
                options(nostack, preserves_flags)
            );
        }
        // Neither Miri nor AddressSanitizer sees what the instruction accesses. Not the same as without
        // vectors, or the compiler would merge both kernels.
        // SAFETY: guaranteed by the caller.
        #[cfg(any(not(target_arch = "x86_64"), miri, asan))]
        unsafe {
            Long::<64>::copy(to, from, bytes);
        }
    }
}

/// Shortest block for [`Long`], in bytes.
pub(crate) const LONG: usize = 1024;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Processors compare the addresses of loads with those of earlier stores only by their low bits: the offset
/// within a page of this size.
pub(crate) const PAGE: usize = 4096;

/// If the destination is up to this far ahead of the source, modulo [`PAGE`], a copy towards higher addresses makes
/// every load wait for a recent store that is unrelated to it (Zen 4: 44 GB/s instead of 58 at 72 to 112 bytes). A
/// copy towards lower addresses does not, but the processor prefetches the next block's lines less well.
const AHEAD: usize = 512;

/// Shortest block, in bytes, that is copied towards lower addresses.
const BACKWARD: usize = 8192;

/// Whether the destination is that far ahead of the source.
#[inline(always)]
fn is_ahead(to: *mut u8, from: *const u8) -> bool {
    (1..AHEAD).contains(&(to.addr().wrapping_sub(from.addr()) % PAGE))
}

impl<const PART: usize> BlockCopy for Long<PART> {
    const BY_FOUR: bool = false;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match bytes >= BACKWARD && is_ahead(to, from) {
                true => copy_backward::<PART>(to, from, bytes),
                false => copy_forward::<PART>(to, from, bytes),
            }
        }
    }
}

/// Blocks from [`MEDIUM`] to [`LONG`] bytes. No branch depends on addresses, because these change from block
/// to block.
pub(crate) struct Medium;

/// Shortest block for [`Medium`], in bytes.
pub(crate) const MEDIUM: usize = 256;

impl BlockCopy for Medium {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: whole lines of the caller's bytes, of which there are at least MEDIUM.
        unsafe {
            for at in (0..bytes / LINE).map(|line| line * LINE) {
                copy_exact::<LINE>(to.add(at), from.add(at));
            }
            if !bytes.is_multiple_of(LINE) {
                copy_exact::<LINE>(to.add(bytes - LINE), from.add(bytes - LINE));
            }
        }
    }
}

/// Copies at least [`LONG`] bytes towards higher addresses.
///
/// # Safety
/// As for [`BlockCopy::copy`].
#[inline(always)]
unsafe fn copy_forward<const PART: usize>(to: *mut u8, from: *const u8, bytes: usize) {
    let mut at = to.addr().wrapping_neg() % LINE;
    // SAFETY: a block has at least LONG bytes, and so one line at either end; `at` is the end of the copied
    // part, and the lines after it are within the block as long as the conditions hold.
    unsafe {
        if at > 0 {
            copy_line::<PART>(to, from);
        }
        while at + 2 * LINE <= bytes {
            copy_line::<PART>(to.add(at), from.add(at));
            copy_line::<PART>(to.add(at + LINE), from.add(at + LINE));
            at += 2 * LINE;
        }
        if at + LINE <= bytes {
            copy_line::<PART>(to.add(at), from.add(at));
            at += LINE;
        }
        if at < bytes {
            copy_line::<PART>(to.add(bytes - LINE), from.add(bytes - LINE));
        }
    }
}

/// Asks the processor to load a line. It may be anywhere.
#[inline(always)]
pub(crate) fn prefetch(line: *const u8) {
    // SAFETY: prefetching does not access memory as far as programs can see, and every processor of the
    // architecture has the instruction.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.cast());
    }
    #[cfg(any(not(target_arch = "x86_64"), miri))]
    let _ = line;
}

/// Copies at least [`LONG`] bytes towards lower addresses.
///
/// # Safety
/// As for [`BlockCopy::copy`].
#[inline(always)]
unsafe fn copy_backward<const PART: usize>(to: *mut u8, from: *const u8, bytes: usize) {
    let mut at = bytes - to.addr().wrapping_add(bytes) % LINE;
    // SAFETY: as above; `at` is the start of the copied part.
    unsafe {
        if at < bytes {
            copy_line::<PART>(to.add(bytes - LINE), from.add(bytes - LINE));
        }
        while at >= 2 * LINE {
            at -= 2 * LINE;
            copy_line::<PART>(to.add(at + LINE), from.add(at + LINE));
            copy_line::<PART>(to.add(at), from.add(at));
        }
        if at > 0 {
            // Fewer than two lines are left: their last line and the first one, which may overlap.
            copy_line::<PART>(to.add(at.saturating_sub(LINE)), from.add(at.saturating_sub(LINE)));
            copy_line::<PART>(to, from);
        }
    }
}

/// Copies a line in parts of `PART` bytes: 32, or 64 for the whole line. Vectors of 64 bytes are slower than
/// two of 32 for some distances between source and destination.
///
/// # Safety
/// As for [`copy_exact`], for a line.
#[inline(always)]
unsafe fn copy_line<const PART: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        copy_exact::<PART>(to.add(LINE - PART), from.add(LINE - PART));
        if PART < LINE {
            copy_exact::<PART>(to, from);
        }
    }
}

/// Blocks of at least [`LONG`] bytes, in messages that do not fit into any cache. Whole lines are written past the
/// caches. Otherwise they would be read before they are written, and would evict data that is still needed.
pub(crate) struct Streamed;

impl BlockCopy for Streamed {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        let first = to.addr().wrapping_neg() % LINE;
        let lines = (bytes - first) / LINE;
        // SAFETY: a block has at least LONG bytes, and so one line at either end and `lines` lines between
        // them, whose addresses in `to` are multiples of LINE.
        unsafe {
            // First, so that no byte written past the caches is written again before [`settle`].
            copy_line::<32>(to, from);
            copy_line::<32>(to.add(bytes - LINE), from.add(bytes - LINE));
            for at in (0..lines).map(|line| first + line * LINE) {
                for part in (at..at + LINE).step_by(16) {
                    past::write_16(to.add(part), from.add(part));
                }
            }
        }
        settle();
    }
}

/// Writes past the caches, if there are instructions for it.
mod past {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    use std::arch::x86_64 as arch;

    /// Copies 8 bytes.
    ///
    /// # Safety
    /// As for [`super::copy_exact`]; and no code may rely on the written data before [`settle`].
    #[inline(always)]
    pub unsafe fn write_8(to: *mut u8, from: *const u8) {
        // SAFETY: guaranteed by the caller; the instruction needs no alignment, and every processor of the
        // architecture has it.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe {
            arch::_mm_stream_si64(to.cast(), from.cast::<i64>().read_unaligned());
        }
        // SAFETY: guaranteed by the caller.
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        unsafe {
            super::copy_exact::<8>(to, from);
        }
    }

    /// Copies 16 bytes.
    ///
    /// # Safety
    /// As for [`write_8`]; `to` must be a multiple of 16.
    #[inline(always)]
    pub unsafe fn write_16(to: *mut u8, from: *const u8) {
        // SAFETY: guaranteed by the caller; every processor of the architecture has the instruction.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe {
            arch::_mm_stream_si128(to.cast(), arch::_mm_loadu_si128(from.cast()));
        }
        // SAFETY: guaranteed by the caller.
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        unsafe {
            super::copy_exact::<16>(to, from);
        }
    }

    /// Makes all data written past the caches visible before any later write.
    #[inline(always)]
    pub fn settle() {
        // SAFETY: every processor of the architecture has the instruction.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe {
            arch::_mm_sfence();
        }
    }
}

pub(crate) use past::settle;

/// If the block size is a multiple of this, blocks can be written past the caches only at addresses that are
/// multiples of it too.
pub(crate) const STREAM_ALIGN: usize = 16;

/// Blocks of a size that is not known in advance: picks the kind of block for it.
pub(crate) struct Any;

impl BlockCopy for Any {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: guaranteed by the caller; the kind is the one for this size.
        unsafe {
            match bytes {
                8 => copy_exact::<8>(to, from),
                4 => copy_exact::<4>(to, from),
                0..=3 => (0..bytes).for_each(|i| *to.add(i) = *from.add(i)),
                5..=7 => copy_overlapping::<4, 4>(to, from, bytes),
                9..=16 => copy_overlapping::<8, 8>(to, from, bytes),
                17..=32 => copy_overlapping::<16, 16>(to, from, bytes),
                33..=64 => copy_overlapping::<32, 32>(to, from, bytes),
                65..=96 => copy_overlapping::<64, 32>(to, from, bytes),
                97..=128 => copy_overlapping::<64, 64>(to, from, bytes),
                129..MEDIUM => copy_overlapping::<128, 128>(to, from, bytes),
                MEDIUM..LONG => Medium::copy(to, from, bytes),
                LONG.. => Long::<32>::copy(to, from, bytes),
            }
        }
    }
}
