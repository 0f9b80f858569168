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

fn texts(layout: &str) -> BTreeMap<String, String> {
    let layout: Layout = layout.parse().unwrap();
    let described = Equivalent::all_of(&layout);
    assert_equivalent(&layout, &described);
    described.into_iter().map(|(way, other)| (format!("{way:?}"), other.to_text())).collect()
}

#[test]
fn a_vector_is_described_by_all_other_constructors() {
    let found = texts("vector(6, 1, 4, double)");
    let expected = [
        ("Contiguous", "resized(0, 168, contiguous(6, resized(0, 32, double)))"),
        ("Hindexed", "hindexed([1, 1, 1, 1, 1, 1], [0, 32, 64, 96, 128, 160], double)"),
        ("HindexedBlock", "hindexed_block(1, [0, 32, 64, 96, 128, 160], double)"),
        ("Hvector", "hvector(6, 1, 32, double)"),
        ("HvectorOfHvectors", "hvector(3, 1, 64, hvector(2, 1, 32, double))"),
        ("Indexed", "indexed([1, 1, 1, 1, 1, 1], [0, 4, 8, 12, 16, 20], double)"),
        ("IndexedBlock", "indexed_block(1, [0, 4, 8, 12, 16, 20], double)"),
        ("Nested", "contiguous(1, resized(0, 168, struct([1], [0], [vector(6, 1, 4, double)])))"),
        ("Resized", "resized(0, 168, vector(6, 1, 4, double))"),
        (
            "Struct",
            "struct([1, 1, 1, 1, 1, 1], [0, 32, 64, 96, 128, 160], [double, double, double, double, double, double])",
        ),
        ("Subarray", "subarray([6, 4], [6, 1], [0, 0], c, double)"),
        ("SubarrayResized", "resized(0, 168, subarray([6, 4], [6, 1], [0, 0], c, double))"),
        ("SubarraySplit", "resized(0, 168, subarray([3, 2, 4], [3, 2, 1], [0, 0, 0], c, double))"),
        ("Wrapped", "contiguous(1, vector(6, 1, 4, double))"),
    ];
    assert_eq!(found, expected.map(|(way, text)| (way.to_owned(), text.to_owned())).into());
}

#[test]
fn nests_lists_and_structures_are_described_as_far_as_they_can_be() {
    let nest = texts("subarray([6, 4, 9], [4, 2, 3], [1, 1, 2], c, float)");
    assert_eq!(
        nest["Vector"],
        "resized(0, 864, hindexed([1], [188], vector(4, 1, 36, resized(0, 4, vector(2, 3, 9, float)))))"
    );
    // The array of the description ends where the data does.
    assert_eq!(nest["Subarray"], "subarray([5, 4, 9], [4, 2, 3], [1, 1, 2], c, float)");
    assert!(!nest.contains_key("HvectorOfHvectors"), "a nest has it as Hvector: {nest:?}");
    let list = texts("indexed([1, 2], [5, 0], int32)");
    assert!(["Vector", "Subarray", "IndexedBlock"].iter().all(|way| !list.contains_key(*way)), "{list:?}");
    assert_eq!(list["Hindexed"], "hindexed([1, 2], [20, 0], int32)");
    // Several types: what the constructor repeats is a block.
    let mixed = texts("vector(3, 1, 2, struct([1, 1], [0, 8], [int32, double]))");
    assert_eq!(mixed["Hvector"], "hvector(3, 1, 32, struct([1, 1], [0, 8], [int32, double]))");
    // A structure of vectors becomes one of subarrays.
    let arrays = texts("struct([1, 1], [0, 1000], [vector(3, 1, 5, float), vector(4, 2, 7, float)])");
    assert_eq!(
        arrays["Subarray"],
        "struct([1, 1], [0, 1000], [subarray([3, 5], [3, 1], [0, 0], c, float), subarray([4, 7], [4, 2], [0, 0], c, float)])"
    );
    assert!(texts("contiguous(0, double)").keys().eq(["Nested", "Resized", "Wrapped"]));
}

#[test]
fn what_is_too_long_for_a_list_or_an_int_is_left_out() {
    let many = "vector(1000000, 1, 2, double)".parse().unwrap();
    assert!(
        Equivalent::all_of(&many).iter().all(|(way, _)| {
            matches!(way, Equivalent::Wrapped | Equivalent::Resized | Equivalent::Nested)
        })
    );
    let far: Layout = "hvector(2, 1, 34359738368, double)".parse().unwrap();
    assert_eq!(Equivalent::Vector.rewritten(&far), None, "4294967296 doubles apart");
    assert!(Equivalent::Hindexed.rewritten(&far).is_some());
}
