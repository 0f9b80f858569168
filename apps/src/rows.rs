//! The innermost loops of the applications: planes, the rows of a plane, or a column, copied value by value
//! to or from consecutive places of a message.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3, Zip};

/// Packs planes, one after the other.
#[inline(always)]
pub(crate) fn pack_planes<T: Pod>(planes: ArrayView3<'_, T>, packed: &mut &mut [T]) {
    for plane in planes.outer_iter() {
        pack_rows(plane, packed);
    }
}

/// Unpacks planes, one after the other.
#[inline(always)]
pub(crate) fn unpack_planes<T: Pod>(packed: &mut &[T], mut planes: ArrayViewMut3<'_, T>) {
    for plane in planes.outer_iter_mut() {
        unpack_rows(packed, plane);
    }
}

/// Packs the rows of a plane, one after the other.
#[inline(always)]
pub(crate) fn pack_rows<T: Pod>(plane: ArrayView2<'_, T>, packed: &mut &mut [T]) {
    for row in plane.outer_iter() {
        pack_row(row, packed);
    }
}

/// Unpacks the rows of a plane, one after the other.
#[inline(always)]
pub(crate) fn unpack_rows<T: Pod>(packed: &mut &[T], mut plane: ArrayViewMut2<'_, T>) {
    for row in plane.outer_iter_mut() {
        unpack_row(packed, row);
    }
}

/// Like [`pack_rows`], for rows so long that a call of `memcpy` for each costs nothing. In a separate
/// function the compiler sees that message and array do not overlap, and makes that call. Within the
/// surrounding loops it does not, and copies with vectors of 16 bytes.
#[inline(never)]
pub(crate) fn pack_long_rows<T: Pod>(plane: ArrayView2<'_, T>, mut packed: &mut [T]) {
    pack_rows(plane, &mut packed);
}

/// Like [`unpack_rows`], a separate function for the same reason.
#[inline(never)]
pub(crate) fn unpack_long_rows<T: Pod>(mut packed: &[T], plane: ArrayViewMut2<'_, T>) {
    unpack_rows(&mut packed, plane);
}

/// Packs a row, whose values are adjacent in memory.
#[inline(always)]
pub(crate) fn pack_row<T: Pod>(row: ArrayView1<'_, T>, packed: &mut &mut [T]) {
    copy_values(packed.split_off_mut(..row.len()).expect(SIZE), row.to_slice().expect(NEIGHBOURS));
}

/// Unpacks a row, whose values are adjacent in memory.
#[inline(always)]
pub(crate) fn unpack_row<T: Pod>(packed: &mut &[T], row: ArrayViewMut1<'_, T>) {
    let from = packed.split_off(..row.len()).expect(SIZE);
    copy_values(row.into_slice().expect(NEIGHBOURS), from);
}

/// Copies values one by one; values with components, for example at a grid point, component by component. The
/// compiler would copy each whole value with vectors and a remainder.
#[inline(always)]
fn copy_values<T: Pod>(to: &mut [T], from: &[T]) {
    match align_of::<T>() {
        align if align == size_of::<T>() => copy_numbers(to, from),
        8 => copy_numbers::<u64>(cast_slice_mut(to), cast_slice(from)),
        4 => copy_numbers::<u32>(cast_slice_mut(to), cast_slice(from)),
        2 => copy_numbers::<u16>(cast_slice_mut(to), cast_slice(from)),
        _ => copy_numbers::<u8>(cast_slice_mut(to), cast_slice(from)),
    }
}

/// Copies numbers one by one. The last ones are written out: the compiler would turn a loop over them into
/// one for long rows. Just starting that costs more than the three values of a short row.
#[inline(always)]
fn copy_numbers<T: Copy>(to: &mut [T], from: &[T]) {
    let (to_fours, to_rest) = to.as_chunks_mut::<4>();
    let (from_fours, from_rest) = from.as_chunks::<4>();
    for (to, from) in to_fours.as_flattened_mut().iter_mut().zip(from_fours.as_flattened()) {
        *to = *from;
    }
    match (to_rest, from_rest) {
        ([a, b, c], [x, y, z]) => (*a, *b, *c) = (*x, *y, *z),
        ([a, b], [x, y]) => (*a, *b) = (*x, *y),
        ([a], [x]) => *a = *x,
        _ => {}
    }
}

/// Packs a column, whose values are not adjacent.
#[inline(always)]
pub(crate) fn pack_column<T: Copy>(column: ArrayView1<'_, T>, packed: &mut &mut [T]) {
    let to = packed.split_off_mut(..column.len()).expect(SIZE);
    Zip::from(ArrayViewMut1::from(to)).and(column).for_each(|to, from| *to = *from);
}

/// Unpacks a column, whose values are not adjacent.
#[inline(always)]
pub(crate) fn unpack_column<T: Copy>(packed: &mut &[T], column: ArrayViewMut1<'_, T>) {
    let from = packed.split_off(..column.len()).expect(SIZE);
    Zip::from(column).and(ArrayView1::from(from)).for_each(|to, from| *to = *from);
}

/// The message of the check that there is a place for each value.
pub(crate) const SIZE: &str = "the message has this size";

/// The message of the check that a row is a slice.
pub(crate) const NEIGHBOURS: &str = "the values of a row are neighbours";
