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

/// Blocks of any size, by the C library.
pub(crate) struct Any;

impl Block for Any {
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) }
    }
}

/// Copies of any length in the direction of `PACK`.
///
/// # Safety
/// As for [`Block::copy`], in that direction.
#[inline]
pub(crate) unsafe fn plain<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { block::<Any, PACK>(array, packed, bytes) }
}

/// As [`plain`], for what is rarely long: no call up to 128 bytes.
///
/// # Safety
/// As for [`plain`].
#[inline]
pub(crate) unsafe fn short<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's, with a block that is for this size.
    unsafe {
        match bytes {
            8 => block::<Exact<8>, PACK>(array, packed, bytes),
            4 => block::<Exact<4>, PACK>(array, packed, bytes),
            9..=16 => block::<Between<8>, PACK>(array, packed, bytes),
            17..=32 => block::<Between<16>, PACK>(array, packed, bytes),
            33..=64 => block::<Between<32>, PACK>(array, packed, bytes),
            65..=128 => block::<Between<64>, PACK>(array, packed, bytes),
            _ => block::<Any, PACK>(array, packed, bytes),
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
