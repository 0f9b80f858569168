//! Every test and every method, on every MPI, with 2 and with 4 ranks: measured, and correct in every column.
//!
//! Nothing is timed before its bytes were compared, so a method that has figures has moved the right bytes.
//! `typed/` shows that the comparison detects wrong ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use ddtbench::experiments::Kind;
use ddtbench::experiments::pingpong::methods::{Transfer, can_by_name, description, transfer};
use ddtbench::model::OWN;
use ddtbench::model::conditions::MemoryKind;
use libtest_mimic::Trial;
use serde_json::Value;

use super::results::{Row, Summary};
use super::setup;
use super::trial::alone;
use super::typed::{Measuring, type_alone};

/// Numbers of ranks: one pair, and several. The second is also more than the cores of many machines.
const RANKS: [usize; 2] = [2, 4];

/// Short, because the test does not examine figures. More ranks than cores take long for each message.
const SHORT: &str = "--min-repetitions 2 --max-repetitions 2 --max-time 60 --warmup 1";

/// One trial, with one run, for each MPI and number of ranks. Each has the tests with an even or with an odd
/// number, so that every test runs on every MPI and with every number of ranks.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (at, mpi) in setup::MPIS.into_iter().enumerate() {
        for (by, ranks) in RANKS.into_iter().enumerate() {
            let name = format!("{mpi}::{ranks} ranks::every method moves the right bytes");
            trials.push(alone(name, move || every_method(mpi, ranks, (at + by) % 2)));
        }
        let name = format!("{mpi}::2 ranks::several arrays of one's own, and blocks of them, are moved");
        trials.push(alone(name, move || arrays_of_ones_own(mpi)));
    }
    trials
}

fn every_method(mpi: &'static str, ranks: usize, first: usize) {
    let tests = list()["tests"].as_array().expect("a list").iter().skip(first).step_by(2);
    let tests: Vec<_> = tests.map(|entry| Test::new(entry, mpi, ranks)).collect();
    let mut plan = format!("schema = 1\nmethods = {:?}\n", methods_by(ranks).collect::<Vec<_>>());
    for Test { name, set, methods, .. } in &tests {
        let _ = writeln!(plan, "[[cases]]\ntest = {name:?}\nset = {set:?}\nmethods = {methods:?}");
    }
    let measuring = Measuring::on(setup::mpi(mpi), format!("run --plan all.toml --ranks {ranks} {SHORT}"));
    let summary = measuring.file("all.toml", plan).ends_in(&[0, 1]).summary;
    let of_tests: Vec<_> = tests.iter().map(|test| (test, summary.of_test(test.name))).collect();
    all_are_measured(&of_tests);
    for (test, rows) in &of_tests {
        bytes_are_those_of_the_layout(test, rows, ranks);
        for method in test.methods.iter().copied() {
            phases_are_those_of_the_method(test, method, rows);
            pairs_have_rows(test, method, rows, ranks);
        }
        parted_are_measured(test.name, rows);
    }
}

fn arrays_of_ones_own(mpi: &'static str) {
    const CASES: &str = include_str!("own_arrays.toml");
    // Puts and gets are the same with any datatype, and Open MPI sometimes crashes in them.
    let is_one_sided = |method: &&str| ["put_", "get_"].iter().any(|access| method.starts_with(access));
    let methods: Vec<&str> = methods().filter(|method| !is_one_sided(method)).collect();
    let plan = format!("schema = 1\nmethods = {methods:?}\n{CASES}");
    let measuring = Measuring::on(setup::mpi(mpi), format!("run --plan own.toml {SHORT}"));
    let summary = measuring.file("own.toml", plan).ends(0).summary;
    let cases = CASES.matches("[[cases]]").count();
    for method in methods {
        let ends = summary.ends().into_iter().filter(|row| row.is(&[("method", method)]));
        let ends: Vec<_> = ends.collect();
        // Not all of the cases can be split, or described in every way.
        let is_of_some =
            matches!(transfer(method), Ok(Transfer::InParts(_))) || description(method).is_some();
        let least = if is_of_some { 1 } else { cases };
        assert!((least..=cases).contains(&ends.len()), "{method}: {}", ends.len());
        assert!(ends.iter().all(|row| row.is_measured()), "{method}: {ends:?}");
    }
}

/// All tests and methods, from `ddtbench list`.
fn list() -> &'static Value {
    static LIST: LazyLock<Value> = LazyLock::new(|| {
        let listed = type_alone("list --format json").expect_code(0);
        serde_json::from_str(&listed.out).expect("the list is JSON")
    });
    &LIST
}

fn name(entry: &'static Value) -> &'static str {
    entry["name"].as_str().expect("all in the list have names")
}

/// All methods but that of the user's loop and those for devices, which have separate trials.
fn methods() -> impl Iterator<Item = &'static str> {
    let all = list()["methods"].as_array().expect("the list has methods").iter().map(name);
    all.filter(|name| *name != OWN && Kind::PingPong.can_in(MemoryKind::Host, name))
}

/// The methods measured with this number of ranks. Each pair sends datatypes in the same way as a single one,
/// so other descriptions of the same bytes do not need more ranks.
fn methods_by(ranks: usize) -> impl Iterator<Item = &'static str> {
    methods().filter(move |method| ranks == 2 || description(method).is_none())
}

const HOARDERS: [&str; 2] = ["put_ddt", "get_ddt"];

/// A test of the list, with the set of its smallest message: the tested property does not depend on the size.
struct Test {
    name: &'static str,
    set: &'static str,
    app: apps::MicroApp,
    /// The methods that it has: a layout does not have hand-written loops, and not every message can be split.
    methods: Vec<&'static str>,
}

impl Test {
    fn new(entry: &'static Value, mpi: &str, ranks: usize) -> Self {
        let sets = entry["sets"].as_array().expect("a test has sets").iter();
        let (name, set) =
            (name(entry), name(sets.min_by_key(|set| set["message_bytes"].as_u64()).expect("a set")));
        let test = apps::find(name).unwrap();
        let app = test.build(&test.set(set).unwrap(), apps::Context::default()).unwrap();
        // In Open MPI 5.0.11, memory grows without limit by puts and gets of datatypes in an all-to-all.
        let hoards = |method: &&str| (mpi, name) == ("openmpi", "fft2d") && HOARDERS.contains(method);
        let methods =
            methods_by(ranks).filter(|method| can_by_name(&app, method) && !hoards(method)).collect();
        Self { name, set, app, methods }
    }
}

fn all_are_measured(of_tests: &[(&Test, Summary)]) {
    let mut failures = Vec::new();
    for (test, rows) in of_tests {
        for method in &test.methods {
            let row = rows.end(test.name, method);
            let (outcome, detail) = (row.get("outcome"), row.get("detail"));
            if !row.is_measured() || row.number("median_s").is_none_or(|median| median <= 0.0) {
                failures.push(format!("{} {method}: {outcome}: {detail}", test.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn bytes_are_those_of_the_layout(test: &Test, rows: &Summary, ranks: usize) {
    let line = format!("layout {} --set {} --ranks {ranks} --format json", test.name, test.set);
    let layout: Value = serde_json::from_str(&type_alone(&line).out).expect("the layout is JSON");
    let (bytes, segments) = (layout["bytes"].to_string(), layout["statistics"]["segments"].to_string());
    for row in &rows.0 {
        let right = [("set", test.set), ("bytes", &bytes), ("segments", &segments)];
        assert!(row.is(&right), "{right:?}: {row:?}");
    }
}

fn phases_are_those_of_the_method(test: &Test, method: &str, rows: &Summary) {
    let transfer = transfer(method).unwrap();
    let rows = rows.with(&[("method", method), ("pair", "all")]);
    let found: BTreeSet<_> = rows.iter().map(|row| row.get("phase")).collect();
    let mut ends = transfer.ends(&test.app);
    // If every part is one run at both ends, no datatype is created.
    if matches!(transfer, Transfer::InParts(_)) {
        ends.creates &= found.contains("create");
    }
    let phases =
        [("create", ends.creates), ("free", ends.creates), ("pack", ends.packs), ("unpack", ends.unpacks)];
    let own: Vec<_> = phases.into_iter().filter(|phase| phase.1).map(|phase| phase.0).collect();
    let mut expected: BTreeSet<_> = own.iter().copied().chain(["round_trip"]).collect();
    // The peer packs and unpacks the same data as the origin.
    for (mine, theirs) in [("pack", "peer_pack"), ("unpack", "peer_unpack")] {
        expected.extend(own.contains(&mine).then_some(theirs));
    }
    // A transfer that is too short for the clock is repeated within a sample; its parts then cannot be timed separately.
    let is_whole = |row: &&Row| row.get("phase") == "round_trip";
    if rows.iter().copied().find(is_whole).and_then(|row| row.number("batch")) == Some(1.0) {
        expected.insert("communicate");
        expected.extend(own.contains(&"pack").then_some(["net", "in_parts"]).into_iter().flatten());
    }
    assert_eq!((&found, rows.len()), (&expected, expected.len()), "{} {method}", test.name);
    // The clock's own time is subtracted, and can be all of the time to pack a few bytes.
    let is_time = |row: &&Row| match row.get("phase") {
        "round_trip" => row.number("median_s") > Some(0.0),
        _ => row.number("median_s") >= Some(0.0),
    };
    assert!(rows.iter().all(is_time), "{rows:?}");
}

fn pairs_have_rows(test: &Test, method: &str, rows: &Summary, ranks: usize) {
    // With one pair, and in an all-to-all, there is only the whole.
    let pairs = if ranks == 2 || test.name == "fft2d" { 0 } else { ranks / 2 };
    let pairs: BTreeSet<_> = (0..pairs).map(|pair| pair.to_string()).collect();
    let rows = rows.with(&[("method", method), ("phase", "round_trip")]);
    let (whole, of_pairs): (Vec<&Row>, Vec<_>) =
        rows.iter().copied().partition(|row| row.get("pair") == "all");
    let found: BTreeSet<_> = of_pairs.iter().map(|row| row.get("pair").to_owned()).collect();
    assert_eq!((whole.len(), &found), (1, &pairs), "{} {method}", test.name);
    let samples = |rows: &[&Row]| rows.iter().filter_map(|row| row.number("n")).sum::<f64>();
    assert!(samples(&whole) > 0.0, "{rows:?}");
    assert!(pairs.is_empty() || samples(&of_pairs) >= samples(&whole), "{rows:?}");
}

/// Tests that certainly can, or cannot, be split, so that no method is skipped by mistake.
fn parted_are_measured(test: &str, rows: &Summary) {
    let expected = [
        ("ddt:count", "nas_lu_y", true),
        ("ddt:count", "lammps_full", false),
        ("ddt:halves", "nas_lu_x", true),
        ("ddt:halves", "lammps_full", true),
        ("ddt:halves", "fft2d", false),
        ("ddt:pieces", "nas_lu_y", true),
        ("ddt:pieces", "nas_lu_x", false),
    ];
    for (method, _, is_parted) in expected.into_iter().filter(|(_, of, _)| *of == test) {
        let rows = rows.with(&[("method", method), ("phase", "round_trip")]);
        assert_eq!(!rows.is_empty(), is_parted, "{test} {method}");
    }
}
