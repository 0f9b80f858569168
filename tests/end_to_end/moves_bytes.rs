//! Every test and every method, on every MPI, with 2 and with 4 ranks: measured, and right in every column.
//!
//! Nothing is timed before its bytes were compared, so a method that has figures has moved the right bytes. That
//! the comparison sees wrong ones is shown by `faulty_mpi.rs`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use ddtbench::experiments::pingpong::methods::{Transfer, can_by_name, transfer};
use libtest_mimic::Trial;
use serde_json::Value;

use super::job::run;
use super::results::{ATTEMPTS_AFTER_CRASHES, Row, Summary};
use super::setup::{self, ONE_LAUNCH, ddtbench};
use super::trial::alone;

/// Numbers of ranks: a pair, and more than one of them. The second is also more than the cores of many machines.
const RANKS: [usize; 2] = [2, 4];

/// Short, since no figure is looked at: a few blocks of each method.
const SHORT: [&str; 6] = ["--max-time", "0.005", "--min-runs", "4", "--warmup", "1"];

/// A trial for each MPI and number of ranks, of one run. Every test is on every MPI and by every number of ranks.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (at, mpi) in setup::MPIS.into_iter().enumerate() {
        for ranks in RANKS {
            // The other combinations have every second test.
            let step = if at == 0 && ranks == 4 || at == 1 && ranks == 2 { 1 } else { 2 };
            trials.push(alone(
                format!("{mpi}::{ranks} ranks::every method moves the right bytes"),
                move || {
                    setup::mpi(mpi);
                    let tests: Vec<&Value> = tests(list()).step_by(step).collect();
                    let summary = measure(mpi, ranks, &tests);
                    all_are_measured(&summary, &tests);
                    bytes_are_those_of_the_layouts(&summary, &tests, ranks);
                    phases_are_those_of_the_methods(&summary, &tests);
                    pairs_have_rows(&summary, &tests, ranks);
                    if step == 1 {
                        parted_are_measured(&summary);
                    }
                },
            ));
        }
    }
    trials.extend(setup::MPIS.map(|mpi| {
        alone(format!("{mpi}::2 ranks::several arrays of one's own, and blocks of them, are moved"), || {
            arrays_of_ones_own(mpi);
        })
    }));
    trials
}

/// Arrays that the smallest set of `subarray` does not have, as plans say them.
const OWN_ARRAYS: [&str; 3] = [
    "shape = '5x9x8x9', order = 'c', halo = '0x1x1x1', face = 'z-', corners = 'yes', arrays = '3'",
    "shape = '9x8+9x4x8', arrays = '2+1', element = 'int16', start = '0x0+0x0x0', count = '3x2+3x4x2', \
     receive_start = '4x4+4x0x4', receive_count = '2x3+2x4x3'",
    "shape = '3x4x5x3x4x5', start = '0x1x1x0x1x2', count = '2x2x3x2x3x2'",
];

fn arrays_of_ones_own(mpi: &'static str) {
    setup::mpi(mpi);
    let dir = tempfile::tempdir().unwrap();
    // Puts are the same with any datatype, and Open MPI crashes in some of them now and then.
    let methods: Vec<&str> = methods(list()).filter(|method| !method.starts_with("put_")).collect();
    let mut plan = format!("schema = 1\nmethods = {methods:?}\n");
    for params in OWN_ARRAYS {
        let _ = write!(plan, "[[cases]]\ntest = 'subarray'\nparams = {{ {params} }}\n");
    }
    fs::write(dir.path().join("own.toml"), plan).unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["run", "--plan", "own.toml", "--mpi", mpi, "--out", "own"]);
    run(command.args(SHORT).args(ONE_LAUNCH)).expect_code(0);
    let summary = Summary::read(&dir.path().join("own"));
    for method in methods {
        let rows = summary.with(&[
            ("test", "subarray"),
            ("method", method),
            ("phase", "round_trip"),
            ("pair", "all"),
        ]);
        // Not every one of them can be parted.
        let is_in_parts = matches!(transfer(method), Ok(Transfer::InParts(_)));
        let least = if is_in_parts { 1 } else { OWN_ARRAYS.len() };
        assert!((least..=OWN_ARRAYS.len()).contains(&rows.len()), "{method}: {}", rows.len());
        assert!(rows.iter().all(|row| row.is_measured()), "{method}: {rows:?}");
    }
}

/// What there is to measure, as `ddtbench list` says.
fn list() -> &'static Value {
    static LIST: LazyLock<Value> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let listed = run(ddtbench(dir.path()).args(["list", "--format", "json"])).expect_code(0);
        serde_json::from_str(&listed.out).expect("the list is JSON")
    });
    &LIST
}

fn tests(list: &Value) -> impl Iterator<Item = &Value> {
    list["tests"].as_array().expect("the list has tests").iter()
}

fn methods(list: &Value) -> impl Iterator<Item = &str> {
    list["methods"].as_array().expect("the list has methods").iter().map(name)
}

/// The message of a test at its smallest set.
fn message(list: &Value, test: &str) -> apps::MicroApp {
    let entry = tests(list).find(|entry| name(entry) == test).expect("a test of the list");
    let test = apps::find(test).unwrap();
    test.build(&test.set(name(smallest(entry))).unwrap(), apps::Context::default()).unwrap()
}

/// Those that a test has: a layout has no loops that somebody has written by hand, and not every message can be parted.
fn methods_of<'a>(list: &'a Value, test: &str) -> impl Iterator<Item = &'a str> {
    let app = message(list, test);
    methods(list).filter(move |method| can_by_name(&app, method))
}

/// What can be parted is said of tests that certainly can, or cannot, so that no method is left out by mistake.
fn parted_are_measured(summary: &Summary) {
    let expected = [
        ("ddt:count", "nas_lu_y", true),
        ("ddt:count", "lammps_full", false),
        ("ddt:halves", "nas_lu_x", true),
        ("ddt:halves", "lammps_full", true),
        ("ddt:halves", "fft2d", false),
        ("ddt:pieces", "nas_lu_y", true),
        ("ddt:pieces", "nas_lu_x", false),
    ];
    for (method, test, is_parted) in expected {
        let rows = summary.with(&[("test", test), ("method", method), ("phase", "round_trip")]);
        assert_eq!(!rows.is_empty(), is_parted, "{test} {method}");
    }
}

fn name(entry: &Value) -> &str {
    entry["name"].as_str().expect("all in the list have names")
}

/// The set with the smallest message: what is tested does not depend on the size.
fn smallest(test: &Value) -> &Value {
    let sets = test["sets"].as_array().expect("a test has sets");
    sets.iter().min_by_key(|set| set["message_bytes"].as_u64()).expect("at least one")
}

/// The rows of a run of these tests; those in which Open MPI has crashed come from another one.
fn measure(mpi: &str, ranks: usize, tests: &[&Value]) -> Summary {
    let mut summary = measure_some(mpi, ranks, tests);
    for _ in 0..ATTEMPTS_AFTER_CRASHES {
        let crashed = summary.crashed_by_puts();
        if crashed.is_empty() {
            break;
        }
        eprintln!("{mpi}, {ranks} ranks: crashed, and measured again: {}", crashed.join(", "));
        let tests = tests.iter().copied().filter(|test| crashed.contains(&name(test)));
        let again = measure_some(mpi, ranks, &tests.collect::<Vec<_>>());
        summary = summary.replaced_by(again);
    }
    summary
}

/// Measures tests at their smallest sets, as a plan says.
fn measure_some(mpi: &str, ranks: usize, tests: &[&Value]) -> Summary {
    let dir = tempfile::tempdir().unwrap();
    let all: Vec<&str> = methods(list()).collect();
    let mut plan = format!("schema = 1\nmethods = {all:?}\n");
    for test in tests {
        let _ = write!(plan, "[[cases]]\ntest = {}\nset = {}\n", test["name"], smallest(test)["name"]);
    }
    fs::write(dir.path().join("all.toml"), plan).unwrap();
    let mut command = ddtbench(dir.path());
    command.args(["run", "--plan", "all.toml", "--mpi", mpi, "--ranks", &ranks.to_string(), "--out", "all"]);
    let ended = run(command.args(SHORT).args(ONE_LAUNCH));
    // 1: a method failed, which the rows show in detail.
    assert!(matches!(ended.code, Some(0 | 1)), "{ended}");
    Summary::read(&dir.path().join("all"))
}

fn all_are_measured(summary: &Summary, tests: &[&Value]) {
    let mut failures = Vec::new();
    for test in tests {
        let summary = summary.of_test(name(test));
        for method in methods_of(list(), name(test)) {
            let row = summary.end(name(test), method);
            if row.is_known_hoarder() {
                eprintln!("{} {method}: {}", name(test), row.get("detail"));
            } else if !row.is_measured() || row.number("median_s").is_none_or(|median| median <= 0.0) {
                let (outcome, detail) = (row.get("outcome"), row.get("detail"));
                failures.push(format!("{} {method}: {outcome}: {detail}", name(test)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn bytes_are_those_of_the_layouts(summary: &Summary, tests: &[&Value], ranks: usize) {
    let dir = tempfile::tempdir().unwrap();
    for test in tests {
        let (test, set) = (name(test), name(smallest(test)));
        let arguments = ["layout", test, "--set", set, "--ranks", &ranks.to_string(), "--format", "json"];
        let layout = run(ddtbench(dir.path()).args(arguments)).expect_code(0);
        let layout: Value = serde_json::from_str(&layout.out).expect("the layout is JSON");
        let (bytes, segments) = (layout["bytes"].to_string(), layout["statistics"]["segments"].to_string());
        let rows = summary.with(&[("test", test), ("set", set)]);
        assert!(!rows.is_empty(), "no rows of {test} {set}");
        for row in rows {
            assert!(row.is(&[("bytes", &bytes), ("segments", &segments)]), "{bytes}, {segments}: {row:?}");
        }
    }
}

fn phases_are_those_of_the_methods(summary: &Summary, tests: &[&Value]) {
    for test in tests.iter().map(|test| name(test)) {
        let (summary, app) = (summary.of_test(test), message(list(), test));
        for method in methods_of(list(), test).filter(|method| !summary.end(test, method).is_known_hoarder())
        {
            let (transfer, rows) = (transfer(method).unwrap(), |phase: &str| {
                summary.with(&[("test", test), ("method", method), ("phase", phase)])
            });
            let mut ends = transfer.ends(&app);
            // Where every part is one run at both ends, no datatype is made.
            if matches!(transfer, Transfer::InParts(_)) {
                ends.creates &= !rows("create").is_empty();
            }
            let phases = [
                ("create", ends.creates),
                ("free", ends.creates),
                ("pack", ends.packs),
                ("unpack", ends.unpacks),
            ];
            let own: Vec<_> = phases.into_iter().filter(|phase| phase.1).map(|phase| phase.0).collect();
            let rows = summary.with(&[("test", test), ("method", method), ("pair", "all")]);
            let mut expected: BTreeSet<_> = own.iter().copied().chain(["round_trip"]).collect();
            // The peer packs and unpacks what the origin does.
            for (mine, theirs) in [("pack", "peer_pack"), ("unpack", "peer_unpack")] {
                expected.extend(own.contains(&mine).then_some(theirs));
            }
            // What is too short for the clock is repeated within a sample, which cannot be told apart then.
            if summary.end(test, method).number("batch") == Some(1.0) {
                expected.insert("communicate");
                expected.extend(own.contains(&"pack").then_some(["net", "in_parts"]).into_iter().flatten());
            }
            let found: BTreeSet<_> = rows.iter().map(|row| row.get("phase")).collect();
            assert_eq!((&found, rows.len()), (&expected, expected.len()), "{test} {method}");
            // The clock's own time is taken off, which may be all of packing a few bytes.
            let is_time = |row: &&Row| match row.get("phase") {
                "round_trip" => row.number("median_s") > Some(0.0),
                _ => row.number("median_s") >= Some(0.0),
            };
            assert!(rows.iter().all(is_time), "{rows:?}");
        }
    }
}

fn pairs_have_rows(summary: &Summary, tests: &[&Value], ranks: usize) {
    for test in tests.iter().map(|test| name(test)) {
        // With one pair, and in an all-to-all, there is nothing but the whole.
        let summary = summary.of_test(test);
        let pairs = if ranks == 2 || test == "fft2d" { 0 } else { ranks / 2 };
        let expected: BTreeSet<_> =
            (0..pairs).map(|pair| pair.to_string()).chain(["all".to_owned()]).collect();
        for method in methods_of(list(), test).filter(|method| !summary.end(test, method).is_known_hoarder())
        {
            let rows = summary.with(&[("test", test), ("method", method), ("phase", "round_trip")]);
            let found: BTreeSet<_> = rows.iter().map(|row| row.get("pair").to_owned()).collect();
            assert_eq!(found, expected, "{test} {method}");
            let samples = |pair: &str| -> f64 {
                rows.iter().filter(|row| row.get("pair") == pair).filter_map(|row| row.number("n")).sum()
            };
            let of_pairs: f64 = (0..pairs).map(|pair| samples(&pair.to_string())).sum();
            assert!(samples("all") > 0.0, "{rows:?}");
            assert!(pairs == 0 || of_pairs >= samples("all"), "{test} {method}: {rows:?}");
        }
    }
}
