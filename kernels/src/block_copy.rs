//! How one block is copied, by size.
//!
//! Sizes are constants where [`select`](crate::select) knows one. Everything is `inline(always)`, so that each instruction
//! set gets its own.

/// Copies `B` bytes.
///
/// # Safety
/// `from` must be readable and `to` writable for `B` bytes, and the two must not overlap.
#[inline(always)]
unsafe fn copy_exact<const B: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's. The compiler makes moves of it, without a call: the size is a constant.
    unsafe { std::ptr::copy_nonoverlapping(from, to, B) }
}

/// Copies `bytes`, from `HALF` to twice `HALF`, as the first and the last `HALF` of them, which may overlap each
/// other: no loop and no call.
///
/// # Safety
/// As for [`copy_exact`], for `bytes` bytes.
#[inline(always)]
unsafe fn copy_overlapping<const HALF: usize>(to: *mut u8, from: *const u8, bytes: usize) {
    let rest = bytes - HALF;
    // SAFETY: both halves lie within the caller's bytes, since HALF <= bytes <= 2 HALF.
    unsafe {
        copy_exact::<HALF>(to, from);
        copy_exact::<HALF>(to.add(rest), from.add(rest));
    }
}

/// Four blocks of `N` words as one array of `ALL`: the compiler writes whole vectors.
///
/// # Safety
/// As for [`BlockCopy::join`].
#[inline(always)]
unsafe fn join_words<T: Copy, const N: usize, const ALL: usize>(to: *mut u8, from: [*const u8; 4]) {
    let word = |i: usize| {
        // SAFETY: a word of one of the caller's blocks.
        unsafe { from[i / N].cast::<T>().add(i % N).read_unaligned() }
    };
    let words: [T; ALL] = std::array::from_fn(word);
    // SAFETY: the caller's.
    unsafe { to.cast::<[T; ALL]>().write_unaligned(words) }
}

/// How one block is copied; sizes are given where they are no constant.
pub(crate) trait BlockCopy {
    /// Bytes of a block, which the compiler then knows where they are a constant.
    #[inline(always)]
    fn bytes(given: usize) -> usize {
        given
    }

    /// Copies one block.
    ///
    /// # Safety
    /// `from` must be readable and `to` writable for `bytes` bytes, without overlap, and the type must be one for
    /// that size.
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize);

    /// Copies four blocks to one place, one behind the other.
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

    /// As [`BlockCopy::copy`], past the caches where the size has an instruction for it.
    ///
    /// # Safety
    /// As for [`BlockCopy::copy`]; `to` must be a multiple of [`STREAM_ALIGN`] for blocks that are one.
    #[inline(always)]
    unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { Self::copy(to, from, bytes) }
    }
}

/// Blocks of `B` bytes.
pub(crate) struct Exact<const B: usize>;

impl<const B: usize> BlockCopy for Exact<B> {
    #[inline(always)]
    fn bytes(_: usize) -> usize {
        B
    }

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: the caller's.
        unsafe { copy_exact::<B>(to, from) }
    }

    #[inline(always)]
    unsafe fn join(to: *mut u8, from: [*const u8; 4], _: usize) {
        // Sizes that no vector has; for others (words alone, and five of 8 bytes) joining costs more than it saves.
        // SAFETY: the caller's; words of a block that is a multiple of them.
        unsafe {
            match B {
                12 => join_words::<u32, 3, 12>(to, from),
                20 => join_words::<u32, 5, 20>(to, from),
                24 => join_words::<u64, 3, 12>(to, from),
                _ => (0..4).for_each(|i| copy_exact::<B>(to.add(i * B), from[i])),
            }
        }
    }

    #[inline(always)]
    unsafe fn stream(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: the caller's, for every 16 bytes of a block that is a multiple of them.
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

/// Blocks of `HALF` to twice `HALF` bytes.
pub(crate) struct Between<const HALF: usize>;

impl<const HALF: usize> BlockCopy for Between<HALF> {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { copy_overlapping::<HALF>(to, from, bytes) }
    }
}

/// Blocks of at least [`LONG`] bytes.
///
/// Not by the C library: from some KiB on its `memcpy` is the instruction `rep movsb` on processors that say that it is
/// fast, which for some alignments runs at a twentieth of the speed of this loop (Zen 4: 3.5 GB/s of 58 where the
/// destination is 8 bytes further than the source, modulo 4 KiB).
///
/// Whole lines of the destination but for its ends: a line written in two parts costs two writes. In vectors of 32
/// bytes, which are never slower here than those of 64, and for some distances faster.
pub(crate) struct Long;

/// Shortest block for [`Long`], in bytes.
pub(crate) const LONG: usize = 1024;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Processors compare the addresses of loads with those of earlier stores by their low bits only, which these are. They are those within a page of memory.
pub(crate) const PAGE: usize = 4096;

/// Where the destination is up to this far ahead of the source, modulo [`PAGE`], a copy towards higher addresses has
/// every load wait for a store just made that it has nothing to do with (Zen 4: 44 GB/s of 58 at 72 to 112 bytes). A
/// copy towards lower addresses has not, but the processor foresees the next block's lines less well.
const AHEAD: usize = 512;

/// Shorter blocks are always copied towards higher addresses, in bytes.
const WORTH_ASKING: usize = 8192;

impl BlockCopy for Long {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe {
            match to.addr().wrapping_sub(from.addr()) % PAGE {
                1..AHEAD if bytes >= WORTH_ASKING => copy_backward(to, from, bytes),
                _ => copy_forward(to, from, bytes),
            }
        }
    }
}

/// Blocks from [`MEDIUM`] to [`LONG`] bytes: no branch depends on addresses, which change from block to block.
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
unsafe fn copy_forward(to: *mut u8, from: *const u8, bytes: usize) {
    let mut at = to.addr().wrapping_neg() % LINE;
    // SAFETY: a block has at least LONG bytes, hence a line at either end; `at` is where the part ends that is copied,
    // and the lines behind it lie within the block as long as the conditions hold.
    unsafe {
        if at > 0 {
            copy_line(to, from);
        }
        while at + 2 * LINE <= bytes {
            copy_line(to.add(at), from.add(at));
            copy_line(to.add(at + LINE), from.add(at + LINE));
            at += 2 * LINE;
        }
        if at + LINE <= bytes {
            copy_line(to.add(at), from.add(at));
            at += LINE;
        }
        if at < bytes {
            copy_line(to.add(bytes - LINE), from.add(bytes - LINE));
        }
    }
}

/// Copies at least [`LONG`] bytes towards lower addresses.
///
/// # Safety
/// As for [`BlockCopy::copy`].
#[inline(always)]
unsafe fn copy_backward(to: *mut u8, from: *const u8, bytes: usize) {
    let mut at = bytes - to.addr().wrapping_add(bytes) % LINE;
    // SAFETY: as above; `at` is where the part begins that is copied.
    unsafe {
        if at < bytes {
            copy_line(to.add(bytes - LINE), from.add(bytes - LINE));
        }
        while at >= 2 * LINE {
            at -= 2 * LINE;
            copy_line(to.add(at + LINE), from.add(at + LINE));
            copy_line(to.add(at), from.add(at));
        }
        if at > 0 {
            // One line or less is left, or the first again with it.
            copy_line(to.add(at.saturating_sub(LINE)), from.add(at.saturating_sub(LINE)));
            copy_line(to, from);
        }
    }
}

/// Copies a line in two halves, since vectors of 64 bytes are slower than two of 32 for some distances of source and
/// destination.
///
/// # Safety
/// As for [`copy_exact`], for a line.
#[inline(always)]
unsafe fn copy_line(to: *mut u8, from: *const u8) {
    const HALF: usize = LINE / 2;
    // SAFETY: the caller's.
    unsafe {
        copy_exact::<HALF>(to.add(HALF), from.add(HALF));
        copy_exact::<HALF>(to, from);
    }
}

/// Blocks of at least [`LONG`] bytes, in messages that no cache holds: whole lines are written past the caches, which
/// else would be read first to be written, and drive out what is still needed.
pub(crate) struct Streamed;

impl BlockCopy for Streamed {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        let first = to.addr().wrapping_neg() % LINE;
        let lines = (bytes - first) / LINE;
        // SAFETY: a block has at least LONG bytes, hence a line at either end and `lines` lines between them, whose
        // places in `to` are multiples of LINE.
        unsafe {
            // First, so that nothing that is written past the caches is written again before it has settled.
            copy_line(to, from);
            copy_line(to.add(bytes - LINE), from.add(bytes - LINE));
            for at in (0..lines).map(|line| first + line * LINE) {
                for part in (at..at + LINE).step_by(16) {
                    past::write_16(to.add(part), from.add(part));
                }
            }
        }
        settle();
    }
}

/// Writing past the caches, where there are instructions for it.
mod past {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    use std::arch::x86_64 as arch;

    /// Copies 8 bytes.
    ///
    /// # Safety
    /// As for [`super::copy_exact`]; and nothing may rely on what was written before [`settle`].
    #[inline(always)]
    pub unsafe fn write_8(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's; the instruction needs no alignment, and every processor of the architecture has it.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe {
            arch::_mm_stream_si64(to.cast(), from.cast::<i64>().read_unaligned());
        }
        // SAFETY: the caller's.
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
        // SAFETY: the caller's; every processor of the architecture has the instruction.
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe {
            arch::_mm_stream_si128(to.cast(), arch::_mm_loadu_si128(from.cast()));
        }
        // SAFETY: the caller's.
        #[cfg(any(not(target_arch = "x86_64"), miri))]
        unsafe {
            super::copy_exact::<16>(to, from);
        }
    }

    /// Makes all that was written past the caches visible before anything that is written later.
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

/// What the places of blocks of a multiple of these bytes must be a multiple of, to be written past the caches.
pub(crate) const STREAM_ALIGN: usize = 16;

/// Blocks of a size that is not known before: by the kind of block for it.
pub(crate) struct Any;

impl BlockCopy for Any {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's, with a kind that is for this size.
        unsafe {
            match bytes {
                8 => copy_exact::<8>(to, from),
                4 => copy_exact::<4>(to, from),
                0..=3 => (0..bytes).for_each(|i| *to.add(i) = *from.add(i)),
                5..=7 => copy_overlapping::<4>(to, from, bytes),
                9..=16 => copy_overlapping::<8>(to, from, bytes),
                17..=32 => copy_overlapping::<16>(to, from, bytes),
                33..=64 => copy_overlapping::<32>(to, from, bytes),
                65..=128 => copy_overlapping::<64>(to, from, bytes),
                129..MEDIUM => copy_overlapping::<128>(to, from, bytes),
                MEDIUM..LONG => Medium::copy(to, from, bytes),
                LONG.. => Long::copy(to, from, bytes),
            }
        }
    }
}
