//! Installs Python packages into a folder of the project: all or nothing, and one process at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Say;
use super::error::{MpiError, Result, at, last_lines};
use super::launcher::quoted;
use super::lock::Lock;
use super::process::Line;
use super::tool;

/// Folders of this prefix are installs that have not come to their end.
const UNFINISHED: &str = ".unfinished-";

/// Puts `packages` into `folder`. `marker` is a file that shows whether they are really there.
///
/// The packages go into a folder beside the final one, which is renamed when it is complete. pip puts files into
/// `bin` and `lib` of the prefix, or of `local` below it where Python comes from Debian.
pub(super) fn install(packages: &[String], folder: &Path, marker: Marker, say: Say<'_>) -> Result<()> {
    let parent = folder.parent().expect("an install has a parent folder");
    let _lock = Lock::take(&parent.join(".lock"), say)?;
    if marker.find(folder).is_some() {
        return Ok(());
    }
    let pip = Pip::find(packages, marker)?;
    clear_unfinished(parent);
    let temporary =
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(parent).map_err(at("writing in", parent))?;
    say(&format!("installing {} with pip into {}", packages.join(" and "), folder.display()));
    pip.install(packages, temporary.path())?;

    let complete = [temporary.path().to_owned(), temporary.path().join("local")]
        .into_iter()
        .find(|prefix| marker.find(prefix).is_some())
        .ok_or_else(|| MpiError::Incomplete { packages: packages.join(" "), file: marker.file() })?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(at("removing the incomplete", folder))?;
    }
    fs::rename(&complete, folder).map_err(at("creating", folder))
}

/// Removes what an interrupted install left. Only the holder of the lock may call this.
fn clear_unfinished(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // Litter that cannot be removed harms nothing.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The file by which a complete install is known.
#[derive(Clone, Copy)]
pub(super) enum Marker {
    /// `bin/mpicc`.
    Mpicc,
    /// `libclang.so` in its Python package, whose folder has Python's version in it.
    Libclang,
}

impl Marker {
    const fn file(self) -> &'static str {
        match self {
            Self::Mpicc => "bin/mpicc",
            Self::Libclang => "clang/native/libclang.so",
        }
    }

    /// The file below `prefix`.
    pub fn find(self, prefix: &Path) -> Option<PathBuf> {
        match self {
            Self::Mpicc => Some(prefix.join("bin/mpicc")).filter(|file| file.exists()),
            Self::Libclang => {
                let folders =
                    |dir: PathBuf| dir.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
                ["lib", "lib64"]
                    .into_iter()
                    .flat_map(|lib| folders(prefix.join(lib)))
                    .flat_map(folders)
                    .flat_map(|packages| {
                        ["libclang.so", "libclang.dylib"].map(|f| packages.join("clang/native").join(f))
                    })
                    .find(|file| file.exists())
            }
        }
    }
}

/// A pip that works.
struct Pip(Vec<&'static str>);

impl Pip {
    fn find(packages: &[String], marker: Marker) -> Result<Self> {
        let candidates: [&[&'static str]; 4] =
            [&["python3", "-m", "pip"], &["python", "-m", "pip"], &["pip3"], &["pip"]];
        let works = |words: &&&[&str]| {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).arg("--version");
            tool::run(command, tool::QUESTION).is_ok_and(|ended| ended.exit.success())
        };
        candidates.iter().find(works).map(|words| Self(words.to_vec())).ok_or_else(|| MpiError::NoPip {
            what: packages.join(" and "),
            otherwise: match marker {
                Marker::Mpicc => "; or install an MPI and put its mpicc into PATH",
                Marker::Libclang => "; or install libclang and set LIBCLANG_PATH to its folder",
            },
        })
    }

    fn install(&self, packages: &[String], prefix: &Path) -> Result<()> {
        let mut command = Command::new(self.0[0]);
        command.args(&self.0[1..]);
        command.args([
            "install",
            "--no-deps",
            "--ignore-installed",
            "--no-warn-script-location",
            "--no-compile",
        ]);
        command.args(["--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]);
        command.arg("--prefix").arg(prefix).args(packages);
        // Settings of the user that pip refuses to combine with a prefix.
        command.env("PIP_USER", "0").env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_BREAK_SYSTEM_PACKAGES", "1");
        command.env_remove("PIP_TARGET").env_remove("PIP_PREFIX").env_remove("PIP_ROOT");
        let line = command_line(&command);
        let mut said = Vec::new();
        let exit = tool::follow(command, None, |line| match line {
            Line::Out(line) | Line::Err(line) => said.push(line),
        })?;
        if exit.success() {
            return Ok(());
        }
        let output = last_lines(said.join("\n").as_bytes(), 15);
        Err(MpiError::Pip { command: line, status: exit.to_string(), output })
    }
}

/// A command as one would type it.
pub(super) fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy()).into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libclang_below_any_python() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Marker::Libclang.find(folder.path()), None);
        let native = folder.path().join("lib/python3.12/dist-packages/clang/native");
        fs::create_dir_all(&native).unwrap();
        fs::write(native.join("libclang.so"), "").unwrap();
        assert_eq!(Marker::Libclang.find(folder.path()), Some(native.join("libclang.so")));
    }

    #[test]
    fn what_is_there_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("mpich");
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::write(prefix.join("bin/mpicc"), "").unwrap();
        let mut said = Vec::new();
        install(&["no-such==1".to_owned()], &prefix, Marker::Mpicc, &mut |line| said.push(line.to_owned()))
            .unwrap();
        assert!(said.is_empty());
    }
}
