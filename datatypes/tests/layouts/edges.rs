//! The ends of 64 bits: no panic, no wrapping, no endless loop; and huge regular layouts at once.

use std::time::{Duration, Instant};

use ddtbench_datatypes::Element::{Byte, Double, Int32};
use ddtbench_datatypes::{Layout, Order, Segment, TypeMap};

use crate::named;
use crate::properties::assert_agrees;

#[track_caller]
fn at_once<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    // A step for each of 2^30 values or more takes longer, if there is memory for them at all.
    assert!(start.elapsed() < Duration::from_secs(60), "took {:?}", start.elapsed());
    result
}

#[track_caller]
fn one_segment(layout: Layout, offset: i64, bytes: u64) {
    assert_eq!(at_once(|| layout.flatten()), [Segment { offset, bytes }]);
    assert_eq!((layout.segments().count(), layout.size()), (1, bytes));
}

const GIGA: i64 = 1 << 30;

#[test]
fn huge_dense_layouts_are_one_segment_at_once() {
    let double = &named(Double);
    let bytes = GIGA as u64 * 8;
    one_segment(Layout::contiguous(GIGA, double).unwrap(), 0, bytes);
    one_segment(Layout::vector(GIGA, 1, 1, double).unwrap(), 0, bytes);
    one_segment(Layout::vector(GIGA, 4, 4, double).unwrap(), 0, 4 * bytes);
    one_segment(Layout::hvector(GIGA, 2, 16, double).unwrap(), 0, 2 * bytes);
    let array = [1 << 10; 4];
    for order in [Order::C, Order::Fortran] {
        one_segment(Layout::subarray(&array, &array, &[0; 4], order, double).unwrap(), 0, 1 << 43);
    }
    // Whole planes are dense too, from the first on; a single row of each plane is not.
    let text = |text: &str| text.parse::<Layout>().unwrap();
    one_segment(
        text("darray(2, 1, [1073741824, 8], [block, none], [default, 1], [2, 1], c, double)"),
        GIGA * 32,
        GIGA as u64 * 32,
    );
    let uneven = text("darray(2, 0, [1073741823, 2], [cyclic, none], [2, 1], [2, 1], c, double)");
    let start: Vec<_> = at_once(|| uneven.segments().take(2).collect());
    assert_eq!(start, [Segment { offset: 0, bytes: 32 }, Segment { offset: 64, bytes: 32 }]);
    let planes = Layout::subarray(&[GIGA / 2, GIGA], &[GIGA / 4, GIGA], &[5, 0], Order::C, double).unwrap();
    one_segment(planes, 5 * GIGA * 8, 1 << 61);
    // Covered planes are one row each, so that a segment is not pieced together from all their lines.
    let slabs = Layout::subarray(&[6, GIGA / 2, 4], &[3, GIGA / 4, 4], &[2, 7, 0], Order::C, double).unwrap();
    let first = (2 * (GIGA / 2) + 7) * 32;
    let step = GIGA / 2 * 32;
    let bytes = GIGA as u64 * 8;
    assert_eq!(
        at_once(|| slabs.flatten()),
        [first, first + step, first + 2 * step].map(|offset| Segment { offset, bytes })
    );
    let rows = Layout::subarray(&[GIGA, 3, 7], &[GIGA, 1, 7], &[0, 1, 0], Order::C, double).unwrap();
    let start: Vec<_> = at_once(|| rows.segments().take(2).collect());
    assert_eq!(start, [Segment { offset: 56, bytes: 56 }, Segment { offset: 224, bytes: 56 }]);
}

/// An array of dense structs is not a run of one type, but it is one segment.
#[test]
fn huge_arrays_of_dense_structs_are_one_segment_at_once() {
    let pair = Layout::structure(&[1, 2], &[0, 8], &[named(Double), named(Int32)]).unwrap();
    assert_eq!((pair.size(), pair.extent()), (16, 16));
    one_segment(Layout::contiguous(GIGA, &pair).unwrap(), 0, GIGA as u64 * 16);
    one_segment(Layout::vector(GIGA, 2, 2, &pair).unwrap(), 0, GIGA as u64 * 32);
    let first = Layout::contiguous(GIGA, &pair).unwrap();
    assert_eq!(first.runs().take(3).count(), 3);
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
                assert!(layout.signature().pairs().is_empty());
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
    let signature = Layout::contiguous(1_000_000, &atom).unwrap().signature();
    assert_eq!(signature.pairs().len(), 2_000_000);
    assert_eq!(signature.pairs()[1_999_999], (Int32, 1));
    assert_eq!(Layout::contiguous(GIGA, &named(Double)).unwrap().signature().uniform(), Some(Double));
}

/// A single block's stride is never used; nor does zero times anything overflow.
#[test]
fn arguments_without_effect_may_be_anything() {
    let double = &named(Double);
    for stride in [i64::MIN, i64::MAX] {
        assert_agrees(&Layout::vector(1, 2, stride, double).unwrap(), "one block");
        assert_agrees(&Layout::hvector(1, 2, stride, double).unwrap(), "one block");
        assert_agrees(&Layout::vector(0, 2, stride, double).unwrap(), "no block");
        let still = Layout::resized(0, 0, double).unwrap();
        assert_agrees(&Layout::vector(3, 1, stride, &still).unwrap(), "no extent");
        assert_agrees(&Layout::hindexed(&[0, 1], &[stride, 8], double).unwrap(), "empty block");
    }
}

/// The origin of a copy may lie beyond 64 bits where its data does not.
#[test]
fn origins_out_of_range_cancel_out() {
    let low = Layout::hindexed(&[1], &[-(1 << 62)], &named(Int32)).unwrap();
    let back = Layout::hindexed(&[1], &[(1 << 62) + (1 << 61)], &low).unwrap();
    let layout =
        Layout::hindexed(&[1], &[1 << 62], &Layout::structure(&[1], &[0], &[back]).unwrap()).unwrap();
    assert_agrees(&layout, "origin beyond 64 bits");
    // The same where no shortcut over single segments helps.
    let two = Layout::hindexed(&[1, 1], &[0, 8], &low).unwrap();
    let two = Layout::hindexed(&[1, 1], &[(1 << 62) + (1 << 61), (1 << 62) + (1 << 61) + 64], &two).unwrap();
    assert_agrees(&Layout::hindexed(&[1], &[1 << 62], &two).unwrap(), "origin beyond 64 bits, stepwise");
}

#[test]
fn the_last_byte_of_the_address_space_is_in_reach() {
    let end = Layout::hindexed(&[1], &[i64::MAX - 1], &named(Byte)).unwrap();
    assert_eq!(end.true_upper_bound(), i64::MAX);
    assert_agrees(&end, "last byte");
    let start = Layout::hindexed(&[1], &[i64::MIN], &named(Double)).unwrap();
    assert_agrees(&start, "first byte");
    // A marker that others bound may be moved beyond 64 bits.
    let far = Layout::resized(i64::MAX - 4, -8, &named(Byte)).unwrap();
    let near = Layout::resized(-4, 8, &named(Byte)).unwrap();
    let both = Layout::structure(&[1, 1], &[0, 0], &[far, near]).unwrap();
    let moved = Layout::hindexed(&[1], &[8], &both).unwrap();
    assert_eq!((moved.lower_bound(), moved.upper_bound()), (4, i64::MAX - 4));
    assert_agrees(&moved, "markers");
}

/// The type map itself at the ends of 64 bits, for layouts that are accepted.
#[test]
fn markers_far_outside_do_not_disturb_a_direct_reading() {
    let layout = Layout::resized(i64::MIN, i64::MAX, &named(Double)).unwrap();
    let map = TypeMap::from_layout(&layout);
    assert_eq!((map.lower_bound(), map.extent()), (i64::MIN, i64::MAX));
    assert_agrees(&layout, "marker at the lowest address");
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
