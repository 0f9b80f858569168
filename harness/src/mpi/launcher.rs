//! Command lines: how to start N ranks of a program with the launcher of each family, bound to cores.
//!
//! Tested with a program that prints its affinity, 2 ranks on 2 cores, as root in a container: Hydra's
//! `-bind-to core`, Open MPI's `--bind-to core` (4 and 5), Intel's `I_MPI_PIN_DOMAIN=core`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::model::conditions::MemoryKind;

use super::cores;
use super::error::{MpiError, Result, other};
use super::find::in_path;
use super::pmi::Pmi;
use super::tool::{self, QUESTION};
use super::{Family, Installation, Trusted};

/// A program to be started under an MPI.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The MPI that the program was built for.
    pub installation: &'a Installation,
    pub ranks: usize,
    /// Threads of each rank; each needs a core.
    pub threads: usize,
    pub program: &'a Path,
    pub args: &'a [String],
    /// The launcher, if it is not the MPI's own, and its options.
    pub programs: &'a Trusted,
    /// Bind each rank to a core, or to a core per thread. Not done if there are too few cores, or if the options control binding.
    pub bind: bool,
    /// Variables for the ranks, with the highest priority.
    pub env: BTreeMap<String, String>,
    /// The memory of the ranks' data.
    pub memory: MemoryKind,
    /// The driver of a simulated device.
    pub stand_in: Option<&'a Path>,
}

/// A complete command line; `Display` shows it as typed in a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The launcher.
    pub program: PathBuf,
    /// Its arguments, including the rank program and its arguments.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// Variables of an outer launcher, which are removed.
    pub without: Vec<String>,
    /// Whether it reports that the signal `s` ended a rank by its own exit code `s`, as Hydra does.
    pub signals_are_codes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Hydra,
    OpenMpi,
    Intel,
    Slurm,
    Plain,
}

impl Launch<'_> {
    pub fn command_line(&self) -> Result<CommandLine> {
        let is_set = |name: &str| env::var_os(name).is_some();
        // SAFETY: `geteuid` cannot fail and touches no memory.
        let root = unsafe { libc::geteuid() } == 0;
        let line = self.command_line_on(self.is_oversubscribed(), root, self.pmi()?, &is_set)?;
        Ok(CommandLine { without: self.outer_variables()?, ..line })
    }

    /// How `srun` lets ranks find each other; `None` for other launchers.
    ///
    /// # Errors
    /// If the launcher cannot be parsed.
    pub fn pmi(&self) -> Result<Option<Pmi>> {
        let (program, _, style) = self.launcher_and_style()?;
        Ok(match style {
            Style::Slurm => Some(Pmi::choose(self.installation, &program, self.all_launcher_args())?),
            _ => program.ends_with("srun").then(|| Pmi::given(self.installation)),
        })
    }

    /// Whether this machine has fewer cores than all ranks have threads. Always false for several nodes, whose cores are unknown.
    pub fn is_oversubscribed(&self) -> bool {
        const HOSTS: [&str; 9] =
            ["-f", "-host", "--host", "-H", "-hosts", "--hosts", "-hostfile", "--hostfile", "-machinefile"];
        let nodes = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].iter().find_map(|name| env::var(name).ok());
        let several = nodes.and_then(|nodes| nodes.parse::<usize>().ok()).is_some_and(|nodes| nodes > 1)
            || env::var_os("PBS_NODEFILE").is_some()
            || self.all_launcher_args().any(|word| HOSTS.contains(&word.as_str()));
        !several && self.ranks * self.threads > cores()
    }

    /// The launcher with its options.
    ///
    /// # Errors
    /// If the launcher cannot be parsed.
    pub fn launcher_with_options(&self) -> Result<String> {
        let CommandLine { program, args, .. } = Launch { args: &[], ..self.clone() }.command_line()?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (_, options) = args.split_last().expect("the rank program is the last argument");
        Ok([name].into_iter().chain(options.iter().cloned()).collect::<Vec<_>>().join(" "))
    }

    /// Variables that ddtbench sets to control the MPI: with more ranks than cores, waiting ranks must yield,
    /// and some MPIs expect data on a device only with such variables.
    pub fn added_settings(&self) -> BTreeMap<String, String> {
        self.added_settings_on(self.is_oversubscribed(), &|name| env::var_os(name).is_some())
    }

    fn added_settings_on(
        &self,
        oversubscribed: bool,
        is_set: &dyn Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let family = self.installation.family;
        let yielding = if oversubscribed { yielding(family) } else { &[] };
        let on_device = if self.memory.is_host() { &[] } else { taking_device_memory(family) };
        let is_ours = |name: &str| {
            !is_set(name) && !self.installation.env.contains_key(name) && !self.env.contains_key(name)
        };
        let ours = yielding.iter().chain(on_device).filter(|(name, _)| is_ours(name));
        ours.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Advice if no process starts: another PMI for `srun`, or the MPI's own launcher.
    pub(super) fn advice(&self) -> Option<String> {
        let foreign = || {
            let (program, _, _) = self.launcher_and_style().ok()?;
            let reason =
                Installation { mpiexec: program, ..self.installation.clone() }.foreign_launcher().ok()??;
            Some(format!("{reason}; use the MPI's own launcher"))
        };
        self.pmi().ok().flatten().map(|pmi| pmi.to_string()).or_else(foreign)
    }

    /// Variables in the user's environment with which an outer launcher, such as that of a Slurm job, marks
    /// its ranks. The ranks of the MPI's own launcher must not have them: MPICH aborts if both are set.
    ///
    /// # Errors
    /// If the launcher cannot be parsed.
    fn outer_variables(&self) -> Result<Vec<String>> {
        self.outer_variables_of(env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
    }

    /// A message about them; `None` if there are none.
    ///
    /// # Errors
    /// If the launcher cannot be parsed.
    pub fn outer_launcher(&self) -> Result<Option<String>> {
        let names = self.outer_variables()?;
        let launcher = self.installation.mpiexec.display();
        Ok((!names.is_empty()).then(|| {
            format!(
                "not passed to {launcher}: {}, set by an outer launcher for its own ranks",
                names.join(", ")
            )
        }))
    }

    fn outer_variables_of(&self, names: impl Iterator<Item = String>) -> Result<Vec<String>> {
        let (_, _, style) = self.launcher_and_style()?;
        let is_own = matches!(style, Style::Hydra | Style::OpenMpi | Style::Intel);
        let is_outer = |name: &String| {
            OF_OUTER_LAUNCHERS.split_whitespace().any(|prefix| name.starts_with(prefix))
                && !self.installation.env.contains_key(name)
                && !self.env.contains_key(name)
        };
        let mut found: Vec<String> = names.filter(|name| is_own && is_outer(name)).collect();
        found.sort();
        Ok(found)
    }

    fn all_launcher_args(&self) -> impl Iterator<Item = &String> {
        self.installation.launcher_args.iter().chain(self.programs.launcher_args())
    }

    /// The command line for a machine described by the arguments. `is_set`: whether the user has set a variable.
    fn command_line_on(
        &self,
        oversubscribed: bool,
        root: bool,
        pmi: Option<Pmi>,
        is_set: &dyn Fn(&str) -> bool,
    ) -> Result<CommandLine> {
        let (program, verbatim, style) = self.launcher_and_style()?;
        let (ranks, threads) = (self.ranks.to_string(), self.threads);
        let placed = self.all_launcher_args().any(|word| is_placement(word));
        let mut args: Vec<String> = verbatim.iter().map(|word| word.replace("{ranks}", &ranks)).collect();
        let has_ranks = args != verbatim;
        let mut add = |arguments: &[&str]| args.extend(arguments.iter().map(|&word| word.to_owned()));
        if !has_ranks {
            add(&["-n", &ranks]);
        }
        let bind = self.bind && !oversubscribed;
        if !placed {
            match (style, bind, oversubscribed) {
                (Style::Hydra, true, _) if threads == 1 => add(&["-bind-to", "core"]),
                (Style::Hydra, true, _) => add(&["-bind-to", &format!("core:{threads}")]),
                (Style::OpenMpi, true, _) if threads == 1 => add(&["--bind-to", "core"]),
                (Style::OpenMpi, true, _) => {
                    add(&["--map-by", &format!("slot:PE={threads}"), "--bind-to", "core"]);
                }
                (Style::Slurm, true, _) if threads == 1 => add(&["--cpu-bind=cores"]),
                (Style::Slurm, true, _) => add(&[&format!("--cpus-per-task={threads}"), "--cpu-bind=cores"]),
                // By default, Open MPI refuses more ranks than cores, and binds ranks.
                (Style::OpenMpi, false, true) => add(&["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]),
                (Style::OpenMpi, false, false) => add(&["--bind-to", "none"]),
                (Style::Slurm, false, true) => add(&["--overcommit", "--cpu-bind=none"]),
                (Style::Slurm, false, false) => add(&["--cpu-bind=none"]),
                (Style::Hydra | Style::Intel | Style::Plain, ..) => {}
            }
        }
        args.extend(pmi.as_ref().and_then(Pmi::option));
        args.extend(self.all_launcher_args().cloned());
        args.push(self.program.display().to_string());
        args.extend(self.args.iter().cloned());

        let mut env = self.installation.env.clone();
        let mut default = |name: &str, value: &str| {
            if !is_set(name) {
                env.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        };
        let family = self.installation.family;
        if family == Family::OpenMpi && root {
            for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
                default(name, "1");
            }
        }
        let variables = pmi.as_ref().map_or(&[][..], Pmi::variables);
        variables.iter().for_each(|(name, value)| default(name, value));
        if style == Style::Intel && !placed && !is_set("I_MPI_PIN") {
            default("I_MPI_PIN", if bind { "1" } else { "0" });
            if bind {
                let domain = if threads == 1 { "core".to_owned() } else { threads.to_string() };
                default("I_MPI_PIN_DOMAIN", &domain);
            }
        }
        env.extend(self.added_settings_on(oversubscribed, is_set));
        if let Some(path) = self.library_path() {
            env.insert("LD_LIBRARY_PATH".to_owned(), path);
        }
        env.extend(self.env.clone());
        let signals_are_codes = matches!(style, Style::Hydra | Style::Intel);
        Ok(CommandLine { program, args, env, without: Vec::new(), signals_are_codes })
    }

    /// The launcher, its unchanged arguments, and its option style.
    fn launcher_and_style(&self) -> Result<(PathBuf, Vec<String>, Style)> {
        let own = match self.installation.family {
            Family::Mpich => Style::Hydra,
            Family::OpenMpi => Style::OpenMpi,
            Family::Intel => Style::Intel,
            Family::Other => Style::Plain,
        };
        let style_of = |program: &Path| {
            let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name == "srun" {
                Style::Slurm
            } else if ["mpiexec", "mpirun", "orterun", "prterun"].iter().any(|known| name.starts_with(known))
            {
                own
            } else {
                Style::Plain
            }
        };
        let Some(text) = self.programs.launcher() else {
            let program = self.installation.mpiexec.clone();
            let style = style_of(&program);
            return Ok((program, Vec::new(), style));
        };
        let (program, arguments) = typed(text)?;
        let style = if arguments.is_empty() { style_of(&program) } else { Style::Plain };
        Ok((program, arguments, style))
    }

    /// The MPI's library folders, followed by the user's.
    fn library_path(&self) -> Option<String> {
        let dirs: Vec<PathBuf> = self
            .stand_in
            .iter()
            .map(|dir| dir.to_path_buf())
            .chain(self.installation.library_dirs.clone())
            .collect();
        let users = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let all =
            dirs.iter().cloned().chain(env::split_paths(&users).filter(|dir| !dir.as_os_str().is_empty()));
        (!dirs.is_empty()).then(|| env::join_paths(all).ok()?.into_string().ok()).flatten()
    }
}

impl Installation {
    /// Reports a launcher of another family, from its version text. `None` if it is the MPI's own, or unknown such as `srun`.
    pub(super) fn foreign_launcher(&self) -> Result<Option<String>> {
        if self.family == Family::Other {
            return Ok(None);
        }
        let mut command = Command::new(&self.mpiexec);
        command.arg("--version").envs(&self.env);
        let printed = match tool::run(command, QUESTION) {
            Ok(ended) => [ended.out, ended.err].concat().join("\n"),
            Err(MpiError::Interrupted) => return Err(MpiError::Interrupted),
            Err(MpiError::Other(_)) => return Ok(None),
        };
        Ok(maker_of_launcher(&printed).filter(|maker| !self.family.starts_under(*maker)).map(|maker| {
            let (launcher, maker, mpi) = (self.mpiexec.display(), maker.title(), self.title());
            format!("`{launcher}` is the launcher of {maker} and cannot start {mpi}")
        }))
    }
}

/// The family of the launcher that prints this version text.
fn maker_of_launcher(version: &str) -> Option<Family> {
    // Intel's launcher is based on Hydra, and mentions it.
    let known = [
        ("Intel(R) MPI Library", Family::Intel),
        ("HYDRA", Family::Mpich),
        ("Open MPI", Family::OpenMpi),
        ("OpenRTE", Family::OpenMpi),
        ("PRRTE", Family::OpenMpi),
        ("prterun", Family::OpenMpi),
    ];
    known.into_iter().find(|(word, _)| version.contains(word)).map(|(_, maker)| maker)
}

impl Family {
    /// Whether its ranks can start under another family's launcher: relatives of Hydra can.
    fn starts_under(self, maker: Self) -> bool {
        let is_hydra = |family| matches!(family, Self::Mpich | Self::Intel);
        self == maker || (is_hydra(self) && is_hydra(maker))
    }
}

/// Prefixes of the variables that launchers set for their ranks, from the process management interfaces PMI
/// and PMIx. Variables that users set to control PMIx (`PMIX_MCA_`) are not included.
const OF_OUTER_LAUNCHERS: &str = "PMI_ PMI2_ PMIX_NAMESPACE PMIX_RANK PMIX_SERVER_URI PMIX_HOSTNAME PMIX_VERSION PMIX_GDS_MODULE \
     PMIX_PTL_MODULE PMIX_BFROP_BUFFER_TYPE";

/// Whether a user's option controls the placement of ranks.
fn is_placement(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    word.starts_with('-')
        && matches!(
            name,
            "bind-to"
                | "binding"
                | "map-by"
                | "rankfile"
                | "cpu-set"
                | "cpu-list"
                | "cpu-bind"
                | "cpu_bind"
                | "oversubscribe"
        )
}

/// Variables that make waiting ranks yield if there are more ranks than cores.
///
/// Measured with 4 ranks on 2 cores, as time of a barrier: MPICH 5.0.2 waits 8 ms (two time slices of the
/// scheduler, because its shared-memory collectives spin without yielding), and 0.02 ms without them; Open
/// MPI needs 8 ms if it does not yield, and 0.003 ms with this; Intel MPI needs 0.006 ms by default, and its
/// variables for this purpose make it slower. No variable helps MPICH 4.0.2, whose messages spin as well.
fn yielding(family: Family) -> &'static [(&'static str, &'static str)] {
    match family {
        Family::Mpich => &[("MPIR_CVAR_DEVICE_COLLECTIVES", "none")],
        Family::OpenMpi => &[("OMPI_MCA_mpi_yield_when_idle", "1")],
        Family::Intel | Family::Other => &[],
    }
}

/// Variables without which an MPI that can take memory of a device does not.
fn taking_device_memory(family: Family) -> &'static [(&'static str, &'static str)] {
    match family {
        // Without a name it looks for `libcuda.so`, which only development packages have.
        Family::Intel => &[
            ("I_MPI_OFFLOAD", "1"),
            ("I_MPI_OFFLOAD_CUDA_LIBRARY", "libcuda.so.1"),
            ("I_MPI_OFFLOAD_MODE", "cuda"),
        ],
        // MPICH and Open MPI need none, and Open MPI and Cray's MPI end with such a variable if they were built without devices.
        Family::Mpich | Family::OpenMpi | Family::Other => &[],
    }
}

/// Variables that enable asynchronous progress: a thread per rank that progresses communication.
///
/// Open MPI has no such thread for all transports (5.0.11). The thread of its TCP transport does not help
/// shared memory, but is enabled anyway. The rank program reports the threads that `MPI_Init` really started.
pub fn progressing(family: Family) -> &'static [(&'static str, &'static str)] {
    match family {
        Family::Mpich => &[("MPIR_CVAR_ASYNC_PROGRESS", "1")],
        Family::Intel => &[("I_MPI_ASYNC_PROGRESS", "1"), ("I_MPI_THREAD_SPLIT", "0")],
        Family::OpenMpi => &[("OMPI_MCA_btl_tcp_progress_thread", "1")],
        Family::Other => &[],
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.without.is_empty() {
            write!(f, "env")?;
            self.without.iter().try_for_each(|name| write!(f, " -u {name}"))?;
            write!(f, " ")?;
        }
        for (name, value) in &self.env {
            write!(f, "{name}={} ", quoted(value))?;
        }
        write!(f, "{}", quoted(&self.program.to_string_lossy()))?;
        self.args.iter().try_for_each(|word| write!(f, " {}", quoted(word)))
    }
}

/// A word as typed in a shell.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    shlex::Quoter::new().allow_nul(true).quote(word).expect("no other byte is refused")
}

/// The program and the options of a launcher as users type it. An existing path with blanks is one word.
fn typed(text: &str) -> Result<(PathBuf, Vec<String>)> {
    if Path::new(text).is_file() {
        return Ok((text.into(), Vec::new()));
    }
    let wrong = |reason| other(format!("the launcher `{text}` is not a command: {reason}"));
    let mut arguments = shlex::split(text).ok_or_else(|| wrong("a quote is not closed"))?;
    if arguments.is_empty() {
        return Err(wrong("it is empty"));
    }
    Ok((arguments.remove(0).into(), arguments))
}

impl Trusted {
    /// Refuses a launcher that is not on this machine.
    ///
    /// # Errors
    /// Its name, and what to do.
    pub fn check_launcher(&self) -> Result<()> {
        let Some((program, _)) = self.launcher().map(typed).transpose()? else { return Ok(()) };
        let reason = "no such launcher in PATH: load its module, or give another --launcher";
        let found = in_path(program.as_os_str());
        found.map(drop).ok_or_else(|| other(format!("{}: {reason}", program.display())))
    }
}

#[cfg(test)]
#[path = "launcher_tests.rs"]
mod tests;
