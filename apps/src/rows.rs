//! What the innermost loops of the applications have in common: the rows of a plane, or a column, value by value, to or
//! from the next places of a message.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Zip};

/// Packs the rows of a plane, one after the other.
#[inline(always)]
pub(crate) fn pack_rows<T: Copy>(plane: ArrayView2<'_, T>, packed: &mut &mut [T]) {
    for row in plane.outer_iter() {
        pack_row(row, packed);
    }
}

/// Unpacks the rows of a plane, one after the other.
#[inline(always)]
pub(crate) fn unpack_rows<T: Copy>(packed: &mut &[T], mut plane: ArrayViewMut2<'_, T>) {
    for row in plane.outer_iter_mut() {
        unpack_row(packed, row);
    }
}

/// Packs a row, whose values are neighbours.
#[inline(always)]
pub(crate) fn pack_row<T: Copy>(row: ArrayView1<'_, T>, packed: &mut &mut [T]) {
    let to = packed.split_off_mut(..row.len()).expect(SIZE);
    for (to, from) in to.iter_mut().zip(row.to_slice().expect(NEIGHBOURS)) {
        *to = *from;
    }
}

/// Unpacks a row, whose values are neighbours.
#[inline(always)]
pub(crate) fn unpack_row<T: Copy>(packed: &mut &[T], row: ArrayViewMut1<'_, T>) {
    let from = packed.split_off(..row.len()).expect(SIZE);
    for (to, from) in row.into_slice().expect(NEIGHBOURS).iter_mut().zip(from) {
        *to = *from;
    }
}

/// Packs a column, whose values lie apart.
#[inline(always)]
pub(crate) fn pack_column<T: Copy>(column: ArrayView1<'_, T>, packed: &mut &mut [T]) {
    let to = packed.split_off_mut(..column.len()).expect(SIZE);
    Zip::from(ArrayViewMut1::from(to)).and(column).for_each(|to, from| *to = *from);
}

/// Unpacks a column, whose values lie apart.
#[inline(always)]
pub(crate) fn unpack_column<T: Copy>(packed: &mut &[T], column: ArrayViewMut1<'_, T>) {
    let from = packed.split_off(..column.len()).expect(SIZE);
    Zip::from(column).and(ArrayView1::from(from)).for_each(|to, from| *to = *from);
}

/// Why there is a place for each value.
const SIZE: &str = "the message has this size";

/// Why a row is a slice.
const NEIGHBOURS: &str = "the values of a row are neighbours";
