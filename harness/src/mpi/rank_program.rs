//! Builds the rank program, once for each MPI, in folders that never mix.
//!
//! The crate `mpi` looks at its variables only when it is built first, so a folder that was built for another MPI
//! would silently stay with it. A stamp in each folder says what it was built for; one that differs is deleted. What does
//! not depend on the MPI is built once: a new folder begins with another's, without the packages that link MPI.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;
use std::{env, io};

use super::error::{MpiError, Result, at, last_lines};
use super::install::{self, Marker};
use super::launcher::quoted;
use super::lock::Lock;
use super::{Installation, Project, Say, find, wheels};

/// Package and program.
const RANK_PROGRAM: &str = "ddtbench-rank";
/// The packages of which each MPI has its own, as cargo names what it has built of them.
const LINK_MPI: [&str; 3] = ["mpi-sys-", "mpi-", "ddtbench-rank-"];
/// Variables by which the crate `mpi` would find another MPI than the one in `MPICC`.
const RIVALS: [&str; 2] = ["CRAY_MPICH_DIR", "MPI_PKG_CONFIG"];

impl Project {
    /// The rank program for an MPI; built if cargo finds that it is missing or older than its source.
    pub fn rank_program(&self, mpi: &Installation, say: Say<'_>) -> Result<PathBuf> {
        let target = self.build_folder(&mpi.name);
        let program = target.join("release").join(RANK_PROGRAM);
        let Some(cargo) = find::in_path(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into())) else {
            if program.exists() && !is_of_another(&target, mpi) {
                say(&format!(
                    "cargo was not found; using the rank program as it was built: {}",
                    program.display()
                ));
                return Ok(program);
            }
            return Err(MpiError::NoCargo { name: mpi.name.clone(), program });
        };
        let _lock = Lock::take(&lock_file(&target), say)?;
        if target.exists() && is_of_another(&target, mpi) {
            say(&format!(
                "the MPI called {} is another one than before; its rank program is built anew",
                mpi.name
            ));
            fs::remove_dir_all(&target).map_err(at("removing", &target))?;
        }
        if !target.exists() {
            begin_with_another(&target)?;
        }
        fs::create_dir_all(&target).map_err(at("creating", &target))?;
        fs::write(stamp_file(&target), stamp(mpi)).map_err(at("writing", &target))?;

        let clang = self.libclang(mpi, say)?;
        if program.exists() {
            say(&format!("checking the rank program for {} ({})", mpi.name, mpi.title()));
        } else {
            say(&format!("building the rank program for {} ({}), about two minutes", mpi.name, mpi.title()));
        }
        let variables = [
            vec![
                ("CARGO_TARGET_DIR".into(), target.clone().into_os_string()),
                ("MPICC".into(), mpi.mpicc.clone().into_os_string()),
            ],
            mpi.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            clang,
        ]
        .concat();
        self.build(&cargo, &variables, mpi)?;
        Ok(program)
    }

    fn build(&self, cargo: &Path, variables: &[(OsString, OsString)], mpi: &Installation) -> Result<()> {
        let mut command = Command::new(cargo);
        command.current_dir(self.root()).args(["build", "--release", "--package", RANK_PROGRAM]);
        command.envs(variables.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
        for rival in RIVALS.into_iter().filter(|&rival| !variables.iter().any(|(name, _)| name == rival)) {
            command.env_remove(rival);
        }
        if self.verbose {
            command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
        }
        let settings: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())))
            .collect();
        let line = format!("{} {}", settings.join(" "), install::command_line(&command));
        let output = command.output().map_err(|source| MpiError::Start { command: line.clone(), source })?;
        if output.status.success() {
            return Ok(());
        }
        Err(MpiError::Build {
            name: mpi.name.clone(),
            command: line,
            status: output.status.to_string(),
            output: last_lines(&output.stderr, 40),
        })
    }

    /// Variables for bindgen: where libclang is. The user's own wins; else the package is installed; if that
    /// cannot be done, one that the machine has.
    fn libclang(&self, mpi: &Installation, say: Say<'_>) -> Result<Vec<(OsString, OsString)>> {
        if env::var_os("LIBCLANG_PATH").is_some_and(|path| !path.is_empty()) {
            return Ok(Vec::new());
        }
        let folder = self.state().join("libclang");
        let packages = [wheels::LIBCLANG.to_owned()];
        match install::install(&packages, &folder, Marker::Libclang, say) {
            Ok(()) => {}
            Err(error) if has_libclang() => {
                say(&format!("{error}\nusing the machine's libclang instead"));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        }
        let file = Marker::Libclang.find(&folder).and_then(|file| Some(file.parent()?.to_owned()));
        let mut variables: Vec<(OsString, OsString)> =
            file.map(|dir| ("LIBCLANG_PATH".into(), dir.into_os_string())).into_iter().collect();
        // The package has no headers of its own (stddef.h, ...); the C compiler's serve as well.
        if let Some(headers) = compiler_headers(mpi) {
            let mut args = env::var_os("BINDGEN_EXTRA_CLANG_ARGS").unwrap_or_default();
            args.push(if args.is_empty() { "" } else { " " });
            args.push(format!("-I{}", headers.display()));
            variables.push(("BINDGEN_EXTRA_CLANG_ARGS".into(), args));
        }
        Ok(variables)
    }
}

/// Copies what is built for another MPI beside the new folder `target` and does not depend on it, if there is one that is
/// not being built right now.
fn begin_with_another(target: &Path) -> Result<()> {
    let Some(beside) = target.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return Ok(()) };
    for other in beside.flatten().map(|entry| entry.path()) {
        if !other.join("release").join(RANK_PROGRAM).exists() {
            continue;
        }
        let Some(_lock) = Lock::take_if_free(&lock_file(&other))? else { continue };
        let release = target.join("release");
        for part in ["deps", "build", ".fingerprint"] {
            let from = other.join("release").join(part);
            let is_kept =
                |name: &str| part != ".fingerprint" || LINK_MPI.iter().all(|link| !name.starts_with(link));
            copy(&from, &release.join(part), &is_kept)?;
        }
        return Ok(());
    }
    Ok(())
}

/// Copies a folder, of whose own entries those that are to be kept.
fn copy(from: &Path, to: &Path, is_kept: &dyn Fn(&str) -> bool) -> Result<()> {
    fs::create_dir_all(to).map_err(at("creating", to))?;
    for entry in fs::read_dir(from).map_err(at("reading", from))? {
        let entry = entry.map_err(at("reading", from))?;
        let (path, name) = (entry.path(), entry.file_name());
        match &*name.to_string_lossy() {
            name if !is_kept(name) => {}
            name if path.is_dir() => copy(&path, &to.join(name), &|_| true)?,
            name => drop(fs::copy(&path, to.join(name)).map_err(at("copying", &path))?),
        }
    }
    Ok(())
}

/// The folder of the C compiler's own headers.
fn compiler_headers(mpi: &Installation) -> Option<PathBuf> {
    let ask = |compiler: &str, option: &str| {
        let output = Command::new(compiler).arg(option).output().ok()?;
        let dir = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        dir.is_absolute().then_some(dir)
    };
    let of_wrapper = super::show::Show::ask(&mpi.mpicc, &mpi.env).ok().map(|show| show.compiler);
    [env::var("CC").ok(), of_wrapper, Some("cc".to_owned())].into_iter().flatten().find_map(|compiler| {
        ask(&compiler, "-print-file-name=include")
            .or_else(|| ask(&compiler, "-print-resource-dir").map(|dir| dir.join("include")))
            .filter(|dir| dir.join("stddef.h").exists())
    })
}

/// Whether the machine has a libclang where bindgen looks for one.
fn has_libclang() -> bool {
    let in_folder = |folder: PathBuf| {
        folder.read_dir().into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libclang.so") || name.starts_with("libclang-") || name == "libclang.dylib"
        })
    };
    let llvm = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm = llvm.filter(|path| path.to_string_lossy().contains("/llvm")).map(|path| path.join("lib"));
    ["/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib"]
        .into_iter()
        .map(PathBuf::from)
        .chain(llvm)
        .any(in_folder)
}

fn lock_file(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default();
    target.with_file_name(format!(".{}.lock", name.to_string_lossy()))
}

fn stamp_file(target: &Path) -> PathBuf {
    target.join("built-for.txt")
}

/// What a folder is built for: the same path may hold another MPI tomorrow.
fn stamp(mpi: &Installation) -> String {
    let changed = mpi.mpicc.metadata().and_then(|facts| facts.modified()).ok();
    let seconds =
        changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{}\n{}\nwrapper of {}\n", mpi.mpicc.display(), mpi.title(), seconds.as_nanos())
}

fn is_of_another(target: &Path, mpi: &Installation) -> bool {
    match fs::read_to_string(stamp_file(target)) {
        Ok(found) => found != stamp(mpi),
        Err(error) => error.kind() != io::ErrorKind::NotFound || target.join("release").exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_depend_on_the_mpi_is_taken_from_another_build() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        begin_with_another(&second).unwrap();
        assert!(!second.exists(), "there is none to begin with");
        for file in
            ["deps/libserde.rlib", ".fingerprint/serde-1/x", ".fingerprint/mpi-sys-2/x", "build/mpi-sys-2/y"]
        {
            let file = first.join("release").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        fs::write(stamp_file(&first), "first").unwrap();
        begin_with_another(&second).unwrap();
        assert!(!second.exists(), "the first has not been built to its end");
        fs::write(first.join("release").join(RANK_PROGRAM), "").unwrap();
        begin_with_another(&second).unwrap();
        let has = |file: &str| second.join("release").join(file).exists();
        assert!(has("deps/libserde.rlib") && has(".fingerprint/serde-1/x"));
        assert!(!has(".fingerprint/mpi-sys-2") && !has(RANK_PROGRAM) && !stamp_file(&second).exists());
    }

    #[test]
    fn another_mpi_under_the_same_name_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mpicc = folder.path().join("mpicc");
        fs::write(&mpicc, "").unwrap();
        let mut mpi = Installation { mpicc, ..Installation::fake("mpiexec") };
        assert!(!is_of_another(folder.path(), &mpi));
        fs::create_dir(folder.path().join("release")).unwrap();
        assert!(is_of_another(folder.path(), &mpi), "built, but nobody knows for what");
        fs::write(stamp_file(folder.path()), stamp(&mpi)).unwrap();
        assert!(!is_of_another(folder.path(), &mpi));
        mpi.version = "5.0.3".to_owned();
        assert!(is_of_another(folder.path(), &mpi));
    }
}
