//! What may be an MPI, before anybody has asked it.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use super::error::Result;
use super::registry::Entry;
use super::{Installation, Source, find};

/// What may be an MPI, not asked yet.
pub(super) struct Candidate {
    /// The name, or its first half where the maker is still unknown.
    pub name: String,
    /// Its compiler wrapper.
    pub mpicc: PathBuf,
    /// How it came to be known.
    pub source: Source,
    mpiexec: Option<PathBuf>,
    launcher_args: Vec<String>,
    env: BTreeMap<String, String>,
}

impl Candidate {
    /// One that has no settings.
    pub fn named(name: &str, mpicc: PathBuf, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            mpicc,
            source,
            mpiexec: None,
            launcher_args: Vec::new(),
            env: BTreeMap::new(),
        }
    }

    /// One of the list.
    pub fn listed(entry: Entry) -> Self {
        let Entry { name, mpicc, mpiexec, launcher_args, env } = entry;
        Self { name, mpicc, source: Source::Listed, mpiexec, launcher_args, env }
    }

    /// Asks the wrapper and its header.
    pub fn inspect(self) -> Result<Installation> {
        let mut found =
            find::inspect(&self.name, &self.mpicc, self.mpiexec.as_deref(), self.env, self.source)?;
        found.launcher_args = self.launcher_args;
        if matches!(self.source, Source::Path | Source::MpiccVariable) {
            found.name = format!("{}-{}", self.name, found.family.name());
        }
        Ok(found)
    }
}

/// The wrapper that the variable `MPICC` names.
pub(super) fn mpicc_variable() -> Option<PathBuf> {
    let mpicc = env::var_os("MPICC").filter(|mpicc| !mpicc.is_empty())?;
    let mpicc = find::in_path(&mpicc).unwrap_or_else(|| PathBuf::from(mpicc));
    Some(find::true_name(&mpicc))
}
