//! A possible MPI, before its wrapper is tried.

use std::env;
use std::path::{Path, PathBuf};

use flate2::Crc;

use super::error::{MpiError, Result, other, unusable};
use super::registry::MpiEntry;
use super::{Abi, Family, Installation, Project, Source, find, header, library, show};

/// A possible MPI that has not been tried.
pub(super) struct Candidate {
    /// Its wrapper and settings. If the family is still unknown, its name is only the first half of one.
    pub entry: MpiEntry,
    pub source: Source,
}

impl Candidate {
    pub fn named(name: &str, mpicc: PathBuf, source: Source) -> Self {
        Self { entry: MpiEntry { name: name.to_owned(), mpicc, ..MpiEntry::default() }, source }
    }

    /// Calls the wrapper and reads its header. If that fails (for example because a variable names another compiler), a linked program has
    /// an account of the MPI; otherwise the library is asked. If the launcher is not given, it must be next to the wrapper.
    pub fn inspect(self, project: &Project) -> Result<Installation> {
        let Self { entry: MpiEntry { name, mut mpicc, mpiexec, launcher_args, mut env }, source } = self;
        if let Some((key, value)) = find::intel_root(&mpicc) {
            env.entry(key).or_insert(value);
        }
        let mpiexec = mpiexec.or_else(|| find::launcher_of(&mpicc)).ok_or_else(|| {
            let add = format!("`ddtbench mpi add NAME --mpicc {} --mpiexec PATH` names one", mpicc.display());
            unusable(&mpicc, format!("found no mpiexec next to it, and no unambiguous one in PATH; {add}"))
        });
        let described = header::family_and_version(&mpicc, &env)
            .and_then(|described| Ok((described, show::library_dirs(&mpicc, &env)?)));
        let of_family = |family| match family {
            Family::Mpich | Family::Intel => Abi::Mpich,
            Family::OpenMpi => Abi::OpenMpi,
            Family::Other => Abi::Standard,
        };
        let listed = Some(name.as_str()).filter(|_| source == Source::Listed);
        let (family, version, abi, dirs) = match described {
            Err(error @ MpiError::Interrupted) => return Err(error),
            Ok(((family, version), dirs)) => (family, version, of_family(family), dirs),
            Err(error) => match project.linked_before(&mpicc, listed) {
                Some(mpi) => (mpi.family, mpi.version, mpi.abi, mpi.library_dirs),
                None => {
                    let ask = |bin| library::ask(&project.home, bin, &env);
                    let found = mpicc.parent().and_then(ask).ok_or(error)?;
                    mpicc.clone_from(mpiexec.as_ref().map_err(|error| other(error.to_string()))?);
                    (found.family, found.version, found.abi, vec![found.dir])
                }
            },
        };
        let mpiexec = mpiexec?;
        let library_dirs = dirs.into_iter().filter(|dir| find::needs_help(dir)).collect();
        let name = match source {
            Source::Path => format!("{name}-{}", family.name()),
            Source::MpiccVariable => name_of_place(&mpicc),
            Source::Listed | Source::Wheel => name,
        };
        Ok(Installation {
            name,
            family,
            abi,
            version,
            mpicc,
            mpiexec,
            env,
            launcher_args,
            library_dirs,
            source,
        })
    }
}

/// A name for an MPI that is known only by the path of its wrapper: the folder of its installation, and a
/// hash, because each path has its own rank programs and rows.
fn name_of_place(mpicc: &Path) -> String {
    let mut sum = Crc::new();
    sum.update(mpicc.as_os_str().as_encoded_bytes());
    let folder = mpicc.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let folder: String = folder.chars().map(plain).collect();
    let folder = folder.trim_start_matches(['.', '-']);
    format!("{}-{:04x}", if folder.is_empty() { "mpi" } else { folder }, sum.sum() & 0xffff)
}

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
