//! The engine's comparison: every method has its rows, and an MPI that packs wrong bytes or dies is found out.

use std::collections::BTreeSet;
use std::process::Command;

use ddtbench::experiments::planned::PlannedCase;
use ddtbench::plan::Plan;
use libtest_mimic::Trial;

use super::by_hand::mpiexec;
use super::faulty_mpi::{expected_and_found, under_faults};
use super::job::run;
use super::results::{Row, Summary};
use super::setup::{Check, MPIS, Mpi, ONE_LAUNCH, ddtbench, trials_on};
use super::trial::{Need, beside_others};

/// Sixteen doubles, each followed by a gap of one: packed byte 8 i is byte 16 i of the array.
const STRIDED: [&str; 3] = ["strided", "-p", "count=16,stride=2,element=double"];

/// Ten rounds by their runs, whatever they take: ratios have intervals from six on.
const SHORT: [&str; 6] = ["--min-runs", "4", "--max-runs", "40", "--max-time", "60"];

/// What is compared.
const METHODS: [&str; 6] = ["engine", "manual", "manual_tuned", "mpi_pack", "memcpy", "bound"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("every method packs the right bytes of every test", all_are_measured),
        ("the grid can be packed", the_grid),
        ("wrong packed bytes are found and cost nothing but their figures", wrong_packed_bytes),
        ("a byte in a gap must not change", a_byte_in_a_gap),
        ("a fault that begins later is found before figures are given", a_late_fault),
        ("a process that dies costs its method", a_killed_process),
        ("the rank program prints a table", by_hand),
        ("the rank program refuses more than one process", two_processes),
    ];
    let mut trials = trials_on(&MPIS, Need::OneProcessor, "engine", checks);
    // What is chosen does not depend on the MPI.
    trials.push(beside_others("mpich::engine::the grid comes after the tests, or alone", || {
        the_grid_by_its_name();
    }));
    trials
}

/// A comparison in a folder of its own; its exit code, and its rows.
fn compare(mpi: &Mpi, faults: &[(&str, &str)], arguments: &[&str], code: i32) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let mut command = ddtbench(dir.path());
    command
        .args(["engine", "--mpi", mpi.name, "--out", "compared"])
        .args(SHORT)
        .args(ONE_LAUNCH)
        .args(arguments);
    if !faults.is_empty() {
        under_faults(mpi, &mut command, faults);
    }
    let ended = run(&mut command).expect_code(code);
    let folder = dir.path().join("compared");
    for file in
        ["samples.csv.gz", "blocks.csv.gz", "environment.json", "report.html", "summary.csv", "figures.csv"]
    {
        assert!(folder.join(file).metadata().is_ok_and(|facts| facts.len() > 0), "{file}: {ended}");
    }
    if code == 0 {
        let environment = std::fs::read(folder.join("environment.json")).unwrap();
        let environment: serde_json::Value = serde_json::from_slice(&environment).expect("JSON");
        let account = environment["mpis"][0]["rank_program"]["library_account"].as_array();
        assert!(
            account.is_some_and(|told| !told.is_empty()),
            "what the library tells of itself: {environment}"
        );
    }
    let reported = run(ddtbench(dir.path()).args(["report", "compared"])).expect_code(0);
    assert!(ended.out.starts_with(&reported.out), "the report is not what was printed: {ended}\n{reported}");
    let refused = ["engine", "contiguous", "--mpi", mpi.name, "--out", "compared"];
    run(ddtbench(dir.path()).args(refused)).expect_code(2).expect_err(&["not empty"]);
    Summary::read(&folder).0
}

fn of<'a>(rows: &'a [Row], method: &str, phase: &str) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.is(&[("method", method), ("phase", phase)])).collect()
}

#[track_caller]
fn expect_measured(rows: &[Row], methods: &[&str], cases: usize) {
    for method in methods {
        for phase in ["pack", "unpack"] {
            let found = of(rows, method, phase);
            assert_eq!(found.len(), cases, "{method} {phase}: {rows:?}");
            for row in found {
                assert!(row.number("median_s") > Some(0.0) && row.number("blocks") >= Some(1.0), "{row:?}");
                assert_eq!(row.figure("over_engine").is_some(), *method != "engine", "{row:?}");
            }
        }
    }
}

fn all_are_measured(mpi: &Mpi) {
    // The state of the caches is nothing that an MPI knows of: both on one MPI alone, and the one that takes half the time on both.
    let caches = if mpi.name == "mpich" { vec!["warm", "cold"] } else { vec!["warm"] };
    let rows = compare(mpi, &[], &["--preset", "quick", "--cache", &caches.join(",")], 0);
    let tests: BTreeSet<&str> = rows.iter().map(|row| row.get("test")).collect();
    assert!(tests.len() >= 19, "{tests:?}");
    for (method, phase) in
        [("engine", "create"), ("mpi_pack", "create"), ("engine", "free"), ("mpi_pack", "free")]
    {
        // Both LAMMPS tests pack in two orders.
        assert_eq!(of(&rows, method, phase).len(), caches.len() * (tests.len() + 2), "{method} {phase}");
    }
    expect_measured(&rows, &["engine", "mpi_pack", "memcpy", "bound"], caches.len() * (tests.len() + 2));
    expect_measured(&rows, &["manual", "manual_tuned"], caches.len() * tests.len());
    // The other order has no loops that were written by hand.
    let of_order = |method: &str| {
        let rows = of(&rows, method, "pack").into_iter();
        rows.filter(|row| row.get("params").ends_with("order=ddt")).count()
    };
    assert_eq!((of_order("engine"), of_order("manual")), (2 * caches.len(), 0));
    let lines = |row: &&Row| row.figure("line_bytes") >= row.number("bytes");
    assert!(of(&rows, "bound", "unpack").iter().all(lines), "whatever is packed lies in lines");
}

fn the_grid(mpi: &Mpi) {
    // The whole takes minutes: its first and its last cases, by the names that they have in it.
    let few: [&[&str]; 2] = [
        &["strided", "-p", "count=4092,blocklength=1,stride=1025,element=float"],
        &["scattered", "-p", "count=4,blocklength=8192,places=8,element=double"],
    ];
    for case in few {
        expect_measured(&compare(mpi, &[], &[case, &["--cache", "warm"]].concat(), 0), &METHODS, 1);
    }
}

/// The cases of a comparison, as a dry run plans them: the whole takes minutes.
fn planned(arguments: &[&str]) -> Vec<PlannedCase> {
    let dir = tempfile::tempdir().unwrap();
    let dry = run(ddtbench(dir.path()).arg("engine").args(arguments).arg("--dry-run")).expect_code(0);
    Plan::parse(&dry.out).expect("a plan").cases
}

fn the_grid_by_its_name() {
    let beside = planned(&["nas_lu_y", "grid"]);
    assert!(beside[0].test == "nas_lu_y" && beside[0].set.as_deref() != Some("grid"), "{:?}", beside[0]);
    let alone = planned(&["grid"]);
    assert_eq!(alone, beside[1..], "the same cases");
    for case in &alone {
        assert!(["strided", "scattered"].contains(&&*case.test), "{case:?}");
        assert_eq!(case.set.as_deref(), Some("grid"), "{case:?}");
    }
    let given: Vec<_> = alone[0].given().collect();
    assert!(given.contains(&("blocklength", "1")) && given.contains(&("element", "float")), "{given:?}");
}

/// Fails unless `MPI_Pack` or `MPI_Unpack` was found to err, with all `words`, and the others have their figures.
fn expect_found(mpi: &Mpi, faults: &[(&str, &str)], outcome: &str, words: &[&str]) -> String {
    let rows = compare(mpi, faults, &[&STRIDED[..], &["--cache", "warm"]].concat(), 1);
    let failed: Vec<_> = rows.iter().filter(|row| row.get("method") == "mpi_pack").collect();
    assert_eq!(failed.len(), 1, "no phase of it has figures: {failed:?}");
    assert!(failed[0].is(&[("outcome", outcome), ("median_s", "")]), "{failed:?}");
    let detail = failed[0].get("detail");
    for word in words {
        assert!(detail.contains(word), "`{word}` is not in {detail}");
    }
    expect_measured(&rows, &["engine", "manual", "manual_tuned", "memcpy", "bound"], 1);
    detail.to_owned()
}

fn expect_wrong_byte(mpi: &Mpi, faults: &[(&str, &str)], words: &[&str]) {
    let detail = expect_found(mpi, faults, "wrong data", words);
    let (expected, found) = expected_and_found(&detail);
    assert_eq!(expected ^ found, 0xff, "{detail}");
}

fn wrong_packed_bytes(mpi: &Mpi) {
    expect_wrong_byte(mpi, &[("FAULTY_MPI", "pack 5")], &["pack: packed byte 5"]);
}

fn a_byte_in_a_gap(mpi: &Mpi) {
    expect_wrong_byte(mpi, &[("FAULTY_MPI", "unpack 12")], &["byte 12, element 1", "must not change"]);
}

/// The first verification packs twice, the warm-up a few times more.
fn a_late_fault(mpi: &Mpi) {
    let faults = [("FAULTY_MPI", "pack 5"), ("FAULTY_MPI_AFTER", "40")];
    expect_wrong_byte(mpi, &faults, &["after a block: pack: packed byte 5"]);
}

fn a_killed_process(mpi: &Mpi) {
    let detail = expect_found(mpi, &[("FAULTY_MPI", "die")], "crashed", &[]);
    // From the launcher's exit code, or from what it says.
    assert!(detail.contains("SIGKILL") || detail.contains("signal 9"), "{detail}");
}

fn by_hand(mpi: &Mpi) {
    let ended = run(rank_program(mpi, "1").args(["nas_lu_y"]).args(SHORT)).expect_code(0);
    for word in ["nas_lu_y", "engine", "manual", "memcpy", "ranks and their processors"] {
        assert!(ended.out.contains(word), "`{word}` is not in: {ended}");
    }
    let no_loop = ["lammps_full", "--order", "ddt", "-m", "manual"];
    run(rank_program(mpi, "1").args(no_loop)).expect_code(2).expect_err(&["manual", "order"]);
}

fn two_processes(mpi: &Mpi) {
    let ended = run(rank_program(mpi, "2").args(["nas_lu_y"])).expect_code(2).expect_err(&["2 ranks"]);
    assert_eq!(ended.err.matches("error: ").count(), 1, "said once: {ended}");
}

/// `ddtbench-rank engine` under its launcher, up to its arguments.
fn rank_program(mpi: &Mpi, processes: &str) -> Command {
    let mut command = mpiexec(mpi, mpi, processes);
    command.arg("engine");
    command
}
