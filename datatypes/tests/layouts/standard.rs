//! Type maps worked out by hand, in `standard.txt`. The type maps, bounds and segments there are written as the standard prints
//! them, so that the type map in the library, from which the other tests derive, is not its own judge.

use ddtbench_datatypes::Element::{Char, Double, Float, Int32};
use ddtbench_datatypes::{Element, Entry, Layout, TypeMap};

use crate::named;
use crate::properties::assert_agrees;

/// Checks the data of a type map, its lower bound and its extent.
fn assert_map(layout: &Layout, data: &[(Element, i64)], lower_bound: i64, extent: i64) {
    let map = TypeMap::from_layout(layout);
    assert_eq!(map.data().collect::<Vec<_>>(), data);
    assert_eq!((layout.lower_bound(), layout.extent()), (lower_bound, extent));
    assert_agrees(layout, "by hand");
}

#[test]
fn type_maps_are_those_of_the_standard() {
    for row in include_str!("standard.txt").lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split(" | ").collect();
        let layout: Layout = columns[0].parse().unwrap();
        let pair = |text: &'static str| {
            let (name, displacement) = text.split_once(' ').unwrap();
            let element = Element::ALL.into_iter().find(|element| element.name() == name);
            (element.unwrap(), displacement.parse().unwrap())
        };
        let data: Vec<_> = columns[1].split(", ").filter(|text| !text.is_empty()).map(pair).collect();
        let (lower_bound, extent) = columns[2].split_once(' ').unwrap();
        assert_map(&layout, &data, lower_bound.parse().unwrap(), extent.parse().unwrap());
        if let Some(expected) = columns.get(3) {
            let segments = layout.segments().map(|segment| format!("{}+{}", segment.offset, segment.bytes));
            assert_eq!(segments.collect::<Vec<_>>().join(" "), *expected, "{row}");
        }
    }
}

#[test]
fn markers_are_entries_and_a_signature_counts_neighbours() {
    let marked = Layout::resized(-3, 9, &named(Int32)).unwrap();
    let entries = [Entry::LowerMarker(-3), Entry::Data(Int32, 0), Entry::UpperMarker(6)];
    assert_eq!(TypeMap::from_layout(&marked).0, entries);
    let types = [named(Float), named(Double), named(Char)];
    let layout = Layout::structure(&[2, 1, 3], &[0, 8, 26], &types).unwrap();
    assert!(layout.signature().eq([(Float, 2), (Double, 1), (Char, 3)]));
}

#[test]
fn predefined_types_are_their_c_types() {
    for element in Element::ALL {
        assert_map(&named(element), &[(element, 0)], 0, element.size() as i64);
    }
    let sizes = Element::ALL.map(|element| (element.size(), element.alignment()));
    let c = [1, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 16].map(|size| (size, size));
    assert_eq!(sizes[..14], c);
    assert_eq!(sizes[14..], [(8, 4), (16, 8), (32, 16), (1, 1)]);
}
