//! Kills at any moment, of `ddtbench`, its launcher and its ranks, until a run has come to its end: nothing that was finished is
//! lost. A few by default; `DDTBENCH_KILLS=100` makes as many on each MPI, and says how many there were.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;

use super::job::{Job, signal};
use super::results::{self, Row, kept, samples};
use super::setup::{Check, Mpi, ddtbench, on_every_mpi};

/// The variable that says how many kills there are on each MPI, and how many there are without it.
const KILLS: (&str, usize) = ("DDTBENCH_KILLS", 3);

const TESTS: [&str; 3] = ["nas_lu_y", "contiguous", "milc_su3_zd"];
const METHODS: [&str; 2] = ["reference", "ddt"];
const LAUNCHES: usize = 4;

/// The shortest and the longest time from a start to a kill: from before the plan is read to after some cases.
const AFTER_S: (f64, f64) = (0.05, 2.0);

pub fn trials() -> Vec<Trial> {
    let checks: &[(&str, Check)] = &[("at any moment, nothing that was finished is lost", at_any_moment)];
    on_every_mpi("kills", checks)
}

/// Who is killed: most often `ddtbench` itself.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Ddtbench,
    Launcher,
    Rank,
}

const VICTIMS: [Victim; 4] = [Victim::Ddtbench, Victim::Launcher, Victim::Ddtbench, Victim::Rank];

fn at_any_moment(mpi: &Mpi) {
    let wanted = std::env::var(KILLS.0).ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS.1);
    let (mut kills, mut runs) = (0, 0);
    while kills < wanted {
        // A run may be over before its first kill; the next one's comes at another time.
        kills += one_run(mpi, wanted - kills, kills + runs);
        runs += 1;
    }
    eprintln!("{}: {kills} kills in {runs} runs, and every run came to its end", mpi.name);
}

/// A run that is killed until it has come to its end, `wanted` times at most. Says how often it was. Victims and moments are those
/// from the number `first` on.
fn one_run(mpi: &Mpi, wanted: usize, first: usize) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("cut");
    let mut rows: BTreeSet<String> = BTreeSet::new();
    // Kills of `ddtbench`, and of what it has started.
    let (mut own, mut others) = (0, 0);
    loop {
        let mut job = Job::start(&mut start_or_resume(mpi, dir.path()));
        let mut was_killed = false;
        while !was_killed && own + others < wanted {
            let number = first + own + others;
            // Spread evenly, however many there are: multiples of the golden ratio.
            let share = (number as f64 * 0.618_033_988_75).fract();
            thread::sleep(Duration::from_secs_f64(AFTER_S.0 + share * (AFTER_S.1 - AFTER_S.0)));
            let victim = VICTIMS[number % VICTIMS.len()];
            // There is no launcher and no rank between two cases, nor before the first.
            let mut found = None;
            job.until("over, or about to be killed", |job| {
                found = find(job, victim).filter(|_| job.is_running());
                found.is_some() || !job.is_running()
            });
            let Some(pid) = found else { break };
            signal(pid, libc::SIGKILL);
            was_killed = victim == Victim::Ddtbench;
            *if was_killed { &mut own } else { &mut others } += 1;
        }
        job.until_nothing_is_left();
        let ended = job.wait();
        rows.extend(whole_rows(&folder));
        if is_over(&folder) && matches!(ended.code, Some(0 | 1)) {
            expect_all(&folder, &rows, others);
            return own + others;
        }
        assert!(was_killed || others > 0, "it has ended by itself: {ended}");
    }
}

/// The run itself, or what goes on with it. What was killed before it knew its plan has left nothing that anybody would want.
fn start_or_resume(mpi: &Mpi, dir: &Path) -> Command {
    let mut command = ddtbench(dir);
    if dir.join("cut/plan.toml").exists() {
        command.args(["run", "--resume", "cut"]);
        return command;
    }
    // A folder that is not there need not be removed.
    let _ = fs::remove_dir_all(dir.join("cut"));
    command.arg("run").args(TESTS).args(["-m", "reference,ddt", "--max-time", "0.1", "--out", "cut"]);
    command.args(["--launches", &LAUNCHES.to_string(), "--mpi", mpi.name]);
    command
}

/// A process of a run.
fn find(job: &Job, victim: Victim) -> Option<i32> {
    match victim {
        Victim::Ddtbench => Some(job.pid()),
        Victim::Rank => job.named("ddtbench-rank").first().map(|rank| rank.pid),
        Victim::Launcher => {
            let names = ["mpiexec", "mpiexec.hydra", "prterun", "mpirun"];
            let launchers =
                job.processes().into_iter().filter(|process| names.contains(&process.name.as_str()));
            launchers.map(|process| process.pid).next()
        }
    }
}

/// The rows of launches that were written to their end.
fn whole_rows(folder: &Path) -> BTreeSet<String> {
    let text = kept(folder);
    text.split_inclusive('\n').filter(|row| row.ends_with('\n')).map(str::to_owned).collect()
}

/// The rows that tell how methods have ended.
fn ends(folder: &Path) -> Vec<Row> {
    let all = if folder.join("launches.csv").exists() {
        results::rows(&folder.join("launches.csv"))
    } else {
        Vec::new()
    };
    all.into_iter().filter(|row| row.is(&[("phase", "round_trip"), ("pair", "all")])).collect()
}

/// Whether every case, launch and method has ended.
fn is_over(folder: &Path) -> bool {
    folder.join("summary.csv").exists() && ends(folder).len() == TESTS.len() * LAUNCHES * METHODS.len()
}

/// Fails unless every row that was ever there still is, and every case, launch and method is there once.
fn expect_all(folder: &Path, rows: &BTreeSet<String>, crashes: usize) {
    let mut there = whole_rows(folder);
    for aside in fs::read_dir(folder.join("set-aside")).into_iter().flatten().flatten() {
        let text = fs::read_to_string(aside.path().join("launches.csv")).unwrap_or_default();
        there.extend(text.split_inclusive('\n').map(str::to_owned));
    }
    let lost: Vec<&String> = rows.difference(&there).collect();
    assert!(lost.is_empty(), "rows were lost: {lost:?}");

    let ends = ends(folder);
    let name = |row: &Row| ["test", "launch", "method"].map(|name| row.get(name).to_owned());
    assert_eq!(ends.iter().map(name).collect::<HashSet<_>>().len(), ends.len(), "a method is there twice");
    let failed = ends.iter().filter(|row| !row.is_measured()).count();
    // One that is killed in its first moments, or two in a row, costs what its process was at.
    assert!(
        failed <= crashes * METHODS.len(),
        "{failed} methods failed after {crashes} kills of launchers and ranks"
    );

    let mut seen = HashSet::new();
    for row in samples(folder) {
        let names = ["case", "launch", "method", "pair", "block", "repetition"];
        let name = names.map(|column| row.get(column).to_owned());
        assert!(seen.insert(name), "a sample is there twice: {row:?}");
    }
}
