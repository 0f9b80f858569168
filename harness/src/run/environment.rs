//! The account of machine, MPI and settings that lies beside the results.

use std::fs;
use std::path::{Path, PathBuf};

use procfs::{CpuInfo, Current, Meminfo};
use serde::{Deserialize, Serialize};

use crate::event::Hello;
use crate::mpi::Installation;

/// What is in `environment.json`. What cannot be found out is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When the run began, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// The machine that started the run.
    pub machine: Machine,
    /// The MPI.
    pub mpi: MpiFacts,
    /// What one would type to run the first case.
    pub first_case: String,
    /// The rank program's account of itself, of the first case that ended.
    pub rank_program: Option<Hello>,
    /// When the run was resumed.
    #[serde(default)]
    pub resumed: Vec<String>,
}

/// The machine that started the run; on a cluster the ranks' machines may differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub host: Option<String>,
    /// The processor.
    pub cpu_model: Option<String>,
    /// Its hardware threads.
    pub cpus: usize,
    /// The caches of the first processor, as `L1 Data 32K`.
    pub caches: Vec<String>,
    /// System and version.
    pub kernel: Option<String>,
    /// What sets the clock rate of the first processor.
    pub governor: Option<String>,
    /// Memory, in bytes.
    pub memory_bytes: Option<u64>,
}

/// The MPI in use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MpiFacts {
    /// Its name in this project.
    pub name: String,
    /// Whose library it is.
    pub family: String,
    /// The library's version.
    pub version: String,
    /// The compiler wrapper.
    pub mpicc: PathBuf,
    /// The launcher.
    pub mpiexec: PathBuf,
    /// How it came to be known.
    pub source: String,
}

impl From<&Installation> for MpiFacts {
    fn from(mpi: &Installation) -> Self {
        Self {
            name: mpi.name.clone(),
            family: mpi.family.title().to_owned(),
            version: mpi.version.clone(),
            mpicc: mpi.mpicc.clone(),
            mpiexec: mpi.mpiexec.clone(),
            source: mpi.source.label().to_owned(),
        }
    }
}

impl Environment {
    /// Of this moment, before the rank program was heard.
    pub fn now(date: String, mpi: &Installation, first_case: String) -> Self {
        Self {
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: typed(),
            machine: Machine::this(),
            mpi: mpi.into(),
            first_case,
            rank_program: None,
            resumed: Vec::new(),
        }
    }

    /// Of an earlier run; `None` if there is none that can be understood.
    pub fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }
}

impl Machine {
    /// This one, as it is now.
    pub fn this() -> Self {
        let cpu_info = CpuInfo::current().ok();
        let field = |name| Some(cpu_info.as_ref()?.get_field(0, name)?.to_owned());
        let system = word("/proc/sys/kernel/ostype");
        let release = word("/proc/sys/kernel/osrelease");
        Self {
            host: word("/proc/sys/kernel/hostname"),
            cpu_model: field("model name").or_else(|| field("CPU part")),
            cpus: cpu_info.as_ref().map_or(0, CpuInfo::num_cores),
            caches: caches(),
            kernel: system.zip(release).map(|(system, release)| format!("{system} {release}")),
            governor: word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
        }
    }
}

/// What was typed to start this program.
pub(crate) fn typed() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn word(path: impl AsRef<Path>) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn caches() -> Vec<String> {
    let cache = |i: usize| {
        let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu0/cache/index{i}"));
        let [level, kind, size] = ["level", "type", "size"].map(|name| word(folder.join(name)));
        Some(format!("L{} {} {}", level?, kind?, size?))
    };
    (0..).map_while(cache).collect()
}
