//! Installs Python packages into a folder of the project: atomically, and one process at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Print;
use super::error::{Result, at, other};
use super::launcher::quoted;
use super::lock::Lock;
use super::process::Line;
use super::tool::{self, last_lines};
use super::wheels::Package;

/// Prefix of folders of incomplete installs.
const UNFINISHED: &str = ".unfinished-";

/// Installs `packages` into `folder`.
///
/// They are installed into a temporary folder next to the final one, which is renamed at the end. pip uses
/// `bin` and `lib` of the prefix, or of `local` in it for Debian's Python.
pub(super) fn install(packages: &[Package], folder: &Path, print: Print<'_>) -> Result<()> {
    let parent = folder.parent().expect("an install has a parent folder");
    let _lock = Lock::take(&parent.join(".lock"), print)?;
    if is_complete(folder) {
        return Ok(());
    }
    let titles: Vec<String> = packages.iter().map(ToString::to_string).collect();
    let pip = Pip::find(&titles.join(" and "), parent)?;
    clear_unfinished(parent);
    let temporary =
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(parent).map_err(at("writing in", parent))?;
    print(&format!("installing {} with pip into {}", titles.join(" and "), folder.display()));
    let wheels = Hashed::from_packages(packages, folder, &pip, temporary.path(), print)?;
    let prefix = temporary.path().join("prefix");
    pip.install(&wheels, &prefix)?;

    let complete = [prefix.clone(), prefix.join("local")]
        .into_iter()
        .find(|prefix| is_complete(prefix))
        .ok_or_else(|| {
            other(format!("the packages {} do not contain {MARKER}; another version may", titles.join(" ")))
        })?;
    configure(&complete)?;
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(at("removing the incomplete", folder))?;
    }
    fs::rename(&complete, folder).map_err(at("creating", folder))?;
    wheels.record(print)
}

/// A file of parameters of Open MPI, and those that it gets: the component finds no network on most machines, and then its end sleeps a
/// second in each start. `OMPI_MCA_btl` takes the place of this list.
const PARAMETERS: (&str, &str) = ("etc/openmpi-mca-params.conf", "\nbtl = ^ofi\n");

/// Adds parameters to an MPI that has such a file.
fn configure(prefix: &Path) -> Result<()> {
    let (file, parameters) = (prefix.join(PARAMETERS.0), PARAMETERS.1);
    if !file.exists() {
        return Ok(());
    }
    let ours = fs::read_to_string(&file).map(|text| text + parameters);
    ours.and_then(|text| fs::write(&file, text)).map_err(at("writing", &file))
}

/// Packages as pip's requirements, with the hashes of their wheels.
struct Hashed {
    /// The file that pip reads.
    requirements: PathBuf,
    /// The folder of wheels that were downloaded already.
    fetched: Option<PathBuf>,
    /// The file for hashes that are not in this program.
    record: Option<PathBuf>,
}

impl Hashed {
    /// Pinned versions have known hashes. For other versions, the first install records them next to the
    /// folder, and later installs of that version must have the same. `work` is a temporary folder.
    fn from_packages(
        packages: &[Package],
        folder: &Path,
        pip: &Pip,
        work: &Path,
        print: Print<'_>,
    ) -> Result<Self> {
        let requirements = work.join("requirements.txt");
        if packages.iter().all(|package| !package.hashes.is_empty()) {
            let hashes =
                |package: &Package| package.hashes.iter().map(|hash| format!("sha256:{hash}")).collect();
            let lines = packages.iter().map(|package| requirement(package, hashes(package)));
            fs::write(&requirements, lines.collect::<String>()).map_err(at("writing", &requirements))?;
            return Ok(Self { requirements, fetched: None, record: None });
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let record = folder.with_file_name(format!("{name}.hashes.txt"));
        if record.exists() {
            print(&format!("its wheels must have the hashes of the first install: {}", record.display()));
            return Ok(Self { requirements: record.clone(), fetched: None, record: None });
        }
        let mut lines = String::new();
        let fetched = work.join("wheels");
        for package in packages {
            let into = fetched.join(package.name);
            lines += &requirement(package, pip.fetch(package, &into)?);
        }
        fs::write(&requirements, lines).map_err(at("writing", &requirements))?;
        Ok(Self { requirements, fetched: Some(fetched), record: Some(record) })
    }

    /// Stores hashes that were unknown.
    fn record(&self, print: Print<'_>) -> Result<()> {
        let Some(record) = &self.record else { return Ok(()) };
        fs::copy(&self.requirements, record).map_err(at("writing", record))?;
        print(&format!(
            "the hashes of its wheels are stored in {}: later installs of this version must have the same",
            record.display()
        ));
        Ok(())
    }
}

/// A line of pip's requirements.
fn requirement(package: &Package, hashes: Vec<String>) -> String {
    let hashes: String = hashes.iter().map(|hash| format!(" --hash={hash}")).collect();
    format!("{package}{hashes}\n")
}

/// Removes the remains of interrupted installs. The caller must hold the lock.
fn clear_unfinished(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // Remains are harmless.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The file that shows that an install is complete.
const MARKER: &str = "bin/mpicc";

/// Whether a folder has a complete install.
pub(super) fn is_complete(folder: &Path) -> bool {
    folder.join(MARKER).exists()
}

struct Pip {
    arguments: &'static [&'static str],
    /// Working directory: Python looks for modules there first, so it must not belong to another user.
    current_dir: Option<PathBuf>,
}

impl Pip {
    /// The first pip that works, to install `what`. Nobody else can write to `ours`.
    fn find(what: &str, ours: &Path) -> Result<Self> {
        // Isolated, Python ignores the current folder and the user's packages, but pip may be in them.
        let isolated: [&[&str]; 2] = [&["python3", "-I", "-m", "pip"], &["python", "-I", "-m", "pip"]];
        let users: [&[&str]; 2] = [&["python3", "-m", "pip"], &["python", "-m", "pip"]];
        let scripts: [&[&str]; 2] = [&["pip3"], &["pip"]];
        let here = isolated.into_iter().chain(scripts).map(|arguments| Self { arguments, current_dir: None });
        let there = users.into_iter().map(|arguments| Self { arguments, current_dir: Some(ours.to_owned()) });
        let works = |pip: &Self| {
            let mut command = pip.command();
            command.arg("--version");
            tool::run(command, tool::QUESTION).is_ok_and(|ended| ended.exit.success())
        };
        here.chain(there).find(works).ok_or_else(|| {
            other(format!(
                "installing {what} needs Python's pip, and none of `python3 -I -m pip`, `pip3`, `pip`, `python3 -m pip` works; \
                 install it (Debian: apt install python3-pip; elsewhere: python3 -m ensurepip --user); or install an MPI \
                 and put its mpicc into PATH"
            ))
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.arguments[0]);
        command.args(&self.arguments[1..]);
        if let Some(dir) = &self.current_dir {
            command.current_dir(dir);
        }
        command
    }

    /// Downloads the wheels of a package into a new folder, and returns their hashes.
    fn fetch(&self, package: &Package, into: &Path) -> Result<Vec<String>> {
        let mut command = self.command();
        command.args(["download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]);
        command.args(["--disable-pip-version-check", "--dest"]).arg(into).arg(package.to_string());
        finish(command)?;
        let entries = fs::read_dir(into).map_err(at("reading", into))?;
        let mut command = self.command();
        command.arg("hash").args(entries.flatten().map(|entry| entry.path()));
        let lines = finish(command)?;
        let hashes = lines.iter().filter_map(|line| line.trim().strip_prefix("--hash=")).map(str::to_owned);
        Ok(hashes.collect())
    }

    fn install(&self, wheels: &Hashed, prefix: &Path) -> Result<()> {
        let mut command = self.command();
        command.args([
            "install",
            "--no-deps",
            "--ignore-installed",
            "--no-warn-script-location",
            "--no-compile",
        ]);
        command.args(["--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]);
        if let Some(fetched) = &wheels.fetched {
            command.arg("--no-index");
            for folder in fs::read_dir(fetched).map_err(at("reading", fetched))?.flatten() {
                command.arg("--find-links").arg(folder.path());
            }
        }
        command.arg("--prefix").arg(prefix).arg("--require-hashes").arg("-r").arg(&wheels.requirements);
        // pip refuses to combine these user settings with a prefix.
        command.env("PIP_USER", "0").env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_BREAK_SYSTEM_PACKAGES", "1");
        command.env_remove("PIP_TARGET").env_remove("PIP_PREFIX").env_remove("PIP_ROOT");
        finish(command).map(drop)
    }
}

/// Runs pip, and returns its output.
fn finish(command: Command) -> Result<Vec<String>> {
    let line = command_line(&command);
    let mut lines = Vec::new();
    let exit = tool::follow(command, Duration::MAX, |line| match line {
        Line::Out(line) | Line::Err(line) => lines.push(line),
    })?;
    if exit.success() {
        return Ok(lines);
    }
    let output = last_lines(&lines, 15);
    Err(other(format!("`{line}` failed ({exit}):\n{output}")))
}

/// A command as typed in a shell.
pub(super) fn command_line(command: &Command) -> String {
    let arguments = std::iter::once(command.get_program()).chain(command.get_args());
    arguments.map(|word| quoted(&word.to_string_lossy()).into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("mpich");
        fs::create_dir_all(prefix.join("bin")).unwrap();
        fs::write(prefix.join("bin/mpicc"), "").unwrap();
        let mut lines = Vec::new();
        let package = Package { name: "no-such", version: "1".to_owned(), hashes: &[] };
        install(&[package], &prefix, &mut |line| lines.push(line.to_owned())).unwrap();
        assert!(lines.is_empty());
    }

    #[test]
    fn only_open_mpi_gets_parameters() {
        let folder = tempfile::tempdir().unwrap();
        configure(folder.path()).unwrap();
        let file = folder.path().join(PARAMETERS.0);
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "# none").unwrap();
        configure(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "# none\nbtl = ^ofi\n");
    }
}
