//! Size, bounds, signature, runs and segments of random trees equal what the type map says.

use std::collections::BTreeMap;

use ddtbench_datatypes::{
    Constructor, DistributedArray, Distribution, Element, Layout, Order, Segment, TypeMap, joined_types,
};

use crate::{named, trees, visit};

fn segments_of(map: &TypeMap) -> Vec<Segment> {
    let mut merged: Vec<Segment> = Vec::new();
    for (element, offset) in map.data() {
        match merged.last_mut() {
            Some(last) if last.offset + last.bytes as i64 == offset => last.bytes += element.size(),
            _ => merged.push(Segment { offset, bytes: element.size() }),
        }
    }
    merged
}

/// All that is derived from a layout, against its type map. `name` says which layout failed.
pub fn assert_agrees(layout: &Layout, name: &str) {
    let map = TypeMap::from_layout(layout);
    let tree = || format!("{name}:\n{}", layout.tree());
    let bytes: u64 = map.data().map(|(element, _)| element.size()).sum();
    assert_eq!(layout.size(), bytes, "size of {}", tree());
    assert_eq!(layout.lower_bound(), map.lower_bound(), "lower bound of {}", tree());
    assert_eq!(layout.upper_bound(), map.upper_bound(), "upper bound of {}", tree());
    assert_eq!(layout.extent(), map.extent(), "extent of {}", tree());

    let first = map.data().map(|(_, d)| d).min().unwrap_or(0);
    let end = map.data().map(|(element, d)| d + element.size() as i64).max().unwrap_or(0);
    assert_eq!(layout.true_lower_bound(), first, "true lower bound of {}", tree());
    assert_eq!(layout.true_upper_bound(), end, "true upper bound of {}", tree());
    assert_eq!(layout.true_extent(), end - first, "true extent of {}", tree());

    let signature: Vec<_> = joined_types(map.data().map(|(element, _)| (element, 1))).collect();
    assert!(layout.signature().eq(signature.iter().copied()), "signature of {}", tree());
    let only = if let [(element, _)] = signature[..] { Some(element) } else { None };
    assert_eq!(layout.uniform(), only, "one type of {}", tree());
    for bytes in [2, 4, 8].into_iter().filter(|&bytes| layout.is_plainly_in_steps_of(bytes)) {
        let is_step = |(_, offset): (Element, i64)| offset.unsigned_abs().is_multiple_of(bytes);
        assert!(map.data().all(is_step), "steps of {bytes} in {}", tree());
    }
    let values: Vec<(Element, i64)> = layout
        .runs()
        .flat_map(|run| (0..run.count as i64).map(move |i| (run, i)))
        .map(|(run, i)| (run.element, run.offset + i * run.element.size() as i64))
        .collect();
    assert!(map.data().eq(values), "runs of {}", tree());
    let mut segments = segments_of(&map);
    assert_eq!(layout.flatten(), segments, "segments of {}", tree());
    segments.sort_unstable_by_key(|segment| segment.offset);
    let is_disjoint = segments.windows(2).all(|pair| pair[0].end() <= pair[1].offset);
    assert!(is_disjoint || !layout.is_plainly_disjoint(), "two values share a byte of {}", tree());
}

#[test]
fn regular_layouts_of_any_size_are_disjoint_plainly() {
    for (text, is_disjoint) in [
        ("vector(1000000000000, 1, 2, byte)", true),
        ("vector(408, 5, 2050, double)", true),
        ("hvector(10, 1, -1000, contiguous(5, double))", true),
        ("darray(4, 1, [1000000000000, 7], [cyclic, block], [3, default], [2, 2], c, double)", true),
        ("vector(3, 2, 1, double)", false),
        ("hvector(3, 1, 0, double)", false),
    ] {
        assert_eq!(text.parse::<Layout>().unwrap().is_plainly_disjoint(), is_disjoint, "{text}");
    }
}

#[test]
fn random_trees_agree_with_their_type_maps() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (seed, layout) in trees(6000) {
        assert_agrees(&layout, &format!("seed {seed}"));
        visit(&layout, &mut |layout| *seen.entry(layout.constructor().name()).or_default() += 1);
        let segments = layout.segments().count();
        let is_fortran = |layout: &Layout| matches!(layout.constructor(), Constructor::Subarray { order: Order::Fortran, sizes, .. } if sizes.len() > 1);
        let mut fortran = false;
        visit(&layout, &mut |layout| fortran |= is_fortran(layout));
        for (kind, found) in [
            ("Fortran order", fortran),
            ("negative extent", layout.extent() < 0),
            ("negative lower bound", layout.lower_bound() < 0),
            ("no data", layout.size() == 0),
            ("merged segments", segments > 0 && segments < layout.runs().count()),
            ("several types in a segment", segments > 0 && segments < layout.signature().count()),
            ("several types", layout.size() > 0 && layout.uniform().is_none()),
            ("plainly disjoint", segments > 1 && layout.is_plainly_disjoint()),
            ("plainly in steps", segments > 1 && layout.is_plainly_in_steps_of(2)),
        ] {
            *seen.entry(kind).or_default() += u32::from(found);
        }
    }
    // Every constructor, and the properties above.
    assert_eq!(seen.len(), 12 + 9, "{seen:?}");
    assert!(seen.values().all(|&times| times >= 20), "{seen:?}");
}

/// Small children that are awkward in different ways: dense, padded, shifted, overlapping, empty, backwards.
fn awkward_children() -> Vec<Layout> {
    let double = named(Element::Double);
    let padded = Layout::structure(&[1, 1], &[0, 8], &[double.clone(), named(Element::Char)]).unwrap();
    let mixed = Layout::structure(&[1, 2], &[0, 4], &[named(Element::Int32), named(Element::Int16)]).unwrap();
    vec![
        double.clone(),
        named(Element::DoubleComplex),
        mixed,
        Layout::resized(-4, 32, &padded).unwrap(),
        Layout::resized(0, 4, &double).unwrap(),
        Layout::resized(0, 0, &double).unwrap(),
        Layout::resized(8, -8, &double).unwrap(),
        Layout::hindexed(&[1, 0, 1], &[16, 999, -8], &double).unwrap(),
        Layout::contiguous(0, &padded).unwrap(),
        Layout::resized(-3, 7, &Layout::contiguous(0, &double).unwrap()).unwrap(),
        padded,
    ]
}

#[test]
fn small_arguments_agree_exhaustively() {
    for (i, child) in awkward_children().iter().enumerate() {
        let check = |layout: Result<Layout, _>| assert_agrees(&layout.unwrap(), &format!("child {i}"));
        for count in 0..4 {
            check(Layout::contiguous(count, child));
            for blocklength in 0..4 {
                for stride in -4..=4 {
                    check(Layout::vector(count, blocklength, stride, child));
                    check(Layout::hvector(count, blocklength, stride * 8, child));
                    check(Layout::indexed(&[count, blocklength], &[0, stride], child));
                    check(Layout::hindexed(&[count, blocklength], &[-8, stride * 8], child));
                    check(Layout::indexed_block(blocklength, &[count, stride, 0], child));
                    check(Layout::hindexed_block(blocklength, &[stride * 4, count], child));
                    let children = [child.clone(), named(Element::Float)];
                    check(Layout::structure(&[blocklength, count], &[0, stride * 8], &children));
                }
            }
        }
        for lower_bound in -9..9 {
            (-9..17).for_each(|extent| check(Layout::resized(lower_bound, extent, child)));
        }
    }
}

#[test]
fn every_subarray_of_a_small_array_agrees() {
    let mut checked = 0;
    for child in awkward_children() {
        for sizes in [[1, 1, 1], [2, 3, 1], [3, 1, 2], [2, 2, 2]] {
            // Every box: a mixed-radix number of (subsize, start) for each dimension.
            let boxes =
                |size: i64| (1..=size).flat_map(move |sub| (0..=size - sub).map(move |start| (sub, start)));
            for (a, i) in boxes(sizes[0]) {
                for (b, j) in boxes(sizes[1]) {
                    for (c, k) in boxes(sizes[2]) {
                        for order in [Order::C, Order::Fortran] {
                            let layout = Layout::subarray(&sizes, &[a, b, c], &[i, j, k], order, &child);
                            assert_agrees(&layout.unwrap(), &format!("{sizes:?}"));
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(checked, 11 * 2 * (1 + 3 * 6 + 6 * 3 + 27));
}

/// Every way to distribute two dimensions among few processes, for every rank.
#[test]
fn every_darray_of_a_small_array_agrees() {
    let mut dimensions = Vec::new();
    for gsize in [1, 2, 4, 5] {
        dimensions.push((gsize, Distribution::None, None, 1));
        for psize in 1..4 {
            for darg in (0..4).map(|darg| (darg > 0).then_some(darg)) {
                dimensions.push((gsize, Distribution::Cyclic, darg, psize));
                if darg.is_none_or(|darg| darg * psize >= gsize) {
                    dimensions.push((gsize, Distribution::Block, darg, psize));
                }
            }
        }
    }
    let child = &awkward_children()[3];
    let mut checked = 0;
    for outer in &dimensions {
        for inner in &dimensions {
            let dims = [outer, inner];
            let size = outer.3 * inner.3;
            for rank in 0..size {
                for order in [Order::C, Order::Fortran] {
                    let array = DistributedArray {
                        size,
                        rank,
                        gsizes: dims.map(|dim| dim.0).into(),
                        distribs: dims.map(|dim| dim.1).into(),
                        dargs: dims.map(|dim| dim.2).into(),
                        psizes: dims.map(|dim| dim.3).into(),
                        order,
                    };
                    assert_agrees(&Layout::darray(array, child).unwrap(), "darray");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 20_000, "{checked}");
}
