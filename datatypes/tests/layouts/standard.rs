//! Type maps worked out by hand. The type maps, bounds and segments here are written as the standard prints
//! them, so that the type map in the library, from which the other tests derive, is not its own judge.

use ddtbench_datatypes::Element::{Char, Double, Float, FloatComplex, Int8, Int32};
use ddtbench_datatypes::{Element, Entry, Layout, Order, Segment, TypeMap};

use crate::named;
use crate::properties::assert_agrees;

/// `{(double, 0), (char, 8)}`, with extent 16: the type of most of the standard's examples.
fn double_char() -> Layout {
    Layout::structure(&[1, 1], &[0, 8], &[named(Double), named(Char)]).unwrap()
}

/// Checks the data of a type map, its lower bound and its extent.
fn assert_map(layout: &Layout, data: &[(Element, i64)], lower_bound: i64, extent: i64) {
    let map = TypeMap::of(layout);
    assert_eq!(map.data().collect::<Vec<_>>(), data);
    assert_eq!((layout.lower_bound(), layout.extent()), (lower_bound, extent));
    assert_agrees(layout, "by hand");
}

/// `{(double, d), (char, d + 8)}` for every `d`.
fn at(displacements: &[i64]) -> Vec<(Element, i64)> {
    displacements.iter().flat_map(|&d| [(Double, d), (Char, d + 8)]).collect()
}

fn segments(layout: &Layout) -> Vec<(i64, u64)> {
    layout.segments().map(|Segment { offset, bytes }| (offset, bytes)).collect()
}

#[test]
fn extent_rounds_up_to_the_alignment_of_a_double() {
    let layout = double_char();
    assert_map(&layout, &[(Double, 0), (Char, 8)], 0, 16);
    assert_eq!((layout.size(), layout.true_extent()), (9, 9));
    assert_eq!(segments(&layout), [(0, 9)]);
}

#[test]
fn contiguous_of_three() {
    let layout = Layout::contiguous(3, &double_char()).unwrap();
    assert_map(&layout, &at(&[0, 16, 32]), 0, 48);
    assert_eq!(segments(&layout), [(0, 9), (16, 9), (32, 9)]);
}

#[test]
fn vector_of_two_blocks_of_three_with_stride_four() {
    let layout = Layout::vector(2, 3, 4, &double_char()).unwrap();
    assert_map(&layout, &at(&[0, 16, 32, 64, 80, 96]), 0, 112);
}

#[test]
fn vector_with_a_negative_stride() {
    let layout = Layout::vector(3, 1, -2, &double_char()).unwrap();
    assert_map(&layout, &at(&[0, -32, -64]), -64, 80);
    assert_eq!(layout.true_lower_bound(), -64);
    assert_eq!(layout.true_upper_bound(), 9);
    assert_eq!(segments(&layout), [(0, 9), (-32, 9), (-64, 9)]);
}

#[test]
fn hvector_strides_in_bytes() {
    let layout = Layout::hvector(2, 3, 64, &double_char()).unwrap();
    assert_map(&layout, &at(&[0, 16, 32, 64, 80, 96]), 0, 112);
    let layout = Layout::hvector(2, 1, 20, &double_char()).unwrap();
    // Data from 0 to 29; the extent rounds up to a multiple of 8, as the standard defines epsilon.
    assert_map(&layout, &at(&[0, 20]), 0, 32);
}

#[test]
fn indexed_blocks_of_three_and_one() {
    let layout = Layout::indexed(&[3, 1], &[4, 0], &double_char()).unwrap();
    assert_map(&layout, &at(&[64, 80, 96, 0]), 0, 112);
    assert_eq!(layout.flatten()[0].offset, 64); // type-map order, not memory order
}

#[test]
fn hindexed_displaces_in_bytes() {
    let layout = Layout::hindexed(&[3, 1], &[64, 0], &double_char()).unwrap();
    assert_map(&layout, &at(&[64, 80, 96, 0]), 0, 112);
}

#[test]
fn blocks_of_one_length() {
    let layout = Layout::indexed_block(2, &[5, -1], &double_char()).unwrap();
    assert_map(&layout, &at(&[80, 96, -16, 0]), -16, 128);
    let layout = Layout::hindexed_block(2, &[80, -16], &double_char()).unwrap();
    assert_map(&layout, &at(&[80, 96, -16, 0]), -16, 128);
}

#[test]
fn struct_of_float_pair_and_char() {
    let layout =
        Layout::structure(&[2, 1, 3], &[0, 16, 26], &[named(Float), double_char(), named(Char)]).unwrap();
    let data = [(Float, 0), (Float, 4), (Double, 16), (Char, 24), (Char, 26), (Char, 27), (Char, 28)];
    assert_map(&layout, &data, 0, 32);
    assert_eq!((layout.size(), layout.true_extent()), (20, 29));
    assert_eq!(segments(&layout), [(0, 8), (16, 9), (26, 3)]);
    assert_eq!(layout.signature().to_string(), "2 float, 1 double, 4 char");
}

#[test]
fn markers_stay_with_the_copies() {
    // MPI-4.1, section 5.1.6: {(lb_marker, -3), (int, 0), (ub_marker, 6)}, extent 9; two copies give
    // {(lb_marker, -3), (int, 0), (int, 9), (ub_marker, 15)}.
    let type1 = Layout::resized(-3, 9, &named(Int32)).unwrap();
    let markers = [Entry::LowerMarker(-3), Entry::Data(Int32, 0), Entry::UpperMarker(6)];
    assert_eq!(TypeMap::of(&type1).0, markers);
    assert_map(&type1, &[(Int32, 0)], -3, 9);
    let type2 = Layout::contiguous(2, &type1).unwrap();
    assert_map(&type2, &[(Int32, 0), (Int32, 9)], -3, 18);
    assert_eq!(type2.upper_bound(), 15);
    // In a struct the marked member alone sets the bounds, whatever lies outside; nothing is rounded up.
    let whole = Layout::structure(&[1, 1], &[0, 40], &[type2, named(Double)]).unwrap();
    assert_map(&whole, &[(Int32, 0), (Int32, 9), (Double, 40)], -3, 18);
    assert_eq!((whole.true_lower_bound(), whole.true_extent()), (0, 48));
    // Only another `resized` takes markers away.
    assert_map(&Layout::resized(0, 4, &whole).unwrap(), &[(Int32, 0), (Int32, 9), (Double, 40)], 0, 4);
}

#[test]
fn a_zero_count_takes_the_markers_with_it() {
    let marked = Layout::resized(-3, 9, &named(Int32)).unwrap();
    assert_map(&Layout::contiguous(0, &marked).unwrap(), &[], 0, 0);
    let beside = Layout::structure(&[0, 1], &[8, 16], &[marked, named(Int32)]).unwrap();
    assert_map(&beside, &[(Int32, 16)], 16, 4);
}

#[test]
fn negative_extent_lets_copies_run_backwards() {
    let backwards = Layout::resized(0, -4, &named(Int32)).unwrap();
    assert_map(&backwards, &[(Int32, 0)], 0, -4);
    let three = Layout::contiguous(3, &backwards).unwrap();
    // Markers lb at 0, -4, -8 and ub at -4, -8, -12: the lowest and the highest count.
    assert_map(&three, &[(Int32, 0), (Int32, -4), (Int32, -8)], -8, 4);
    assert_eq!(segments(&three), [(0, 4), (-4, 4), (-8, 4)]);
}

#[test]
fn overlapping_copies_stay_apart() {
    let dense = Layout::resized(0, 2, &named(Int32)).unwrap();
    let layout = Layout::contiguous(3, &dense).unwrap();
    assert_map(&layout, &[(Int32, 0), (Int32, 2), (Int32, 4)], 0, 6);
    assert_eq!(segments(&layout), [(0, 4), (2, 4), (4, 4)]);
}

#[test]
fn subarray_in_both_orders() {
    // Rows 1 and 2, columns 2 and 3 of a 4 x 5 array: row-major in C, column-major in Fortran.
    let c = Layout::subarray(&[4, 5], &[2, 2], &[1, 2], Order::C, &named(Double)).unwrap();
    assert_map(&c, &[(Double, 56), (Double, 64), (Double, 96), (Double, 104)], 0, 160);
    assert_eq!(segments(&c), [(56, 16), (96, 16)]);
    assert_eq!((c.true_lower_bound(), c.true_extent()), (56, 56));
    let fortran = Layout::subarray(&[4, 5], &[2, 2], &[1, 2], Order::Fortran, &named(Double)).unwrap();
    assert_map(&fortran, &[(Double, 72), (Double, 80), (Double, 104), (Double, 112)], 0, 160);
    // Turned round, one is the other.
    let turned = Layout::subarray(&[5, 4], &[2, 2], &[2, 1], Order::Fortran, &named(Double)).unwrap();
    assert_eq!(c.flatten(), turned.flatten());
}

#[test]
fn three_dimensional_subarray() {
    // Index (z, y, x) of a 2 x 3 x 4 array lies at 12 z + 4 y + x.
    let layout =
        Layout::subarray(&[2, 3, 4], &[2, 2, 3], &[0, 1, 1], Order::C, &named(FloatComplex)).unwrap();
    assert_eq!(segments(&layout), [(40, 24), (72, 24), (136, 24), (168, 24)]);
    assert_map(&layout, &[5, 6, 7, 9, 10, 11, 17, 18, 19, 21, 22, 23].map(|i| (FloatComplex, 8 * i)), 0, 192);
}

#[test]
fn subarray_ignores_its_childs_bounds_but_not_its_extent() {
    let child = Layout::resized(-8, 12, &named(Int8)).unwrap();
    let layout = Layout::subarray(&[3], &[2], &[1], Order::C, &child).unwrap();
    assert_map(&layout, &[(Int8, 12), (Int8, 24)], 0, 36);
}

#[test]
fn matrix_transpose() {
    // MPI-4.1, section 5.1.14: a row is a strided column, resized to the extent of one float.
    let column = Layout::vector(3, 1, 3, &named(Float)).unwrap();
    assert_eq!(column.extent(), 28);
    let transpose = Layout::contiguous(3, &Layout::resized(0, 4, &column).unwrap()).unwrap();
    let order: Vec<i64> = transpose.segments().map(|segment| segment.offset / 4).collect();
    assert_eq!(order, [0, 3, 6, 1, 4, 7, 2, 5, 8]);
}

#[test]
fn predefined_types_are_their_c_types() {
    for element in Element::ALL {
        assert_map(&named(element), &[(element, 0)], 0, element.size() as i64);
    }
    let sizes = Element::ALL.map(|element| (element.size(), element.alignment()));
    let c = [1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8].map(|size| (size, size));
    assert_eq!(sizes[..12], c);
    assert_eq!(sizes[12..], [(8, 4), (16, 8), (1, 1)]);
}
