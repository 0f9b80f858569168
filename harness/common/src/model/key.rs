//! What tells one result from another, of this run and of any other.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::conditions::Cache;
use crate::kinds::Kind;

/// What is measured together: one test with one set of values on one MPI under one cache mode; all methods interleaved.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// The run, by its id: `runs.csv` says where and when it was, and cases of different runs are never one. Empty before it has
    /// begun, and in results that have none.
    pub run: String,
    /// The kind of experiment.
    pub experiment: Kind,
    /// The test's name.
    pub test: String,
    /// The parameter set's name, or `custom`.
    pub set: String,
    /// All values, as `nx=162 ny=162`.
    pub params: String,
    /// The MPI's name in this project.
    pub mpi: String,
    /// The MPI library's version.
    pub mpi_version: String,
    /// The name of the settings that it was given besides; empty without any.
    pub mpi_variant: String,
    /// Ranks of the run.
    pub ranks: usize,
    /// Hosts that they ran on; 0 where nobody told.
    pub hosts: usize,
    /// What carried the bytes between ranks, as far as it is known; empty where it is not.
    pub transport: String,
    /// Whether repetitions found their buffers in the cache.
    pub cache: Cache,
}

/// Of what nearly always tells cases apart: all twelve would take three times as long, in each of a report's many groups.
impl Hash for Case {
    fn hash<H: Hasher>(&self, to: &mut H) {
        (&self.run, &self.test, &self.params, &self.mpi).hash(to);
    }
}

/// The parameter that says what is to bring communication forward.
const CONFIGURATION: &str = "configuration=";

impl Case {
    /// The MPI with its variant: what tables name it.
    pub fn mpi_label(&self) -> String {
        mpi_label(&self.mpi, &self.mpi_variant)
    }

    /// What is to bring communication forward, where its parameters name it.
    pub fn configuration(&self) -> Option<&str> {
        self.params.split(' ').find_map(|pair| pair.strip_prefix(CONFIGURATION))
    }

    /// The same case without that.
    pub fn without_configuration(&self) -> Self {
        let others = self.params.split(' ').filter(|pair| !pair.starts_with(CONFIGURATION));
        Self { params: others.collect::<Vec<_>>().join(" "), ..self.clone() }
    }
}

/// The name of an MPI in tables, with that of its variant; the MPI as it is has none.
pub fn mpi_label(mpi: &str, variant: &str) -> String {
    if variant.is_empty() { mpi.to_owned() } else { format!("{mpi}:{variant}") }
}
