//! How ranks started by `srun` find each other: by a PMI (process management interface) that both `srun` and the MPI support.
//!
//! Each MPI works with its own launcher without further options. Slurm has several PMIs, of which its administrator has chosen
//! one for all programs, often none. With a PMI that the MPI does not support, ranks abort, or each rank is in a separate
//! MPI_COMM_WORLD. Observed with Slurm 22.05 of Debian: MPICH's wheel works with `pmi2`, and aborts with `pmix` ("unsupported PMI
//! version PMIx"); Open MPI's wheel works with `pmix` if `PMIX_SECURITY_MODE` is `native`: Slurm's default is munge, and the
//! wheel's PMIx was built without it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use super::error::{MpiError, Result};
use super::tool::{self, QUESTION};
use super::{Family, Installation, find};

/// The user can set this variable instead of the option `--mpi` of `srun`.
pub(super) const VARIABLE: &str = "SLURM_MPI_TYPE";

/// The PMI for `srun`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pmi {
    /// Not chosen: given by an option or `SLURM_MPI_TYPE`, or the launcher is a command with options.
    Given {
        mpi: String,
        /// The PMIs that the MPI supports.
        wanted: &'static [&'static str],
    },
    /// The first PMI of the MPI that `srun` supports.
    Chosen {
        mpi: String,
        /// Its name for `--mpi`.
        name: &'static str,
    },
    /// None: `srun` supports no PMI of the MPI.
    Lacking {
        mpi: String,
        /// The PMIs that the MPI supports.
        wanted: &'static [&'static str],
        /// The PMIs of `srun`.
        listed: Vec<String>,
    },
    /// None: the PMIs of this family are unknown.
    Unknown,
}

impl Pmi {
    /// Chooses the PMI for an MPI and an `srun` with these options. Runs `srun --mpi=list` once per process.
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

    /// Chooses the PMI for an MPI and the `srun` in `PATH`; `None` without one.
    pub fn here(installation: &Installation) -> Result<Option<Self>> {
        let srun = find::in_path("srun".as_ref());
        srun.map(|srun| Self::choose(installation, &srun, [])).transpose()
    }

    /// The PMI is given by the user.
    pub(super) fn given(installation: &Installation) -> Self {
        Self::Given { mpi: installation.title(), wanted: wanted(installation) }
    }

    /// Chooses from the list of `srun`. `None`: `srun` did not answer, and the usual ones are assumed.
    fn of_listed(installation: &Installation, listed: Option<Vec<String>>) -> Self {
        let (mpi, wanted) = (installation.title(), wanted(installation));
        let has = |name: &str| listed.as_ref().is_none_or(|listed| listed.iter().any(|known| known == name));
        match wanted.iter().find(|name| has(name)) {
            Some(name) => Self::Chosen { mpi, name },
            None => Self::Lacking { mpi, wanted, listed: listed.unwrap_or_default() },
        }
    }

    /// The option for `srun`, if one is needed.
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

/// The message before a run, and if no rank has started.
impl fmt::Display for Pmi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given { mpi, wanted } => {
                write!(f, "the PMI was given to srun; without `--mpi` and {VARIABLE}, ")?;
                match wanted.first() {
                    None => write!(f, "it uses its default"),
                    Some(first) => {
                        write!(f, "ddtbench chooses a PMI that {mpi} supports, {first} if srun has it")
                    }
                }
            }
            Self::Chosen { mpi, name } => {
                write!(f, "srun gets --mpi={name}")?;
                for (name, value) in self.variables() {
                    write!(f, " and {name}={value}")?;
                }
                write!(f, ", for {mpi}; use -- --mpi=NAME for another")
            }
            Self::Lacking { mpi, wanted, listed } => {
                let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
                let wanted = wanted.join(" or ");
                write!(
                    f,
                    "{mpi} needs {wanted}, but srun has only: {listed}; use -- --mpi=NAME for one of these"
                )
            }
            Self::Unknown => {
                write!(
                    f,
                    "srun uses its default PMI; `srun --mpi=list` lists others, use -- --mpi=NAME for one of them"
                )
            }
        }
    }
}

/// The PMIs that an MPI supports, best first. An unusual build may lack the last one.
fn wanted(installation: &Installation) -> &'static [&'static str] {
    let major = installation.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match installation.family {
        Family::Mpich | Family::Intel => &["pmi2", "pmix"],
        // Version 5 supports only this one.
        Family::OpenMpi if major.is_some_and(|major| major < 5) => &["pmix", "pmi2"],
        Family::OpenMpi => &["pmix"],
        Family::Other => &[],
    }
}

/// The PMIs listed by `srun --mpi=list`; `None` if it does not answer.
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

/// The names in the list: one per line. Old versions write to standard error and begin lines with `srun:`.
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
