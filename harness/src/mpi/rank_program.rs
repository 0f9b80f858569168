//! Builds the rank program, once for each MPI, in folders that never mix.
//!
//! The crate `mpi` looks at its variables only when it is built first, so a folder that was built for another MPI
//! would silently stay with it. A stamp in each folder says what it was built for; one that differs is deleted. What does
//! not depend on the MPI is built once ([`shared_build`]).

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use super::error::{MpiError, Result, at, last_lines};
use super::install::{self, Marker};
use super::launcher::quoted;
use super::lock::Lock;
use super::process::Line;
use super::shared_build::{self, Shared};
use super::{Installation, Project, Say, find, tool, wheels};

/// Package and program.
const RANK_PROGRAM: &str = "ddtbench-rank";
/// Variables by which the crate `mpi` would find another MPI than the one in `MPICC`.
const OTHER_MPI_VARIABLES: [&str; 2] = ["CRAY_MPICH_DIR", "MPI_PKG_CONFIG"];
/// A build says at most so often how far it is.
const SAID_AGAIN: Duration = Duration::from_secs(10);

impl Project {
    /// The rank program for an MPI; built if cargo finds that it is missing or older than its source.
    pub fn rank_program(&self, mpi: &Installation, say: Say<'_>) -> Result<PathBuf> {
        let target = self.build_folder(&mpi.name);
        let program = target.join("release").join(RANK_PROGRAM);
        if cargo().is_none() {
            if program.exists() && !is_of_another(&target, mpi) {
                say(&format!(
                    "cargo was not found; using the rank program as it was built: {}",
                    program.display()
                ));
                return Ok(program);
            }
            return Err(MpiError::NoCargo { name: mpi.name.clone(), program });
        }
        let _lock = Lock::take(&lock_file(&target), say)?;
        if target.exists() && is_of_another(&target, mpi) {
            say(&format!(
                "the MPI called {} is another one than before; its rank program is built anew",
                mpi.name
            ));
            fs::remove_dir_all(&target).map_err(at("removing", &target))?;
        }
        let shared = match target.exists() {
            true => shared_build::renew(&target, &program).map(|()| Shared::None)?,
            false => shared_build::begin(&target)?,
        };
        fs::create_dir_all(&target).map_err(at("creating", &target))?;
        fs::write(stamp_file(&target), stamp(mpi)).map_err(at("writing", &target))?;

        let mut command = self.cargo(mpi, say)?;
        let (name, title) = (&mpi.name, mpi.title());
        match program.exists() {
            true => say(&format!("checking the rank program for {name} ({title})")),
            false => say(&format!("building the rank program for {name} ({title}), {}", shared.lasts())),
        }
        let order = ["build", "--release", "--package", RANK_PROGRAM];
        command.args(order);
        if let Err(error) = self.build(command, mpi, say) {
            // Parts of two builds may not fit together, where a part was generated into a folder that is another one here.
            let release = target.join("release");
            if !matches!(error, MpiError::Build { .. }) || !release.join("deps").exists() {
                return Err(error);
            }
            say("the build failed; once more, with nothing taken over from another build");
            fs::remove_dir_all(&release).map_err(at("removing", &release))?;
            let mut command = self.cargo(mpi, say)?;
            command.args(order);
            self.build(command, mpi, say)?;
        }
        Ok(program)
    }

    /// Cargo with all that it needs to know to work on the rank program for an MPI, where that is built; what it shall do is
    /// still to be said. Installs libclang if need be.
    ///
    /// # Errors
    /// If there is no cargo, or no libclang.
    pub fn cargo(&self, mpi: &Installation, say: Say<'_>) -> Result<Command> {
        let target = self.build_folder(&mpi.name);
        let Some(cargo) = cargo() else {
            let program = target.join("release").join(RANK_PROGRAM);
            return Err(MpiError::NoCargo { name: mpi.name.clone(), program });
        };
        let mut command = Command::new(cargo);
        command.current_dir(self.root());
        for variable in OTHER_MPI_VARIABLES {
            command.env_remove(variable);
        }
        command.env("CARGO_TARGET_DIR", &target).env("MPICC", &mpi.mpicc).envs(&mpi.env);
        command.envs(self.libclang(mpi, say)?);
        Ok(command)
    }

    /// Runs cargo to its end; says now and then how far it is.
    fn build(&self, mut command: Command, mpi: &Installation, say: Say<'_>) -> Result<()> {
        let settings = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())))
            .collect();
        let line = format!("{} {}", settings.join(" "), install::command_line(&command));
        if !self.verbose {
            // Wide enough for cargo to count.
            command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "100");
        }
        let mut told = Told::new(self.verbose);
        let exit = tool::follow(command, None, |line| match line {
            Line::Out(line) | Line::Err(line) => told.hear(&line, say),
        })?;
        if exit.success() {
            return Ok(());
        }
        Err(MpiError::Build {
            name: mpi.name.clone(),
            command: line,
            status: exit.to_string(),
            output: last_lines(told.rest.as_bytes(), 40),
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
            Err(error @ MpiError::Interrupted) => return Err(error),
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

/// The cargo that started this program, or the one in `PATH`.
fn cargo() -> Option<PathBuf> {
    find::in_path(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What cargo says: now and then how far it is, and the rest, which is for when it fails.
struct Told {
    rest: String,
    last: Instant,
    at_once: bool,
}

impl Told {
    /// Nothing yet; where it is said `at_once`, nothing but that it is said line by line.
    fn new(at_once: bool) -> Self {
        Self { rest: String::new(), last: Instant::now(), at_once }
    }

    fn hear(&mut self, line: &str, say: Say<'_>) {
        if self.at_once {
            return say(line);
        }
        // What is drawn anew begins with a carriage return.
        for part in line.split('\r') {
            match progress(part) {
                None if part.trim().is_empty() => {}
                None => self.rest += &format!("{part}\n"),
                Some(built) if self.last.elapsed() >= SAID_AGAIN => {
                    self.last = Instant::now();
                    say(&format!("built: {built}"));
                }
                Some(_) => {}
            }
        }
    }
}

/// How far cargo is, as it draws it: `Building [===>   ] 17/112: serde`.
fn progress(line: &str) -> Option<String> {
    let drawn = line.trim_start().strip_prefix("Building [")?;
    let (done, all) = drawn.split_once("] ")?.1.split(':').next()?.split_once('/')?;
    Some(format!("{done} of {all} parts"))
}

/// The folder of the C compiler's own headers.
fn compiler_headers(mpi: &Installation) -> Option<PathBuf> {
    let ask = |compiler: &str, option: &str| {
        let mut command = Command::new(compiler);
        command.arg(option);
        let dir = PathBuf::from(tool::run(command, tool::QUESTION).ok()?.out.first()?.trim());
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
    fn what_cargo_draws_is_told_apart_from_what_it_says() {
        assert_eq!(
            progress("    Building [=====>      ] 17/112: serde, syn"),
            Some("17 of 112 parts".into())
        );
        assert_eq!(progress("   Compiling serde v1.0.229"), None);
        let mut said = Vec::new();
        let drawn =
            "   Compiling syn v3\n    Building [>  ] 1/9: a\r    Building [=> ] 2/9: b\r\nerror: no\n";
        let mut told = Told::new(false);
        drawn.lines().for_each(|line| told.hear(line, &mut |text| said.push(text.to_owned())));
        assert_eq!((told.rest.as_str(), said.len()), ("   Compiling syn v3\nerror: no\n", 0), "{said:?}");
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
