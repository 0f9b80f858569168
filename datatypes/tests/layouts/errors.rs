//! What constructors refuse. A message names the constructor, the argument and its value.

use ddtbench_datatypes::Element::{Double, Int32};
use ddtbench_datatypes::{Layout, LayoutError, MAX_DEPTH, Order};

use crate::named;

const LARGE: i64 = 1 << 62;

#[track_caller]
fn refused(layout: Result<Layout, LayoutError>, message: &str) {
    assert_eq!(layout.unwrap_err().to_string(), message);
}

#[test]
fn negative_counts_and_block_lengths() {
    let int = &named(Int32);
    let case = |layout, start: &str| refused(layout, &format!("{start}: must not be negative"));
    case(Layout::contiguous(-1, int), "contiguous: count = -1");
    case(Layout::contiguous(i64::MIN, int), "contiguous: count = -9223372036854775808");
    case(Layout::vector(-2, 1, 1, int), "vector: count = -2");
    case(Layout::vector(2, -1, 1, int), "vector: blocklength = -1");
    case(Layout::hvector(i64::MIN, 1, 1, int), "hvector: count = -9223372036854775808");
    case(Layout::hvector(2, -7, 1, int), "hvector: blocklength = -7");
    case(Layout::indexed(&[1, 2, -3], &[0, 1, 2], int), "indexed: blocklengths[2] = -3");
    case(Layout::hindexed(&[-3], &[0], int), "hindexed: blocklengths[0] = -3");
    case(Layout::indexed_block(-1, &[], int), "indexed_block: blocklength = -1");
    case(Layout::hindexed_block(-1, &[0], int), "hindexed_block: blocklength = -1");
    case(Layout::structure(&[0, -1], &[0, 0], &[int.clone(), int.clone()]), "struct: blocklengths[1] = -1");
}

#[test]
fn lists_of_different_lengths() {
    let int = &named(Int32);
    let case = |layout, start: &str, other: &str| {
        refused(layout, &format!("{start}: must be as long as {other}"));
    };
    case(
        Layout::indexed(&[1, 1], &[0], int),
        "indexed: displacements = a list of 1",
        "blocklengths, which has 2",
    );
    case(
        Layout::hindexed(&[], &[0], int),
        "hindexed: displacements = a list of 1",
        "blocklengths, which has 0",
    );
    let two = [int.clone(), int.clone()];
    case(Layout::structure(&[1], &[0], &two), "struct: types = a list of 2", "blocklengths, which has 1");
    case(
        Layout::structure(&[1, 1], &[0], &two),
        "struct: displacements = a list of 1",
        "blocklengths, which has 2",
    );
    let sub = |sizes: &[i64], subsizes: &[i64], starts: &[i64]| {
        Layout::subarray(sizes, subsizes, starts, Order::C, int)
    };
    case(sub(&[4, 4], &[1], &[0, 0]), "subarray: subsizes = a list of 1", "sizes, which has 2");
    case(sub(&[4], &[1], &[0, 0]), "subarray: starts = a list of 2", "sizes, which has 1");
    refused(sub(&[], &[], &[]), "subarray: ndims = 0: must be at least 1");
}

#[test]
fn a_subarray_that_leaves_its_array_at_any_edge() {
    for order in [Order::C, Order::Fortran] {
        for dim in 0..3 {
            let case = |size: i64, subsize: i64, start: i64, message: &str| {
                let (mut sizes, mut subsizes, mut starts) = ([5; 3], [2; 3], [1; 3]);
                (sizes[dim], subsizes[dim], starts[dim]) = (size, subsize, start);
                let layout = Layout::subarray(&sizes, &subsizes, &starts, order, &named(Int32));
                refused(layout, &message.replace("[]", &format!("[{dim}]")));
            };
            let leaves = "the subarray leaves its array: must be from 0 to";
            case(5, 2, -1, &format!("subarray: starts[] = -1: {leaves} 3, the size 5 less the subsize 2"));
            case(5, 2, 4, &format!("subarray: starts[] = 4: {leaves} 3, the size 5 less the subsize 2"));
            case(5, 5, 1, &format!("subarray: starts[] = 1: {leaves} 0, the size 5 less the subsize 5"));
            let last = i64::MAX;
            case(
                5,
                2,
                last,
                &format!("subarray: starts[] = {last}: {leaves} 3, the size 5 less the subsize 2"),
            );
            case(5, 6, 0, "subarray: subsizes[] = 6: must be from 1 to 5, the size of the array");
            case(5, 0, 0, "subarray: subsizes[] = 0: must be from 1 to 5, the size of the array");
            case(5, -1, 0, "subarray: subsizes[] = -1: must be from 1 to 5, the size of the array");
            case(0, 0, 0, "subarray: sizes[] = 0: must be at least 1");
            case(i64::MIN, 1, 0, "subarray: sizes[] = -9223372036854775808: must be at least 1");
        }
    }
}

#[test]
fn sizes_beyond_63_bits() {
    let double = &named(Double);
    let case = |layout, start: &str| {
        refused(layout, &format!("{start}: the size does not fit in a signed 64-bit number"));
    };
    case(Layout::contiguous(LARGE, double), "contiguous: count = 4611686018427387904");
    case(Layout::contiguous(1 << 60, double), "contiguous: count = 1152921504606846976"); // 2^63 exactly
    case(
        Layout::vector(1 << 31, 1 << 31, 0, double),
        "vector: count x blocklength = 2147483648 x 2147483648",
    );
    case(Layout::hvector(3, LARGE, 0, double), "hvector: count x blocklength = 3 x 4611686018427387904");
    case(Layout::indexed(&[1, LARGE], &[0, 0], double), "indexed: blocklengths[1] = 4611686018427387904");
    case(
        Layout::hindexed(&[1 << 59, 1 << 59], &[0, 0], double),
        "hindexed: blocklengths[1] = 576460752303423488",
    );
    case(
        Layout::indexed_block(LARGE, &[0, 0], double),
        "indexed_block: count x blocklength = 2 x 4611686018427387904",
    );
    case(
        Layout::hindexed_block(1 << 59, &[0, 0], double),
        "hindexed_block: count x blocklength = 2 x 576460752303423488",
    );
    case(
        Layout::structure(&[1, LARGE], &[0, 0], &[named(Int32), double.clone()]),
        "struct: blocklengths[1] = 4611686018427387904",
    );
    let (sizes, starts) = ([1 << 31; 2], [0; 2]);
    case(
        Layout::subarray(&sizes, &sizes, &starts, Order::C, double),
        "subarray: subsizes = 2147483648 x 2147483648",
    );
}

#[test]
fn displacements_and_extents_beyond_64_bits() {
    let double = &named(Double);
    let wide = &Layout::resized(0, LARGE, double).unwrap();
    let case = |layout, start: &str, what: &str| {
        refused(layout, &format!("{start}: the {what} does not fit in a signed 64-bit number"));
    };
    case(Layout::contiguous(3, wide), "contiguous: count = 3", "displacement");
    case(Layout::vector(2, 1, LARGE, double), "vector: stride = 4611686018427387904", "displacement");
    case(Layout::vector(2, 3, 0, wide), "vector: blocklength = 3", "displacement");
    case(Layout::vector(2, 1, i64::MIN, double), "vector: stride = -9223372036854775808", "displacement");
    case(Layout::hvector(4, 1, LARGE, double), "hvector: stride = 4611686018427387904", "displacement");
    case(Layout::hvector(2, 1, i64::MAX, double), "hvector: stride = 9223372036854775807", "displacement");
    case(
        Layout::indexed(&[1, 1], &[0, LARGE], double),
        "indexed: displacements[1] = 4611686018427387904",
        "displacement",
    );
    case(Layout::indexed(&[1, 3], &[0, 0], wide), "indexed: blocklengths[1] = 3", "displacement");
    case(
        Layout::hindexed(&[1, 1], &[0, i64::MAX - 7], double),
        "hindexed: displacements[1] = 9223372036854775800",
        "displacement",
    );
    case(
        Layout::hindexed(&[1, 1], &[LARGE, -LARGE], double),
        "hindexed: displacements[1] = -4611686018427387904",
        "extent",
    );
    case(
        Layout::indexed_block(1, &[3, LARGE], double),
        "indexed_block: displacements[1] = 4611686018427387904",
        "displacement",
    );
    case(Layout::indexed_block(3, &[0], wide), "indexed_block: blocklength = 3", "displacement");
    case(Layout::hindexed_block(1, &[i64::MIN, 0], double), "hindexed_block: displacements[1] = 0", "extent");
    case(
        Layout::structure(&[1, 1], &[i64::MAX, 0], &[double.clone(), double.clone()]),
        "struct: displacements[0] = 9223372036854775807",
        "displacement",
    );
    let array = |size: i64, child: &Layout| Layout::subarray(&[size, 2], &[1, 1], &[0, 0], Order::C, child);
    case(array(LARGE, double), "subarray: sizes = 4611686018427387904 x 2", "number of elements");
    case(array(1 << 61, double), "subarray: sizes = 2305843009213693952 x 2", "extent");
    case(Layout::resized(LARGE, LARGE, double), "resized: extent = 4611686018427387904", "upper bound");
    case(Layout::resized(-2, i64::MIN, double), "resized: extent = -9223372036854775808", "upper bound");
}

/// Data may lie further apart than its markers say: then the true extent is what overflows.
#[test]
fn a_true_extent_beyond_64_bits() {
    let far = Layout::resized(LARGE, 0, &named(Double)).unwrap();
    let layout = Layout::structure(&[1, 1], &[-LARGE - 100, LARGE - 8], &[named(Double), far]);
    refused(
        layout,
        "struct: displacements[1] = 4611686018427387896: the extent does not fit in a signed 64-bit number",
    );
}

#[test]
fn nesting_deeper_than_the_limit() {
    let mut layout = named(Double);
    for _ in 1..MAX_DEPTH {
        layout = Layout::contiguous(1, &layout).unwrap();
    }
    assert_eq!(layout.depth(), MAX_DEPTH);
    refused(
        Layout::contiguous(1, &layout),
        &format!("contiguous: nesting = {}: at most {MAX_DEPTH} levels can be nested", MAX_DEPTH + 1),
    );
}
