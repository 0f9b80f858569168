//! The check of partitioned communication: what each MPI is known for, and that a hang costs no other probe.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;

use super::by_hand::mpiexec;
use super::job::{Ended, run};
use super::results::{Row, rows};
use super::setup::{Check, Mpi, ddtbench, mpi, on_every_mpi};
use super::trial::alone;

/// Seconds after which a probe is taken for hanging. Those that end do so within one.
const TIMEOUT: &str = "3";

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("what is known of the MPI is found, and a hang costs no other probe", known),
        ("misuse is told, and no failure", misuse),
        ("messages are told apart and completed, and requests may be left", completion),
        ("an MPI without the functions has nothing to fail", without_functions),
        ("a probe can be run by hand", by_hand),
    ];
    let mut trials = on_every_mpi("probes", checks);
    trials.push(alone("both MPIs::probes::launches, resumed, and by their plan", || {
        as_a_run(tempfile::tempdir().unwrap().path());
    }));
    trials.push(alone("refused::an unknown probe, with the names that there are", || {
        unknown_probe(tempfile::tempdir().unwrap().path());
    }));
    trials
}

/// Runs probes into the folder `out`; gives what was printed and the rows.
#[track_caller]
fn check(mpi: &Mpi, dir: &Path, probes: &[&str], hidden: &str, code: i32) -> (Ended, Vec<Row>) {
    let mut command = ddtbench(dir);
    command.args(["partitioned", "--check", "--mpi", mpi.name, "--timeout", TIMEOUT, "--out", "out"]);
    let ended = run(command.args(["--probe", &probes.join(",")]).env("DDTBENCH_HIDE_SYMBOLS", hidden));
    let ended = ended.expect_code(code);
    // They run in an order that is drawn.
    let mut rows = rows(&dir.join("out/launches.csv"));
    rows.sort_by_key(|row| probes.iter().position(|probe| *probe == row.get("test")));
    let names: Vec<_> = rows.iter().map(|row| row.get("test")).collect();
    assert_eq!(names, probes, "{ended}");
    assert!(dir.join("out/environment.json").exists());
    (ended, rows)
}

/// Probes that an MPI of each kind passes, and those that Open MPI 5.0 fails.
fn known(mpi: &Mpi) {
    const FAILS_OPEN_MPI: [(&str, &[&str]); 4] = [
        ("datatype_with_gaps", &["failed"]),
        ("startall_sends", &["timed out", "failed"]),
        ("some_ranks_only", &["timed out"]),
        ("progress_before_first_pready_4kib", &["failed", "timed out"]),
    ];
    const PROBES: [&str; 7] = [
        "equal_counts",
        "datatype_with_gaps",
        "startall_sends",
        "unequal_counts",
        "some_ranks_only",
        "progress_before_first_pready_4kib",
        "pready_threads",
    ];
    let fails: &[_] = if mpi.name == "openmpi" { &FAILS_OPEN_MPI } else { &[] };
    let dir = tempfile::tempdir().unwrap();
    let (ended, rows) = check(mpi, dir.path(), &PROBES, "", i32::from(!fails.is_empty()));
    for row in &rows {
        let fails = fails.iter().find(|(name, _)| *name == row.get("test"));
        let expected = fails.map_or(&["passed"][..], |(_, outcomes)| *outcomes);
        assert!(expected.contains(&row.get("outcome")), "{expected:?} are possible: {row:?}");
        assert!(row.get("outcome") == "passed" || !row.get("detail").is_empty(), "{row:?}");
        let has_time = ["passed", "failed"].contains(&row.get("outcome"));
        assert_eq!(row.number("median_s") > Some(0.0), has_time, "{row:?}");
        assert_eq!(row.get("hosts"), "1", "{row:?}");
    }
    let standing = format!("{}: {} of 7 passed", mpi.name, 7 - fails.len());
    assert!(ended.out.contains(&standing), "`{standing}` is not in: {ended}");
}

fn misuse(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let probes = ["zero_partitions", "any_source", "pready_before_start", "zero_count"];
    let (_, rows) = check(mpi, dir.path(), &probes, "", 0);
    let seen: Vec<_> = rows.iter().map(|row| row.get("outcome")).collect();
    // MPICH refuses them all; Open MPI 5.0.11 dies of one and lets the others through.
    match mpi.name {
        "mpich" => assert_eq!(seen, ["refused", "refused", "refused", "passed"], "{rows:?}"),
        _ => assert_eq!((seen[1], seen[3]), ("accepted", "passed"), "{rows:?}"),
    }
}

fn completion(mpi: &Mpi) {
    const PROBES: [&str; 5] = [
        "two_requests_of_one_tag",
        "waitall_with_point_to_point",
        "status_fields",
        "receiver_waits_first",
        "not_freed_at_finalize",
    ];
    let dir = tempfile::tempdir().unwrap();
    let (_, rows) = check(mpi, dir.path(), &PROBES, "", 0);
    assert!(rows.iter().all(|row| row.get("outcome") == "passed"), "{rows:?}");
}

fn without_functions(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let (ended, rows) = check(mpi, dir.path(), &["equal_counts", "ring"], "MPI_Psend_init", 0);
    for row in &rows {
        assert_eq!(row.get("outcome"), "not available", "{row:?}");
        assert!(row.get("detail").contains("MPI_Psend_init"), "{row:?}");
    }
    assert!(ended.out.contains("0 of 2 passed, 2 not available"), "{ended}");
}

/// Probes have what every kind of experiments has.
fn as_a_run(dir: &Path) {
    const LAUNCHES: usize = 2;
    let mpis = ["mpich", "openmpi"].map(|name| mpi(name).name);
    let probe = |arguments: &[&str]| run(ddtbench(dir).arg("probe").args(arguments));
    probe(&["equal_counts", "ring", "--mpi", &mpis.join(","), "--launches", "2", "--out", "out"])
        .expect_code(0);
    let launches = || rows(&dir.join("out/launches.csv"));
    assert_eq!(launches().len(), mpis.len() * 2 * LAUNCHES, "{:?}", launches());
    let ranks: Vec<_> =
        launches().iter().filter(|row| row.get("test") == "ring").map(|row| row.number("ranks")).collect();
    assert!(ranks.iter().all(|ranks| *ranks == Some(4.0)), "{ranks:?}");
    assert_eq!(rows(&dir.join("out/summary.csv")).len(), mpis.len() * 2);
    let reported = run(ddtbench(dir).args(["report", "out"])).expect_code(0);
    assert!(reported.out.contains("openmpi: 2 of 2 passed"), "{reported}");
    // All is there: nothing is tried again, and what a launch lacks is.
    let kept = super::results::kept(&dir.join("out"));
    probe(&["--resume", "out"]).expect_code(0);
    assert_eq!(super::results::kept(&dir.join("out")), kept);
    let file = dir.join("out/launches.csv");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.lines().take(text.lines().count() - 1).map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    probe(&["--resume", "out"]).expect_code(0);
    assert_eq!(launches().len(), mpis.len() * 2 * LAUNCHES);
    probe(&["--plan", "out/plan.toml", "--launches", "1", "--out", "again"]).expect_code(0);
    assert_eq!(rows(&dir.join("again/launches.csv")).len(), mpis.len() * 2);
    probe(&["--max-time", "1", "--out", "none"]).expect_code(2).expect_err(&["--max-time", "probes"]);
    assert!(!dir.join("none").exists());
}

fn by_hand(mpi: &Mpi) {
    let ended = run(mpiexec(mpi, mpi, "2").args(["probe", "any_order"])).expect_code(0);
    assert!(ended.out.contains("any_order: passed after"), "{ended}");
    let ended = run(mpiexec(mpi, mpi, "2").args(["probe", "ring"])).expect_code(2);
    let ended = ended.expect_err(&["ring", "4 ranks"]);
    assert_eq!(ended.err.matches("error:").count(), 1, "{ended}");
}

fn unknown_probe(dir: &Path) {
    let arguments = ["partitioned", "--check", "--probe", "equal_count", "--out", "mine"];
    run(ddtbench(dir).args(arguments)).expect_code(2).expect_err(&["equal_count", "equal_counts", "ring"]);
    assert_eq!(fs::read_dir(dir).unwrap().count(), 0, "nothing is made for what is refused");
}
