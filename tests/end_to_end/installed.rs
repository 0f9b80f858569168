//! The installed program, moved and without a home (except Open MPI), cargo, the source, the network (if root
//! runs this), or a compiler after the first run.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;

use super::job::run;
use super::results::rows;
use super::setup::{MPIS, Mpi, root, scratch, trials_on};
use super::trial::Need;
use super::typed::words;

pub fn trials() -> Vec<Trial> {
    trials_on(&MPIS, Need::AllProcessors, "installed", &[("measures without cargo and the source", measures)])
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
    // Root can take the network away, except the loopback interface.
    const WITHOUT_NETWORK: &str = "! unshare --net ip link set lo up || exec unshare --net sh -c 'ip link set lo up; exec \"$@\"' - \"$@\"; exec \"$@\"";
    let measure = |out: &str, compiler: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", WITHOUT_NETWORK, "-"]).arg(installation().join("bin/ddtbench"));
        command.current_dir(&dir).env_clear().env("TMPDIR", dir.path()).env("CARGO", "/bin/false");
        command.env("CC", "no-such-compiler");
        command.env("MPICH_CC", compiler).env("OMPI_CC", compiler);
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        // Open MPI does not start without a home.
        command.envs((mpi.name == MPIS[1]).then_some(("HOME", dir.path())));
        command.args(words("run nas_lu_y -m reference,manual,ddt --launches 1 --max-time 0.02"));
        command.args(["--mpi", mpi.name, "--out", out]);
        let ended = run(&mut command).expect_code(0);
        let measured = rows(&dir.path().join(out).join("launches.csv"));
        assert!(measured.iter().filter(|row| row.is_measured()).count() >= 3, "{ended}");
        ended
    };
    measure("first", "gcc").expect_err(&["building the rank program for system-"]);
    measure("second", "no-such-compiler").expect_err(&["checking the rank program for system-"]);
    let plan = std::fs::read_to_string(dir.path().join("second/plan.toml")).unwrap();
    assert!(plan.contains(&format!("mpis = [\"system-{}\"]", mpi.name)), "{plan}");
    let share = installation().join("share");
    let of_shells = ["bash-completion/completions/ddtbench", "zsh/site-functions/_ddtbench"];
    for file in of_shells.into_iter().chain(["fish/vendor_completions.d/ddtbench.fish"]) {
        let text = std::fs::read_to_string(share.join(file)).unwrap();
        assert!(!text.contains(scratch().to_str().unwrap()), "{text}");
    }
    assert!(share.join("doc/ddtbench/docs/adr/README.md").exists());
}
