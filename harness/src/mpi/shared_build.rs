//! What does not depend on the MPI is built once: a new folder of builds begins with what cargo has built elsewhere, for
//! another MPI or for `ddtbench` itself, without the packages that link MPI.
//!
//! Cargo tells by a hash in their names whether files are of the same package, features, profile and compiler; what does
//! not fit is never looked at. So nothing wrong can come of it, but for files that are still being written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io};

use super::error::{Result, at};
use super::lock::Lock;

/// The packages of which each MPI has its own, as cargo names what it has built of them.
const LINK_MPI: [&str; 3] = ["mpi-sys-", "mpi-", "ddtbench-rank-"];

/// What has all that a build writes, below the folder of a profile.
const FINGERPRINTS: &str = ".fingerprint";
const BUILD_SCRIPTS: &str = "build";
const ARTIFACTS: &str = "deps";

/// Artifacts that others are built of: not programs, of which tests are the largest. They are replaced, never written to, so
/// that two folders can have one file.
const PARTS: [&str; 3] = ["rlib", "rmeta", "so"];

/// With what a folder begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shared {
    /// All but what links MPI.
    AnotherMpi,
    /// What `ddtbench` needs as well.
    Ddtbench,
    /// Nothing, or what was built there before.
    None,
}

impl Shared {
    /// How long the rest takes: measured on two cores, an Intel Xeon (Emerald Rapids).
    pub(super) fn lasts(self) -> &'static str {
        match self {
            Self::AnotherMpi => "about half a minute",
            Self::Ddtbench => "about a minute",
            Self::None => "about two minutes",
        }
    }
}

/// Begins the new folder `target` with what there is, below `others` or of `ddtbench` itself.
pub(super) fn begin(target: &Path, others: &[&Path]) -> Result<Shared> {
    begin_with(target, others, env::current_exe().ok().as_deref())
}

/// The same for a `ddtbench` that is the file `program`.
fn begin_with(target: &Path, others: &[&Path], program: Option<&Path>) -> Result<Shared> {
    let others = others.iter().filter_map(|folder| fs::read_dir(folder).ok());
    for other in others.flatten().flatten().map(|entry| entry.path()) {
        let release = other.join("release");
        // The program comes last.
        // What is another user's may not be ours to read; then there is as much to build as without it.
        if release.join("ddtbench-rank").exists() && take(&release, target).unwrap_or(false) {
            return Ok(Shared::AnotherMpi);
        }
    }
    match program.and_then(own_release) {
        Some(release) if take(release, target)? => Ok(Shared::Ddtbench),
        _ => Ok(Shared::None),
    }
}

/// Renews the folder `target`, whose program is older than this `ddtbench`, by what both are built of.
pub(super) fn renew(target: &Path, program: &Path) -> Result<()> {
    renew_by(target, program, env::current_exe().ok().as_deref())
}

/// The same for a `ddtbench` that is the file `own`.
fn renew_by(target: &Path, program: &Path, own: Option<&Path>) -> Result<()> {
    match own.filter(|own| is_newer(own, program)).and_then(own_release) {
        Some(release) => take(release, target).map(drop),
        None => Ok(()),
    }
}

/// The folder that cargo has built the program in, if it is one.
fn own_release(program: &Path) -> Option<&Path> {
    let folder = program.parent().filter(|folder| folder.ends_with("release"))?;
    folder.join(FINGERPRINTS).exists().then_some(folder)
}

/// Whether a file was written after another, or there is no other.
fn is_newer(file: &Path, other: &Path) -> bool {
    let written = |file: &Path| file.metadata().and_then(|facts| facts.modified()).ok();
    written(other).is_none_or(|other| written(file).is_some_and(|file| file > other))
}

/// Takes over the folder of a profile, unless cargo is at work in it.
fn take(release: &Path, target: &Path) -> Result<bool> {
    let Ok(Some(_lock)) = Lock::take_if_free(&release.join(".cargo-lock")) else { return Ok(false) };
    let to = target.join("release");
    let is_shared = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        LINK_MPI.iter().all(|link| !name.starts_with(link)) || is_build_script(release, &name)
    };
    copy(&release.join(FINGERPRINTS), &to.join(FINGERPRINTS), &is_shared)?;
    copy(&release.join(BUILD_SCRIPTS), &to.join(BUILD_SCRIPTS), &is_shared)?;
    let is_part = |path: &Path| is_part(path) || path.extension().is_some_and(|kind| kind == "d");
    copy(&release.join(ARTIFACTS), &to.join(ARTIFACTS), &is_part)?;
    Ok(true)
}

/// Whether `name` is the compiled build script of a package: it depends on no MPI, only what it does when it runs.
fn is_build_script(release: &Path, name: &str) -> bool {
    release.join(FINGERPRINTS).join(name).join("build-script-build-script-build").exists()
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|kind| PARTS.iter().any(|part| kind == *part))
}

/// Copies what is newer in a folder, of whose own entries those that are to be kept, with the times by which cargo tells
/// what is newer.
fn copy(from: &Path, to: &Path, is_kept: &dyn Fn(&Path) -> bool) -> Result<()> {
    fs::create_dir_all(to).map_err(at("creating", to))?;
    for entry in fs::read_dir(from).map_err(at("reading", from))? {
        let path = entry.map_err(at("reading", from))?.path();
        let new = to.join(path.file_name().unwrap_or_default());
        if !is_kept(&path) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &new, &|_| true)?;
        } else if is_newer(&path, &new) {
            if new.exists() {
                fs::remove_file(&new).map_err(at("removing", &new))?;
            }
            if !(is_part(&path) && fs::hard_link(&path, &new).is_ok()) {
                copy_file(&path, &new).map_err(at("copying", &path))?;
            }
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &PathBuf) -> io::Result<()> {
    fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(from.metadata()?.modified()?)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn write(file: &Path) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }

    #[test]
    fn what_does_not_depend_on_the_mpi_is_taken_from_another_build() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("rank/first"), folder.path().join("rank/second"));
        let begin = || begin_with(&second, &[&folder.path().join("rank")], None).unwrap();
        assert!(begin() == Shared::None && !second.exists(), "there is none to begin with");
        let files = [
            "deps/libserde-1.rlib",
            "deps/serde-1.d",
            "deps/ddtbench_rank-3",
            ".fingerprint/serde-1/lib-serde",
            ".fingerprint/mpi-sys-2/run-build-script-build-script-build",
            ".fingerprint/mpi-sys-4/build-script-build-script-build",
            "build/mpi-sys-2/output",
            "build/mpi-sys-4/build-script-build",
            "build/serde-5/output",
        ];
        files.iter().for_each(|file| write(&first.join("release").join(file)));
        let long_ago = SystemTime::now() - Duration::from_secs(5000);
        let old = first.join("release/build/serde-5/output");
        File::options().append(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        write(&first.join("built-for.txt"));
        assert!(begin() == Shared::None && !second.exists(), "the first has not been built to its end");
        write(&first.join("release/ddtbench-rank"));
        assert_eq!(begin(), Shared::AnotherMpi);
        let has = |file: &str| second.join("release").join(file).exists();
        let is_taken: Vec<bool> = files.iter().map(|file| has(file)).collect();
        assert_eq!(is_taken, [true, true, false, true, false, true, false, true, true]);
        assert!(!has("ddtbench-rank") && !second.join("built-for.txt").exists());
        assert_eq!(
            second.join("release/build/serde-5/output").metadata().unwrap().modified().unwrap(),
            long_ago
        );
    }

    #[test]
    fn without_another_mpi_a_folder_begins_with_what_ddtbench_was_built_of() {
        let folder = tempfile::tempdir().unwrap();
        let (release, target) = (folder.path().join("release"), folder.path().join("rank/first"));
        for file in
            ["ddtbench", "deps/libserde-1.rlib", ".fingerprint/serde-1/lib-serde", "build/serde-5/output"]
        {
            write(&release.join(file));
        }
        let begin =
            |program: &Path| begin_with(&target, &[&folder.path().join("rank")], Some(program)).unwrap();
        let elsewhere = folder.path().join("bin/ddtbench");
        write(&elsewhere);
        assert_eq!(begin(&elsewhere), Shared::None, "one that was installed");
        let busy = Lock::take_if_free(&release.join(".cargo-lock")).unwrap();
        assert_eq!(begin(&release.join("ddtbench")), Shared::None, "cargo writes to it");
        drop(busy);
        assert_eq!(begin(&release.join("ddtbench")), Shared::Ddtbench);
        let shared = target.join("release/deps/libserde-1.rlib");
        assert!(shared.exists());

        // Built anew, beside a rank program that is older than this, and one that is not.
        let (own, program) = (release.join("ddtbench"), target.join("release/ddtbench-rank"));
        write(&program);
        let at = |file: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::options().append(true).open(file).unwrap().set_modified(time).unwrap();
        };
        fs::remove_file(release.join("deps/libserde-1.rlib")).unwrap();
        fs::write(release.join("deps/libserde-1.rlib"), "new").unwrap();
        at(&shared, 100);
        at(&own, 200);
        at(&program, 300);
        renew_by(&target, &program, Some(&own)).unwrap();
        assert_eq!(fs::read(&shared).unwrap(), b"", "the rank program was built after it");
        at(&program, 100);
        renew_by(&target, &program, Some(&own)).unwrap();
        assert_eq!(fs::read(&shared).unwrap(), b"new");
    }
}
