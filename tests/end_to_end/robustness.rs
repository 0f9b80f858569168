//! Runs that are cut off: what was finished is kept, nothing goes on running, and `--resume` does the rest.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use tempfile::TempDir;

use super::gate::Gate;
use super::job::{Job, run, signal};
use super::results::{Summary, kept, samples};
use super::setup::{Check, Mpi, ONE_LAUNCH, ddtbench, mpi, on_every_mpi};
use super::trial::beside_others;

/// The cases of a run; the seed draws their order.
const TESTS: [&str; 4] = ["nas_lu_y", "milc_su3_zd", "contiguous", "nas_mg_x"];
const METHODS: [&str; 2] = ["reference", "ddt"];
const CONDITIONS: [&str; 6] = ["-m", "reference,ddt", "--max-time", "0.02", "--min-runs", "4"];

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("a killed rank and a killed launcher cost no other case", killed_ranks_and_launchers),
        (
            "a killed or interrupted ddtbench leaves no process, and is resumed as one run",
            a_run_in_four_parts,
        ),
    ];
    let mut trials = on_every_mpi("cut off", checks);
    trials.push(beside_others("mpich::cut off::a signal is heard while a run is prepared", while_preparing));
    trials
}

/// A run that is met at its gate, and where it writes.
struct Running {
    job: Job,
    dir: TempDir,
    gate: Gate,
}

impl Running {
    fn start(mpi: &Mpi) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let gate = Gate::closed(dir.path());
        let mut command = ddtbench(dir.path());
        command.arg("run").args(TESTS).args(CONDITIONS).args(ONE_LAUNCH);
        gate.put_into(mpi, command.args(["--mpi", mpi.name, "--out", "cut"]));
        Self { job: Job::start(&mut command), dir, gate }
    }

    /// Waits until the ranks of a case are at the gate; its test.
    fn reach(&mut self) -> &'static str {
        self.gate.reach(&mut self.job);
        let ranks = self.job.named("ddtbench-rank");
        assert_eq!(ranks.len(), 2, "{ranks:?}");
        TESTS.into_iter().find(|test| ranks[0].has_argument(test)).expect("a rank has its test as argument")
    }

    /// What has been kept.
    fn kept(&self) -> String {
        kept(&self.dir.path().join("cut"))
    }

    /// The launcher: what `ddtbench` itself has started.
    fn launcher(&self) -> i32 {
        let own = self.job.pid();
        let launchers: Vec<_> =
            self.job.processes().into_iter().filter(|process| process.parent == own).collect();
        assert_eq!(launchers.len(), 1, "{launchers:?}");
        launchers[0].pid
    }

    /// Kills `ddtbench`, and resumes the run.
    fn kill_and_resume(&mut self) {
        signal(self.job.pid(), libc::SIGKILL);
        self.job.until_nothing_is_left();
        self.job = Job::start(&mut resume(self.dir.path()));
    }
}

/// Goes on with the run in `dir`.
fn resume(dir: &Path) -> Command {
    let mut command = ddtbench(dir);
    command.args(["run", "--resume", "cut"]);
    command
}

/// Fails unless all is there: `kept` as it was, every case and method once, the samples of each once.
#[track_caller]
fn expect_whole(dir: &Path, kept: &str, failed: &[&str]) {
    let summary = super::results::kept(&dir.join("cut"));
    assert!(summary.starts_with(kept), "what was finished has changed: {kept}\nis now {summary}");
    let summary = Summary::read(&dir.join("cut"));
    for test in TESTS.into_iter().filter(|test| !failed.contains(test)) {
        summary.expect_measured(test, &METHODS);
    }
    for test in failed {
        let ends = METHODS.map(|method| summary.end(test, method).get("outcome").to_owned());
        assert!(ends.contains(&"crashed".to_owned()), "{test}: {ends:?}");
    }
    let (mut seen, mut measured) = (HashSet::new(), HashSet::new());
    for row in samples(&dir.join("cut")) {
        measured.insert((row.get("test").to_owned(), row.get("method").to_owned()));
        let names = ["case", "launch", "method", "pair", "block", "repetition"];
        let name = names.map(|column| row.get(column).to_owned());
        assert!(seen.insert(name), "a sample is there twice: {row:?}");
    }
    let rows = summary.with(&[("phase", "round_trip"), ("pair", "all")]);
    let figures: HashSet<_> = rows
        .into_iter()
        .filter(|row| row.is_measured())
        .map(|row| (row.get("test").to_owned(), row.get("method").to_owned()))
        .collect();
    assert!(figures.is_subset(&measured), "figures without samples: {figures:?}, {measured:?}");
}

fn killed_ranks_and_launchers(mpi: &Mpi) {
    let mut running = Running::start(mpi);
    running.reach();
    running.gate.pass();
    let without_a_rank = running.reach();
    signal(running.job.named("ddtbench-rank")[0].pid, libc::SIGKILL);
    let without_a_launcher = running.reach();
    let before = running.kept();
    assert!(!before.is_empty());
    signal(running.launcher(), libc::SIGKILL);
    running.gate.open();
    running.job.until_nothing_is_left();
    let ended = running.job.wait().expect_code(1);
    assert!(ended.out.contains("crashed"), "{ended}");
    expect_whole(running.dir.path(), &before, &[without_a_rank, without_a_launcher]);
    // There is nothing left to do, and it stays so.
    let whole = kept(&running.dir.path().join("cut"));
    run(&mut resume(running.dir.path())).expect_code(1);
    assert_eq!(kept(&running.dir.path().join("cut")), whole);
    // Unless that is wanted: what had failed is set aside, and what had not is left as it is.
    let again = run(resume(running.dir.path()).arg("--retry-failed")).expect_code(0);
    again.expect_err(&["set aside, since its case had not ended, or had failed"]);
    let aside = fs::read_to_string(running.dir.path().join("cut/set-aside/1/launches.csv")).unwrap();
    assert!(aside.contains("crashed"), "{aside}");
    let (header, rows) = whole.split_once('\n').unwrap();
    let stayed: Vec<&str> = rows.lines().filter(|row| !aside.contains(row)).collect();
    expect_whole(running.dir.path(), &format!("{header}\n{}\n", stayed.join("\n")), &[]);
}

/// Killed in the first case and in the second, and interrupted there.
fn a_run_in_four_parts(mpi: &Mpi) {
    let mut running = Running::start(mpi);
    running.reach();
    running.kill_and_resume();
    running.reach();
    running.gate.pass();
    running.reach();
    running.kill_and_resume();
    running.reach();
    let before = running.kept();
    assert!(!before.is_empty());
    signal(running.job.pid(), libc::SIGINT);
    running.job.until_nothing_is_left();
    running.job.wait().expect_code(130).expect_err(&["ddtbench run --resume cut"]);
    assert_eq!(kept(&running.dir.path().join("cut")), before);
    running.gate.open();
    run(&mut resume(running.dir.path())).expect_code(0);
    expect_whole(running.dir.path(), &before, &[]);
}

/// A plan that does not come, a compiler wrapper that hangs, and a build that lasts: none keeps `ddtbench` from ending.
fn while_preparing() {
    while_reading();
    let dir = tempfile::tempdir().unwrap();
    let hangs = dir.path().join("hangs");
    fs::write(&hangs, "#!/bin/sh\nsleep 1000 & wait\n").unwrap();
    fs::set_permissions(&hangs, fs::Permissions::from_mode(0o755)).unwrap();
    let stop_of = |command: &[&str], variable: &str| {
        let mut job = Job::start(ddtbench(dir.path()).args(command).env(variable, &hangs));
        job.until("preparing", |job| !job.named("sleep").is_empty());
        signal(job.pid(), libc::SIGTERM);
        job.until_nothing_is_left();
        job.wait().expect_code(130)
    };
    let stop = |variable: &str, options: &[&str]| {
        stop_of(&[&["run", "contiguous", "--out", "cut"], options].concat(), variable)
    };
    stop_of(&["mpi", "list"], "MPICC").expect_err(&["interrupted"]);
    stop("MPICC", &[]).expect_err(&["interrupted"]);
    assert!(!dir.path().join("cut").exists(), "nothing is known yet that could be resumed");
    stop("CARGO", &["--mpi", mpi("mpich").name]).expect_err(&["ddtbench run --resume cut"]);
}

/// A plan from a pipe into which nobody writes.
fn while_reading() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let name = std::ffi::CString::new(pipe.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: the name ends with a zero byte and lives as long as the call.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let mut command = ddtbench(dir.path());
    let mut job = Job::start(command.args(["run", "--plan", "pipe", "--out", "cut"]));
    let mut writer = None;
    job.until("reading", |job| {
        assert!(job.is_running(), "{:?}", job.said());
        // Where nobody reads it cannot be opened.
        writer = fs::File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&pipe).ok();
        writer.is_some()
    });
    signal(job.pid(), libc::SIGTERM);
    job.wait().expect_code(130);
    drop(writer);
    assert!(!dir.path().join("cut").exists());
}
