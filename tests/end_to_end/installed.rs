//! The installed program, moved and without a home (except Open MPI), cargo, the source, or the compiler of the build; and the
//! standard's binary interface.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;

use super::job::run;
use super::results::rows;
use super::setup::{MPIS, Mpi, WITHOUT_SLEEP, mpi, root, scratch, trials_on};
use super::trial::{Need, trial};
use super::typed::{typed, words};

pub fn trials() -> Vec<Trial> {
    let mut all = trials_on(
        &MPIS,
        Need::AllProcessors,
        "installed",
        &[("measures without cargo and the source", measures)],
    );
    all.push(trial(Need::AllProcessors, "mpich::installed::the standard's binary interface", standard));
    all
}

/// Removes the installation.
pub fn tidy_up() {
    // It does not exist if no trial has used it.
    let _ = std::fs::remove_dir_all(place());
}

fn place() -> PathBuf {
    scratch().join(format!("installed-{}", std::process::id()))
}

/// The folder of an installation, which is not the one that it was installed into.
fn installation() -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let (made, moved) = (place().join("made"), place().join("moved"));
        let mut command = Command::new(root().join("packaging/install"));
        command.arg(&made).args(MPIS).env("CARGO_NET_OFFLINE", "true");
        // Not optimised, which would take a minute: all is built already.
        command.env("BUILD", "cargo build");
        run(&mut command).expect_code(0);
        std::fs::rename(made, &moved).unwrap();
        moved
    };
    FOLDER.get_or_init(make).clone()
}

fn measures(mpi: &Mpi) {
    let dir = tempfile::tempdir().unwrap();
    let bin = mpi.mpicc.parent().unwrap();
    let measure = |out: &str| {
        let mut command = Command::new(installation().join("bin/ddtbench"));
        command.current_dir(&dir).env_clear().env("TMPDIR", dir.path()).env("CARGO", "/bin/false");
        command.env("CC", "no-such-compiler").env(WITHOUT_SLEEP.0, WITHOUT_SLEEP.1);
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        // Open MPI does not start without a home.
        command.envs((mpi.name == MPIS[1]).then_some(("HOME", dir.path())));
        let line = format!("run nas_lu_y -m reference,manual,ddt --launches 1 --max-time 0.02 --out {out}");
        command.args(words(&line));
        let ended = run(&mut command).expect_code(0);
        let measured = rows(&dir.path().join(out).join("launches.csv"));
        assert!(measured.iter().filter(|row| row.is_measured()).count() >= 3, "{ended}");
        ended
    };
    measure("first").expect_err(&["building the rank program for system-"]);
    measure("second").expect_err(&["checking the rank program for system-"]);
}

fn standard() {
    let dir = tempfile::tempdir().unwrap();
    let line = format!(
        "run nas_lu_y -m reference,manual,ddt --launches 1 --max-time 0.02 --mpi {0},{0}:abi --out out",
        mpi("mpich").name
    );
    run(&mut typed(dir.path(), &line)).expect_code(0);
    let account = std::fs::read_to_string(dir.path().join("out/environment.json")).unwrap();
    for text in ["\"abi\": \"standard\"", "libmpi_abi.so.1", "\"abi\": \"mpich\"", "libmpi.so.12"] {
        assert!(account.contains(text), "{text}: {account}");
    }
    // The MPI cannot do it.
    let line = format!("run nas_lu_y --mpi {}:abi --out other", mpi("openmpi").name);
    run(&mut typed(dir.path(), &line))
        .expect_code(2)
        .expect_err(&["has no libmpi_abi.so", "Intel MPI 2021.18"]);
}
