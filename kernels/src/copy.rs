//! The innermost loops: blocks between an array and the packed stream.
//!
//! One source serves packing and unpacking, told apart by the constant `PACK`; block sizes are constants where
//! [`select`](crate::select) knows one. Everything is `inline(always)`, so that each instruction set gets its own.

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

/// How one block is copied; sizes are given where they are no constant.
pub(crate) trait Block {
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
}

/// Blocks of `B` bytes.
pub(crate) struct Exact<const B: usize>;

impl<const B: usize> Block for Exact<B> {
    #[inline(always)]
    fn bytes(_: usize) -> usize {
        B
    }

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: the caller's.
        unsafe { copy_exact::<B>(to, from) }
    }
}

/// Blocks of `HALF` to twice `HALF` bytes.
pub(crate) struct Between<const HALF: usize>;

impl<const HALF: usize> Block for Between<HALF> {
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
const LINE: usize = 64;

/// Processors compare the addresses of loads with those of earlier stores by their low bits only, which these are.
const PAGE: usize = 4096;

/// Where the destination is up to this far ahead of the source, modulo [`PAGE`], a copy towards higher addresses has
/// every load wait for a store just made that it has nothing to do with (Zen 4: 44 GB/s of 58 at 72 to 112 bytes). A
/// copy towards lower addresses has not, but the processor foresees the next block's lines less well.
const AHEAD: usize = 512;

/// Blocks from this size on are turned for that, in bytes.
const WORTH_ASKING: usize = 8192;

impl Block for Long {
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

/// Blocks from [`MEDIUM`] to [`LONG`] bytes: no question is asked of the addresses, whose answers would be hard to foresee.
pub(crate) struct Medium;

/// Shortest block for [`Medium`], in bytes.
pub(crate) const MEDIUM: usize = 256;

impl Block for Medium {
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
/// As for [`Block::copy`].
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
/// As for [`Block::copy`].
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

/// Copies a line in two halves: of one copy in a loop the compiler would make a call of `memcpy`, or a vector of 64 bytes.
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

/// Blocks of a size that is not known before: by the kind of block for it.
pub(crate) struct Any;

impl Block for Any {
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

/// One block in the direction of `PACK`.
///
/// # Safety
/// As for [`Block::copy`], in that direction.
#[inline(always)]
unsafe fn block<B: Block, const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe {
        match PACK {
            true => B::copy(packed, array, bytes),
            false => B::copy(array, packed, bytes),
        }
    }
}

/// Runs of any lengths: where each starts in the array, and where it ends in the packed stream, whose place of byte 0 is
/// `packed` and where the first of them starts at `start`.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn runs<const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    start: usize,
    offsets: &[i64],
    ends: &[usize],
) {
    let mut start = start;
    for (&offset, &end) in offsets.iter().zip(ends) {
        let place = array.wrapping_offset(offset as isize);
        // SAFETY: one of the caller's runs.
        unsafe { block::<Any, PACK>(place, packed.wrapping_add(start), end - start) };
        start = end;
    }
}

/// A block of any size, compiled for every processor.
///
/// # Safety
/// As for [`Block::copy`], in the direction of `PACK`.
pub(crate) unsafe fn plain<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { block::<Any, PACK>(array, packed, bytes) }
}

/// A loop over blocks: how many, and how many bytes apart in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub count: usize,
    pub stride: isize,
}

/// Two loops over blocks, `inner` within `outer`, packed in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub inner: Axis,
    pub outer: Axis,
}

impl Grid {
    /// One loop.
    pub fn row(inner: Axis) -> Self {
        Self { inner, outer: Axis { count: 1, stride: 0 } }
    }
}

/// Every block of `grid`, in packed order.
///
/// # Safety
/// All blocks must lie in memory that may be read or written, by direction, and `packed` must have room for them.
#[inline(always)]
pub(crate) unsafe fn strided<B: Block, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    grid: Grid,
) {
    let bytes = B::bytes(bytes);
    let Axis { count, stride } = grid.inner;
    let (mut row, mut packed) = (array, packed);
    for _ in 0..grid.outer.count {
        let mut array = row;
        for _ in 0..count / 4 {
            // SAFETY: four of the caller's blocks. Addresses wrap, for the one behind the last may lie nowhere.
            unsafe {
                block::<B, PACK>(array, packed, bytes);
                block::<B, PACK>(array.wrapping_offset(stride), packed.add(bytes), bytes);
                block::<B, PACK>(array.wrapping_offset(2 * stride), packed.add(2 * bytes), bytes);
                block::<B, PACK>(array.wrapping_offset(3 * stride), packed.add(3 * bytes), bytes);
            }
            array = array.wrapping_offset(stride.wrapping_mul(4));
            packed = packed.wrapping_add(4 * bytes);
        }
        for _ in 0..count % 4 {
            // SAFETY: one of the caller's blocks.
            unsafe { block::<B, PACK>(array, packed, bytes) };
            array = array.wrapping_offset(stride);
            packed = packed.wrapping_add(bytes);
        }
        row = row.wrapping_offset(grid.outer.stride);
    }
}

/// Rows that [`transposed`] goes through at once.
const TILE: usize = 8;

/// Every block of `grid`, `TILE` of the outer loop for each of the inner: where the outer loop's blocks lie side by
/// side, each cache line of the array is visited once instead of once a block.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn transposed<B: Block, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    grid: Grid,
) {
    let Grid { inner, outer } = grid;
    let bytes = B::bytes(bytes);
    let row_bytes = inner.count * bytes;
    let (mut array, mut packed) = (array, packed);
    for _ in 0..outer.count / TILE {
        let (mut column, mut to) = (array, packed);
        for _ in 0..inner.count {
            for i in 0..TILE {
                // SAFETY: one of the caller's blocks: row `i` of this tile.
                unsafe {
                    let place = column.wrapping_offset(outer.stride.wrapping_mul(i as isize));
                    block::<B, PACK>(place, to.add(i * row_bytes), bytes);
                }
            }
            column = column.wrapping_offset(inner.stride);
            to = to.wrapping_add(bytes);
        }
        array = array.wrapping_offset(outer.stride.wrapping_mul(TILE as isize));
        packed = packed.wrapping_add(TILE * row_bytes);
    }
    let rest = Grid { inner, outer: Axis { count: outer.count % TILE, ..outer } };
    // SAFETY: the caller's blocks that are left.
    unsafe { strided::<B, PACK>(array, packed, bytes, rest) }
}

/// Blocks at `offsets` from `array`.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn indexed<B: Block, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    offsets: &[u32],
) {
    let bytes = B::bytes(bytes);
    let (fours, rest) = offsets.as_chunks::<4>();
    let mut packed = packed;
    for four in fours {
        for (i, &offset) in four.iter().enumerate() {
            // SAFETY: one of the caller's blocks.
            unsafe { block::<B, PACK>(array.wrapping_add(offset as usize), packed.add(i * bytes), bytes) };
        }
        packed = packed.wrapping_add(4 * bytes);
    }
    for &offset in rest {
        // SAFETY: one of the caller's blocks.
        unsafe { block::<B, PACK>(array.wrapping_add(offset as usize), packed, bytes) };
        packed = packed.wrapping_add(bytes);
    }
}
