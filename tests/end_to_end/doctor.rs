//! What stands in the way of measurements, as `ddtbench doctor` reports it.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use super::faulty_mpi::under_faults;
use super::job::run;
use super::setup::{Check, Mpi, ddtbench, on_every_mpi, trials_on};
use super::trial::Need;

pub fn trials() -> Vec<Trial> {
    let mut trials = on_every_mpi("doctor", &[("reports what works", a_good_mpi)]);
    let bad: (&str, Check) = ("reports what does not work in an MPI that errs, or is not there", a_bad_mpi);
    trials.extend(trials_on(&["mpich"], Need::AllProcessors, "doctor", &[bad]));
    trials
}

/// `doctor` of an MPI, in a folder.
fn doctor(dir: &Path, mpi: &str) -> Command {
    let mut command = ddtbench(dir);
    command.args(["doctor", "--mpi", mpi]);
    command
}

fn a_good_mpi(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let good = run(&mut doctor(dir.path(), mpi.name)).expect_code(0).out;
    for what in ["Machine", "processor", "file locks", "shared memory", &format!("MPI {}", mpi.name)] {
        assert!(good.contains(what), "{what}: {good}");
    }
    for works in [
        "threads        MPI_THREAD_MULTIPLE",
        "binding        works",
        "transport      shm",
        "pingpong experiments are right",
    ] {
        assert!(
            good.lines().any(|line| line.trim().starts_with("ok") && line.contains(works)),
            "{works}: {good}"
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is kept");
}

fn a_bad_mpi(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let mut bad = doctor(dir.path(), mpi.name);
    under_faults(mpi, &mut bad, &[("FAULTY_MPI", "flip 37")]);
    let report = run(&mut bad).expect_code(1).out;
    assert!(
        report.lines().any(|line| line.trim().starts_with("error") && line.contains("wrong data")),
        "{report}"
    );
    let unknown = run(&mut doctor(dir.path(), "nosuch")).expect_code(1).out;
    assert!(unknown.contains("error") && unknown.contains("nosuch"), "{unknown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is kept");
}
