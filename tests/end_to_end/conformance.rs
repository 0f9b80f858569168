//! The checks of partitioned communication: what each MPI is known for, and that a hang costs no other check.

use std::path::Path;

use libtest_mimic::Trial;

use super::by_hand::mpiexec;
use super::job::{Ended, run};
use super::results::{Row, rows};
use super::setup::{Check, Mpi, ddtbench, mpi, waiting_on_every_mpi};
use super::trial::alone;

/// Silence in seconds after which a check has timed out. Those that end do so within one second.
const TIMEOUT: &str = "4";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("the known failures of the MPI are found, and a hang costs no other check", known),
        ("messages are matched and completed, and requests may be left", completion),
        ("an MPI without the functions has nothing to fail", without_functions),
        ("a check can be run by hand", by_hand),
    ];
    let mut trials = waiting_on_every_mpi("conformance", checks);
    trials.push(alone("both MPIs::conformance::one table, and runs use the results", || {
        both(tempfile::tempdir().unwrap().path());
    }));
    trials
}

/// Runs checks into the folder `out`; gives the output and the rows.
#[track_caller]
fn check(mpi: &Mpi, dir: &Path, checks: &[&str], hidden: &str, code: i32) -> (Ended, Vec<Row>) {
    let mut command = ddtbench(dir);
    command.args(["conform", "partitioned"]).args(checks);
    command.args(["--mpi", mpi.name, "--timeout", TIMEOUT, "--out", "out"]);
    let ended = run(command.env("DDTBENCH_HIDE_SYMBOLS", hidden)).expect_code(code);
    let rows = rows(&dir.join("out/checks.csv"));
    let mut names: Vec<_> = rows.iter().map(|row| row.get("check")).collect();
    let mut asked = checks.to_vec();
    names.sort_unstable();
    asked.sort_unstable();
    assert_eq!(names, asked, "{ended}");
    assert!(dir.join("out/environment.json").exists());
    (ended, rows)
}

/// Checks that MPIs of each kind pass, and those that Open MPI 5.0 fails.
fn known(mpi: &Mpi) {
    const FAILS_OPEN_MPI: [(&str, &[&str]); 4] = [
        ("datatype_with_gaps", &["failed"]),
        ("startall_sends", &["timed out", "failed"]),
        ("some_ranks_only", &["timed out"]),
        ("progress_before_first_pready_4kib", &["failed", "timed out"]),
    ];
    const CHECKS: [&str; 8] = [
        "equal_counts",
        "datatype_with_gaps",
        "startall_sends",
        "unequal_counts",
        "some_ranks_only",
        "progress_before_first_pready_4kib",
        "pready_threads",
        "zero_count",
    ];
    let fails: &[_] = if mpi.name == "openmpi" { &FAILS_OPEN_MPI } else { &[] };
    let dir = tempfile::tempdir().unwrap();
    let (ended, rows) = check(mpi, dir.path(), &CHECKS, "", i32::from(!fails.is_empty()));
    for row in &rows {
        let fails = fails.iter().find(|(name, _)| *name == row.get("check"));
        let expected = fails.map_or(&["passed"][..], |(_, outcomes)| *outcomes);
        assert!(expected.contains(&row.get("outcome")), "{expected:?} are possible: {row:?}");
        assert!(row.get("outcome") == "passed" || !row.get("note").is_empty(), "{row:?}");
        let ranks = if row.get("check") == "some_ranks_only" { 3.0 } else { 2.0 };
        assert_eq!(row.number("ranks"), Some(ranks), "{row:?}");
    }
    let summary = format!("{}: {} of 8 passed", mpi.name, 8 - fails.len());
    assert!(ended.out.contains(&summary), "`{summary}` is not in: {ended}");
}

fn completion(mpi: &Mpi) {
    const CHECKS: [&str; 5] = [
        "two_requests_of_one_tag",
        "waitall_with_point_to_point",
        "status_fields",
        "receiver_waits_first",
        "not_freed_at_finalize",
    ];
    let dir = tempfile::tempdir().unwrap();
    let (_, rows) = check(mpi, dir.path(), &CHECKS, "", 0);
    assert!(rows.iter().all(|row| row.get("outcome") == "passed"), "{rows:?}");
}

fn without_functions(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let (ended, rows) = check(mpi, dir.path(), &["equal_counts", "ring"], "MPI_Psend_init", 0);
    for row in &rows {
        assert_eq!(row.get("outcome"), "not available", "{row:?}");
        assert!(row.get("note").contains("MPI_Psend_init"), "{row:?}");
    }
    assert!(ended.out.contains("0 of 2 passed, 2 not available"), "{ended}");
}

/// Two MPIs have one table, and a run of one of them uses the results.
fn both(dir: &Path) {
    let mpis = ["mpich", "openmpi"].map(|name| mpi(name).name);
    let checks = ["conform", "partitioned", "equal_counts", "ring", "--repeat", "2", "--out", "out", "--mpi"];
    let ended = run(ddtbench(dir).args(checks).arg(mpis.join(","))).expect_code(0);
    assert!(ended.out.contains("mpich: 2 of 2 passed\nopenmpi: 2 of 2 passed\n"), "{ended}");
    assert_eq!(rows(&dir.join("out/checks.csv")).len(), 4);
    let measure = ["partitioned", "-m", "partitioned", "--mpi", "mpich", "--launches", "1", "--out", "run"];
    let ended = run(ddtbench(dir).args(measure).args(["--max-time", "0.02"])).expect_code(0);
    assert!(ended.err.contains("using results of checks of mpich"), "{ended}");
    let used = rows(&dir.join("run/checks.csv"));
    assert_eq!(used.iter().map(|row| row.get("check")).collect::<Vec<_>>(), ["equal_counts"]);
}

fn by_hand(mpi: &Mpi) {
    let ended = run(mpiexec(mpi, mpi, "2").args(["conform", "any_order"])).expect_code(0);
    assert!(ended.out.contains("any_order: passed\n"), "{ended}");
    let ended = run(mpiexec(mpi, mpi, "2").args(["conform", "ring"])).expect_code(2);
    let ended = ended.expect_err(&["ring", "4 ranks"]);
    assert_eq!(ended.err.matches("error:").count(), 1, "{ended}");
}
