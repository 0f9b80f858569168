//! The file that lists this machine's MPIs: `.ddtbench/mpis.toml`. It may be written by hand.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::error::{MpiError, Result, at};

/// One MPI of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// Its name here.
    pub name: String,
    /// The compiler wrapper.
    pub mpicc: PathBuf,
    /// The launcher; found beside the wrapper if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpiexec: Option<PathBuf>,
    /// Options that the launcher always gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launcher_args: Vec<String>,
    /// Variables for the wrapper, the launcher and the ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// An MPI of the list, or any other, with more variables set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantEntry {
    /// The MPI's name.
    pub mpi: String,
    /// Its own name, which follows the MPI's: `mpich:nocma`.
    pub name: String,
    /// Variables for the launcher and the ranks.
    pub env: BTreeMap<String, String>,
}

/// The whole list, in the order in which MPIs were added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Registry {
    /// `[[mpi]]` tables.
    #[serde(default, rename = "mpi")]
    pub entries: Vec<Entry>,
    /// `[[variant]]` tables.
    #[serde(default, rename = "variant", skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantEntry>,
}

impl Registry {
    /// Reads the list; without a file it is empty.
    pub fn read(file: &Path) -> Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(at("reading", file)(error)),
        };
        toml::from_str(&text)
            .map_err(|error| MpiError::List { file: file.to_owned(), reason: error.to_string() })
    }

    /// Writes the list, all or nothing: a reader never sees half of it.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = toml::to_string(self)
            .map_err(|error| MpiError::List { file: file.to_owned(), reason: error.to_string() })?;
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
        let mut temporary = tempfile::NamedTempFile::new_in(folder).map_err(at("writing in", folder))?;
        temporary
            .write_all(format!("# The MPIs of this machine, for `ddtbench mpi`.\n{text}").as_bytes())
            .map_err(at("writing", temporary.path()))?;
        temporary.persist(file).map_err(|error| at("writing", file)(error.error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/mpis.toml");
        assert_eq!(Registry::read(&file).unwrap(), Registry::default());
        let registry = Registry {
            entries: vec![
                Entry { name: "plain".to_owned(), mpicc: "/opt/a/bin/mpicc".into(), ..Entry::default() },
                Entry {
                    name: "vendor".to_owned(),
                    mpicc: "/opt/b/bin/mpicc".into(),
                    mpiexec: Some("/usr/bin/srun".into()),
                    launcher_args: vec!["--mpi=pmi2".to_owned()],
                    env: [("A".to_owned(), "b \"c\"".to_owned())].into(),
                },
            ],
            variants: vec![VariantEntry {
                mpi: "plain".to_owned(),
                name: "nocma".to_owned(),
                env: [("A".to_owned(), "0".to_owned())].into(),
            }],
        };
        registry.write(&file).unwrap();
        assert_eq!(Registry::read(&file).unwrap(), registry);
    }

    #[test]
    fn a_typing_error_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mpis.toml");
        fs::write(&file, "[[mpi]]\nname = 'a'\nmpicc = '/x'\nmpiexce = '/y'\n").unwrap();
        assert!(Registry::read(&file).unwrap_err().to_string().contains("mpiexce"));
    }
}
