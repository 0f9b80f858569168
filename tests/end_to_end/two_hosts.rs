//! Two hosts, which are namespaces of this machine (`two_hosts.sh`): the data sent over their link, and runs
//! that lose a rank, the link or a host.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;

use super::gate::Gate;
use super::job::{Ended, Job, Process, signal};
use super::results::{Row, Summary};
use super::setup::{Check, MPIS, Mpi, mpi, root};
use super::trial::{Room, when_asked};
use super::typed::{Kept, Measuring, Running, words};

/// Short, and of a size that is large enough for a network.
const SHORT: &str = "run contiguous -p bytes=100000 -m reference,ddt --max-time 0.02";
/// Two cases that are stopped at a gate. Processes after a cut of the link wait for ever; a busy machine
/// needs some seconds to start an MPI.
const GATED: &str = "run contiguous nas_lu_y -m reference,ddt --max-time 0.02 --set-plan limits.timeout_s=8";
const TESTS: [&str; 2] = ["contiguous", "nas_lu_y"];
const METHODS: [&str; 2] = ["reference", "ddt"];

/// Exit codes of `two_hosts.sh`: without namespaces, and with a process that still runs on a host long after the command's end.
const NO_NAMESPACES: i32 = 77;
const LEFT: i32 = 78;

/// One trial at a time of each MPI: Open MPI names its temporary files after the host and a process number,
/// which are the same in each trial.
static ROOMS: [Room; MPIS.len()] = [const { Room::with_places(1) }; MPIS.len()];

pub fn trials() -> Vec<Trial> {
    let on_both: [(&str, Check); 6] = [
        ("a run goes over TCP, by the counters of both ends", over_tcp),
        ("a halo exchange of four ranks", halo),
        ("a message that is finished part by part", partitioned),
        ("a rank that is killed on the other host costs no other method", killed_rank),
        ("a link that is cut ends the case, and finished results are kept", cut_link),
        ("a host that is not there ends the run with the launcher's words", absent_host),
    ];
    let on_one: (&str, Check) = ("hosts without a network between them are reported", no_network);
    let lack = lack();
    let on_mpich = on_both.iter().chain([&on_one]).map(|check| (0, check));
    let all = on_mpich.chain(on_both.iter().map(|check| (1, check)));
    let trial = |(place, &(what, check)): (usize, &(&str, Check))| {
        let name: &'static str = MPIS[place];
        when_asked(&ROOMS[place], lack, format!("{name}::two hosts::{what}"), move || check(mpi(name)))
    };
    all.map(trial).collect()
}

/// Why two hosts are not possible on this machine.
pub fn lack() -> Option<&'static str> {
    let can = |line: &str| {
        let words = words(line);
        Command::new(&words[0]).args(&words[1..]).output().is_ok_and(|out| out.status.success())
    };
    let needs = [
        ("ip -V", "the command ip is missing"),
        ("setpriv --version", "the command setpriv is missing"),
        ("unshare --net --uts --pid --fork --mount true", "namespaces need root"),
    ];
    needs.into_iter().find(|(line, _)| !can(line)).map(|(_, reason)| reason)
}

/// The address of the second host.
const OTHER: &str = "10.9.0.2";

/// A measurement with `each` ranks on the first host and as many on another.
fn measuring<'a>(mpi: &'a Mpi, line: &str, each: usize, other: &str, netmod: &str) -> Measuring<'a> {
    // Both hosts have the same cores, and each would bind its first rank to the first core.
    let measuring = Measuring::on(mpi, format!("{line} --set-plan bind=false"));
    let agent = measuring.dir().join("agent").display().to_string();
    if mpi.name == "openmpi" {
        let hosts = format!("10.9.0.1:{each},{other}:{each}");
        return measuring.launcher(&format!("--prtemca plm_ssh_agent '{agent}' --host {hosts}"));
    }
    let hosts = format!("-iface link0 -hosts 10.9.0.1,{other} -ppn {each}");
    let measuring = measuring.launcher(&format!("-launcher ssh -launcher-exec '{agent}' {hosts}"));
    measuring.ranks_see("MPIR_CVAR_CH4_NETMOD", netmod).ranks_see("FI_PROVIDER", "tcp")
}

/// Starts the measurement on the first of two hosts.
fn start(measuring: Measuring<'_>) -> Running {
    let (script, dir) = (root().join("tests/end_to_end/two_hosts.sh"), measuring.dir().to_owned());
    measuring.start_by("bash", &[&script, &dir])
}

/// A run on two hosts that is stopped at its gate.
fn gated(mpi: &Mpi) -> (Running, Gate) {
    let (measuring, gate) = measuring(mpi, GATED, 1, OTHER, "ofi").gated();
    (start(measuring), gate)
}

/// Waits for the end. No process may remain on a host.
#[track_caller]
fn end(run: Running, code: i32) -> Kept {
    let kept = run.ends_in(&[code, NO_NAMESPACES, LEFT]);
    assert_ne!(kept.ended.code, Some(NO_NAMESPACES), "{}", kept.ended);
    assert_ne!(kept.ended.code, Some(LEFT), "processes were left on a host: {}", kept.ended);
    kept
}

/// Waits until the ranks of a case are at the gate, and returns them.
fn reach(run: &mut Running, gate: &Gate) -> Vec<Process> {
    gate.reach(&mut run.job);
    let ranks = run.job.named("ddtbench-rank");
    assert_eq!(ranks.len(), 2, "{ranks:?}");
    ranks
}

/// The first process of a host.
#[track_caller]
fn host(job: &Job, name: &str) -> i32 {
    let found = job.named(&format!("host-{name}"));
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].pid
}

/// Cuts the link, or restores it.
#[track_caller]
fn set_link(job: &Job, state: &str) {
    let line = format!("--target {} --net ip link set link0 {state}", host(job, "nodea"));
    let done = Command::new("nsenter").args(words(&line)).status();
    assert!(done.is_ok_and(|status| status.success()), "the link is not {state}");
}

/// The network namespace of a process.
fn network(pid: i32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// A run to its end, on two hosts connected by a network. Fails unless all rows have figures and the messages used the network.
#[track_caller]
fn measured(mpi: &Mpi, line: &str, each: usize) -> Kept {
    let kept = end(start(measuring(mpi, line, each, OTHER, "ofi")), 0);
    let cases = kept.rows("cases.csv");
    let is_over_tcp =
        |case: &Row| case.get("hosts") == "2" && case.get("transport").split('+').next() == Some("tcp");
    assert!(!cases.is_empty() && cases.iter().all(is_over_tcp), "{cases:?}");
    for word in ["but no network interface", "its messages used"] {
        assert!(!kept.ended.err.contains(word), "{}", kept.ended);
    }
    let rows = &kept.summary.0;
    assert!(!rows.is_empty() && rows.iter().all(Row::is_measured), "{rows:?}");
    kept
}

fn over_tcp(mpi: &Mpi) {
    let kept = measured(mpi, SHORT, 1);
    assert!(kept.ended.out.contains("2 ranks on 2 hosts, tcp"), "{}", kept.ended);
    let account = kept.account();
    let names = |list: &Value| {
        let hosts = list.as_array().expect("a list").iter();
        hosts.map(|one| one["host"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&account["ranks"]), ["nodea", "nodeb"]);
    let hosts = &account["transport"]["hosts"];
    assert_eq!(names(hosts), ["nodea", "nodeb"]);
    for host in hosts.as_array().unwrap() {
        let bytes = |name: &str| host["between"][name].as_u64().unwrap();
        assert!(bytes("network_bytes") >= bytes("payload_bytes"), "{host}");
        assert!(bytes("payload_bytes") > 0 && bytes("loopback_bytes") < bytes("payload_bytes"), "{host}");
    }
}

fn halo(mpi: &Mpi) {
    let line = "halo nas_mg -p d1=10,d2=8,d3=7 -n 4 -m reference,manual,ddt,neighbor_alltoallw";
    let kept = measured(mpi, &format!("{line} --max-time 0.002 --min-repetitions 2 --warmup 1"), 2);
    assert!(kept.rows("cases.csv").iter().all(|case| case.get("ranks") == "4"));
}

fn partitioned(mpi: &Mpi) {
    let line = "partitioned -p bytes=64KiB -p partitions=4 -m single,many,partitioned";
    let short = "--max-time 0.005 --min-repetitions 4 --max-repetitions 20 --set-plan limits.timeout_s=10";
    measured(mpi, &format!("{line} {short}"), 1);
}

/// Fails unless the methods of one test had these outcomes, one each, and the other test has figures.
#[track_caller]
fn expect_ends(summary: &Summary, test: &str, wanted: [&str; 2]) {
    let of = |outcome: &str| {
        let ended = METHODS.iter().filter(|method| summary.end(test, method).get("outcome") == outcome);
        ended.collect::<Vec<_>>()
    };
    assert!(wanted.iter().all(|outcome| of(outcome).len() == 1), "{test}: {:?}", summary.0);
    let other = TESTS.into_iter().find(|other| *other != test).expect("two tests");
    summary.expect_measured(other, &METHODS);
}

/// The test that the ranks are measuring.
fn test_of(ranks: &[Process]) -> &'static str {
    TESTS.into_iter().find(|test| ranks[0].has_argument(test)).expect("a rank has its test as argument")
}

fn killed_rank(mpi: &Mpi) {
    let (mut run, gate) = gated(mpi);
    let ranks = reach(&mut run, &gate);
    let test = test_of(&ranks);
    let there = network(host(&run.job, "nodeb"));
    let remote = ranks.iter().find(|rank| network(rank.pid) == there).expect("a rank on the other host");
    signal(remote.pid, libc::SIGKILL);
    gate.open();
    expect_ends(&end(run, 1).summary, test, ["crashed", "time limit"]);
}

fn cut_link(mpi: &Mpi) {
    let (mut run, gate) = gated(mpi);
    reach(&mut run, &gate);
    gate.pass();
    let ranks = reach(&mut run, &gate);
    let (before, test) = (run.kept(), test_of(&ranks));
    assert!(before.lines().count() > 1, "the first case has ended: {before}");
    set_link(&run.job, "down");
    gate.open();
    run.job.until("ddtbench has ended by itself", |job| job.named("ddtbench").is_empty());
    // Processes on the other host that survived the cut end once the link works again.
    set_link(&run.job, "up");
    let kept = end(run, 1);
    assert!(kept.read("launches.csv").starts_with(&before), "a finished row has changed: {}", kept.ended);
    // The other method cannot reach the other host.
    expect_ends(&kept.summary, test, ["timed out", "crashed"]);
}

fn absent_host(mpi: &Mpi) {
    let line = format!("{SHORT} --set-plan limits.timeout_s=20");
    let kept = end(start(measuring(mpi, &line, 1, "10.9.0.9", "ofi")), 2);
    for words in ["started no process, ", "agent: 10.9.0.9: No route to host"] {
        assert!(kept.ended.err.contains(words), "{}", kept.ended);
    }
    assert!(!kept.out().exists(), "{}", kept.ended);
}

/// MPICH over UCX finds shared memory across namespaces.
fn no_network(mpi: &Mpi) {
    let kept = end(start(measuring(mpi, SHORT, 1, OTHER, "ucx").env("SHARE_MEMORY", "1")), 0);
    let cases = kept.rows("cases.csv");
    let is_shared = |case: &Row| case.is(&[("hosts", "2"), ("transport", "shm")]);
    assert!(!cases.is_empty() && cases.iter().all(is_shared), "{cases:?}");
    let Ended { out, err, .. } = &kept.ended;
    assert!(out.contains("2 ranks on 2 hosts, shm") && out.contains("No network: "), "{out}");
    assert_eq!(err.matches("but no network interface").count(), 1, "{err}");
}
