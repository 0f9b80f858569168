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
    // SAFETY: the caller's; arrays of bytes have no alignment.
    unsafe { to.cast::<[u8; B]>().write_unaligned(from.cast::<[u8; B]>().read_unaligned()) }
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

/// `count` blocks, `stride` bytes apart in the array.
///
/// # Safety
/// All blocks must lie in memory that may be read or written, by direction, and `packed` must have room for them.
#[inline(always)]
pub(crate) unsafe fn strided<B: Block, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    count: usize,
    stride: isize,
) {
    let (mut array, mut packed) = (array, packed);
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
