//! Builds the rank program for each MPI and set of compiler settings ([`builds`]).

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::builds::{self, Build};
use super::error::{MpiError, Result, other};
use super::install::{self, Marker};
use super::launcher::quoted;
use super::lock::Lock;
use super::process::Line;
use super::tool::{self, last_lines};
use super::{Installation, Print, Project, find, wheels};

const RANK_PROGRAM: &str = "ddtbench-rank";
/// With these variables, the crate `mpi` would find another MPI than the one in `MPICC`.
const OTHER_MPI_VARIABLES: [&str; 2] = ["CRAY_MPICH_DIR", "MPI_PKG_CONFIG"];
/// Minimum time between two messages on a build's progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

impl Project {
    /// The rank program for an MPI, built if it is missing or older than its source. Exceptions: a program built in a read-only
    /// place is used as it is, and so is one built from the current source if cargo is missing or fails.
    pub fn rank_program(&self, mpi: &Installation, print: Print<'_>) -> Result<PathBuf> {
        let (name, title) = (&mpi.name, mpi.title());
        let shared = self.state.shared.as_ref();
        if let Some(program) = shared.and_then(|place| builds::built_in(place, mpi, self.root())) {
            print(&format!("using the existing rank program for {name} ({title}): {}", program.display()));
            return Ok(program);
        }
        let build = Build::of(mpi, &self.state);
        let program = build.program();
        let existing = |reason: &str, print: Print<'_>| {
            let program = builds::built_in(&self.state.own, mpi, self.root())?;
            print(&format!("{reason}; using the existing rank program: {}", program.display()));
            Some(program)
        };
        if cargo().is_none() {
            return existing("cargo was not found", print).ok_or_else(|| no_cargo(name, &program));
        }
        self.state.report(self.root(), print);
        // Cargo builds the programs of all MPIs at the same path, and each must be copied before the next is built.
        let _lock = Lock::take(&self.state.own.builds.join(".lock"), print)?;
        let verb = if program.exists() { "checking" } else { "building" };
        print(&format!("{verb} the rank program for {name} ({title})"));
        match self.cargo(mpi, print).and_then(|cargo| self.build(cargo, mpi, print)) {
            Ok(built) => build.keep(&built, self.root()),
            Err(MpiError::Other(reason)) => existing(reason.trim_end(), print).ok_or(MpiError::Other(reason)),
            Err(error) => Err(error),
        }
    }

    /// Cargo with all settings for the rank program of an MPI, without a command. Installs libclang if needed.
    ///
    /// # Errors
    /// If cargo or libclang is missing.
    pub fn cargo(&self, mpi: &Installation, print: Print<'_>) -> Result<Command> {
        let build = Build::of(mpi, &self.state);
        let Some(cargo) = cargo() else {
            return Err(no_cargo(&mpi.name, &build.program()));
        };
        let mut command = Command::new(cargo);
        command.current_dir(self.root()).args(["--config", &build.setting()]);
        for variable in OTHER_MPI_VARIABLES {
            command.env_remove(variable);
        }
        // In the project, cargo uses the folder of `ddtbench`, and shares common builds.
        if let Some(folder) = &self.state.own.target {
            command.env("CARGO_TARGET_DIR", folder);
        }
        command.env("MPICC", &mpi.mpicc).envs(&mpi.env);
        command.envs(self.libclang(mpi, print)?);
        Ok(command)
    }

    /// Runs cargo, with progress messages. Returns the path of the program.
    fn build(&self, mut command: Command, mpi: &Installation, print: Print<'_>) -> Result<PathBuf> {
        command.args(["build", "--release", "--package", RANK_PROGRAM]);
        let settings = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let settings: Vec<String> = settings
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(&value.to_string_lossy())))
            .collect();
        let line = format!("{} {}", settings.join(" "), install::command_line(&command));
        command.arg("--message-format=json-render-diagnostics");
        if !self.verbose {
            // Wide enough for cargo's counter.
            command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "100");
        }
        let mut output = BuildOutput::new(self.verbose);
        let mut program = None;
        let exit = tool::follow(command, Duration::MAX, |line| match line {
            Line::Out(line) if line.starts_with('{') => program = executable(&line).or(program.take()),
            Line::Out(line) | Line::Err(line) => output.add(&line, print),
        })?;
        program.filter(|_| exit.success()).ok_or_else(|| {
            let (name, output) = (&mpi.name, last_lines(&output.lines, SHOWN_LINES));
            other(format!("the rank program for {name} could not be built with `{line}` ({exit}):\n{output}"))
        })
    }

    /// Variables with libclang's folder for bindgen. The user's variable has priority, then the installed package, then the
    /// machine's libclang.
    fn libclang(&self, mpi: &Installation, print: Print<'_>) -> Result<Vec<(OsString, OsString)>> {
        if env::var_os("LIBCLANG_PATH").is_some_and(|path| !path.is_empty()) {
            return Ok(Vec::new());
        }
        let mut folders = self.state.places().map(|place| place.installed.join("libclang"));
        let folder = folders.find(|folder| Marker::Libclang.find(folder).is_some());
        let folder = folder.unwrap_or_else(|| self.state.own.installed.join("libclang"));
        let packages = [wheels::libclang()];
        let is_there = Marker::Libclang.find(&folder).is_some();
        match if is_there { Ok(()) } else { install::install(&packages, &folder, Marker::Libclang, print) } {
            Ok(()) => {}
            Err(error @ MpiError::Interrupted) => return Err(error),
            Err(error) if has_libclang() => {
                print(&format!("{error}\nusing the machine's libclang instead"));
                return Ok(Vec::new());
            }
            Err(error) => return Err(error),
        }
        let file = Marker::Libclang.find(&folder).and_then(|file| Some(file.parent()?.to_owned()));
        let mut variables: Vec<(OsString, OsString)> =
            file.map(|dir| ("LIBCLANG_PATH".into(), dir.into_os_string())).into_iter().collect();
        // The package has no headers (stddef.h, ...); those of the C compiler work too.
        if let Some(headers) = compiler_headers(mpi) {
            let mut args = env::var_os("BINDGEN_EXTRA_CLANG_ARGS").unwrap_or_default();
            args.push(if args.is_empty() { "" } else { " " });
            args.push(format!("-I{}", headers.display()));
            variables.push(("BINDGEN_EXTRA_CLANG_ARGS".into(), args));
        }
        Ok(variables)
    }
}

/// The error without cargo and without a program built from the current source.
fn no_cargo(mpi: &str, program: &Path) -> MpiError {
    let how = if program.is_file() { "was built from other source files" } else { "is not built" };
    other(format!(
        "the rank program for {mpi} {how} ({}), and cargo was not found to build it; install Rust or put cargo into PATH",
        program.display()
    ))
}

/// The cargo that started this program, or the one in `PATH`.
fn cargo() -> Option<PathBuf> {
    find::in_path(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Maximum lines of cargo in an error.
const SHOWN_LINES: usize = 40;

/// The output of cargo: reports its progress, and keeps the last other lines for an error.
struct BuildOutput {
    lines: Vec<String>,
    last: Instant,
    is_passed_on: bool,
}

impl BuildOutput {
    /// If it `is_passed_on`, each line is printed and none is kept.
    fn new(is_passed_on: bool) -> Self {
        Self { lines: Vec::new(), last: Instant::now(), is_passed_on }
    }

    fn add(&mut self, line: &str, report: Print<'_>) {
        if self.is_passed_on {
            return report(line);
        }
        // A progress bar is redrawn after a carriage return.
        for part in line.split('\r') {
            match progress(part) {
                None if part.trim().is_empty() => {}
                None => {
                    self.lines.drain(..(self.lines.len() + 1).saturating_sub(SHOWN_LINES));
                    self.lines.push(part.to_owned());
                }
                Some(built) if self.last.elapsed() >= PROGRESS_EVERY => {
                    self.last = Instant::now();
                    report(&format!("built: {built}"));
                }
                Some(_) => {}
            }
        }
    }
}

/// Parses cargo's progress: `Building [===>   ] 17/112: serde`.
fn progress(line: &str) -> Option<String> {
    let drawn = line.trim_start().strip_prefix("Building [")?;
    let (done, all) = drawn.split_once("] ")?.1.split(':').next()?.split_once('/')?;
    Some(format!("{done} of {all} units"))
}

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

/// Whether the machine has a libclang in a place where bindgen searches.
fn has_libclang() -> bool {
    let in_folder = |folder: PathBuf| {
        let mut entries = folder.read_dir().into_iter().flatten().flatten();
        entries.any(|entry| is_libclang(&entry.file_name().to_string_lossy()))
    };
    let llvm = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path());
    let llvm = llvm.filter(|path| path.to_string_lossy().contains("/llvm")).map(|path| path.join("lib"));
    ["/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib"]
        .into_iter()
        .map(PathBuf::from)
        .chain(llvm)
        .any(in_folder)
}

/// Whether a file is libclang with the C interface. The one with the C++ interface is another library.
fn is_libclang(name: &str) -> bool {
    let is_c = name.starts_with("libclang.so") || name.starts_with("libclang-") || name == "libclang.dylib";
    is_c && !name.starts_with("libclang-cpp")
}

/// The program in a message of cargo, if it is ours.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let is_ours = message.get("target")?.get("name")? == RANK_PROGRAM;
    is_ours.then(|| message.get("executable")?.as_str().map(PathBuf::from)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_not_taken_for_a_message() {
        assert_eq!(
            progress("    Building [=====>      ] 17/112: serde, syn"),
            Some("17 of 112 units".into())
        );
        assert_eq!(progress("   Compiling serde v1.0.229"), None);
        let mut reported = Vec::new();
        let drawn =
            "   Compiling syn v3\n    Building [>  ] 1/9: a\r    Building [=> ] 2/9: b\r\nerror: no\n";
        let mut output = BuildOutput::new(false);
        drawn.lines().for_each(|line| output.add(line, &mut |text| reported.push(text.to_owned())));
        assert_eq!((output.lines.join("|").as_str(), reported.len()), ("   Compiling syn v3|error: no", 0));
    }

    #[test]
    fn libclang_by_its_names() {
        for name in ["libclang.so", "libclang.so.1", "libclang-14.so.1", "libclang.dylib"] {
            assert!(is_libclang(name), "{name}");
        }
        for name in ["libclang-cpp.so.14", "libclang_rt.so", "libclang.a"] {
            assert!(!is_libclang(name), "{name}");
        }
    }

    #[test]
    fn cargo_names_the_program() {
        let message = |name: &str, file: &str| {
            format!(r#"{{"reason":"compiler-artifact","target":{{"name":"{name}"}},"executable":{file}}}"#)
        };
        let named = executable(&message(RANK_PROGRAM, r#""/t/x86/release/ddtbench-rank""#));
        assert_eq!(named, Some("/t/x86/release/ddtbench-rank".into()));
        for other in [message("build-script-build", r#""/t/x""#), message(RANK_PROGRAM, "null"), "{".into()] {
            assert_eq!(executable(&other), None, "{other}");
        }
    }
}
