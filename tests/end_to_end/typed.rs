//! Commands as a user types them: a measurement with `ddtbench` and its results, and the rank program by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use ddtbench::experiments::Kind;
use serde_json::Value;
use tempfile::TempDir;

use super::faulty_mpi::library;
use super::gate::Gate;
use super::job::{Ended, Job, run};
use super::results::{Row, Summary, kept, rows};
use super::setup::{Mpi, ddtbench, like_ddtbench};

/// How many times tests are measured again whose one-sided communication has crashed on Open MPI. Only these
/// are repeated: a wrong byte is an error at once.
///
/// On a busy machine, one-sided communication of Open MPI 5.0.11 within a node ends about one process of
/// thirty: in `opal_progress`, an answer to an active message arrives after the object that waited for it was
/// freed (`osc/rdma` over `btl/sm`). Its Python package does not have another component for this work.
const ATTEMPTS_AFTER_CRASHES: usize = 3;

#[track_caller]
pub fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_else(|| panic!("a quote is missing: {line}"))
}

/// The command `ddtbench` in the folder `dir`, with these arguments.
#[track_caller]
pub fn typed(dir: &Path, line: &str) -> Command {
    let mut command = ddtbench(dir);
    command.args(words(line));
    command
}

/// The same in an empty folder, run to its end.
#[track_caller]
pub fn type_alone(line: &str) -> Ended {
    run(&mut typed(tempfile::tempdir().unwrap().path(), line))
}

/// A measurement to be started in a separate folder.
pub struct Measuring<'a> {
    mpi: &'a Mpi,
    dir: Rc<TempDir>,
    line: String,
    launcher: Vec<String>,
    of_ranks: Vec<(String, String)>,
    environment: Vec<(String, String)>,
}

impl<'a> Measuring<'a> {
    /// The command of `ddtbench` with these arguments on an MPI, into the folder `out`. By default a
    /// measurement has one launch, which is enough for most tests.
    pub fn on(mpi: &'a Mpi, line: impl Into<String>) -> Self {
        Self::within(mpi, line, Rc::new(tempfile::tempdir().unwrap()))
    }

    /// The same in this folder, in place of the results of the one before.
    pub fn within(mpi: &'a Mpi, line: impl Into<String>, dir: Rc<TempDir>) -> Self {
        let mut line = line.into();
        let measures = Kind::ALL.iter().any(|kind| line.starts_with(kind.row().command));
        let flags = [("--mpi", mpi.name), ("--out", "out"), ("--launches", "1")];
        for (flag, value) in &flags[..if measures { 3 } else { 2 }] {
            if !line.contains(flag) {
                line += &format!(" {flag} {value}");
            }
        }
        // There are none in a new folder.
        let _ = fs::remove_dir_all(dir.path().join("out"));
        Self { mpi, dir, line, launcher: Vec::new(), of_ranks: Vec::new(), environment: Vec::new() }
    }

    /// The folder in which it will be started.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// With a file of this text in its folder.
    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.dir.path().join(name), text).unwrap();
        self
    }

    /// With these arguments of the launcher.
    #[track_caller]
    pub fn launcher(mut self, line: &str) -> Self {
        self.launcher.extend(words(line));
        self
    }

    /// With a variable that only the ranks see.
    pub fn ranks_see(mut self, name: &str, value: &str) -> Self {
        self.of_ranks.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a variable that `ddtbench` and the ranks see.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Under an MPI with this fault (`faulty_mpi.c`).
    pub fn fault(self, fault: &str) -> Self {
        let library = library(self.mpi).to_str().expect("a path in plain characters");
        self.ranks_see("LD_PRELOAD", library).ranks_see("FAULTY_MPI", fault)
    }

    /// The loopback interface acts as a network: it shares no memory.
    pub fn over_tcp(self) -> Self {
        match self.mpi.name {
            "openmpi" => self.launcher("--mca btl tcp,self --mca pml ob1"),
            // Messages within a host then take the same path as those between hosts.
            _ => self
                .ranks_see("MPIR_CVAR_NOLOCAL", "1")
                .ranks_see("MPIR_CVAR_CH4_NETMOD", "ofi")
                .ranks_see("FI_PROVIDER", "tcp"),
        }
    }

    fn command(&self) -> Command {
        let mut command = typed(self.dir.path(), &self.line);
        command.envs(self.environment.iter().cloned());
        if self.launcher.is_empty() && self.of_ranks.is_empty() {
            return command;
        }
        command.arg("--").args(&self.launcher);
        for (name, value) in &self.of_ranks {
            match self.mpi.name {
                "openmpi" => command.args(["-x".to_owned(), format!("{name}={value}")]),
                _ => command.args(["-genv", name, value]),
            };
        }
        command
    }

    /// With a gate in each of its processes.
    pub fn gated(self) -> (Self, Gate) {
        let gate = Gate::closed(self.dir.path());
        (self.fault(&gate.fault()), gate)
    }

    pub fn start(self) -> Running {
        Running { job: Job::start(&mut self.command()), dir: self.dir }
    }

    /// Starts it through another program with these arguments, followed by the whole command.
    pub fn start_by(self, program: &str, arguments: &[&Path]) -> Running {
        let command = self.command();
        let mut outer = like_ddtbench(program, self.dir.path());
        outer.envs(self.environment).args(arguments).arg(command.get_program()).args(command.get_args());
        Running { job: Job::start(&mut outer), dir: self.dir }
    }

    /// Runs it to its end, which must have this exit code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Kept {
        self.ends_in(&[code])
    }

    /// Runs it to its end, which must have one of these exit codes. Exit code 1 means that a method failed; the rows have details.
    #[track_caller]
    pub fn ends_in(self, codes: &[i32]) -> Kept {
        let ended = run(&mut self.command());
        let mut kept = Kept { summary: Summary::read(&self.dir.path().join("out")), ended, dir: self.dir };
        let is_killed = self.of_ranks.iter().any(|(_, value)| value == "kill");
        for _ in 0..ATTEMPTS_AFTER_CRASHES {
            let crashed = kept.summary.crashed_by_puts();
            if crashed.is_empty() || is_killed {
                break;
            }
            eprintln!("{}: crashed, and measured again: {crashed:?}", self.mpi.name);
            kept.ended = kept.types("run --resume out --retry-failed");
            kept.summary = kept.summary.replaced_by(&Summary::read(&kept.out()), &crashed);
        }
        assert!(kept.ended.code.is_some_and(|code| codes.contains(&code)), "not {codes:?}: {}", kept.ended);
        kept
    }
}

pub struct Running {
    pub job: Job,
    /// The folder in which it was started.
    pub dir: Rc<TempDir>,
}

impl Running {
    /// The folder of the run.
    pub fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// The text of a file that it has written; empty before its first case has ended.
    pub fn kept(&self) -> String {
        kept(&self.out())
    }

    /// Waits for its end, which must have one of these exit codes.
    #[track_caller]
    pub fn ends_in(self, codes: &[i32]) -> Kept {
        let ended = self.job.wait();
        assert!(ended.code.is_some_and(|code| codes.contains(&code)), "not {codes:?}: {ended}");
        Kept { summary: Summary::read(&self.dir.path().join("out")), ended, dir: self.dir }
    }
}

/// A measurement that has ended.
pub struct Kept {
    pub ended: Ended,
    pub summary: Summary,
    dir: Rc<TempDir>,
}

impl Kept {
    /// The folder of the run.
    pub fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// Output of another command in the folder in which this one ran.
    #[track_caller]
    pub fn types(&self, line: &str) -> Ended {
        run(&mut typed(self.dir.path(), line))
    }

    /// The text of a file of the run.
    #[track_caller]
    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.out().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// The rows of a file of the run.
    #[track_caller]
    pub fn rows(&self, file: &str) -> Vec<Row> {
        rows(&self.out().join(file))
    }

    /// The account of the machine and the MPIs.
    #[track_caller]
    pub fn environment(&self) -> Value {
        serde_json::from_str(&self.read("environment.json")).expect("JSON")
    }

    /// The ranks and their library, as they reported them.
    #[track_caller]
    pub fn account(&self) -> Value {
        self.environment()["mpis"][0]["rank_program"].clone()
    }
}

/// The launcher of `mpi` with the rank program of `of`, up to its arguments.
pub fn mpiexec(mpi: &Mpi, of: &Mpi, ranks: &str) -> Command {
    let mut command = mpi.command(&mpi.mpiexec);
    command.args(["-n", ranks]);
    match mpi.name {
        "openmpi" => command.args(["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]),
        // The same setting that `ddtbench` uses with more ranks than cores.
        _ => command.env("MPIR_CVAR_DEVICE_COLLECTIVES", "none"),
    };
    command.arg(&of.rank_program);
    command
}

/// The rank program by hand, with these arguments.
#[track_caller]
pub fn by_hand(mpi: &Mpi, ranks: &str, line: &str) -> Ended {
    run(mpiexec(mpi, mpi, ranks).args(words(line)))
}
