//! Obstacles to good measurements, as `ddtbench doctor` reports them.

use std::fs;

use libtest_mimic::Trial;
use regex::Regex;

use super::job::{Ended, run};
use super::setup::{MPIS, Mpi, root, trials_on};
use super::trial::Need;
use super::typed::typed;

pub fn trials() -> Vec<Trial> {
    trials_on(&MPIS, Need::AllProcessors, "doctor", &[("reports what works", a_good_mpi)])
}

/// Output of `doctor`, which writes no file.
fn doctor(line: &str) -> Ended {
    let dir = tempfile::tempdir().unwrap();
    let ended = run(&mut typed(dir.path(), &format!("doctor {line}")));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is kept");
    ended
}

/// Fails unless a line begins with this rating and contains these words.
#[track_caller]
fn expect_rated(report: &str, rating: &str, words: &str) {
    let is_it = |line: &str| line.trim().starts_with(rating) && line.contains(words);
    assert!(report.lines().any(is_it), "{rating} {words}: {report}");
}

fn a_good_mpi(mpi: &Mpi) {
    let good = doctor(&format!("--mpi {}", mpi.name)).expect_code(0).out;
    for what in ["Machine", "processor", "file locks", "shared memory", &format!("MPI {}", mpi.name)] {
        assert!(good.contains(what), "{what}: {good}");
    }
    for works in [
        "threads        MPI_THREAD_MULTIPLE",
        "binding        works",
        "transport      shm",
        "pingpong experiments work",
    ] {
        expect_rated(&good, "ok", works);
    }
    if mpi.name == "mpich" {
        expect_as_documented(&good);
    }
}

/// Fails unless the report has the lines that the documentation shows: of the machine the items, of the MPI whole lines except for numbers.
#[track_caller]
fn expect_as_documented(report: &str) {
    let page = fs::read_to_string(root().join("docs/mpis.md")).unwrap();
    let (_, shown) = page.split_once("```text\nMachine\n").expect("an excerpt");
    let (machine, mpi) = shown.split_once("```").unwrap().0.split_once("MPI mpich\n").expect("both parts");
    let item = |line: &str| {
        line.split("  ").filter(|part| !part.is_empty()).nth(1).map(|item| item.trim().to_owned())
    };
    let numbers = Regex::new("[0-9]+").unwrap();
    let masked = |line: &str| numbers.replace_all(line.trim(), "N").into_owned();
    for line in machine.lines().filter(|line| !line.starts_with("     ")) {
        assert!(report.lines().any(|printed| item(printed) == item(line)), "{line}: {report}");
    }
    for line in mpi.lines() {
        assert!(report.lines().any(|printed| masked(printed) == masked(line)), "{line}: {report}");
    }
}
