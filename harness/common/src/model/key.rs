//! The key that distinguishes one result from another, in this run and between runs.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::conditions::{Cache, Conditions, MemoryKind};
use crate::kinds::Kind;

/// The unit of measurement: one test with one set of values on one MPI under one cache mode, with all methods interleaved.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// The run's id. `runs.csv` has its place and time; cases of different runs are never the same. Empty
    /// before the run begins, and in results without runs.
    pub run: String,
    pub experiment: Kind,
    pub test: String,
    /// The parameter set's name, or `custom`.
    pub set: String,
    /// All values, such as `nx=162 ny=162`.
    pub params: String,
    /// The MPI's name in this project.
    pub mpi: String,
    pub mpi_version: String,
    /// The name of its additional settings; empty without any.
    pub mpi_variant: String,
    pub ranks: usize,
    /// Hosts the ranks were on; 0 if not reported.
    pub hosts: usize,
    /// The transport between ranks, as far as it is known; otherwise empty.
    pub transport: String,
    /// Whether repetitions found their buffers in the cache.
    pub cache: Cache,
    /// The memory of arrays and messages; older results have none but the host's.
    #[serde(default)]
    pub memory: MemoryKind,
    /// The device with that memory, and how ranks share it; otherwise empty.
    #[serde(default)]
    pub device: String,
}

/// Hashes only the fields that nearly always differ: hashing all twelve would take three times as long, and a report has many groups.
impl Hash for Case {
    fn hash<H: Hasher>(&self, to: &mut H) {
        (&self.run, &self.test, &self.params, &self.mpi).hash(to);
    }
}

/// Prefix of the parameter for the source of communication progress.
const CONFIGURATION: &str = "configuration=";

impl Case {
    /// The MPI with its variant, as shown in tables.
    pub fn mpi_label(&self) -> String {
        mpi_label(&self.mpi, &self.mpi_variant)
    }

    /// The source of communication progress, if it is among the parameters.
    pub fn configuration(&self) -> Option<&str> {
        self.params.split(' ').find_map(|pair| pair.strip_prefix(CONFIGURATION))
    }

    /// The cache mode and the memory.
    pub fn conditions(&self) -> Conditions {
        Conditions { cache: self.cache, memory: self.memory }
    }

    /// The same case without the source of communication progress.
    pub fn without_configuration(&self) -> Self {
        let others = self.params.split(' ').filter(|pair| !pair.starts_with(CONFIGURATION));
        Self { params: others.collect::<Vec<_>>().join(" "), ..self.clone() }
    }
}

/// The name of an MPI in tables, followed by that of its variant; the default settings have no name.
pub fn mpi_label(mpi: &str, variant: &str) -> String {
    if variant.is_empty() { mpi.to_owned() } else { format!("{mpi}:{variant}") }
}
