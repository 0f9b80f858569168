//! Two hosts, which are namespaces of this machine (`two_hosts.sh`): what goes over the link between them, and runs that lose
//! a rank, the link or a host.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use super::gate::Gate;
use super::job::{Ended, Job, Process, signal};
use super::results::{Row, Summary, kept, rows};
use super::setup::{MPIS, Mpi, ONE_LAUNCH, ddtbench, mpi, root};
use super::trial::when_asked;

/// Short, and of a size that is worth a network.
const SHORT: [&str; 8] =
    ["run", "contiguous", "-p", "bytes=100000", "-m", "reference,ddt", "--max-time", "0.02"];
/// Two cases that are met at a gate.
const GATED: [&str; 9] = [
    "run",
    "contiguous",
    "nas_lu_y",
    "-m",
    "reference,ddt",
    "--max-time",
    "0.02",
    // What a cut link leaves waits for ever; a busy machine needs some seconds to start an MPI.
    "--set-plan",
    "limits.timeout_s=8",
];
const TESTS: [&str; 2] = ["contiguous", "nas_lu_y"];
const METHODS: [&str; 2] = ["reference", "ddt"];

/// Exit codes of `two_hosts.sh`: there are no namespaces, or something still ran on a host long after the command's end.
const NO_NAMESPACES: i32 = 77;
const LEFT: i32 = 78;

type CheckOnHosts = fn(&Mpi);

pub fn trials() -> Vec<Trial> {
    let on_both: [(&str, CheckOnHosts); 6] = [
        ("a run goes over TCP, by the counters of both ends", over_tcp),
        ("a halo exchange of four ranks", halo),
        ("a message that is finished part by part", partitioned),
        ("a rank that is killed on the other host costs no other method", killed_rank),
        ("a link that is cut ends the case, and what was finished is kept", cut_link),
        ("a host that is not there ends the run with the launcher's words", absent_host),
    ];
    let lack = lack();
    let trial = |name: &'static str, what: &str, check: CheckOnHosts| {
        let full = format!("{name}::two hosts::{what}");
        when_asked(lack, full, move || {
            check(mpi(name));
            Ok(())
        })
    };
    let mut trials = Vec::new();
    for name in MPIS {
        trials.extend(on_both.map(|(what, check)| trial(name, what, check)));
    }
    trials.push(trial("mpich", "hosts that no network joins are told", no_network));
    trials
}

/// Why there cannot be two hosts on this machine.
pub fn lack() -> Option<&'static str> {
    let has = |words: &[&str]| {
        Command::new(words[0]).args(&words[1..]).output().is_ok_and(|out| out.status.success())
    };
    match () {
        () if !has(&["ip", "-V"]) => Some("there is no command ip"),
        () if !has(&["setpriv", "--version"]) => Some("there is no command setpriv"),
        () if !has(&["unshare", "--net", "--uts", "--pid", "--fork", "--mount", "true"]) => {
            Some("namespaces need root")
        }
        () => None,
    }
}

/// A run that is started on the first of two hosts.
struct OnHosts {
    job: Job,
    dir: TempDir,
}

/// How it is started.
struct Start<'a> {
    /// Ranks of each host.
    each: usize,
    /// The address of the second host.
    other: &'a str,
    /// Whether the hosts share memory.
    shared: bool,
    /// What carries the bytes of MPICH.
    netmod: &'a str,
    /// A variant of the MPI, called `gated`.
    variant: Option<&'a str>,
}

const PLAIN: Start<'static> =
    Start { each: 1, other: "10.9.0.2", shared: false, netmod: "ofi", variant: None };

impl OnHosts {
    /// `ddtbench` with these arguments, into the folder `out`.
    fn start(mpi: &Mpi, arguments: &[&str], how: &Start<'_>) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), mpi, arguments, how)
    }

    /// A run that is met at its gate.
    fn gated(mpi: &Mpi) -> (Self, Gate) {
        let dir = tempfile::tempdir().unwrap();
        let gate = Gate::closed(dir.path());
        let variant = gate.variant(mpi);
        let gated = Start { variant: Some(&variant), ..PLAIN };
        (Self::start_in(dir, mpi, &GATED, &gated), gate)
    }

    fn start_in(dir: TempDir, mpi: &Mpi, arguments: &[&str], how: &Start<'_>) -> Self {
        let inner = ddtbench(dir.path());
        let mut command = Command::new("bash");
        command.arg(root().join("tests/end_to_end/two_hosts.sh")).arg(dir.path()).arg(inner.get_program());
        command.current_dir(dir.path());
        for (name, value) in inner.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if how.shared {
            command.env("SHARE_MEMORY", "1");
        }
        // Both hosts have the same cores, and each would bind its first rank to the first.
        command.args(arguments).args(ONE_LAUNCH);
        match how.variant {
            Some(variant) => command.args(["--variant", variant, "--mpi", &format!("{}:gated", mpi.name)]),
            None => command.args(["--mpi", mpi.name]),
        };
        command.args(["--set-plan", "bind=false", "--out", "out", "--"]);
        let (agent, each) = (dir.path().join("agent"), how.each);
        if mpi.name == "openmpi" {
            command.args(["--prtemca", "plm_ssh_agent"]).arg(agent);
            command.args(["--host", &format!("10.9.0.1:{each},{}:{each}", how.other)]);
        } else {
            command.args(["-launcher", "ssh", "-launcher-exec"]).arg(agent);
            command.args(["-iface", "link0", "-hosts", &format!("10.9.0.1,{}", how.other)]);
            command.args(["-ppn", &each.to_string(), "-genv", "MPIR_CVAR_CH4_NETMOD", how.netmod]);
            command.args(["-genv", "FI_PROVIDER", "tcp"]);
        }
        Self { job: Job::start(&mut command), dir }
    }

    fn out(&self) -> std::path::PathBuf {
        self.dir.path().join("out")
    }

    /// Waits for the end; nothing may be left on a host.
    #[track_caller]
    fn end(self, code: i32) -> (Ended, TempDir) {
        let ended = self.job.wait();
        assert_ne!(ended.code, Some(NO_NAMESPACES), "{ended}");
        assert_ne!(ended.code, Some(LEFT), "processes were left on a host: {ended}");
        (ended.expect_code(code), self.dir)
    }

    /// Waits until the ranks of a case are at the gate; these ranks.
    fn reach(&mut self, gate: &Gate) -> Vec<Process> {
        gate.reach(&mut self.job);
        let ranks = self.job.named("ddtbench-rank");
        assert_eq!(ranks.len(), 2, "{ranks:?}");
        ranks
    }

    /// The first process of a host.
    #[track_caller]
    fn host(&self, name: &str) -> i32 {
        let found = self.job.named(&format!("host-{name}"));
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].pid
    }

    /// Cuts the link, or mends it.
    #[track_caller]
    fn set_link(&self, state: &str) {
        let target = self.host("nodea").to_string();
        let words = ["--net", "ip", "link", "set", "link0", state];
        let done = Command::new("nsenter").args(["--target", &target]).args(words).status();
        assert!(done.is_ok_and(|status| status.success()), "the link is not {state}");
    }
}

/// Where a process is.
fn network(pid: i32) -> Option<std::path::PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// The only value of a column of all cases.
#[track_caller]
fn of_cases(dir: &Path, column: &str) -> String {
    let cases = rows(&dir.join("out/cases.csv"));
    let values: Vec<_> = cases.iter().map(|case| case.get(column)).collect();
    assert!(!values.is_empty() && values.iter().all(|value| *value == values[0]), "{column}: {values:?}");
    values[0].to_owned()
}

/// A run to its end, on two hosts that a network joins; fails unless all has figures and has gone over it.
#[track_caller]
fn measured(mpi: &Mpi, arguments: &[&str], how: &Start<'_>) -> (Ended, TempDir) {
    let (ended, dir) = OnHosts::start(mpi, arguments, how).end(0);
    assert_eq!(of_cases(dir.path(), "hosts"), "2");
    let transport = of_cases(dir.path(), "transport");
    assert_eq!(transport.split('+').next(), Some("tcp"), "{transport}");
    for word in ["crosses no network", "what it sends was carried"] {
        assert!(!ended.err.contains(word), "{ended}");
    }
    let rows = Summary::read(&dir.path().join("out")).0;
    assert!(!rows.is_empty() && rows.iter().all(Row::is_measured), "{rows:?}");
    (ended, dir)
}

fn over_tcp(mpi: &Mpi) {
    let (ended, dir) = measured(mpi, &SHORT, &PLAIN);
    assert!(ended.out.contains("2 ranks on 2 hosts, tcp"), "{ended}");
    let environment = fs::read(dir.path().join("out/environment.json")).unwrap();
    let environment: Value = serde_json::from_slice(&environment).unwrap();
    let account = &environment["mpis"][0]["rank_program"];
    let names = |list: &Value| {
        let hosts =
            list.as_array().expect("a list").iter().map(|one| one["host"].as_str().unwrap().to_owned());
        hosts.collect::<Vec<_>>()
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
    let case = [
        "halo",
        "nas_mg",
        "-p",
        "d1=10,d2=8,d3=7",
        "-n",
        "4",
        "-m",
        "reference,manual,ddt,neighbor_alltoallw",
    ];
    let short = ["--max-time", "0.002", "--min-runs", "2", "--warmup", "1"];
    let (_, dir) = measured(mpi, &[&case[..], &short].concat(), &Start { each: 2, ..PLAIN });
    assert_eq!(of_cases(dir.path(), "ranks"), "4");
}

fn partitioned(mpi: &Mpi) {
    let case = ["partitioned", "-p", "bytes=64KiB", "-p", "partitions=4", "-m", "single,many,partitioned"];
    let short =
        ["--max-time", "0.005", "--min-runs", "4", "--max-runs", "20", "--set-plan", "limits.timeout_s=3"];
    measured(mpi, &[&case[..], &short].concat(), &PLAIN);
}

/// Fails unless the methods of one test ended in these ways, one each, and the other test has figures.
#[track_caller]
fn expect_ends(dir: &Path, test: &str, wanted: [&str; 2]) {
    let summary = Summary::read(&dir.join("out"));
    let of = |outcome: &str| {
        let ended = METHODS.iter().filter(|method| summary.end(test, method).get("outcome") == outcome);
        ended.collect::<Vec<_>>()
    };
    assert!(wanted.iter().all(|outcome| of(outcome).len() == 1), "{test}: {:?}", summary.0);
    let other = TESTS.into_iter().find(|other| *other != test).expect("two tests");
    summary.expect_measured(other, &METHODS);
}

/// Which test the ranks are at.
fn test_of(ranks: &[Process]) -> &'static str {
    TESTS.into_iter().find(|test| ranks[0].has_argument(test)).expect("a rank has its test as argument")
}

fn killed_rank(mpi: &Mpi) {
    let (mut run, gate) = OnHosts::gated(mpi);
    let ranks = run.reach(&gate);
    let test = test_of(&ranks);
    let there = network(run.host("nodeb"));
    let remote = ranks.iter().find(|rank| network(rank.pid) == there).expect("a rank on the other host");
    signal(remote.pid, libc::SIGKILL);
    gate.open();
    let (_, dir) = run.end(1);
    expect_ends(dir.path(), test, ["crashed", "time limit"]);
}

fn cut_link(mpi: &Mpi) {
    let (mut run, gate) = OnHosts::gated(mpi);
    run.reach(&gate);
    gate.pass();
    let ranks = run.reach(&gate);
    let (before, test) = (kept(&run.out()), test_of(&ranks));
    assert!(before.lines().count() > 1, "the first case has ended: {before}");
    run.set_link("down");
    gate.open();
    run.job.until("ddtbench has ended by itself", |job| job.named("ddtbench").is_empty());
    // What the cut has left on the other host ends once it hears again.
    run.set_link("up");
    let (ended, dir) = run.end(1);
    assert!(kept(&dir.path().join("out")).starts_with(&before), "what was finished has changed: {ended}");
    // The other method finds no way to the other host.
    expect_ends(dir.path(), test, ["timed out", "crashed"]);
}

fn absent_host(mpi: &Mpi) {
    let arguments = [&SHORT[..], &["--set-plan", "limits.timeout_s=20"]].concat();
    let (ended, dir) = OnHosts::start(mpi, &arguments, &Start { other: "10.9.0.9", ..PLAIN }).end(2);
    let ended = ended.expect_err(&["no process has begun under", "agent: 10.9.0.9: No route to host"]);
    assert!(!dir.path().join("out").exists(), "{ended}");
}

/// MPICH over UCX finds shared memory across namespaces.
fn no_network(mpi: &Mpi) {
    let how = Start { shared: true, netmod: "ucx", ..PLAIN };
    let (ended, dir) = OnHosts::start(mpi, &SHORT, &how).end(0);
    assert_eq!(
        (of_cases(dir.path(), "hosts"), of_cases(dir.path(), "transport")),
        ("2".to_owned(), "shm".to_owned())
    );
    assert!(ended.out.contains("2 ranks on 2 hosts, shm") && ended.out.contains("No network: "), "{ended}");
    assert_eq!(ended.err.matches("crosses no network interface").count(), 1, "{ended}");
}
