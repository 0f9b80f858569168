//! The MPIs of this machine: finds, installs, lists, builds for, starts and watches them. This crate does not link MPI.
//!
//! [`Project::pick`] chooses an [`Installation`] (see there for the order), [`Project::rank_program`] links
//! the rank program for it in its own folder, [`Launch`] makes the command line of its launcher, and
//! [`Launch::watch_until`] runs it and ends all of its processes.

mod candidate;
mod error;
mod events;
mod find;
mod header;
mod home;
mod install;
pub mod interrupt;
mod launcher;
mod library;
mod lock;
mod own_loop;
mod pmi;
mod process;
mod project;
mod rank_program;
pub(crate) mod registry;
pub mod shared_memory;
mod show;
mod stand_in;
mod state;
mod target;
mod tool;
mod tree;
mod trusted;
mod variant;
mod watchdog;
mod watcher;
mod wheels;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use common::cores::{by_core, core, cores};
pub use common::model::abi::Abi;
pub use error::{MpiError, Result};
pub use events::LineEvents;
pub use launcher::{CommandLine, Launch, progressing};
pub use own_loop::OwnLoop;
pub use pmi::Pmi;
pub use process::{ExitDescription, Line};
pub use project::Project;
pub use registry::MpiEntry;
pub use stand_in::StandIn;
pub use target::Target;
pub use trusted::{Origin, Programs, Trusted};
pub use variant::{STANDARD, Variant};
pub use watchdog::{Exit, LastOutput, Sign};

/// Takes a message for the user, for example to print it to standard error.
pub type Print<'a> = &'a mut dyn FnMut(&str);

named! {
    /// The family of an MPI: determines the launcher's options and variables. The names are those in `system-openmpi` and so on.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Family {
        /// MPICH and MPIs with its launcher, Hydra: MVAPICH, Cray MPICH.
        #[serde(rename = "MPICH")]
        Mpich = "mpich",
        #[serde(rename = "Open MPI")]
        OpenMpi = "openmpi",
        /// Intel MPI.
        #[serde(rename = "Intel MPI")]
        Intel = "impi",
        #[default]
        #[serde(rename = "MPI")]
        Other = "mpi",
    }
}

impl Family {
    /// The name as its authors write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Mpich => "MPICH",
            Self::OpenMpi => "Open MPI",
            Self::Intel => "Intel MPI",
            Self::Other => "MPI",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_another_mpi_is_named() {
        let mpi = Installation {
            version: "5.0.2".to_owned(),
            mpicc: "/opt/m/bin/mpicc".into(),
            ..Installation::fake("/opt/m/bin/mpiexec")
        };
        let loaded = |library_version: &str, path: &str| mpi.other_library(library_version, Some(path));
        assert_eq!(loaded("MPICH Version: 5.0.2", "/usr/lib/libmpi.so.12"), None, "its version");
        assert_eq!(loaded("MPICH Version: 4.1", "/opt/m/lib/libmpi.so.12"), None, "its folder");
        let error = loaded("MPICH Version: 4.1", "/opt/other/lib/libmpi.so.12").unwrap();
        assert!(
            error.contains("MPICH Version: 4.1 (/opt/other/lib/libmpi.so.12), but /opt/m/bin/mpiexec"),
            "{error}"
        );
    }
}

named! {
    /// How an MPI was found, with its text for a table.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Source {
        /// Installed from Python packages into the project's folder.
        #[serde(rename = "installed here")]
        Wheel = "installed here",
        /// Added to the file that lists this machine's MPIs.
        #[serde(rename = "listed")]
        Listed = "listed",
        /// An `mpicc` in `PATH`.
        #[default]
        #[serde(rename = "PATH")]
        Path = "PATH",
        /// Given by the variable `MPICC` or as a path.
        #[serde(rename = "MPICC")]
        MpiccVariable = "MPICC",
    }
}

/// An MPI to compile for and start. Accounts of runs contain the fields that identify it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// The name in this project; also of its build folder.
    pub name: String,
    pub family: Family,
    /// The binary interface that the rank program uses.
    #[serde(default)]
    pub abi: Abi,
    /// The library's version, from `mpi.h`.
    pub version: String,
    /// The compiler wrapper; the launcher, if none works here.
    pub mpicc: PathBuf,
    /// The launcher.
    pub mpiexec: PathBuf,
    /// Variables that the wrapper, the launcher and the ranks need.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
    /// Options that the launcher always gets.
    #[serde(skip)]
    pub launcher_args: Vec<String>,
    /// Folders of libraries that the loader does not search by default.
    #[serde(skip)]
    pub library_dirs: Vec<PathBuf>,
    /// How it was found.
    pub source: Source,
}

impl Installation {
    /// Family and version, such as `Open MPI 5.0.11`.
    pub fn title(&self) -> String {
        format!("{} {}", self.family.title(), self.version)
    }

    /// Describes the library that a rank program has loaded, if it is not this MPI's: neither in its folders nor of its version.
    pub fn other_library(&self, version: &str, path: Option<&str>) -> Option<String> {
        let path = Path::new(path?);
        let version = version.lines().next()?.split_whitespace().collect::<Vec<_>>().join(" ");
        let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let own =
            self.mpicc.ancestors().nth(2).into_iter().chain(self.library_dirs.iter().map(PathBuf::as_path));
        // The last number may be of an update that the library's text does not name.
        let release = self.version.split('.').take(2).collect::<Vec<_>>().join(".");
        if own.map(real).any(|folder| real(path).starts_with(folder)) || version.contains(&release) {
            return None;
        }
        Some(format!(
            "the ranks have loaded {version} ({}), but {} starts {}: check LD_LIBRARY_PATH and the loaded modules",
            path.display(),
            self.mpiexec.display(),
            self.title()
        ))
    }

    /// This MPI by the standard's binary interface.
    ///
    /// # Errors
    /// If it has no library with this interface.
    pub fn with_standard_abi(&self) -> Result<Self> {
        let prefix = self.mpicc.ancestors().nth(2).unwrap_or(Path::new("/"));
        let dirs = self.library_dirs.iter().cloned().chain(library::folders(prefix));
        let mut dirs: Vec<PathBuf> = dirs.filter(|dir| dir.join(Abi::Standard.library()).exists()).collect();
        if dirs.is_empty() {
            return Err(error::other(format!(
                "{} ({}) has no {}: MPIs with the standard's binary interface are MPICH 5, Intel MPI 2021.18 and Open MPI 6, \
                 and newer ones",
                self.name,
                self.title(),
                Abi::Standard.library()
            )));
        }
        dirs.extend(self.library_dirs.iter().cloned());
        let beside = self.mpicc.with_file_name(rank_program::STANDARD_WRAPPER);
        let mpicc = if beside.exists() { beside } else { self.mpicc.clone() };
        Ok(Self { abi: Abi::Standard, mpicc, library_dirs: dirs, ..self.clone() })
    }

    /// An MPI for tests: only a launcher, of an unknown family.
    #[cfg(test)]
    pub(crate) fn fake(mpiexec: impl Into<PathBuf>) -> Self {
        Self {
            name: "fake".to_owned(),
            version: "1".to_owned(),
            mpicc: "mpicc".into(),
            mpiexec: mpiexec.into(),
            ..Self::default()
        }
    }
}

/// Writes a program for tests, with its folder.
#[cfg(test)]
pub(crate) fn fake_program(file: PathBuf, text: &str) -> PathBuf {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fs::create_dir_all(file.parent().expect("a file is in a folder")).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}
