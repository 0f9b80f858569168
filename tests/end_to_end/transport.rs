//! What carries the bytes between ranks: on one host, and on two that are namespaces of this machine.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use super::job::{Ended, run};
use super::results::rows;
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, mpi, on_every_mpi, root};

/// Short, and of a size that is worth a network.
const CASE: [&str; 7] = ["run", "contiguous", "-p", "bytes=100000", "-m", "reference", "--max-time=0.02"];

/// The exit code of `two_hosts.sh` where there are no namespaces.
const NO_NAMESPACES: i32 = 77;

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[("memory and TCP on one host are told apart", one_host)];
    let mut trials = on_every_mpi("transport", checks);
    let hosts: [(&str, fn()); 2] =
        [("over TCP between two hosts", tcp_between_hosts), ("two hosts that no network joins", no_network)];
    trials.extend(hosts.map(|(what, check)| {
        let Some(reason) = lack() else {
            return Trial::test(format!("mpich::transport::{what}"), move || {
                check();
                Ok(())
            });
        };
        Trial::test(format!("mpich::transport::{what}: not run, since {reason}"), || Ok(()))
            .with_ignored_flag(true)
    }));
    trials
}

/// Why there cannot be two hosts on this machine.
fn lack() -> Option<&'static str> {
    let has = |words: &[&str]| {
        Command::new(words[0]).args(&words[1..]).output().is_ok_and(|out| out.status.success())
    };
    match () {
        () if !has(&["ip", "-V"]) => Some("there is no command ip"),
        () if !has(&["unshare", "--net", "--uts", "true"]) => Some("namespaces need root"),
        () => None,
    }
}

/// The only value of a column of the run's cases.
#[track_caller]
fn case(dir: &Path, column: &str) -> String {
    let cases = rows(&dir.join("out/cases.csv"));
    assert_eq!(cases.len(), 1, "{cases:?}");
    cases[0].get(column).to_owned()
}

fn one_host(mpi: &Mpi) {
    let tcp = match mpi.name {
        "openmpi" => ["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"],
        // Messages within a host go as those between hosts do.
        _ => ["-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "FI_PROVIDER", "tcp"],
    };
    let netmod: &[&str] = if mpi.name == "mpich" { &["-genv", "MPIR_CVAR_CH4_NETMOD", "ofi"] } else { &[] };
    for (flags, expected) in [(Vec::new(), "shm"), ([&tcp[..], netmod].concat(), "tcp")] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = ddtbench(dir.path());
        command.args(CASE).args(ONE_LAUNCH).args(["--mpi", mpi.name, "--out", "out", "--"]).args(flags);
        let ended = run(&mut command).expect_code(0);
        assert_eq!(
            (case(dir.path(), "hosts"), case(dir.path(), "transport")),
            ("1".to_owned(), expected.to_owned())
        );
        assert!(ended.out.contains(&format!("2 ranks, {expected}, warm")), "{ended}");
        assert!(!ended.err.contains("crosses no network"), "{ended}");
    }
}

/// A run of MPICH on two hosts, with these variables.
fn on_two_hosts(dir: &Path, variables: &[(&str, &str)]) -> Ended {
    let agent = dir.join("agent");
    let inner = ddtbench(dir);
    let mut command = Command::new("bash");
    command.arg(root().join("tests/end_to_end/two_hosts.sh")).arg(&agent).arg(inner.get_program());
    command.current_dir(dir).env("DDTBENCH_ROOT", root()).env_remove("MPICC");
    command.args(CASE).args(ONE_LAUNCH).args(["--mpi", mpi("mpich").name, "--no-bind", "--out", "out", "--"]);
    command.args(["-launcher", "ssh", "-launcher-exec"]).arg(agent);
    command.args(["-iface", "v0", "-hosts", "10.9.0.1,10.9.0.2", "-ppn", "1"]);
    for (name, value) in variables {
        command.args(["-genv", name, value]);
    }
    let ended = run(&mut command);
    assert_ne!(ended.code, Some(NO_NAMESPACES), "{ended}");
    ended.expect_code(0)
}

fn tcp_between_hosts() {
    let dir = tempfile::tempdir().unwrap();
    let ended = on_two_hosts(dir.path(), &[("MPIR_CVAR_CH4_NETMOD", "ofi"), ("FI_PROVIDER", "tcp")]);
    assert_eq!(
        (case(dir.path(), "hosts"), case(dir.path(), "transport")),
        ("2".to_owned(), "tcp".to_owned())
    );
    assert!(ended.out.contains("2 ranks on 2 hosts, tcp"), "{ended}");
    assert!(!ended.err.contains("crosses no network"), "{ended}");
}

/// MPICH over UCX finds shared memory across namespaces.
fn no_network() {
    let dir = tempfile::tempdir().unwrap();
    let ended = on_two_hosts(dir.path(), &[("MPIR_CVAR_CH4_NETMOD", "ucx")]);
    assert_eq!(
        (case(dir.path(), "hosts"), case(dir.path(), "transport")),
        ("2".to_owned(), "shm".to_owned())
    );
    assert!(ended.out.contains("2 ranks on 2 hosts, shm") && ended.out.contains("No network: "), "{ended}");
    assert_eq!(ended.err.matches("crosses no network interface").count(), 1, "{ended}");
}
