//! The ends of 64 bits: no panic, no wrapping, no endless loop; and huge regular layouts at once.

use std::time::{Duration, Instant};

use ddtbench_datatypes::Element::{Byte, Double, Int32};
use ddtbench_datatypes::{Layout, Order, Segment};

use crate::named;

#[track_caller]
fn at_once<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    // A step for each of 2^30 values or more takes longer, if there is memory for them at all.
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
    result
}

#[test]
fn huge_regular_layouts_have_their_segments_at_once() {
    for row in include_str!("huge.txt").lines().filter(|row| !row.starts_with('#')) {
        let (text, expected) = row.split_once(" | ").unwrap();
        let (layout, listed) = (text.parse::<Layout>().unwrap(), expected.matches('+').count());
        let segments = at_once(|| layout.segments().take(listed + 1).collect::<Vec<_>>());
        let texts: Vec<String> = segments.iter().map(|one| format!("{}+{}", one.offset, one.bytes)).collect();
        let more = if segments.len() > listed { " ..." } else { "" };
        assert_eq!(texts[..listed].join(" ") + more, expected, "{text}");
    }
}

#[test]
fn empty_layouts_end_at_once() {
    let huge = i64::MAX;
    let empty = &Layout::contiguous(0, &named(Double)).unwrap();
    let marked = &Layout::resized(0, 0, empty).unwrap();
    for child in [empty, marked] {
        let layouts = [
            Layout::contiguous(huge, child),
            Layout::vector(huge, huge, 0, child),
            Layout::vector(huge, 0, 0, &named(Double)),
            Layout::vector(0, huge, huge, &named(Double)),
            Layout::hvector(huge, 0, 1, &named(Double)),
            Layout::indexed(&[huge, huge], &[0, huge], child),
            Layout::subarray(&[huge], &[huge], &[0], Order::C, child),
            Layout::subarray(&[1 << 20, 1 << 40], &[1 << 20, 1 << 40], &[0, 0], Order::Fortran, child),
            Layout::structure(&[huge], &[huge], std::slice::from_ref(child)),
            Layout::structure(&[], &[], &[]),
        ];
        for layout in layouts {
            let layout = layout.unwrap();
            at_once(|| {
                assert_eq!((layout.size(), layout.true_extent()), (0, 0));
                assert_eq!(layout.runs().count() + layout.segments().count(), 0);
                assert_eq!(layout.signature().count(), 0);
                // One level up as well, where it is a member and not the whole.
                let beside = Layout::structure(&[1, 1], &[0, 8], &[layout.clone(), named(Byte)]).unwrap();
                assert_eq!(beside.flatten(), [Segment { offset: 8, bytes: 1 }]);
            });
        }
    }
}

#[test]
fn a_signature_of_a_million_pairs() {
    let atom = Layout::structure(&[1, 1], &[0, 8], &[named(Double), named(Int32)]).unwrap();
    let layout = Layout::contiguous(1_000_000, &atom).unwrap();
    assert_eq!((layout.signature().count(), layout.signature().last()), (2_000_000, Some((Int32, 1))));
    let doubles = Layout::contiguous(1 << 30, &named(Double)).unwrap();
    assert!(doubles.signature().eq([(Double, 1 << 30)]));
}

#[test]
fn a_layout_is_made_of_one_predefined_type_if_members_without_data_are_too() {
    for (text, only) in [
        ("vector(2, 1, 3, int32)", Some(Int32)),
        ("contiguous(0, byte)", Some(Byte)),
        ("struct([1, 0], [0, 4], [int32, int32])", Some(Int32)),
        ("struct([1, 0], [0, 4], [int32, byte])", None),
        ("struct([], [], [])", None),
    ] {
        assert_eq!(text.parse::<Layout>().unwrap().only_element(), only, "{text}");
    }
}
