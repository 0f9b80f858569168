//! Texts for people: the tree, and the statistics of its segments.

use ddtbench_datatypes::Element::{Char, Double, Float, Int32};
use ddtbench_datatypes::{Layout, Spread, Statistics};

use crate::named;

#[test]
fn trees_show_arguments_and_what_follows_from_them() {
    assert_eq!(named(Double).tree(), "double  [size 8 B, lower bound 0 B, extent 8 B, true extent 8 B]\n");
    let atom =
        Layout::structure(&[3, 1, 0], &[0, 24, 32], &[named(Double), named(Int32), named(Char)]).unwrap();
    let rows = Layout::vector(2, 1, -3, &named(Float)).unwrap();
    let both =
        Layout::structure(&[2, 1], &[0, 128], &[Layout::resized(0, 40, &atom).unwrap(), rows]).unwrap();
    assert_eq!(
        both.tree(),
        "\
struct blocklengths [2, 1], displacements_bytes [0, 128]  [size 64 B, lower bound 0 B, extent 80 B, true extent 132 B]
├─ resized lower_bound 0, extent 40  [size 28 B, lower bound 0 B, extent 40 B, true extent 28 B]
│  └─ struct blocklengths [3, 1, 0], displacements_bytes [0, 24, 32]  [size 28 B, lower bound 0 B, extent 32 B, true extent 28 B]
│     ├─ double  [size 8 B, lower bound 0 B, extent 8 B, true extent 8 B]
│     ├─ int32  [size 4 B, lower bound 0 B, extent 4 B, true extent 4 B]
│     └─ char  [size 1 B, lower bound 0 B, extent 1 B, true extent 1 B]
└─ vector count 2, blocklength 1, stride -3, type float  [size 8 B, lower bound -12 B, extent 16 B, true extent 16 B]
"
    );
}

#[test]
fn long_lists_and_many_members_are_cut() {
    let displacements: Vec<i64> = (0..1000).collect();
    let long = Layout::indexed_block(1, &displacements, &named(Int32)).unwrap();
    assert!(long.tree().contains("displacements [0, 1, 2, 3, 4, 5, … 1000 in all], type int32"));
    let children = vec![named(Int32); 12];
    let wide = Layout::structure(&[1; 12], &displacements[..12], &children).unwrap();
    assert_eq!(wide.tree().lines().count(), 8);
    assert!(
        wide.tree()
            .ends_with("├─ int32  [size 4 B, lower bound 0 B, extent 4 B, true extent 4 B]\n└─ … 6 more\n")
    );
}

#[test]
fn statistics_of_the_segments() {
    let layout = Layout::indexed(&[1, 3, 1, 2], &[0, 2, 6, 10], &named(Int32)).unwrap();
    let statistics = Statistics::from_lists([layout.segments()]);
    assert_eq!(
        statistics,
        Statistics {
            segments: 4,
            bytes: 28,
            block_bytes: Some(Spread { min: 4, median: 4, max: 12, distinct: 3 }),
            stride_bytes: Some(Spread { min: 8, median: 16, max: 16, distinct: 2 }),
        }
    );
}
