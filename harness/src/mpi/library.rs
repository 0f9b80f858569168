//! An MPI without a compiler wrapper, or without a compiler: a program of the installation that has loaded its library names it.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::home::Home;
use super::{Abi, Family, tool};

/// The MPI that a library belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub family: Family,
    pub abi: Abi,
    pub version: String,
    pub dir: PathBuf,
}

/// Asks the library of an MPI with a program in `bin`.
pub(super) fn ask(home: &Home, bin: &Path, variables: &BTreeMap<String, String>) -> Option<Found> {
    let dirs = folders(bin.parent()?);
    let places = Abi::ALL.into_iter().flat_map(|abi| dirs.iter().map(move |dir| (abi, dir)));
    let mut with_library = places.filter(|(abi, dir)| dir.join(abi.library()).exists());
    with_library.find_map(|(abi, dir)| {
        let mut command = Command::new(home.program(abi)?);
        let users = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let path = env::join_paths([dir.clone()].into_iter().chain(env::split_paths(&users))).ok()?;
        command.arg("--version").env("LD_LIBRARY_PATH", path).envs(variables);
        let ended = tool::run(command, tool::QUESTION).ok().filter(|ended| ended.exit.success())?;
        let (family, version) = named(ended.out.first()?)?;
        Some(Found { family, abi, version, dir: dir.clone() })
    })
}

/// The usual folders of an MPI's library below its prefix; the last ones are those of Debian.
pub(super) fn folders(prefix: &Path) -> [PathBuf; 5] {
    ["lib", "lib64", "lib/release", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"]
        .map(|dir| prefix.join(dir))
}

/// The MPI in `ddtbench-rank 0.1.0 on Open MPI 5.0.11`.
fn named(text: &str) -> Option<(Family, String)> {
    let (_, title) = text.split_once(" on ")?;
    let family = match () {
        () if title.starts_with("Open MPI") => Family::OpenMpi,
        () if title.starts_with("Intel") => Family::Intel,
        () => Family::Mpich,
    };
    let version = title.split_whitespace().rfind(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    Some((family, version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::fake_program;
    use super::*;

    #[test]
    fn a_library_is_asked_by_the_program_of_its_family() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let version = "#!/bin/sh\necho ddtbench-rank 0.1.0 on Open MPI 5.0.11\n";
        fake_program(root.join("lib/ddtbench/ddtbench-rank-openmpi"), version);
        fake_program(root.join("mpi/lib64/libmpi.so.40"), "");
        let found = ask(&Home::at(root).unwrap(), &root.join("mpi/bin"), &BTreeMap::new());
        let (family, abi, dir) = (Family::OpenMpi, Abi::OpenMpi, root.join("mpi/lib64"));
        assert_eq!(found, Some(Found { family, abi, version: "5.0.11".to_owned(), dir }));
        assert_eq!(ask(&Home::at(root).unwrap(), &root.join("other/bin"), &BTreeMap::new()), None);
        assert_eq!(
            named("ddtbench-rank 0.1.0 on Intel(R) MPI Library 2021.18"),
            Some((Family::Intel, "2021.18".to_owned()))
        );
    }
}
