//! What may be an MPI, before anybody has asked it.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::error::Result;
use super::registry::MpiEntry;
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
    pub fn listed(entry: MpiEntry) -> Self {
        let MpiEntry { name, mpicc, mpiexec, launcher_args, env } = entry;
        Self { name, mpicc, source: Source::Listed, mpiexec, launcher_args, env }
    }

    /// Asks the wrapper and its header.
    pub fn inspect(self) -> Result<Installation> {
        let mut found =
            find::inspect(&self.name, &self.mpicc, self.mpiexec.as_deref(), self.env, self.source)?;
        found.launcher_args = self.launcher_args;
        match self.source {
            Source::Path => found.name = format!("{}-{}", self.name, found.family.name()),
            Source::MpiccVariable => found.name = name_of_place(&found.mpicc),
            Source::Listed | Source::Wheel => {}
        }
        Ok(found)
    }
}

/// A name for what is known by the path of its wrapper alone: the folder that it is installed in, and what tells it from others
/// of that name, of which each has rank programs and rows of its own.
fn name_of_place(mpicc: &Path) -> String {
    let mut sum = Crc::new();
    sum.update(mpicc.as_os_str().as_encoded_bytes());
    let folder = mpicc.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let folder: String = folder.chars().map(plain).collect();
    let folder = folder.trim_start_matches(['.', '-']);
    format!("{}-{:04x}", if folder.is_empty() { "mpi" } else { folder }, sum.sum() & 0xffff)
}

/// The wrapper that the variable `MPICC` names.
pub(super) fn mpicc_variable() -> Option<PathBuf> {
    let mpicc = env::var_os("MPICC").filter(|mpicc| !mpicc.is_empty())?;
    let mpicc = find::in_path(&mpicc).unwrap_or_else(|| PathBuf::from(mpicc));
    Some(find::true_name(&mpicc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_in_several_places_have_names_of_their_own() {
        let name = |path: &str| name_of_place(Path::new(path));
        assert!(name("/opt/mpich 5/bin/mpicc").starts_with("mpich_5-"));
        assert_ne!(name("/a/install/bin/mpicc"), name("/b/install/bin/mpicc"));
        assert_eq!(name("/a/install/bin/mpicc"), name("/a/install/bin/mpicc"));
        assert!(name("/mpicc").starts_with("mpi-") && name("/.hidden/bin/mpicc").starts_with("hidden-"));
    }
}
