//! Other descriptions of a layout have its ordered type map and its bounds, by the oracle.

use std::collections::BTreeMap;

use ddtbench_datatypes::{Equivalent, Layout, TypeMap};

use crate::trees;

fn assert_equivalent(layout: &Layout, described: &[(Equivalent, Layout)]) {
    let map = TypeMap::from_layout(layout);
    for (i, (way, other)) in described.iter().enumerate() {
        let what = || format!("{way:?} of {}: {}", layout.to_text(), other.to_text());
        let other_map = TypeMap::from_layout(other);
        assert!(other_map.data().eq(map.data()), "{}", what());
        let bounds = |map: &TypeMap| (map.lower_bound(), map.extent());
        assert!(bounds(&other_map) == bounds(&map) || !way.keeps_bounds(), "bounds: {}", what());
        assert!(other != layout, "its own description: {}", what());
        assert!(described[..i].iter().all(|(_, known)| known != other), "twice: {}", what());
        assert_eq!(way.rewritten(layout).as_ref(), Some(other));
    }
}

#[test]
fn all_descriptions_of_random_layouts_have_the_type_map_and_the_bounds() {
    let mut seen: BTreeMap<Equivalent, u32> = BTreeMap::new();
    for (_, layout) in trees(6000) {
        let described = Equivalent::all_of(&layout);
        assert_equivalent(&layout, &described);
        described.iter().for_each(|(way, _)| *seen.entry(*way).or_default() += 1);
    }
    for way in Equivalent::ALL {
        assert!(seen.get(&way).is_some_and(|&times| times >= 50), "{way:?} hardly occurred: {seen:?}");
    }
}

#[test]
fn layouts_are_described_as_far_as_they_can_be() {
    for row in include_str!("equivalent.txt").lines().filter(|row| !row.starts_with('#')) {
        let [layout, ways, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let described = Equivalent::all_of(&layout.parse().unwrap());
        for way in ways.split(' ') {
            let found = described.iter().find(|(known, _)| format!("{known:?}") == way);
            let text = found.map_or("-".to_owned(), |(_, other)| other.to_text());
            assert_eq!(text, expected, "{way} of {layout}");
        }
    }
}
