//! What stands in the way of measurements, as `ddtbench doctor` tells it.

use libtest_mimic::Trial;

use super::faulty_mpi::under_faults;
use super::job::run;
use super::setup::{Check, Mpi, ddtbench, on_every_mpi};

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] =
        &[("tells what works, and what an MPI that errs does not", a_good_mpi_and_a_bad_one)];
    on_every_mpi("doctor", checks)
}

fn a_good_mpi_and_a_bad_one(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let look = || {
        let mut command = ddtbench(dir.path());
        command.args(["doctor", "--mpi", mpi.name]);
        command
    };
    let good = run(&mut look()).expect_code(0).out;
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
    let mut bad = look();
    under_faults(mpi, &mut bad, &[("FAULTY_MPI", "flip 37")]);
    let told = run(&mut bad).expect_code(1).out;
    assert!(
        told.lines().any(|line| line.trim().starts_with("error") && line.contains("wrong data")),
        "{told}"
    );
    let unknown = run(ddtbench(dir.path()).args(["doctor", "--mpi", "nosuch"])).expect_code(1).out;
    assert!(unknown.contains("error") && unknown.contains("nosuch"), "{unknown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is kept");
}
