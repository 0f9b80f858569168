//! The original's parameter sets: bytes of the message, contiguous runs and bytes of the arrays.
//!
//! The numbers come from DDTBench 1.2: message bytes from the `bytes` column of its output, runs counted in
//! the order of the array, arrays as it allocates them on one rank.

use crate::lines;
use ddtbench_apps::{Context, MicroApp, Side, WireOrder};

/// Test, set, message bytes, runs (of the send side), bytes of all arrays.
fn original() -> impl Iterator<Item = (&'static str, &'static str, [usize; 3])> {
    lines(include_str!("tables/original_sizes.txt")).map(|row| {
        let cells: Vec<&str> = row.split(' ').collect();
        let [test, set, bytes, runs, arrays] = cells[..] else { panic!("{row}") };
        (test, set, [bytes, runs, arrays].map(|number| number.parse().unwrap()))
    })
}

/// The tests of a row: WRF has two descriptions of the same bytes.
fn names(row: &str) -> Vec<String> {
    if row.starts_with("wrf") {
        vec![format!("{row}_vec"), format!("{row}_sa")]
    } else {
        vec![row.to_owned()]
    }
}

fn build(name: &str, set: &str) -> MicroApp {
    let test = ddtbench_apps::find(name).unwrap();
    test.build(&test.set(set).unwrap(), Context::default()).unwrap()
}

#[test]
fn messages_runs_and_arrays_are_as_large_as_the_originals() {
    for (row, set, [message_bytes, runs, array_bytes]) in original() {
        for name in names(row) {
            let app = build(&name, set);
            let message = app.message(Side::Send, WireOrder::Ddt);
            let arrays: usize = app.arrays.iter().map(|spec| spec.bytes()).sum();
            assert_eq!(message.size(), message_bytes as u64, "{name} {set}: message");
            assert_eq!(app.message_bytes(), message_bytes as u64, "{name} {set}: message");
            assert_eq!(arrays, array_bytes, "{name} {set}: arrays");
            let segments = message.segments().count();
            if name.starts_with("lammps") || matches!(name.as_str(), "specfem3d_oc" | "specfem3d_cm") {
                // Two random indices may happen to be adjacent, which merges their runs; this is rare.
                assert!(segments <= runs && segments * 100 > runs * 99, "{name} {set}: {segments} runs");
            } else {
                assert_eq!(segments, runs, "{name} {set}: runs");
            }
        }
    }
}

#[test]
fn every_set_of_the_original_is_here_and_no_other_is_called_default() {
    for test in ddtbench_apps::TESTS.iter().filter(|test| test.original_name.is_some()) {
        let here: Vec<&str> = test.sets_of(ddtbench_apps::Preset::Default).map(|set| set.name).collect();
        let rows = original().filter(|row| names(row.0).iter().any(|name| name == test.name));
        let original: Vec<&str> = rows.map(|row| row.1).collect();
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(sorted(here), sorted(original), "{}", test.name);
    }
}

#[test]
fn fft_receives_in_cells_of_one_complex_number() {
    for (set, cells) in [("256", 32_768), ("512", 131_072), ("768", 294_912), ("1536", 1_179_648)] {
        assert_eq!(build("fft2d", set).message(Side::Receive, WireOrder::Ddt).segments().count(), cells);
    }
}
