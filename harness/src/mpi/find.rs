//! Finds MPIs on the machine: compiler wrappers in `PATH`, and their launchers.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Folders that the loader searches by default.
const LOADER_DIRS: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];

/// Whether the loader must be given the folder `dir`.
pub(super) fn needs_help(dir: &Path) -> bool {
    let is_known = |dir: &Path| LOADER_DIRS.iter().any(|known| dir == Path::new(known));
    // Folders of Debian are one level deeper: /usr/lib/x86_64-linux-gnu.
    let is_multiarch = dir.to_string_lossy().ends_with("-linux-gnu") && dir.parent().is_some_and(is_known);
    !(is_known(dir) || is_multiarch)
}

/// Intel's wrapper prints placeholders unless `I_MPI_ROOT` is its folder. A correct value is not changed.
pub(super) fn intel_root(mpicc: &Path) -> Option<(String, String)> {
    let bin = mpicc.parent()?;
    if !bin.join("impi_info").exists() {
        return None;
    }
    let set_and_right =
        env::var_os("I_MPI_ROOT").is_some_and(|root| !root.is_empty() && mpicc.starts_with(root));
    let root = bin.parent()?.to_str()?.to_owned();
    (!set_and_right).then(|| ("I_MPI_ROOT".to_owned(), root))
}

/// The compiler wrappers in the folders of a `PATH`, without duplicates: first `mpicc`, then `mpicc.mpich` and similar names.
pub(super) fn wrappers(path: &OsStr) -> Vec<PathBuf> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for dir in env::split_paths(path).filter(|dir| dir.is_absolute()) {
        let mut names: Vec<PathBuf> = dir
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| is_wrapper_name(&entry.file_name()))
            .map(|entry| entry.path())
            .collect();
        names.sort();
        for file in names {
            // Within one MPI, `mpicc`, `mpicxx` and others may be the same binary, but not across MPIs.
            let Ok(real) = file.canonicalize() else { continue };
            if !seen.contains(&real) {
                seen.push(real);
                found.push(true_name(&file));
            }
        }
    }
    found
}

/// Launchers in folders without a wrapper: of MPIs without headers, for running programs only.
pub(super) fn launchers_alone(path: &OsStr) -> Vec<PathBuf> {
    let dirs = env::split_paths(path).filter(|dir| dir.is_absolute() && wrappers(dir.as_os_str()).is_empty());
    dirs.map(|dir| dir.join("mpiexec")).filter(|file| is_program(file)).collect()
}

fn is_wrapper_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == "mpicc"
        || name.strip_prefix("mpicc.").is_some_and(|maker| !maker.is_empty() && !maker.contains('.'))
}

/// Follows links as long as the name is that of a wrapper: on Debian, `/usr/bin/mpicc` links to
/// `/usr/bin/mpicc.openmpi`, which links to a binary that depends on the name.
pub(super) fn true_name(file: &Path) -> PathBuf {
    let mut best = file.to_owned();
    let mut current = file.to_owned();
    // A longer chain of links is a loop.
    for _ in 0..16 {
        let Ok(target) = current.read_link() else { break };
        current = current.parent().unwrap_or(Path::new("/")).join(target);
        if current.file_name().is_some_and(is_wrapper_name) {
            best.clone_from(&current);
        }
    }
    best
}

/// The launcher of a wrapper: one next to it with the same suffix, otherwise one next to it, otherwise one in
/// `PATH` without the wrapper of another MPI next to it.
pub(super) fn launcher_of(mpicc: &Path) -> Option<PathBuf> {
    let bin = mpicc.parent()?;
    let suffix = mpicc.file_name()?.to_str()?.strip_prefix("mpicc").unwrap_or_default();
    let with_suffix = [format!("mpiexec{suffix}"), format!("mpirun{suffix}")];
    let beside = with_suffix.iter().map(String::as_str).chain(["mpiexec", "mpiexec.hydra", "mpirun"]);
    let in_path = || {
        let path = env::var_os("PATH")?;
        env::split_paths(&path)
            .filter(|dir| !dir.join("mpicc").exists())
            .flat_map(|dir| ["mpiexec", "srun"].map(|name| dir.join(name)))
            .find(|file| is_program(file))
    };
    beside.map(|name| bin.join(name)).find(|file| is_program(file)).or_else(in_path)
}

pub(super) fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Finds a program like a shell: a path as it is, a bare name in `PATH`.
pub(super) fn in_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return is_program(path).then(|| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    }
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(path)).find(|file| is_program(file))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::fake_program;
    use super::*;

    /// As on Debian: the plain name links through another folder to the name with a suffix, and on to a shared binary.
    #[test]
    fn alternatives_are_one_mpi() {
        let folder = tempfile::tempdir().unwrap();
        let (bin, etc) = (folder.path().join("bin"), folder.path().join("etc"));
        for name in ["opal_wrapper", "mpicc.mpich", "mpiexec.mpich", "mpiexec.openmpi"] {
            fake_program(bin.join(name), "#!/bin/sh\n");
        }
        fs::create_dir(&etc).unwrap();
        symlink("opal_wrapper", bin.join("mpicc.openmpi")).unwrap();
        symlink(bin.join("mpicc.openmpi"), etc.join("mpi")).unwrap();
        symlink(etc.join("mpi"), bin.join("mpicc")).unwrap();

        let found = wrappers(bin.as_os_str());
        assert_eq!(found, [bin.join("mpicc.openmpi"), bin.join("mpicc.mpich")]);
        assert_eq!(launcher_of(&found[0]), Some(bin.join("mpiexec.openmpi")));
        assert_eq!(launcher_of(&found[1]), Some(bin.join("mpiexec.mpich")));
    }

    #[test]
    fn libraries_that_the_loader_finds() {
        assert!(!needs_help(Path::new("/usr/lib/x86_64-linux-gnu")));
        assert!(!needs_help(Path::new("/usr/lib64")));
        assert!(needs_help(Path::new("/usr/lib/x86_64-linux-gnu/openmpi/lib")));
        assert!(needs_help(Path::new("/opt/mpi/lib")));
    }
}
