//! How ranks that `srun` starts find each other: by a PMI (process management interface) that both `srun` and the MPI can.
//!
//! Each MPI starts under its own launcher without a word about this. Slurm has several PMIs, of which its administrator has
//! chosen one for all programs, often none; with another than the MPI's, ranks abort, or each is alone in its world.
//! Seen with Slurm 22.05 of Debian: MPICH's wheel runs by `pmi2`, and aborts by `pmix` ("unsupported PMI version PMIx");
//! Open MPI's wheel runs by `pmix`, once `PMIX_SECURITY_MODE` is `native`: Slurm's side would have it use munge, which the
//! wheel's PMIx was built without.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::error::{MpiError, Result};
use super::tool::{self, QUESTION};
use super::{Family, Installation, find};

/// The variable by which a user gives `srun` what `--mpi` does.
pub(super) const VARIABLE: &str = "SLURM_MPI_TYPE";

/// What `srun` is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pmi {
    /// Nothing by us: the user has said it, in an option or in `SLURM_MPI_TYPE`, or has given a command with options of its own.
    Given {
        /// The MPI.
        mpi: String,
        /// What the MPI can.
        wanted: &'static [&'static str],
    },
    /// The first of what the MPI can that `srun` has.
    Chosen {
        /// The MPI.
        mpi: String,
        /// As `--mpi` calls it.
        name: &'static str,
    },
    /// Nothing: `srun` has none that the MPI can.
    Lacking {
        /// The MPI.
        mpi: String,
        /// What the MPI can.
        wanted: &'static [&'static str],
        /// What `srun` has.
        listed: Vec<String>,
    },
    /// Nothing: it is not known what an MPI of this maker can.
    Unknown,
}

impl Pmi {
    /// For ranks of an MPI under this `srun`, which gets these options beside what is chosen here. `srun` itself is asked what it
    /// has, once in a process.
    ///
    /// # Errors
    /// If the user wants to stop meanwhile.
    pub fn choose<'a>(
        installation: &Installation,
        srun: &Path,
        options: impl IntoIterator<Item = &'a String>,
    ) -> Result<Self> {
        let is_given = |option: &String| option == "--mpi" || option.starts_with("--mpi=");
        if std::env::var_os(VARIABLE).is_some() || options.into_iter().any(is_given) {
            return Ok(Self::given(installation));
        }
        if wanted(installation).is_empty() {
            return Ok(Self::Unknown);
        }
        Ok(Self::of_listed(installation, listed(srun)?))
    }

    /// For ranks of an MPI under the `srun` of `PATH`; `None` where there is none.
    ///
    /// # Errors
    /// If the user wants to stop meanwhile.
    pub fn here(installation: &Installation) -> Result<Option<Self>> {
        let srun = find::in_path("srun".as_ref());
        srun.map(|srun| Self::choose(installation, &srun, [])).transpose()
    }

    /// What the user has said.
    pub(super) fn given(installation: &Installation) -> Self {
        Self::Given { mpi: installation.title(), wanted: wanted(installation) }
    }

    /// Of what `srun` has; `None` where it could not be asked, and is taken to have what most have.
    fn of_listed(installation: &Installation, listed: Option<Vec<String>>) -> Self {
        let (mpi, wanted) = (installation.title(), wanted(installation));
        let has = |name: &str| listed.as_ref().is_none_or(|listed| listed.iter().any(|known| known == name));
        match wanted.iter().find(|name| has(name)) {
            Some(name) => Self::Chosen { mpi, name },
            None => Self::Lacking { mpi, wanted, listed: listed.unwrap_or_default() },
        }
    }

    /// The option for `srun`.
    pub fn option(&self) -> Option<String> {
        match self {
            Self::Chosen { name, .. } => Some(format!("--mpi={name}")),
            Self::Given { .. } | Self::Lacking { .. } | Self::Unknown => None,
        }
    }

    /// Variables that the ranks need with it, unless the user has set them.
    pub fn variables(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Chosen { name: "pmix", .. } => &[("PMIX_SECURITY_MODE", "native")],
            _ => &[],
        }
    }
}

/// What is said about it: before a run, and where no rank has begun.
impl fmt::Display for Pmi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given { mpi, wanted } => {
                write!(f, "the PMI was given to srun; without `--mpi` and {VARIABLE}, ")?;
                match wanted.first() {
                    None => write!(f, "it uses its default"),
                    Some(first) => write!(f, "ddtbench chooses what {mpi} can, {first} if srun has it"),
                }
            }
            Self::Chosen { mpi, name } => {
                write!(f, "srun gets --mpi={name}")?;
                for (name, value) in self.variables() {
                    write!(f, " and {name}={value}")?;
                }
                write!(f, ", for {mpi}; -- --mpi=NAME chooses another")
            }
            Self::Lacking { mpi, wanted, listed } => {
                let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
                let wanted = wanted.join(" or ");
                write!(
                    f,
                    "{mpi} needs {wanted} of srun, which has only: {listed}; -- --mpi=NAME chooses one of these"
                )
            }
            Self::Unknown => {
                write!(
                    f,
                    "srun uses its default PMI; `srun --mpi=list` lists others, -- --mpi=NAME chooses one"
                )
            }
        }
    }
}

/// What an MPI can, the best first. One that was built otherwise than most may lack the last.
fn wanted(installation: &Installation) -> &'static [&'static str] {
    let major = installation.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match installation.family {
        Family::Mpich | Family::Intel => &["pmi2", "pmix"],
        // Version 5 has no other any more.
        Family::OpenMpi if major.is_some_and(|major| major < 5) => &["pmix", "pmi2"],
        Family::OpenMpi => &["pmix"],
        Family::Other => &[],
    }
}

/// What `srun --mpi=list` lists; `None` if it does not answer.
fn listed(srun: &Path) -> Result<Option<Vec<String>>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Option<Vec<String>>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(answer) = known().get(srun) {
        return Ok(answer.clone());
    }
    let mut command = Command::new(srun);
    command.arg("--mpi=list");
    let answer = match tool::run(command, QUESTION) {
        Ok(ended) => Some(parse(ended.out.iter().chain(&ended.err))).filter(|names| !names.is_empty()),
        Err(MpiError::Interrupted) => return Err(MpiError::Interrupted),
        Err(_) => None,
    };
    known().insert(srun.to_owned(), answer.clone());
    Ok(answer)
}

/// The names in what `srun` lists: a name per line, which older ones write to standard error and begin with `srun:`.
fn parse<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<String> {
    let is_name = |word: &&str| {
        let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        !word.is_empty() && word.chars().all(is_part)
    };
    let lines = lines.map(|line| line.strip_prefix("srun:").unwrap_or(line).trim());
    lines.filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "pmi_tests.rs"]
mod tests;
