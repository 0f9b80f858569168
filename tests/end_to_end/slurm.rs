//! Jobs of a real Slurm with two nodes, which are namespaces of this machine (`slurm.sh`): the commands of
//! the README and `docs/cluster.md`, word by word, and cancelled jobs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use libtest_mimic::Trial;
use tempfile::TempDir;

use super::gate::Gate;
use super::job::{Ended, Job, run};
use super::results::{Row, Summary, kept, rows};
use super::setup::{MPIS, Mpi, like_ddtbench, mpi, root, scratch};
use super::trial::{Room, unless};
use super::two_hosts;
use super::typed::words;

type CheckOfJobs = fn(&Mpi, &Cluster);

/// One trial at a time, since all have the same two nodes.
static ROOM: Room = Room::with_places(1);

pub fn trials() -> Vec<Trial> {
    let checks: [(&str, CheckOfJobs); 4] = [
        ("the script of the README, as it stands", the_script),
        ("the rank program by hand, as in docs/cluster.md", by_hand),
        ("a job that was cancelled goes on in a second one", cancelled),
        ("a PMI that the MPI does not support ends the run with its message, and advice", wrong_pmi),
    ];
    let lack = lack();
    let trial = |name: &'static str, what: &str, check: CheckOfJobs| {
        let full = format!("{name}::slurm::{what}");
        let trial = unless(&ROOM, lack.as_deref(), full, move || {
            let mpi = mpi(name);
            // A failed download is not a failed test.
            let cluster = cluster()?;
            check(mpi, &cluster);
            Ok(())
        });
        trial.with_ignored_flag(true)
    };
    MPIS.into_iter().flat_map(|name| checks.map(|(what, check)| trial(name, what, check))).collect()
}

/// Why such a Slurm is not possible on this machine.
fn lack() -> Option<String> {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let has_overlays = || {
        // The kernel loads the module on first use.
        let _: Result<_, _> = Command::new("modprobe").args(["--quiet", "overlay"]).status();
        fs::read_to_string("/proc/filesystems").is_ok_and(|known| known.contains("overlay"))
    };
    match two_hosts::lack() {
        Some(reason) => Some(reason.to_owned()),
        None if !release.contains("VERSION_CODENAME=bookworm") => {
            Some("Slurm's packages are those of Debian 12".to_owned())
        }
        None if !has_overlays() => Some("the kernel has no overlay of file systems".to_owned()),
        None => None,
    }
}

/// Slurm's packages in a folder, fetched once.
fn packages() -> Result<PathBuf, String> {
    let folder = scratch().join("slurm-packages");
    if folder.exists() {
        return Ok(folder);
    }
    let names =
        Command::new("bash").arg(script()).arg("packages").output().map_err(|error| error.to_string())?;
    let names = String::from_utf8_lossy(&names.stdout).into_owned();
    let new = tempfile::tempdir_in(scratch()).map_err(|error| error.to_string())?;
    let fetch = || {
        run(Command::new("apt-get").current_dir(new.path()).arg("download").args(names.split_whitespace()))
    };
    let mut fetched = fetch();
    if fetched.code != Some(0) {
        // A fresh container does not have package lists.
        run(Command::new("apt-get").arg("update"));
        fetched = fetch();
    }
    if fetched.code != Some(0) {
        let reason =
            fetched.err.lines().find(|line| line.starts_with("E:")).unwrap_or("apt-get fails").to_owned();
        return Err(format!("Slurm's packages cannot be fetched: {reason}"));
    }
    fs::rename(new.keep(), &folder).map_err(|error| error.to_string())?;
    Ok(folder)
}

fn script() -> PathBuf {
    root().join("tests/end_to_end/slurm.sh")
}

/// Slurm, and a process on the login node.
struct Cluster {
    /// The process that runs it; it ends when this is dropped.
    _job: Job,
    _folder: TempDir,
    login: i32,
}

/// All trials share one cluster.
static CLUSTER: Mutex<Option<Arc<Cluster>>> = Mutex::new(None);

/// The cluster, started by the first trial that needs it.
fn cluster() -> Result<Arc<Cluster>, String> {
    let mut cluster = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
    if cluster.is_none() {
        let packages = packages()?;
        let folder = tempfile::tempdir_in(scratch()).unwrap();
        symlink(packages, folder.path().join("deb")).unwrap();
        let mut command = Command::new("bash");
        let target = scratch().parent().expect("cargo's folder for tests is in its target folder");
        command.arg(script()).arg(folder.path()).arg(root()).arg(target);
        let (send, receive) = mpsc::channel();
        // The system ends Slurm together with the thread that has started it, which trials' threads are not for.
        thread::spawn(move || {
            let _ = send.send(Job::start(&mut command));
            loop {
                thread::park();
            }
        });
        let mut job = receive.recv().expect("Slurm can be started");
        job.until("a cluster that waits for jobs", |job| {
            assert!(job.is_running(), "Slurm did not start: {:?}", job.output());
            folder.path().join("ready").exists() && !job.named("slurm-nodea").is_empty()
        });
        let login = job.named("slurm-nodea")[0].pid;
        *cluster = Some(Arc::new(Cluster { _job: job, _folder: folder, login }));
    }
    Ok(cluster.clone().expect("it was started"))
}

/// Ends the cluster, if there is one.
pub fn down() {
    *CLUSTER.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

struct Submitted<'a> {
    cluster: &'a Cluster,
    dir: &'a Path,
    id: String,
    /// All processes with the environment that `sbatch` passed on.
    processes: Job,
}

impl Cluster {
    /// A command line on the login node, in a folder, with `ddtbench` in `PATH`.
    fn command(&self, dir: &Path, line: &str) -> Command {
        let mut command = like_ddtbench("nsenter", dir);
        command.args(["--target", &self.login.to_string()]);
        command.args(words("--net --uts --ipc --mount --pid -- bash -c 'cd \"$0\" && eval \"$1\"'"));
        // MPICH's wheel with UCX mistakes the nodes for one machine, and uses its memory as the network.
        command.arg(dir).arg(line).env("MPIR_CVAR_CH4_NETMOD", "ofi").env("FI_PROVIDER", "tcp");
        command
    }

    /// Submits a job by a command line that begins with `sbatch`.
    #[track_caller]
    fn submit<'a>(&'a self, dir: &'a Path, line: &str) -> Submitted<'a> {
        let line = line.replacen("sbatch", "sbatch --parsable", 1);
        let mut processes = Job::start(&mut self.command(dir, &line));
        processes.until("submitted", |job| !job.is_running());
        let id = processes.output().0.trim().to_owned();
        assert!(id.parse::<u32>().is_ok(), "{line}: {:?}", processes.output());
        Submitted { cluster: self, dir, id, processes }
    }
}

impl Submitted<'_> {
    /// Waits until the job has ended and none of its processes runs on any node. Returns its output if its state is the wanted one.
    #[track_caller]
    fn end(mut self, state: &str) -> String {
        let (cluster, dir) = (self.cluster, self.dir);
        let mut now = String::new();
        self.processes.until("the job has ended", |_| {
            let shown =
                run(&mut cluster.command(dir, &format!("scontrol --oneliner show job {}", self.id))).out;
            let word =
                |name: &str| shown.split(' ').find_map(|word| word.strip_prefix(name)).map(str::to_owned);
            now = [word("JobState="), word("ExitCode=")].map(Option::unwrap_or_default).join(" ");
            !["PENDING", "RUNNING", "COMPLETING"].iter().any(|state| now.starts_with(state))
        });
        self.processes.until_nothing_is_left();
        let said = fs::read_to_string(dir.join(format!("slurm-{}.out", self.id))).unwrap_or_default();
        assert!(now.starts_with(state), "the job is {now}, not {state}:\n{said}");
        said
    }
}

/// A section of a page that has commands for a cluster: its file and its heading.
type Section = (&'static str, &'static str);

const JOBS: Section = ("README.md", "On a cluster");
const BY_HAND: Section = ("docs/cluster.md", "By hand");

#[track_caller]
fn blocks((page, section): Section) -> Vec<String> {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let section =
        page.split("\n## ").find(|text| text.starts_with(section)).expect("the page has this section");
    // Between fences every second part is code, after the language.
    let code = section.split("\n```").skip(1).step_by(2);
    code.map(|block| block.split_once('\n').expect("a language").1.to_owned() + "\n").collect()
}

/// The only line of a section's code that has all of these words; lines joined by a backslash count as one.
#[track_caller]
fn line_with(section: Section, words: &[&str]) -> String {
    let blocks: Vec<_> = blocks(section).iter().map(|block| block.replace("\\\n", " ")).collect();
    let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
    let lines: Vec<_> = blocks.iter().flat_map(|block| block.lines()).filter(has_all).collect();
    assert_eq!(lines.len(), 1, "lines of {section:?} with {words:?}: {lines:?}");
    lines[0].to_owned()
}

/// A folder that all nodes can see, with the page's script.
fn folder_with_script() -> TempDir {
    let dir = tempfile::tempdir_in(scratch()).unwrap();
    let script = blocks(JOBS).into_iter().find(|block| block.starts_with("#!/bin/bash")).expect("a script");
    fs::write(dir.path().join("job.sh"), script).unwrap();
    dir
}

/// Fails unless all rows of a run have figures, on two hosts connected by TCP.
#[track_caller]
fn expect_measured_on_two(out: &Path) {
    for case in rows(&out.join("cases.csv")) {
        assert!(case.is(&[("hosts", "2"), ("transport", "tcp")]), "{case:?}");
    }
    let rows = Summary::read(out).0;
    assert!(!rows.is_empty() && rows.iter().all(Row::is_measured), "{rows:?}");
}

/// Arguments of the page's script in addition to the MPI.
const SHORT: &str = "contiguous -p bytes=100000 -m reference,ddt --max-time 0.02 --launches 1 --mpi";

fn the_script(mpi: &Mpi, cluster: &Cluster) {
    let dir = folder_with_script();
    let submitted = line_with(JOBS, &["sbatch", "job.sh"]);
    let options = submitted.find("job.sh").map(|place| &submitted[..place]).expect("the script's name");
    let job = cluster.submit(dir.path(), &format!("{options}job.sh {SHORT} {}", mpi.name));
    let id = job.id.clone();
    let out = dir.path().join("results").join(&id);
    let printed = job.end("COMPLETED 0:0");
    let chosen =
        if mpi.name == "openmpi" { "--mpi=pmix and PMIX_SECURITY_MODE=native" } else { "--mpi=pmi2" };
    assert_eq!(printed.matches(&format!("srun gets {chosen}, for ")).count(), 1, "{printed}");
    expect_measured_on_two(&out);
    let environment = fs::read_to_string(out.join("environment.json")).unwrap();
    assert!(environment.contains("\"host\": \"nodeb\""), "{environment}");
    // A requeued job starts again with the same number.
    let before = kept(&out);
    let again = format!("SLURM_JOB_ID={id} bash job.sh {SHORT} {}", mpi.name);
    run(&mut cluster.command(dir.path(), &again)).expect_code(0);
    assert_eq!(kept(&out), before, "all was measured");
}

fn by_hand(mpi: &Mpi, cluster: &Cluster) {
    let line = line_with(BY_HAND, &["srun", &format!("/{}/", mpi.name)]);
    // It names programs as they are called in the project's folder.
    let ended: Ended = run(&mut cluster.command(root(), &line)).expect_code(0);
    for words in ["0 on nodea", "1 on nodeb", ", tcp, 2 ranks", "round trip"] {
        assert!(ended.out.contains(words), "{words}: {ended}");
    }
}

fn cancelled(mpi: &Mpi, cluster: &Cluster) {
    let dir = folder_with_script();
    let gate = Gate::closed(dir.path());
    let variant = gate.variant(mpi);
    let short = "contiguous nas_lu_y -m reference,ddt --max-time 0.02 --launches 1";
    let line = format!("sbatch job.sh {short} --variant '{variant}' --mpi {}:gated", mpi.name);
    let mut job = cluster.submit(dir.path(), &line);
    let out = dir.path().join("results").join(&job.id);
    // The command that submits a job has ended long ago.
    job.processes.until("at the gate", |_| gate.is_reached());
    gate.pass();
    job.processes.until("at the gate again", |_| gate.is_reached());
    let (before, id) = (kept(&out), job.id.clone());
    assert!(before.lines().count() > 1, "the first case has ended: {before}");
    run(&mut cluster.command(dir.path(), &format!("scancel {id}"))).expect_code(0);
    job.end("CANCELLED");
    assert_eq!(kept(&out), before, "incomplete results are not kept");
    gate.open();
    let line = line_with(JOBS, &["sbatch", "--resume"]);
    let name = line.split(['\'', ' ']).find(|word| word.starts_with("results/")).expect("a run's folder");
    cluster.submit(dir.path(), &line.replace(name, &format!("results/{id}"))).end("COMPLETED 0:0");
    assert!(kept(&out).starts_with(&before), "finished results have changed");
    expect_measured_on_two(&out);
    let summary = Summary::read(&out);
    for test in ["contiguous", "nas_lu_y"] {
        summary.expect_measured(test, &["reference", "ddt"]);
    }
}

fn wrong_pmi(mpi: &Mpi, cluster: &Cluster) {
    let dir = folder_with_script();
    let (wrong, words, right) = match mpi.name {
        "openmpi" => {
            ("pmi2", "every process is in a separate MPI_COMM_WORLD", " supports, pmix if srun has it")
        }
        _ => ("pmix", "unsupported PMI version PMIx", " supports, pmi2 if srun has it"),
    };
    let job = cluster.submit(dir.path(), &format!("sbatch job.sh {SHORT} {} -- --mpi={wrong}", mpi.name));
    let out = dir.path().join("results").join(&job.id);
    let printed = job.end("FAILED 2:0");
    for text in ["srun started no process, twice", words, right] {
        assert!(printed.contains(text), "`{text}` is not in:\n{printed}");
    }
    assert!(!out.exists(), "the folder was removed");
}
