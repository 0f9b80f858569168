//! Arguments that constructors refuse. A message names the constructor, the argument and its value; most are in `errors.txt`.

use ddtbench_datatypes::Element::{Double, Int32};
use ddtbench_datatypes::{Layout, LayoutError, MAX_DEPTH, Order};

use crate::named;

#[track_caller]
fn refused(layout: Result<Layout, LayoutError>, message: &str) {
    assert_eq!(layout.unwrap_err().to_string(), message);
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    let rows = include_str!("errors.txt").lines().filter(|row| !row.starts_with('#'));
    for (text, message) in rows.map(|row| row.split_once(": ").unwrap()) {
        // The text's reader adds the place.
        let refused = text.parse::<Layout>().unwrap_err().to_string();
        assert_eq!(refused, format!("column 1: {message}"), "{text}");
    }
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
            case(5, 2, -1, &format!("subarray: starts[] = -1: {leaves} 3, the size 5 minus the subsize 2"));
            case(5, 2, 4, &format!("subarray: starts[] = 4: {leaves} 3, the size 5 minus the subsize 2"));
            case(5, 5, 1, &format!("subarray: starts[] = 1: {leaves} 0, the size 5 minus the subsize 5"));
            let last = i64::MAX;
            case(
                5,
                2,
                last,
                &format!("subarray: starts[] = {last}: {leaves} 3, the size 5 minus the subsize 2"),
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
