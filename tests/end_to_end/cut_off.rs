//! Interrupted runs: finished results are kept, no process continues, and `--resume` does the remainder. Most
//! runs are interrupted at a gate; one is killed at any moment, `DDTBENCH_KILLS` times.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;

use super::gate::Gate;
use super::job::{Job, Process, run, signal};
use super::results::{Row, Summary, expect_once, samples};
use super::setup::{Check, MPIS, Mpi, mpi, trials_on};
use super::trial::{Need, alone, beside_others};
use super::typed::{Measuring, Running, typed};

/// The cases of a run; the seed determines their order.
const TESTS: [&str; 3] = ["nas_lu_y", "milc_su3_zd", "contiguous"];
const METHODS: [&str; 2] = ["reference", "ddt"];
/// More than one, so that a case can be interrupted between two launches.
const LAUNCHES: usize = 2;

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[
        ("a killed rank and a killed launcher cost no other case", killed_ranks_and_launchers),
        (
            "a killed or interrupted ddtbench leaves no process, and is resumed as one run",
            a_run_in_four_parts,
        ),
        (
            "a killed ddtbench takes ranks along that its launcher leaves behind",
            kill_with_ranks_that_are_left_behind,
        ),
    ];
    let mut trials = trials_on(&MPIS, Need::Waiting, "cut off", checks);
    trials.push(alone("mpich::cut off::at any moment, nothing that was finished is lost", at_any_moment));
    trials
        .push(beside_others("mpich::cut off::a signal is noticed while a run is prepared", while_preparing));
    trials
}

/// A run with this time for each method.
fn measuring(mpi: &Mpi, max_time_s: f64) -> Measuring<'_> {
    let (tests, methods) = (TESTS.join(" "), METHODS.join(","));
    Measuring::on(mpi, format!("run {tests} -m {methods} --max-time {max_time_s} --launches {LAUNCHES}"))
}

impl Running {
    fn resume(&self) -> Command {
        typed(self.dir.path(), "run --resume out")
    }

    /// Kills `ddtbench`, and resumes the run.
    fn kill_and_resume(&mut self) {
        signal(self.job.pid(), libc::SIGKILL);
        self.job.until_nothing_is_left();
        self.job = Job::start(&mut self.resume());
    }

    /// The launcher, while it runs: the child of `ddtbench` that is not the shell that watches over it, which is also called `ddtbench`.
    fn launcher(&self) -> Option<i32> {
        let is_launcher =
            |process: &Process| process.parent == self.job.pid() && !process.has_argument("ddtbench");
        self.job.processes().into_iter().find(is_launcher).map(|process| process.pid)
    }

    /// A rank, while there is one.
    fn rank(&self) -> Option<i32> {
        self.job.named("ddtbench-rank").first().map(|rank| rank.pid)
    }

    /// The rows that report how methods have ended.
    fn ends(&self) -> Vec<Row> {
        Summary::read(&self.out()).ends().into_iter().cloned().collect()
    }

    /// Fails unless every case, launch and method has ended exactly once, at most `most_failed` of them
    /// without figures, and each sample is there once.
    #[track_caller]
    fn expect_whole(&self, most_failed: usize) {
        let ends = self.ends();
        assert_eq!(ends.len(), TESTS.len() * METHODS.len() * LAUNCHES);
        expect_once(&ends, &["test", "launch", "method"]);
        let failed: Vec<&Row> = ends.iter().filter(|row| !row.is_measured()).collect();
        assert!(failed.len() <= most_failed, "{failed:?}");
        let samples = samples(&self.out());
        expect_once(&samples, &["case", "launch", "method", "pair", "block", "repetition"]);
        let name = |row: &Row| ["test", "launch", "method"].map(|column| row.get(column).to_owned());
        let sampled: BTreeSet<_> = samples.iter().map(name).collect();
        let without = ends.iter().filter(|row| row.is_measured() && !sampled.contains(&name(row)));
        assert_eq!(without.count(), 0, "figures without samples");
    }
}

/// A run with a gate in each of its processes.
fn gated(mpi: &Mpi) -> (Running, Gate) {
    let (measuring, gate) = measuring(mpi, 0.02).gated();
    (measuring.start(), gate)
}

fn killed_ranks_and_launchers(mpi: &Mpi) {
    let (mut running, gate) = gated(mpi);
    gate.reach(&mut running.job);
    gate.pass();
    gate.reach(&mut running.job);
    signal(running.rank().expect("a rank at the gate"), libc::SIGKILL);
    gate.reach(&mut running.job);
    let before = running.kept();
    assert!(!before.is_empty());
    signal(running.launcher().expect("a launcher"), libc::SIGKILL);
    // Before, its ranks could pass an open gate and end.
    gate.reach(&mut running.job);
    gate.open();
    running.job.until_nothing_is_left();
    let whole = running.kept();
    assert!(whole.starts_with(&before), "a finished row has changed");
    // Only the methods that the killed processes were measuring.
    assert_eq!(running.ends().iter().filter(|row| row.get("outcome") == "crashed").count(), 2);
    running.expect_whole(2);
    // Nothing remains to be done, and the results stay the same.
    run(&mut running.resume()).expect_code(1);
    assert_eq!(running.kept(), whole);
    // Unless it is requested: failed results are then set aside, and the others are unchanged.
    let again = run(running.resume().arg("--retry-failed")).expect_code(0);
    again.expect_err(&["set aside because its case had not ended or had failed"]);
    let aside = fs::read_to_string(running.out().join("set-aside/1/launches.csv")).unwrap();
    assert!(aside.contains("crashed"), "{aside}");
    let now = running.kept();
    assert!(whole.lines().all(|row| aside.contains(row) || now.contains(row)), "rows without failures stay");
    running.expect_whole(0);
    running.job.wait().expect_code(1);
}

/// Killed in the first case and in the second, and interrupted in the second.
fn a_run_in_four_parts(mpi: &Mpi) {
    let (mut running, gate) = gated(mpi);
    gate.reach(&mut running.job);
    running.kill_and_resume();
    gate.reach(&mut running.job);
    gate.pass();
    gate.reach(&mut running.job);
    running.kill_and_resume();
    gate.reach(&mut running.job);
    let before = running.kept();
    assert!(!before.is_empty());
    signal(running.job.pid(), libc::SIGINT);
    running.job.until_nothing_is_left();
    assert_eq!(running.kept(), before);
    gate.open();
    run(&mut running.resume()).expect_code(0);
    assert!(running.kept().starts_with(&before), "a finished row has changed");
    running.expect_whole(0);
    running.job.wait().expect_code(130).expect_err(&["ddtbench run --resume out"]);
}

/// A launcher that ends together with `ddtbench`, and leaves its ranks in a separate session.
fn kill_with_ranks_that_are_left_behind(mpi: &Mpi) {
    let measuring = Measuring::on(mpi, "run nas_lu_y -m ddt --launcher ./launch");
    let script = format!("#!/bin/sh\nsetsid '{}' \"$@\" & wait\n", mpi.mpiexec.display());
    let launch = measuring.dir().join("launch");
    fs::write(&launch, script).unwrap();
    fs::set_permissions(&launch, fs::Permissions::from_mode(0o755)).unwrap();
    let (measuring, gate) = measuring.gated();
    let mut running = measuring.start();
    gate.reach(&mut running.job);
    signal(running.job.pid(), libc::SIGKILL);
    // No other process ends them: they wait at the gate for as long as it is closed.
    running.job.until_nothing_is_left();
}

/// `ddtbench`, its launcher and its ranks are killed until there were enough kills; a run may end before its first kill.
fn at_any_moment() {
    /// The variable with the number of kills, and the default number.
    const KILLS: (&str, usize) = ("DDTBENCH_KILLS", 3);
    let wanted = std::env::var(KILLS.0).ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS.1);
    let (mut kills, mut runs) = (0, 0);
    while kills < wanted {
        kills += one_run(wanted - kills, kills + runs);
        runs += 1;
    }
    eprintln!("{kills} kills in {runs} runs, and every run came to its end");
}

/// Kills a run until it ends, at most `wanted` times; returns the number of kills. `first` is the number of
/// the first kill, which determines victims and moments.
fn one_run(wanted: usize, first: usize) -> usize {
    /// The shortest and the longest time from a start to a kill: from before the plan is read until after some cases.
    const AFTER_S: (f64, f64) = (0.05, 2.0);
    let mut running = measuring(mpi("mpich"), 0.1).start();
    let mut rows: BTreeSet<String> = BTreeSet::new();
    let (mut kills, mut of_others) = (0, 0);
    loop {
        let mut was_killed = false;
        while !was_killed && kills < wanted {
            let number = first + kills;
            // Evenly spread for any number of kills: multiples of the golden ratio.
            let share = (number as f64 * 0.618_033_988_75).fract();
            thread::sleep(Duration::from_secs_f64(AFTER_S.0 + share * (AFTER_S.1 - AFTER_S.0)));
            let victim = match number % 4 {
                1 => running.launcher(),
                3 => running.rank(),
                _ => Some(running.job.pid()),
            };
            if !running.job.is_running() {
                break;
            }
            // Between two cases there are no launchers and no ranks; kills find them later.
            let Some(pid) = victim else { continue };
            signal(pid, libc::SIGKILL);
            kills += 1;
            was_killed = number.is_multiple_of(2);
            of_others += usize::from(!was_killed);
        }
        running.job.until_nothing_is_left();
        let kept = running.kept();
        rows.extend(kept.split_inclusive('\n').filter(|row| row.ends_with('\n')).map(str::to_owned));
        if !running.job.was_killed() {
            break;
        }
        // If it was killed before it knew its plan, there is nothing to resume.
        if running.out().join("plan.toml").exists() {
            running.job = Job::start(&mut running.resume());
        } else {
            running = measuring(mpi("mpich"), 0.1).start();
        }
    }
    let mut there = running.kept();
    for aside in fs::read_dir(running.out().join("set-aside")).into_iter().flatten().flatten() {
        there += &fs::read_to_string(aside.path().join("launches.csv")).unwrap_or_default();
    }
    let lost: Vec<&String> = rows.iter().filter(|row| !there.contains(*row)).collect();
    assert!(lost.is_empty(), "rows were lost: {lost:?}");
    // A process that is killed in its first moments, or two in a row, lose the methods that they were measuring.
    running.expect_whole(of_others * METHODS.len());
    kills
}

/// A plan that never arrives, a compiler wrapper that hangs, and a long build: `ddtbench` can be interrupted in all of them.
fn while_preparing() {
    let dir = tempfile::tempdir().unwrap();
    let hangs = dir.path().join("hangs");
    fs::write(&hangs, "#!/bin/sh\nsleep 1000 & wait\n").unwrap();
    fs::set_permissions(&hangs, fs::Permissions::from_mode(0o755)).unwrap();
    let stop = |line: &str, variable: &str, words: &str| {
        let mut job = Job::start(typed(dir.path(), line).env(variable, &hangs));
        job.until("preparing", |job| !job.named("sleep").is_empty());
        signal(job.pid(), libc::SIGTERM);
        job.until_nothing_is_left();
        job.wait().expect_code(130).expect_err(&[words]);
    };
    while_reading(dir.path());
    stop("mpi list", "MPICC", "interrupted");
    stop("run contiguous --out out", "MPICC", "interrupted");
    assert!(!dir.path().join("out").exists(), "nothing is known yet that could be resumed");
    let line = format!("run contiguous --out out --mpi {}", mpi("mpich").name);
    stop(&line, "CARGO", "ddtbench run --resume out");
}

/// A plan from a pipe without a writer.
fn while_reading(dir: &Path) {
    let pipe = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    let mut job = Job::start(&mut typed(dir, "run --plan pipe --out out"));
    let mut writer = None;
    job.until("reading", |job| {
        assert!(job.is_running(), "{:?}", job.output());
        // Without a reader it cannot be opened.
        writer = fs::File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&pipe).ok();
        writer.is_some()
    });
    signal(job.pid(), libc::SIGTERM);
    job.wait().expect_code(130);
    drop(writer);
    assert!(!dir.join("out").exists());
}
