//! Properties of random layouts.

use ddtbench_datatypes::pool::random_layout;
use ddtbench_datatypes::{Constructor, Layout, MAX_DEPTH, TypeMap};

#[test]
fn bounds_hold_at_every_depth() {
    for depth in 0..=6 {
        for entries in [0, 1, 7, 2000] {
            for seed in 0..100 {
                let layout = random_layout(seed, depth, entries);
                assert!(layout.depth() <= depth + 1, "seed {seed}: {} levels", layout.depth());
                let values = TypeMap::from_layout(&layout).data().count() as u64;
                assert!(values <= entries.max(1), "seed {seed}: {values} values, {entries} allowed");
            }
        }
    }
}

#[test]
fn the_same_arguments_give_the_same_layout_for_ever() {
    for seed in 0..200 {
        assert_eq!(random_layout(seed, 5, 500), random_layout(seed, 5, 500));
    }
    // Pinned: published seeds must mean the same in the next version.
    let pinned = "indexed([3], [9], hindexed_block(1, [-16], double_complex))";
    assert_eq!(random_layout(1, 2, 100).to_text(), pinned);
}

#[test]
fn layouts_are_worth_testing() {
    let (mut filled, mut deep, mut overlap, mut many, total) = (0, 0, 0, 0, 2000);
    for seed in 0..total {
        let layout = random_layout(seed, 6, 2000);
        filled += u64::from(layout.size() > 0);
        deep += u64::from(layout.depth() > 4);
        overlap += u64::from((layout.size() as i64) > layout.true_extent());
        many += u64::from(layout.segments().count() > 50);
    }
    for (name, seen) in [("data", filled), ("depth", deep), ("overlap", overlap), ("segments", many)] {
        assert!(seen > total / 20, "only {seen} of {total} layouts have {name}");
    }
    assert!(filled > total / 2, "only {filled} of {total} layouts hold data");
}

#[test]
fn extreme_depths_end() {
    for seed in 0..20 {
        assert!(random_layout(seed, u32::MAX, 100).depth() <= MAX_DEPTH);
    }
}

/// The cases that the documentation promises, in the arguments themselves.
#[test]
fn arguments_cover_what_they_promise() {
    let [mut zero_count, mut negative_stride, mut negative_displacement, mut dense, mut backwards] = [0; 5];
    for seed in 0..2000 {
        crate::visit(&random_layout(seed, 4, 500), &mut |layout: &Layout| match layout.constructor() {
            Constructor::Contiguous { count: 0, .. } => zero_count += 1,
            Constructor::Vector { stride, blocklength, count, child } => {
                negative_stride += u32::from(*stride < 0);
                dense += u32::from(stride == blocklength && *count > 1 && child.size() > 0);
            }
            Constructor::Hindexed { displacements_bytes, .. } => {
                negative_displacement += u32::from(displacements_bytes.iter().any(|&d| d < 0));
            }
            Constructor::Resized { extent, .. } => backwards += u32::from(*extent < 0),
            _ => (),
        });
    }
    let seen = [zero_count, negative_stride, negative_displacement, dense, backwards];
    assert!(seen.iter().all(|&times| times > 10), "{seen:?}");
}
