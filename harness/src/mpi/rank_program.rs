//! The rank program of an MPI: the static library of its family, linked by the MPI's compiler wrapper. In a
//! checkout, cargo builds the library first.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::error::{MpiError, Result, at, other};
use super::home::Home;
use super::install::command_line;
use super::lock::Lock;
use super::process::Line;
use super::state::{StateFolder, can_be_written, short_hash};
use super::tool::{self, last_lines};
use super::{Abi, Installation, Print, Project, find};

/// The program in its folder.
const PROGRAM: &str = "ddtbench-rank";
/// Describes the library and the MPI that a program was linked with.
const LINKED: &str = "linked.json";
/// Variables for the definitions of the MPI's header, compiled with it.
const CONSTANTS: &str = include_str!("../../rank/abi/constants.c");
/// The compiler wrapper for the standard's binary interface.
pub(super) const STANDARD_WRAPPER: &str = "mpicc_abi";
/// Maximum lines of cargo in an error.
const SHOWN_LINES: usize = 40;

/// The library and the MPI of a program. The MPI can be used later when its wrapper does not find a compiler.
#[derive(Serialize, Deserialize)]
struct Linked {
    library: String,
    /// `None`: a program of the standard's interface is for all MPIs.
    mpi: Option<Installation>,
    library_dirs: Vec<PathBuf>,
    /// The time of the wrapper.
    changed: String,
}

impl Project {
    /// The rank program for an MPI, linked if it is missing or if its library has changed. Exceptions: a program in a read-only place is
    /// used as it is, and an existing one or the installed one of the family where no program can be linked.
    ///
    /// # Errors
    /// If there is none: the reason.
    pub fn rank_program(&self, mpi: &Installation, print: Print<'_>) -> Result<PathBuf> {
        let (name, title) = (&mpi.name, mpi.title());
        let ready = self.home.program(mpi.abi);
        if let Some(program) = ready.as_ref().filter(|_| mpi.abi == Abi::Standard || mpi.mpicc == mpi.mpiexec)
        {
            return Ok(program.clone());
        }
        let in_place = |place: &StateFolder| self.folder_in(place, mpi).join(PROGRAM);
        if let Some(program) = self.state.shared.as_ref().map(in_place).filter(|program| program.is_file()) {
            print(&format!("using the existing rank program for {name} ({title}): {}", program.display()));
            return Ok(program);
        }
        let linked = self.linked(mpi, print);
        let existing = Some(in_place(&self.state.own)).filter(|program| program.is_file()).or(ready);
        match (linked, existing) {
            (Err(MpiError::Other(reason)), Some(program)) => {
                let path = program.display();
                print(&format!("{}; using the existing rank program: {path}", reason.trim_end()));
                Ok(program)
            }
            (linked, _) => linked,
        }
    }

    /// Cargo for the rank package of a family, without a command.
    ///
    /// # Errors
    /// If it is missing, or if this is an installation.
    pub fn cargo(&self, abi: Abi) -> Result<Command> {
        let Home::Checkout(root) = &self.home else {
            let (root, name) = (self.home.root().display(), abi.name());
            return Err(other(format!(
                "{root}/lib/ddtbench lacks the rank library of the family `{name}`: install ddtbench again"
            )));
        };
        let cargo =
            find::in_path(&env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).ok_or_else(|| {
                other("cargo was not found to build the rank program; install Rust or put cargo into PATH")
            })?;
        let mut command = Command::new(cargo);
        // The MPI of this variable is for the package's tests only.
        command.current_dir(root).env_remove("MPICC");
        // In a checkout, cargo uses the folder of `ddtbench`, and shares common builds.
        if let Some(folder) = &self.state.own.target {
            command.env("CARGO_TARGET_DIR", folder);
        }
        Ok(command)
    }

    /// The folder of an MPI's program in a place. MPIs of a place keep theirs if the place is moved.
    fn folder_in(&self, place: &StateFolder, mpi: &Installation) -> PathBuf {
        if mpi.abi == Abi::Standard {
            return place.builds.join("standard");
        }
        let wrapper = self.state.places().find_map(|place| mpi.mpicc.strip_prefix(&place.installed).ok());
        let wrapper = wrapper.unwrap_or(&mpi.mpicc).display();
        let hash = short_hash(format!("{wrapper} {} {}", mpi.title(), changed(&mpi.mpicc)).as_ref());
        place.builds.join(format!("{}-{hash}", mpi.name))
    }

    /// The MPI of this wrapper and, if it is listed, of this name, as it was when a program was linked for it. `None` if there is none, or
    /// if there are several: the environment may decide which one a wrapper calls.
    pub(super) fn linked_before(&self, mpicc: &Path, name: Option<&str>) -> Option<Installation> {
        let folders = self.state.places().flat_map(|place| place.builds.read_dir().into_iter().flatten());
        let texts = folders.filter_map(|entry| fs::read_to_string(entry.ok()?.path().join(LINKED)).ok());
        let mut found = texts.filter_map(|text| {
            let Linked { mpi, library_dirs, changed: then, .. } = serde_json::from_str(&text).ok()?;
            let mpi = mpi.filter(|mpi| mpi.mpicc == mpicc && name.is_none_or(|name| mpi.name == name))?;
            (then == changed(mpicc)).then_some(Installation { library_dirs, ..mpi })
        });
        let first = found.next()?;
        let is_same = |other: Installation| {
            (other.title(), &other.library_dirs) == (first.title(), &first.library_dirs)
        };
        found.all(is_same).then_some(first)
    }

    /// Links the program of an MPI with the library of its family, unless that was done.
    fn linked(&self, mpi: &Installation, print: Print<'_>) -> Result<PathBuf> {
        let place = &self.state.own;
        let folder = self.folder_in(place, mpi);
        let program = folder.join(PROGRAM);
        if !can_be_written(&place.builds) {
            return Err(other(format!(
                "{} cannot be written to: set DDTBENCH_STATE to a folder of yours, which all nodes see",
                place.builds.display()
            )));
        }
        self.state.report(self.root(), print);
        // Cargo builds the libraries of all families at the same path, and one must be used before the next is built.
        let _lock = Lock::take(&place.builds.join(".lock"), print)?;
        let verb = if program.exists() { "checking" } else { "building" };
        print(&format!("{verb} the rank program for {} ({})", mpi.name, mpi.title()));
        let library = match self.home.library(mpi.abi) {
            Some(library) => library,
            None => self.build(mpi.abi, print)?,
        };
        let facts = library.metadata().map_err(at("reading", &library))?;
        let own = Some(mpi).filter(|mpi| mpi.abi != Abi::Standard);
        let linked = Linked {
            library: format!("{}, {} bytes, of {}", library.display(), facts.len(), changed(&library)),
            mpi: own.cloned(),
            library_dirs: own.map(|mpi| mpi.library_dirs.clone()).unwrap_or_default(),
            changed: own.map(|mpi| changed(&mpi.mpicc)).unwrap_or_default(),
        };
        let stamp = serde_json::to_string_pretty(&linked)
            .map_err(|error| other(format!("the paths of {} cannot be stored: {error}", mpi.name)))?;
        let stamp_file = folder.join(LINKED);
        if !program.is_file() || fs::read_to_string(&stamp_file).ok().as_ref() != Some(&stamp) {
            fs::create_dir_all(&folder).map_err(at("creating", &folder))?;
            // Renamed at the end, because a run may be using the old program.
            let new = folder.join(".new");
            link(mpi, &self.wrapper(mpi)?, &library, &folder, &new)?;
            fs::rename(&new, &program).map_err(at("creating", &program))?;
            fs::write(&stamp_file, stamp).map_err(at("writing", &stamp_file))?;
        }
        // The MPI's name leads to its latest program.
        let (latest, name) = (place.builds.join(&mpi.name), folder.file_name().unwrap_or_default());
        if mpi.abi != Abi::Standard && !latest.read_link().is_ok_and(|to| to == Path::new(name)) {
            let new = folder.join(".link");
            let _ = fs::remove_file(&new);
            symlink(name, &new).and_then(|()| fs::rename(&new, &latest)).map_err(at("linking", &latest))?;
        }
        Ok(program)
    }

    /// The compiler wrapper that links for an MPI: for the standard's interface that of any MPI here, if it lacks one.
    fn wrapper(&self, mpi: &Installation) -> Result<PathBuf> {
        let is_for = |wrapper: &Path| wrapper.file_name().is_some_and(|name| name == STANDARD_WRAPPER);
        if mpi.abi != Abi::Standard || is_for(&mpi.mpicc) {
            return Ok(mpi.mpicc.clone());
        }
        let known = self.installations(&mut |_| {})?;
        let mut others = known.iter().map(|other| other.mpicc.with_file_name(STANDARD_WRAPPER));
        others.find(|wrapper| wrapper.exists()).ok_or_else(|| {
            other(format!(
                "no MPI here has an {STANDARD_WRAPPER}, to link the rank program for the standard's binary interface; \
                 `ddtbench mpi install mpich` installs one"
            ))
        })
    }

    /// Lets cargo build the library of a family. Returns its path.
    fn build(&self, abi: Abi, print: Print<'_>) -> Result<PathBuf> {
        let mut command = self.cargo(abi)?;
        // With the library of this program, dependencies have the same features as in its build, and are not built again.
        command.args("build --locked --release --package ddtbench-rank --package ddtbench --lib".split(' '));
        if abi != Abi::Mpich {
            command.args(["--features", &format!("ddtbench-rank/{}", abi.name())]);
        }
        let line = command_line(&command);
        command.arg("--message-format=json-render-diagnostics");
        let (mut library, mut said, mut builds) = (None, Vec::new(), false);
        let exit = tool::follow(command, Duration::MAX, |line| match line {
            Line::Err(line) if line.contains(" Compiling ") && !std::mem::replace(&mut builds, true) => {
                print("cargo builds its library, which can take a minute");
            }
            Line::Out(line) if line.starts_with('{') => library = library_in(&line).or(library.take()),
            Line::Out(line) | Line::Err(line) if self.verbose => print(&line),
            Line::Out(line) | Line::Err(line) => {
                said.drain(..(said.len() + 1).saturating_sub(SHOWN_LINES));
                said.push(line);
            }
        })?;
        library.filter(|_| exit.success()).ok_or_else(|| {
            let (title, said) = (abi.title(), last_lines(&said, SHOWN_LINES));
            other(format!("the rank library for {title} could not be built with `{line}` ({exit}):\n{said}"))
        })
    }
}

/// Links a library with an MPI, in a folder that can be written to.
fn link(mpi: &Installation, wrapper: &Path, library: &Path, folder: &Path, program: &Path) -> Result<()> {
    let constants = folder.join("constants.c");
    fs::write(&constants, CONSTANTS).map_err(at("writing", &constants))?;
    let mut command = Command::new(wrapper);
    command.envs(&mpi.env).args(["-O2", "-o"]).arg(program).arg(&constants).arg(library);
    // For Rust's standard library. Functions that are not called are left out, because the MPI may lack them.
    command.args(["-lpthread", "-ldl", "-lm", "-Wl,--gc-sections"]);
    command.arg(format!("-DDDTBENCH_STATUS={}", mpi.abi.status_bytes()));
    // A program of the standard's interface is for all MPIs that have it.
    let dirs = mpi.library_dirs.iter().filter(|_| mpi.abi != Abi::Standard);
    command.args(dirs.map(|dir| format!("-Wl,-rpath,{}", dir.display())));
    let line = command_line(&command);
    let ended = tool::run(command, tool::QUESTION)?;
    // It is only for the compiler.
    let _ = fs::remove_file(&constants);
    let name = &mpi.name;
    if ended.exit.success() && program.is_file() {
        return Ok(());
    }
    let said = ended.last_lines(5);
    Err(other(format!(
        "the rank program for {name} could not be linked with `{line}` ({}):\n{said}",
        ended.exit
    )))
}

/// The folders of an MPI with this name, and the link to one of them.
pub(super) fn folders_of(place: &StateFolder, name: &str) -> Vec<PathBuf> {
    let is_hash = |hash: &str| hash.len() == 6 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_of_name = |folder: &str| {
        folder == name
            || folder.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_hash)
    };
    let entries = place.builds.read_dir().into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of_name));
    let mut folders: Vec<PathBuf> = named.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The time of a file's last change as a number, 0 if it is unknown.
fn changed(file: &Path) -> String {
    let time = file.metadata().and_then(|facts| facts.modified()).ok();
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.unwrap_or_default().as_nanos().to_string()
}

/// The library in a message of cargo, if it is ours.
fn library_in(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let is_ours = message.get("target")?.get("name")? == "ddtbench_rank";
    let files = is_ours.then(|| message.get("filenames")?.as_array()).flatten()?;
    files.iter().filter_map(|file| file.as_str()).find(|file| file.ends_with(".a")).map(PathBuf::from)
}
