//! Values that an application cannot have are refused; the error names the parameter and what would be right.

use crate::{exchange, lines, rows, values};
use ddtbench_apps::halo::HaloContext;
use ddtbench_apps::{Context, ParameterError, Test, find};

/// The test's quick set with one value changed, built for `ranks`.
fn error_of(name: &str, changes: &[(&str, &str)], ranks: usize) -> Option<ParameterError> {
    let test: &Test = find(name).unwrap();
    let built =
        values(test, changes).and_then(|values| test.build(&values, Context { ranks, ..Context::default() }));
    built.err()
}

#[test]
fn a_value_must_be_one_of_its_kind() {
    let text = error_of("strided", &[("element", "word")], 2).unwrap().to_string();
    assert!(text.starts_with("parameter element = word: must be a predefined type: "), "{text}");
    let text = error_of("nas_lu_x", &[("d1", "3")], 2).unwrap().to_string();
    assert!(text.starts_with("nas_lu_x has no parameter \"d1\""), "{text}");
}

#[test]
fn values_that_do_not_go_together_are_refused() {
    for row in lines(include_str!("tables/refused.txt")) {
        let (given, message) = row.split_once(": ").unwrap();
        let (name, mut changes) = rows(given).next().unwrap();
        let given_ranks = changes.iter().position(|(name, _)| *name == "ranks");
        let ranks = given_ranks.map_or(2, |i| changes.remove(i).1.parse().unwrap());
        let error = error_of(name, &changes, ranks).unwrap_or_else(|| panic!("{row} is accepted"));
        assert_eq!(error.to_string(), format!("parameter {message}"));
    }
    assert!(error_of("fft2d", &[("n", "255")], 3).is_none() && error_of("fft2d", &[("n", "4")], 4).is_none());
    let most = ["2147483647"; 4].join("x");
    let too_large = error_of("subarray", &[("shape", &most)], 2).unwrap();
    assert!(too_large.to_string().ends_with("larger than an address space"), "{too_large}");
}

#[test]
fn a_block_stands_instead_of_the_face_of_a_set_and_the_other_way_round() {
    let test = find("subarray").unwrap();
    for row in lines(include_str!("tables/blocks.txt")) {
        let (given, expected) = row.split_once(" => ").unwrap();
        let (set, changes) = rows(given).next().unwrap();
        let mut values = test.set(set).unwrap();
        changes.iter().for_each(|(name, text)| values.assign(name, text).unwrap());
        let shown = ["face", "start", "count"].map(|name| values.label(name));
        assert_eq!(shown.join(" "), expected, "{row}");
    }
}

#[test]
fn arrays_beyond_the_address_space_are_refused_and_long_lists_are_not_drawn() {
    let most = i32::MAX.to_string();
    let too_large = error_of("nas_mg_x", &[("d1", &most), ("d2", &most), ("d3", &most)], 2).unwrap();
    assert!(too_large.to_string().ends_with("larger than an address space"), "{too_large}");
    assert!(error_of("contiguous", &[("bytes", &i64::MAX.to_string())], 2).is_some());
    assert!(error_of("specfem3d_oc", &[("dim1", &most), ("icount", &most)], 2).is_none());
}

#[test]
fn numbers_of_bytes_have_units() {
    let test = find("contiguous").unwrap();
    let mut values = values(test, &[("bytes", "64KiB")]).unwrap();
    assert_eq!(values.get("bytes"), 65_536);
    let wrong = values.assign("bytes", "64kib").unwrap_err().to_string();
    assert!(wrong.contains("bytes = 64kib") && wrong.contains("64KiB"), "{wrong}");
    assert!(values.assign("bytes", "99999999999GiB").is_err());
}

#[test]
fn layouts_that_cannot_be_sent_or_received_are_refused() {
    for row in lines(include_str!("tables/refused_layouts.txt")) {
        let (given, part) = row.split_once(" => ").unwrap();
        let changes: Vec<_> = given.split(' ').map(|change| change.split_once('=').unwrap()).collect();
        let of_halo = exchange("layout", &changes, HaloContext::periodic(2)).err();
        for error in [error_of("layout", &changes, 2), of_halo] {
            let text = error.unwrap_or_else(|| panic!("{row} is accepted")).to_string();
            assert!(text.contains(part), "{row}: {text}");
        }
    }
    let overlapping = [("send", "vector(3,2,1,double)"), ("receive", "contiguous(6,double)")];
    assert_eq!(error_of("layout", &overlapping, 2), None);
}
