//! The file `mpis.toml`, which lists this machine's MPIs. It may be written by hand.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use serde::{Deserialize, Serialize};

use super::error::{MpiError, Result, at, other};
use super::wheels;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MpiEntry {
    pub name: String,
    pub mpicc: PathBuf,
    /// The launcher. Default: the one next to the wrapper.
    pub mpiexec: Option<PathBuf>,
    /// Options that the launcher always gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launcher_args: Vec<String>,
    /// Variables for the wrapper, the launcher and the ranks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// An MPI with additional variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantEntry {
    pub mpi: String,
    /// Its own name, which follows the MPI's: `mpich:nocma`.
    pub name: String,
    /// Variables for the launcher and the ranks.
    pub env: BTreeMap<String, String>,
}

/// The whole list, in the order in which MPIs were added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Registry {
    #[serde(default, rename = "mpi")]
    pub entries: Vec<MpiEntry>,
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
        Self::parse(&text).map_err(|reason| bad_list(file, &reason))
    }

    /// Parses a list. Names become parts of paths, so that they are checked.
    ///
    /// # Errors
    /// The error in the text.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let registry: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        registry.check().map_err(|error| error.to_string())?;
        Ok(registry)
    }

    /// Refuses invalid and duplicate names.
    fn check(&self) -> Result<()> {
        let mut names = HashSet::new();
        for entry in &self.entries {
            check_name(&entry.name)?;
            if !names.insert(&entry.name) {
                return Err(bad(&entry.name, "another [[mpi]] has this name"));
            }
        }
        let mut names = HashSet::new();
        for variant in &self.variants {
            check_form(&variant.mpi)?;
            check_form(&variant.name)?;
            if !names.insert((&variant.mpi, &variant.name)) {
                return Err(bad(&variant.name, "another [[variant]] of the same MPI has this name"));
            }
        }
        Ok(())
    }

    /// This list, with the entries of another whose names are new.
    pub fn joined(mut self, other: Self) -> Self {
        let names: HashSet<&String> = self.entries.iter().map(|own| &own.name).collect();
        let is_new = |entry: &MpiEntry| !names.contains(&entry.name);
        let entries: Vec<MpiEntry> = other.entries.into_iter().filter(is_new).collect();
        let names: HashSet<_> = self.variants.iter().map(|own| (&own.mpi, &own.name)).collect();
        let is_new = |variant: &VariantEntry| !names.contains(&(&variant.mpi, &variant.name));
        let variants: Vec<VariantEntry> = other.variants.into_iter().filter(is_new).collect();
        self.entries.extend(entries);
        self.variants.extend(variants);
        self
    }

    pub fn to_toml(&self) -> std::result::Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Writes the list atomically.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = self.to_toml().map_err(|reason| bad_list(file, &reason))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
        // Readable for others, because the folder may be shared.
        let mut temporary = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(at("writing in", folder))?;
        temporary
            .write_all(format!("# The MPIs of this machine, for `ddtbench mpi`.\n{text}").as_bytes())
            .map_err(at("writing", temporary.path()))?;
        temporary.persist(file).map_err(|error| at("writing", file)(error.error))?;
        Ok(())
    }
}

pub(super) fn check_name(name: &str) -> Result<()> {
    check_form(name)?;
    let is_version = |known: &&str| name.starts_with(known);
    if wheels::is_reserved(name) || ["mpich-", "openmpi-", "impi-"].iter().any(is_version) {
        return Err(bad(name, "this name is reserved for `ddtbench mpi install`"));
    }
    if name.starts_with("system-") {
        return Err(bad(name, "this name is reserved for MPIs in PATH"));
    }
    Ok(())
}

/// Refuses names that cannot be part of a path or of a list.
fn check_form(name: &str) -> Result<()> {
    let sane = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(sane) {
        return Ok(());
    }
    Err(bad(name, "a name starts with a letter or digit, followed by letters, digits, `-`, `_` or `.`"))
}

fn bad_list(file: &Path, reason: &dyn fmt::Display) -> MpiError {
    other(format!("{}: {reason}; fix or delete the file", file.display()))
}

fn bad(name: &str, reason: &'static str) -> MpiError {
    other(format!("`{name}` cannot be a name here: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_written_by_hand_are_checked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mpis.toml");
        let mpi = |name: &str| format!("[[mpi]]\nname = '{name}'\nmpicc = '/x'\n");
        let variant = |mpi: &str, name: &str| {
            format!("[[variant]]\nmpi = '{mpi}'\nname = '{name}'\nenv = {{ A = '0' }}\n")
        };
        let read = |text: String| {
            fs::write(&file, text).unwrap();
            Registry::read(&file)
        };
        assert!(read(mpi("mine") + &variant("mpich", "slow") + &variant("openmpi", "slow")).is_ok());
        for good in ["cray", "vendor_2.1", "9"] {
            assert!(read(mpi(good)).is_ok(), "{good}");
        }
        let bad =
            ["", "-x", "a/b", "..", "../../../victim", "mpich", "impi-2021.18.1", "system-mpich", "a b"];
        let wrong = [
            (mpi("mine") + &mpi("mine"), "mine"),
            (variant("../x", "slow"), "../x"),
            (variant("mpich", "a/b"), "a/b"),
            (variant("mpich", "slow") + &variant("mpich", "slow"), "slow"),
        ];
        for (text, name) in bad.map(|name| (mpi(name), name)).into_iter().chain(wrong) {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("mpis.toml") && error.contains(&format!("`{name}` cannot be")), "{error}");
        }
    }

    #[test]
    fn round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/mpis.toml");
        assert_eq!(Registry::read(&file).unwrap(), Registry::default());
        let registry = Registry {
            entries: vec![MpiEntry {
                name: "vendor".to_owned(),
                mpicc: "/opt/b/bin/mpicc".into(),
                mpiexec: Some("/usr/bin/srun".into()),
                launcher_args: vec!["--mpi=pmi2".to_owned()],
                env: [("A".to_owned(), "b \"c\"".to_owned())].into(),
            }],
            variants: vec![VariantEntry {
                mpi: "plain".to_owned(),
                name: "nocma".to_owned(),
                env: [("A".to_owned(), "0".to_owned())].into(),
            }],
        };
        registry.write(&file).unwrap();
        assert_eq!(Registry::read(&file).unwrap(), registry);
        let wrong = Registry::parse("[[mpi]]\nname = 'a'\nmpicc = '/x'\nmpiexce = '/y'\n").unwrap_err();
        assert!(wrong.contains("mpiexce"), "{wrong}");
    }
}
