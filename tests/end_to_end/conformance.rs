//! The checks of partitioned communication: the known results of each MPI; and a check that hangs does not affect
//! others.

use libtest_mimic::Trial;

use super::results::Row;
use super::setup::{Check, MPIS, Mpi, mpi, trials_on};
use super::trial::{Need, alone};
use super::typed::{Kept, Measuring};

/// Seconds without output after which a check times out. Checks that end do so within one second.
const TIMEOUT: &str = "4";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("the known failures of the MPI are found, and a hang costs no other check", known),
        ("messages are matched and completed, and requests may be left", completion),
        ("an MPI without the functions has nothing to fail", without_functions),
    ];
    let mut trials = trials_on(&MPIS, Need::Waiting, "conformance", checks);
    trials.push(alone("both MPIs::conformance::one table, and runs do the checks that they need", both));
    trials
}

/// Runs checks on an MPI without these functions. Returns the run and its rows.
#[track_caller]
fn check(mpi: &Mpi, checks: &[&str], hidden: &str, code: i32) -> (Kept, Vec<Row>) {
    let line = format!("conform partitioned {} --timeout {TIMEOUT}", checks.join(" "));
    let kept = Measuring::on(mpi, line).env("DDTBENCH_HIDE_SYMBOLS", hidden).ends(code);
    let rows = kept.rows("checks.csv");
    let mut names: Vec<_> = rows.iter().map(|row| row.get("check")).collect();
    let mut asked = checks.to_vec();
    names.sort_unstable();
    asked.sort_unstable();
    assert_eq!(names, asked, "{}", kept.ended);
    assert!(kept.out().join("environment.json").exists());
    (kept, rows)
}

/// Checks that MPIs of each kind pass, and checks that Open MPI 5.0 fails.
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
    let (kept, rows) = check(mpi, &CHECKS, "", i32::from(!fails.is_empty()));
    for row in &rows {
        let fails = fails.iter().find(|(name, _)| *name == row.get("check"));
        let expected = fails.map_or(&["passed"][..], |(_, outcomes)| *outcomes);
        assert!(expected.contains(&row.get("outcome")), "{expected:?} are possible: {row:?}");
        assert!(row.get("outcome") == "passed" || !row.get("note").is_empty(), "{row:?}");
        let ranks = if row.get("check") == "some_ranks_only" { 3.0 } else { 2.0 };
        assert_eq!(row.number("ranks"), Some(ranks), "{row:?}");
    }
    let summary = format!("{}: {} of 8 passed", mpi.name, 8 - fails.len());
    assert!(kept.ended.out.contains(&summary), "`{summary}` is not in: {}", kept.ended);
}

fn completion(mpi: &Mpi) {
    const CHECKS: [&str; 5] = [
        "two_requests_of_one_tag",
        "waitall_with_point_to_point",
        "status_fields",
        "receiver_waits_first",
        "not_freed_at_finalize",
    ];
    let (_, rows) = check(mpi, &CHECKS, "", 0);
    assert!(rows.iter().all(|row| row.get("outcome") == "passed"), "{rows:?}");
}

fn without_functions(mpi: &Mpi) {
    let (kept, rows) = check(mpi, &["equal_counts", "ring"], "MPI_Psend_init", 0);
    for row in &rows {
        assert_eq!(row.get("outcome"), "not available", "{row:?}");
        assert!(row.get("note").contains("MPI_Psend_init"), "{row:?}");
    }
    assert!(kept.ended.out.contains("0 of 2 passed, 2 not available"), "{}", kept.ended);
}

/// Two MPIs share one table, and a run does the checks that its methods need.
fn both() {
    let [mpich, _] = MPIS.map(mpi);
    let line = format!("conform partitioned equal_counts ring --repeat 2 --mpi {}", MPIS.join(","));
    let kept = Measuring::on(mpich, line).ends(0);
    assert!(kept.ended.out.contains("mpich: 2 of 2 passed\nopenmpi: 2 of 2 passed\n"), "{}", kept.ended);
    assert_eq!(kept.rows("checks.csv").len(), 4);
    let measured = Measuring::on(mpich, "partitioned -m partitioned --max-time 0.02").ends(0);
    let used = measured.rows("checks.csv");
    assert_eq!(used.iter().map(|row| row.get("check")).collect::<Vec<_>>(), ["equal_counts"]);
}
