//! Command lines: what to type for N ranks of a program under each maker's launcher, bound to cores.
//!
//! Checked with a program that prints its affinity, 2 ranks on 2 cores, as root in a container: Hydra's
//! `-bind-to core`, Open MPI's `--bind-to core` (4 and 5), Intel's `I_MPI_PIN_DOMAIN=core`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cores;
use super::error::{MpiError, Result, other};
use super::pmi::Pmi;
use super::tool::{self, QUESTION};
use super::{Family, Installation};

/// A program to be started under an MPI.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// The MPI that the program was built for.
    pub installation: &'a Installation,
    /// Number of ranks.
    pub ranks: usize,
    /// Threads of each rank, each of which is to have a core.
    pub threads: usize,
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [String],
    /// Instead of the MPI's own launcher: `srun`, a path, or a command with options. Of a command with options
    /// nothing is changed but `{ranks}`; without that, `-n RANKS` follows it.
    pub launcher: Option<&'a str>,
    /// More options for the launcher.
    pub launcher_args: &'a [String],
    /// Bind each rank to a core, or to one per thread. Not done with more of them than cores, or if the options already say where.
    pub bind: bool,
    /// More variables for the ranks; these win over all others.
    pub env: BTreeMap<String, String>,
}

/// A finished command line; its `Display` is what one would type in a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The launcher.
    pub program: PathBuf,
    /// Its arguments, the rank program and its arguments among them.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: BTreeMap<String, String>,
    /// Variables of an outer launcher, which are taken off.
    pub without: Vec<String>,
}

/// Whose options a launcher understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Hydra,
    OpenMpi,
    Intel,
    Slurm,
    /// Only `-n`.
    Plain,
}

impl Launch<'_> {
    /// The command line on this machine.
    pub fn command_line(&self) -> Result<CommandLine> {
        let is_set = |name: &str| env::var_os(name).is_some();
        // SAFETY: `geteuid` cannot fail and touches no memory.
        let root = unsafe { libc::geteuid() } == 0;
        let line = self.command_line_on(self.is_oversubscribed(), root, self.pmi()?, &is_set)?;
        Ok(CommandLine { without: self.outer_variables()?, ..line })
    }

    /// What `srun` is told of how ranks find each other; `None` for other launchers.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn pmi(&self) -> Result<Option<Pmi>> {
        let (program, _, style) = self.launcher_and_style()?;
        Ok(match style {
            Style::Slurm => Some(Pmi::choose(self.installation, &program, self.all_launcher_args())?),
            _ => program.ends_with("srun").then(|| Pmi::given(self.installation)),
        })
    }

    /// Whether this machine has fewer cores than ranks have threads. On several nodes, whose cores are not known here, never.
    pub fn is_oversubscribed(&self) -> bool {
        const HOSTS: [&str; 9] =
            ["-f", "-host", "--host", "-H", "-hosts", "--hosts", "-hostfile", "--hostfile", "-machinefile"];
        let nodes = ["SLURM_JOB_NUM_NODES", "SLURM_NNODES"].iter().find_map(|name| env::var(name).ok());
        let several = nodes.and_then(|nodes| nodes.parse::<usize>().ok()).is_some_and(|nodes| nodes > 1)
            || env::var_os("PBS_NODEFILE").is_some()
            || self.all_launcher_args().any(|word| HOSTS.contains(&word.as_str()));
        !several && self.ranks * self.threads > cores()
    }

    /// The launcher by its name, with the options that it gets.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn launcher_with_options(&self) -> Result<String> {
        let CommandLine { program, args, .. } = Launch { args: &[], ..self.clone() }.command_line()?;
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (_, options) = args.split_last().expect("the rank program is the last of them");
        Ok([name].into_iter().chain(options.iter().cloned()).collect::<Vec<_>>().join(" "))
    }

    /// Variables that steer the MPI and are set by ddtbench itself: with more ranks than cores, waiting ranks let others run.
    pub fn added_settings(&self) -> BTreeMap<String, String> {
        self.added_settings_on(self.is_oversubscribed(), &|name| env::var_os(name).is_some())
    }

    fn added_settings_on(
        &self,
        oversubscribed: bool,
        is_set: &dyn Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let all = if oversubscribed { yielding(self.installation.family) } else { &[] };
        let is_ours = |name: &str| {
            !is_set(name) && !self.installation.env.contains_key(name) && !self.env.contains_key(name)
        };
        let ours = all.iter().filter(|(name, _)| is_ours(name));
        ours.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// Advice if it starts no process: another PMI for `srun`, its own launcher for an MPI.
    pub(super) fn advice(&self) -> Vec<String> {
        let foreign = || {
            let (program, _, _) = self.launcher_and_style().ok()?;
            let reason =
                Installation { mpiexec: program, ..self.installation.clone() }.foreign_launcher().ok()??;
            Some(format!("{reason}; use its own launcher"))
        };
        self.pmi().ok().flatten().map(|pmi| pmi.to_string()).or_else(foreign).into_iter().collect()
    }

    /// The user's variables by which an outer launcher, for example that of a Slurm job, marks processes as its ranks. The ranks of the
    /// MPI's own launcher are not: MPICH aborts if it finds both.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    fn outer_variables(&self) -> Result<Vec<String>> {
        self.outer_variables_of(env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
    }

    /// A sentence about them for the user; `None` if there are none.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn outer_launcher(&self) -> Result<Option<String>> {
        let names = self.outer_variables()?;
        let launcher = self.installation.mpiexec.display();
        Ok((!names.is_empty()).then(|| {
            format!(
                "not passed on to {launcher}: {}, which an outer launcher has set for its own ranks",
                names.join(", ")
            )
        }))
    }

    fn outer_variables_of(&self, names: impl Iterator<Item = String>) -> Result<Vec<String>> {
        let (_, _, style) = self.launcher_and_style()?;
        let is_own = matches!(style, Style::Hydra | Style::OpenMpi | Style::Intel);
        let is_outer = |name: &String| {
            OF_OUTER_LAUNCHERS.iter().any(|prefix| name.starts_with(prefix))
                && !self.installation.env.contains_key(name)
                && !self.env.contains_key(name)
        };
        let mut found: Vec<String> = names.filter(|name| is_own && is_outer(name)).collect();
        found.sort();
        Ok(found)
    }

    fn all_launcher_args(&self) -> impl Iterator<Item = &String> {
        self.installation.launcher_args.iter().chain(self.launcher_args)
    }

    /// The command line on a machine that is described by the arguments. `is_set` tells of the user's variables.
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
                // Open MPI refuses more ranks than cores unless it is told, and binds unless it is told.
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
        Ok(CommandLine { program, args, env, without: Vec::new() })
    }

    /// The launcher, the arguments of it that stay as they are, and whose options it understands.
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
        let Some(text) = self.launcher else {
            let program = self.installation.mpiexec.clone();
            let style = style_of(&program);
            return Ok((program, Vec::new(), style));
        };
        // A path with blanks in it is one word if it exists.
        if Path::new(text).is_file() {
            return Ok((text.into(), Vec::new(), style_of(Path::new(text))));
        }
        let wrong = |reason| other(format!("the launcher `{text}` is not a command: {reason}"));
        let mut arguments = shlex::split(text).ok_or_else(|| wrong("a quote is not closed"))?;
        if arguments.is_empty() {
            return Err(wrong("it is empty"));
        }
        let program = PathBuf::from(arguments.remove(0));
        let style = if arguments.is_empty() { style_of(&program) } else { Style::Plain };
        Ok((program, arguments, style))
    }

    /// The MPI's folders of libraries, before those that the user has set.
    fn library_path(&self) -> Option<String> {
        let dirs = &self.installation.library_dirs;
        let users = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let all =
            dirs.iter().cloned().chain(env::split_paths(&users).filter(|dir| !dir.as_os_str().is_empty()));
        (!dirs.is_empty()).then(|| env::join_paths(all).ok()?.into_string().ok()).flatten()
    }
}

impl Installation {
    /// Reports a launcher of another maker, by the version that it prints; `None` if it is its own, or unknown such as `srun`.
    ///
    /// # Errors
    /// If the user wants to stop meanwhile.
    pub(super) fn foreign_launcher(&self) -> Result<Option<String>> {
        if self.family == Family::Other {
            return Ok(None);
        }
        let mut command = Command::new(&self.mpiexec);
        command.arg("--version").envs(&self.env);
        let told = match tool::run(command, QUESTION) {
            Ok(ended) => [ended.out, ended.err].concat().join("\n"),
            Err(MpiError::Interrupted) => return Err(MpiError::Interrupted),
            Err(MpiError::Other(_)) => return Ok(None),
        };
        Ok(maker_of_launcher(&told).filter(|maker| !self.family.starts_under(*maker)).map(|maker| {
            let (launcher, maker, mpi) = (self.mpiexec.display(), maker.title(), self.title());
            format!("`{launcher}` is the launcher of {maker}, and cannot start {mpi}")
        }))
    }
}

/// The maker of the launcher that prints this as its version.
fn maker_of_launcher(version: &str) -> Option<Family> {
    // Intel's launcher is made of Hydra, and names it.
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
    /// Whether its ranks find each other under another maker's launcher: those of Hydra's relatives do.
    fn starts_under(self, maker: Self) -> bool {
        let is_hydra = |family| matches!(family, Self::Mpich | Self::Intel);
        self == maker || (is_hydra(self) && is_hydra(maker))
    }
}

/// Beginnings of the variables that launchers set for their ranks: by the process management interfaces PMI and PMIx. Those by which
/// users steer PMIx (`PMIX_MCA_`) are not among them.
const OF_OUTER_LAUNCHERS: [&str; 10] = [
    "PMI_",
    "PMI2_",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "PMIX_SERVER_URI",
    "PMIX_HOSTNAME",
    "PMIX_VERSION",
    "PMIX_GDS_MODULE",
    "PMIX_PTL_MODULE",
    "PMIX_BFROP_BUFFER_TYPE",
];

/// Whether an option of the user says where ranks go.
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

/// What makes waiting ranks let others run when there are more ranks than cores.
///
/// Measured with 4 ranks on 2 cores, as time of a barrier: MPICH 5.0.2 waits 8 ms (two slices of the scheduler,
/// since its collectives in shared memory spin without yielding) and 0.02 ms with them switched off; Open MPI
/// needs 8 ms if told not to yield and 0.003 ms with this; Intel MPI needs 0.006 ms by itself, and any of its
/// variables for the purpose makes it slower. Nothing was found for MPICH 4.0.2, whose messages spin as well.
fn yielding(family: Family) -> &'static [(&'static str, &'static str)] {
    match family {
        Family::Mpich => &[("MPIR_CVAR_DEVICE_COLLECTIVES", "none")],
        Family::OpenMpi => &[("OMPI_MCA_mpi_yield_when_idle", "1")],
        Family::Intel | Family::Other => &[],
    }
}

/// What switches on asynchronous progress: a thread of each rank that brings communication forward.
///
/// Open MPI has no such thread for all transports (5.0.11); that of its TCP transport is no help to one over shared memory, and
/// is switched on all the same. Of what was asked for, the rank program tells what came: the threads that `MPI_Init` began.
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

/// A word as one would type it in a shell.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    shlex::Quoter::new().allow_nul(true).quote(word).expect("no other byte is refused")
}

#[cfg(test)]
#[path = "launcher_tests.rs"]
mod tests;
