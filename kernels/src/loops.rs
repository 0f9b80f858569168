//! The innermost loops: blocks between an array and the packed stream.
//!
//! The same source packs and unpacks, depending on the constant `PACK`. Everything is `inline(always)`, as in
//! [`block_copy`](crate::block_copy).
//!
//! Loops over strided blocks do not prefetch lines. Measured on Zen 4, prefetching gained up to 15% for
//! blocks at strides of 128 bytes and more in the outer cache, and nothing in memory. It lost up to 40% in
//! the inner cache and when unpacking.

use crate::block_copy::{Any, BlockCopy, MEDIUM, STREAM_ALIGN, join_words, prefetch, settle};
use crate::indexed_records::Group;

/// One block in the direction of `PACK`.
///
/// # Safety
/// As for [`BlockCopy::copy`], in that direction.
#[inline(always)]
pub(crate) unsafe fn block<B: BlockCopy, const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match PACK {
            true => B::copy(packed, array, bytes),
            false => B::copy(array, packed, bytes),
        }
    }
}

/// Four blocks in the direction of `PACK`, adjacent in the packed stream.
///
/// # Safety
/// As for [`block`], for each.
#[inline(always)]
unsafe fn four<B: BlockCopy, const PACK: bool>(places: [*mut u8; 4], packed: *mut u8, bytes: usize) {
    if PACK {
        // SAFETY: guaranteed by the caller.
        return unsafe { B::join(packed, places.map(<*mut u8>::cast_const), bytes) };
    }
    for (i, place) in places.into_iter().enumerate() {
        // SAFETY: one of the caller's blocks.
        unsafe { B::copy(place, packed.wrapping_add(i * bytes), bytes) };
    }
}

/// Runs of any lengths: the start of each in the array, and its end in the packed stream.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn runs<const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    offsets: &[i64],
    ends: &[usize],
) {
    let mut start = 0;
    for (&offset, &end) in offsets.iter().zip(ends) {
        let place = array.wrapping_offset(offset as isize);
        // SAFETY: one of the caller's runs.
        unsafe { block::<Any, PACK>(place, packed.wrapping_add(start), end - start) };
        start = end;
    }
}

/// A loop over blocks: their number, and their distance in bytes in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub count: usize,
    pub stride: isize,
}

impl Axis {
    pub const ONCE: Self = Self { count: 1, stride: 0 };
}

/// Two loops over blocks, `inner` within `outer`, packed in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub inner: Axis,
    pub outer: Axis,
    /// Bytes from block to block in the packed stream: the size of a block, except for the blocks of records.
    pub packed_step: usize,
}

impl Grid {
    /// A single loop, `inner`, whose blocks are `packed_step` bytes apart in the packed stream.
    pub fn row(inner: Axis, packed_step: usize) -> Self {
        Self { inner, outer: Axis::ONCE, packed_step }
    }
}

/// Every block of `grid`, in packed order.
///
/// # Safety
/// All blocks must be in memory that may be read or written, by direction, and `packed` must have room for them.
#[inline(always)]
pub(crate) unsafe fn strided<B: BlockCopy, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    grid: &Grid,
) {
    let bytes = B::bytes(bytes);
    let Axis { count, stride } = grid.inner;
    if grid.packed_step != bytes {
        let places = (0..count as isize).map(|i| array.wrapping_offset(i * stride));
        // SAFETY: guaranteed by the caller; blocks of records come in single rows.
        return unsafe { spaced::<B, PACK>(places, packed, bytes, grid.packed_step) };
    }
    let by_four = B::BY_FOUR && !(PACK && bytes > MEDIUM);
    let (fours, rest) = if by_four { (count / 4, count % 4) } else { (0, count) };
    let (mut row, mut packed) = (array, packed);
    for _ in 0..grid.outer.count {
        let mut array = row;
        for _ in 0..fours {
            // Addresses wrap, because the one after the last may be outside of any memory.
            let places = [0, 1, 2, 3].map(|i| array.wrapping_offset(i * stride));
            // SAFETY: four of the caller's blocks.
            unsafe { four::<B, PACK>(places, packed, bytes) };
            array = array.wrapping_offset(stride.wrapping_mul(4));
            packed = packed.wrapping_add(4 * bytes);
        }
        for _ in 0..rest {
            // SAFETY: one of the caller's blocks.
            unsafe { block::<B, PACK>(array, packed, bytes) };
            array = array.wrapping_offset(stride);
            packed = packed.wrapping_add(bytes);
        }
        row = row.wrapping_offset(grid.outer.stride);
    }
}

/// Blocks at `places`, `packed_step` bytes apart in the packed stream.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
unsafe fn spaced<B: BlockCopy, const PACK: bool>(
    places: impl Iterator<Item = *mut u8>,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
) {
    let mut packed = packed;
    for place in places {
        // SAFETY: one of the caller's blocks.
        unsafe { block::<B, PACK>(place, packed, bytes) };
        packed = packed.wrapping_add(packed_step);
    }
}

/// Rows of a tile.
const TILE: usize = 8;

/// Tiles that [`transposed`] copies at once. With two, values of 16 bytes take 0.4 to 0.7 of the time if they are in a cache (Zen 5).
const TILES: usize = 2;

/// Every block of `grid`, [`TILES`] times [`TILE`] of the outer loop for each of the inner. If the outer
/// loop's blocks are adjacent, each cache line of the array is visited once instead of once per block. With
/// `STREAM`, unpacking writes past the caches if blocks are at multiples of [`STREAM_ALIGN`].
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn transposed<B: BlockCopy, const PACK: bool, const STREAM: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    grid: &Grid,
) {
    let &Grid { inner, outer, .. } = grid;
    let lies_at = array.addr() | inner.stride as usize | outer.stride as usize;
    let stream = STREAM && !PACK && lies_at.is_multiple_of(STREAM_ALIGN.min(B::bytes(bytes)));
    let rest = Grid { inner, outer: Axis { count: outer.count % TILE, ..outer }, ..*grid };
    // SAFETY: the caller's blocks, in tiles and the remainder; blocks of a multiple of STREAM_ALIGN are at
    // such a multiple if they are streamed.
    unsafe {
        let (array, packed) = match stream {
            true => tiles::<B, PACK, true>(array, packed, bytes, grid),
            false => tiles::<B, PACK, false>(array, packed, bytes, grid),
        };
        strided::<B, PACK>(array, packed, bytes, &rest);
    }
    if stream {
        settle();
    }
}

/// The whole tiles of [`transposed`]. Returns the start of the remainder, in the array and in the packed stream.
///
/// # Safety
/// As for [`strided`], and for [`BlockCopy::stream`] with `STREAM`.
#[inline(always)]
unsafe fn tiles<B: BlockCopy, const PACK: bool, const STREAM: bool>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    grid: &Grid,
) -> (*mut u8, *mut u8) {
    let &Grid { inner, outer, .. } = grid;
    let bytes = B::bytes(bytes);
    let row_bytes = inner.count * bytes;
    let (mut array, mut packed) = (array, packed);
    let tiles = outer.count / TILE;
    for first in (0..tiles).step_by(TILES) {
        let (mut column, mut row) = (array, packed);
        let rows = TILE * TILES.min(tiles - first);
        for _ in 0..inner.count {
            let mut i = 0;
            while i < rows {
                // The compiler unrolls whole tiles.
                for _ in 0..TILE {
                    let place = column.wrapping_offset(outer.stride.wrapping_mul(i as isize));
                    let packed = row.wrapping_add(i * row_bytes);
                    // SAFETY: one of the caller's blocks: row `i` of these tiles.
                    unsafe {
                        match STREAM {
                            true => B::stream(place, packed, bytes),
                            false => block::<B, PACK>(place, packed, bytes),
                        }
                    }
                    i += 1;
                }
            }
            column = column.wrapping_offset(inner.stride);
            row = row.wrapping_add(bytes);
        }
        array = array.wrapping_offset(outer.stride.wrapping_mul(rows as isize));
        packed = packed.wrapping_add(rows * row_bytes);
    }
    (array, packed)
}

/// Number of listed blocks below which nothing is prefetched, because the array is probably in the first-level cache: 493
/// values take twice the time with prefetching, 1897 as long or less (Intel; in no cache 0.5 and 0.4 of it).
const FEW: usize = 1024;

/// Blocks at `offsets` from `array`, `packed_step` bytes apart in the packed stream. The line of the block
/// that comes `AHEAD` later is prefetched, unless `AHEAD` is 0.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn indexed<B: BlockCopy, const PACK: bool, const AHEAD: usize>(
    array: *mut u8,
    packed: *mut u8,
    bytes: usize,
    packed_step: usize,
    offsets: &[u32],
) {
    let bytes = B::bytes(bytes);
    let ahead = if offsets.len() < FEW { 0 } else { AHEAD };
    if !B::BY_FOUR || packed_step != bytes {
        let places = offsets.iter().map(|&offset| array.wrapping_add(offset as usize));
        // SAFETY: guaranteed by the caller.
        return unsafe { spaced::<B, PACK>(places, packed, bytes, packed_step) };
    }
    let (fours, rest) = offsets.as_chunks::<4>();
    let mut packed = packed;
    for (i, &places) in fours.iter().enumerate() {
        if ahead > 0 {
            for &offset in offsets.get(4 * i + ahead..4 * i + ahead + 4).unwrap_or_default() {
                prefetch(array.wrapping_add(offset as usize));
            }
        }
        let places = places.map(|offset| array.wrapping_add(offset as usize));
        // SAFETY: four of the caller's blocks.
        unsafe { four::<B, PACK>(places, packed, bytes) };
        packed = packed.wrapping_add(4 * bytes);
    }
    for &offset in rest {
        // SAFETY: one of the caller's blocks.
        unsafe { block::<B, PACK>(array.wrapping_add(offset as usize), packed, bytes) };
        packed = packed.wrapping_add(bytes);
    }
}

/// The words of `group`, `G` of the size of `T`, in the records at `indices`, which are `record` bytes apart
/// in the packed stream.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn words<T: Copy, const G: usize, const PACK: bool>(
    array: *mut u8,
    packed: *mut u8,
    record: usize,
    group: &Group,
    indices: &[u32],
) {
    let bases: [*mut u8; G] = std::array::from_fn(|i| array.wrapping_offset(group.offsets[i] as isize));
    let mut packed = packed;
    for &index in indices {
        let distance = group.scale.wrapping_mul(index as usize);
        let place = |i: usize| bases[i].wrapping_add(distance).cast::<T>();
        // SAFETY: words of one of the caller's records.
        unsafe {
            if PACK {
                join_words::<T, G>(packed, |i| place(i).cast_const());
            } else {
                // One by one: taking a vector apart costs more than reading its words.
                (0..G).for_each(|i| place(i).write_unaligned(packed.cast::<T>().add(i).read_unaligned()));
            }
        }
        packed = packed.wrapping_add(record);
    }
}

/// Components of a position.
pub(crate) const POSITION: usize = 3;

/// Records of a position and `N` single words, from separate arrays, as `W` words: all words of a record at
/// once. [`IndexedRecords::are_particles`](crate::indexed_records::IndexedRecords::are_particles) describes
/// the arrays in `groups`. If `EVEN`, the indices are 0, 1, 2, ..., and only their number is used.
///
/// # Safety
/// As for [`strided`].
#[inline(always)]
pub(crate) unsafe fn particles<
    T: Copy,
    const N: usize,
    const W: usize,
    const PACK: bool,
    const EVEN: bool,
>(
    array: *mut u8,
    packed: *mut u8,
    groups: [&Group; 2],
    indices: &[u32],
) {
    const { assert!(W == POSITION + N) };
    let array_at = |offset: i64| array.wrapping_offset(offset as isize).cast::<T>();
    let positions = array_at(groups[0].offsets[0]);
    let singles: [*mut T; N] = std::array::from_fn(|n| array_at(groups[1].offsets[n]));
    let place = |word: usize, i: usize| match word.checked_sub(POSITION) {
        None => positions.wrapping_add(POSITION * i + word),
        Some(n) => singles[n].wrapping_add(i),
    };
    let mut record = packed.cast::<[T; W]>();
    let mut first = 0;
    // SAFETY: here and below, words of the caller's records.
    unsafe {
        if EVEN {
            // Four records at once, so that the compiler copies whole vectors of each array.
            while first + 4 <= indices.len() {
                if PACK {
                    for i in first..first + 4 {
                        join_words::<T, W>(record.cast(), |word| place(word, i).cast_const());
                        record = record.wrapping_add(1);
                    }
                } else {
                    let word = |row: usize, word: usize| record.cast::<T>().wrapping_add(W * row + word);
                    for row in 0..4 {
                        let position = word(row, 0).cast::<[T; POSITION]>().read_unaligned();
                        place(0, first + row).cast::<[T; POSITION]>().write_unaligned(position);
                    }
                    for (n, single) in singles.iter().enumerate() {
                        let column: [T; 4] =
                            std::array::from_fn(|row| word(row, POSITION + n).read_unaligned());
                        single.wrapping_add(first).cast::<[T; 4]>().write_unaligned(column);
                    }
                    record = record.wrapping_add(4);
                }
                first += 4;
            }
        }
        for (number, &index) in indices.iter().enumerate().skip(first) {
            let i = if EVEN { number } else { index as usize };
            if PACK {
                join_words::<T, W>(record.cast(), |word| place(word, i).cast_const());
            } else {
                // One by one: taking a vector apart costs more than reading its words.
                (0..W).for_each(|word| {
                    place(word, i).write_unaligned(record.cast::<T>().add(word).read_unaligned())
                });
            }
            record = record.wrapping_add(1);
        }
    }
}
