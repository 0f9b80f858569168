//! Built rank programs: a folder for each installation of an MPI and each set of compiler settings, so that a program in use is
//! never replaced by another.
//!
//! Cargo compiles all of them in one target folder, and shares everything that does not depend on the MPI. The build script of
//! `mpi-sys` runs again only if its own source changes, so a setting that differs between MPIs separates its build, and those of
//! all packages that use it.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Installation;
use super::error::{Result, at};
use super::state::{ProjectState, StateFolder, short_hash};

/// The program in its folder.
const PROGRAM: &str = "ddtbench-rank";
/// Describes the MPI, settings and source that it was built for.
const STAMP: &str = "built-for.txt";

/// Environment variables that change the build; each combination gets its own folder.
const SETTINGS: [&str; 9] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "MPICH_CC",
    "OMPI_CC",
    "I_MPI_CC",
    "CC",
    "CFLAGS",
    "LDFLAGS",
];
const GROUPS: [&str; 3] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_"];
/// Members of the groups that do not change the build: folders, and the number of jobs.
const NO_SETTINGS: [&str; 4] =
    ["CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR", "CARGO_TARGET_DIR"];

/// The build of a rank program.
#[derive(Debug)]
pub(super) struct Build {
    folder: PathBuf,
    hash: String,
    stamp: Stamp,
    /// The MPI's name, a link to the latest build.
    link: PathBuf,
}

/// Distinguishes builds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// The path of the wrapper.
    wrapper: String,
    /// Title and time of the MPI: the same path may be another MPI tomorrow.
    mpi: String,
    /// Settings of compilers.
    settings: Vec<String>,
}

impl Build {
    /// The build for an MPI with the settings of the environment.
    pub fn of(mpi: &Installation, state: &ProjectState) -> Self {
        Self::with(mpi, state, settings(env::vars_os()))
    }

    fn with(mpi: &Installation, state: &ProjectState, settings: Vec<String>) -> Self {
        let (stamp, link) = (Stamp::of(mpi, settings), state.own.builds.join(&mpi.name));
        let hash = short_hash(OsStr::new(&stamp.text()));
        Self { folder: link.with_file_name(format!("{}-{hash}", mpi.name)), hash, stamp, link }
    }

    /// The program, built or not.
    pub fn program(&self) -> PathBuf {
        self.folder.join(PROGRAM)
    }

    /// A cargo setting that separates the build of everything that links MPI. The value has no effect: there are never so many
    /// units, so `mpi-sys` is compiled as with any other value.
    pub fn setting(&self) -> String {
        let number = 1000 + u32::from_str_radix(&self.hash, 16).expect("a hash is a number");
        format!("profile.release.package.mpi-sys.codegen-units={number}")
    }

    /// Stores a program that cargo has built. It keeps its time, which shows that it is the same program.
    pub fn keep(&self, built: &Path, root: &Path) -> Result<PathBuf> {
        let program = self.program();
        let facts = |file: &Path| file.metadata().and_then(|facts| Ok((facts.len(), facts.modified()?)));
        let of_built = facts(built).map_err(at("reading", built))?;
        if facts(&program).ok() != Some(of_built) {
            fs::create_dir_all(&self.folder).map_err(at("creating", &self.folder))?;
            // Renamed at the end, because a run may be using the old program.
            let new = self.folder.join(".new");
            let copy = fs::copy(built, &new)
                .and_then(|_| File::options().append(true).open(&new)?.set_modified(of_built.1));
            copy.and_then(|()| fs::rename(&new, &program)).map_err(at("copying", built))?;
        }
        let source = source_hash(root).map_err(at("reading", root))?;
        let stamp = self.folder.join(STAMP);
        fs::write(&stamp, format!("{source}\n{}", self.stamp.text())).map_err(at("writing", &stamp))?;
        let name = self.folder.file_name().unwrap_or_default();
        if !self.link.read_link().is_ok_and(|to| to == Path::new(name)) {
            let new = self.folder.join(".link");
            let _ = fs::remove_file(&new);
            symlink(name, &new)
                .and_then(|()| fs::rename(&new, &self.link))
                .map_err(at("linking", &self.link))?;
        }
        Ok(program)
    }
}

/// The rank program of an MPI in a place, if it is for this MPI and the current source. The place may have been moved since. A program
/// with the settings of the environment is preferred, but others work as well: a job may have another `CC` than the login node.
pub(super) fn built_in(place: &StateFolder, mpi: &Installation, root: &Path) -> Option<PathBuf> {
    let wanted = Stamp::of(mpi, settings(env::vars_os()));
    let now = source_hash(root).ok()?;
    let built = folders_of(place, &mpi.name).into_iter().filter_map(|folder| {
        let ((source, stamp), program) = (Stamp::read(&folder)?, folder.join(PROGRAM));
        let is_usable = stamp.is_of(&wanted, place, mpi) && source == now && program.is_file();
        is_usable.then_some((stamp.settings != wanted.settings, program))
    });
    built.min_by_key(|(is_other, _)| *is_other).map(|(_, program)| program)
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

impl Stamp {
    fn of(mpi: &Installation, settings: Vec<String>) -> Self {
        let changed = mpi.mpicc.metadata().and_then(|facts| facts.modified()).ok();
        let seconds =
            changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
        Self {
            wrapper: mpi.mpicc.display().to_string(),
            mpi: format!("{}, wrapper of {}", mpi.title(), seconds.as_nanos()),
            settings,
        }
    }

    /// Whether it is of the MPI of `wanted`, whose path may have changed if it is installed in this place.
    fn is_of(&self, wanted: &Self, place: &StateFolder, mpi: &Installation) -> bool {
        let below = mpi.mpicc.strip_prefix(&place.installed);
        let is_same = self.wrapper == wanted.wrapper
            || below.is_ok_and(|below| Path::new(&self.wrapper).ends_with(below));
        is_same && self.mpi == wanted.mpi
    }

    fn text(&self) -> String {
        let settings: String = self.settings.iter().map(|setting| format!("{setting}\n")).collect();
        format!("{}\n{}\n{settings}", self.wrapper, self.mpi)
    }

    fn read(folder: &Path) -> Option<(String, Self)> {
        let text = fs::read_to_string(folder.join(STAMP)).ok()?;
        let mut lines = text.lines().map(str::to_owned);
        let (source, wrapper, mpi) = (lines.next()?, lines.next()?, lines.next()?);
        Some((source, Self { wrapper, mpi, settings: lines.collect() }))
    }
}
/// Environment variables that change a build, as lines.
fn settings(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    let mut settings: Vec<String> = variables
        .filter_map(|(name, value)| {
            let name = name.to_str()?;
            let is_setting = SETTINGS.contains(&name) || GROUPS.iter().any(|group| name.starts_with(group));
            (is_setting && !NO_SETTINGS.contains(&name) && !value.is_empty())
                .then(|| format!("{name}={:?}", value.to_string_lossy()))
        })
        .collect();
    settings.sort();
    settings
}

/// Identifies the source of rank programs.
fn source_hash(root: &Path) -> io::Result<String> {
    let mut folders: Vec<PathBuf> = ["apps", "datatypes", "kernels", "harness/common", "harness/rank"]
        .map(|folder| root.join(folder))
        .to_vec();
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            let is_source = |kind: &OsStr| ["rs", "c", "h", "toml", "csv"].iter().any(|of| kind == *of);
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(is_source) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    let mut bytes = Vec::new();
    for file in files.iter().filter(|file| file.exists()) {
        bytes.clear();
        File::open(file)?.read_to_end(&mut bytes)?;
        file.strip_prefix(root).unwrap_or(file).hash(&mut hasher);
        bytes.hash(&mut hasher);
    }
    Ok(format!("source {:016x}", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    /// A project with an installed MPI, and one in `PATH`.
    fn project(root: &Path) -> (ProjectState, Installation, Installation) {
        let state = ProjectState::in_project(root);
        let make = |mpicc: PathBuf, name: &str, source| {
            fs::create_dir_all(mpicc.parent().unwrap()).unwrap();
            fs::write(&mpicc, "").unwrap();
            Installation { mpicc, name: name.to_owned(), source, ..Installation::fake("mpiexec") }
        };
        let wheel = make(state.own.wheel_folder("mpich").join("bin/mpicc"), "mpich", Source::Wheel);
        let module = make(root.join("v1/bin/mpicc"), "system-mpich", Source::Path);
        (state, wheel, module)
    }

    /// Stores a program as if built by cargo.
    fn keep(build: &Build, root: &Path, text: &str) -> PathBuf {
        let built = root.join("target/release/ddtbench-rank");
        fs::create_dir_all(built.parent().unwrap()).unwrap();
        fs::write(&built, text).unwrap();
        build.keep(&built, root).unwrap()
    }

    #[test]
    fn each_installation_and_each_set_of_settings_has_a_program_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, _) = project(root.path());
        let of = |mpi: &Installation| Build::with(mpi, &state, Vec::new());
        let newer = Installation { version: "2".to_owned(), ..wheel.clone() };
        let native = Build::with(&wheel, &state, vec!["RUSTFLAGS=\"-Ctarget-cpu=native\"".to_owned()]);
        let link = state.own.builds.join("mpich/ddtbench-rank");
        let builds = [of(&wheel), of(&newer), native];
        for (i, build) in builds.iter().enumerate() {
            assert!(!build.program().exists());
            keep(build, root.path(), &i.to_string());
            assert_eq!(fs::read_to_string(&link).unwrap(), i.to_string(), "the one that was built last");
        }
        assert_eq!(fs::read_to_string(of(&wheel).program()).unwrap(), "0", "a run with the first goes on");
        assert!(builds[0].setting() != builds[1].setting() && builds[0].setting() == of(&wheel).setting());
        assert_eq!(folders_of(&state.own, "mpich").len(), 4, "three and the link");
    }

    #[test]
    fn a_program_is_replaced_only_by_another() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, _) = project(root.path());
        let build = Build::with(&wheel, &state, Vec::new());
        let program = keep(&build, root.path(), "1");
        let built = root.path().join("target/release/ddtbench-rank");
        let times = || [&program, &built].map(|file| file.metadata().unwrap().modified().unwrap());
        assert_eq!(times()[0], times()[1]);
        build.keep(&built, root.path()).unwrap();
        assert_eq!(fs::read_to_string(&program).unwrap(), "1");
        keep(&build, root.path(), "22");
        assert_eq!(fs::read_to_string(&program).unwrap(), "22");
    }

    #[test]
    fn a_program_of_another_source_is_not_current() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, _) = project(root.path());
        let build = Build::with(&wheel, &state, Vec::new());
        let source = root.path().join("harness/rank/a.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, "1").unwrap();
        let usable = || built_in(&state.own, &wheel, root.path());
        assert_eq!(usable(), None, "nothing is built");
        let program = keep(&build, root.path(), "");
        assert!(usable().is_some());
        fs::write(&source, "2").unwrap();
        assert_eq!(usable(), None);
        fs::write(&source, "1").unwrap();
        fs::remove_file(program).unwrap();
        assert_eq!(usable(), None, "the program is gone");
    }

    #[test]
    fn a_program_is_used_whatever_the_compiler_of_a_job_is() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, _) = project(root.path());
        let other = keep(&Build::with(&wheel, &state, vec!["CC=\"icx\"".to_owned()]), root.path(), "");
        let usable = || built_in(&state.own, &wheel, root.path()).unwrap().canonicalize().unwrap();
        assert_eq!(usable(), other.canonicalize().unwrap());
        let own = keep(&Build::of(&wheel, &state), root.path(), "");
        keep(&Build::with(&wheel, &state, vec!["CC=\"gcc\"".to_owned()]), root.path(), "");
        assert_eq!(usable(), own.canonicalize().unwrap(), "one with its settings is preferred");
    }

    #[test]
    fn a_program_is_used_in_its_place_as_long_as_its_source_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::create_dir_all(old.join("harness/rank")).unwrap();
        fs::write(old.join("harness/rank/a.rs"), "1").unwrap();
        let (state, wheel, module) = project(&old);
        keep(&Build::of(&wheel, &state), &old, "");
        keep(&Build::of(&module, &state), &old, "");
        fs::rename(&old, &new).unwrap();
        let place = ProjectState::in_project(&new).own;
        let moved = Installation { mpicc: place.wheel_folder("mpich").join("bin/mpicc"), ..wheel.clone() };
        assert!(built_in(&place, &moved, &new).is_some_and(|program| program.starts_with(&new)));
        assert_eq!(built_in(&place, &Installation { version: "2".to_owned(), ..moved.clone() }, &new), None);
        let module = Installation { mpicc: new.join("v1/bin/mpicc"), ..module };
        assert_eq!(built_in(&place, &module, &new), None, "possibly another MPI");
        fs::write(new.join("harness/rank/a.rs"), "2").unwrap();
        assert_eq!(built_in(&place, &moved, &new), None, "another source");
    }

    #[test]
    fn settings_that_change_a_build() {
        let all = [
            ("RUSTFLAGS", "-g"),
            ("CARGO_PROFILE_RELEASE_LTO", "fat"),
            ("CARGO_BUILD_TARGET", "x"),
            ("CARGO_BUILD_JOBS", "2"),
            ("CARGO_TARGET_DIR", "/x"),
            ("CARGO_HOME", "/x"),
            ("CC", ""),
        ];
        let settings = settings(all.into_iter().map(|(name, value)| (name.into(), value.into())));
        let names: Vec<&str> = settings.iter().filter_map(|line| line.split('=').next()).collect();
        assert_eq!(names, ["CARGO_BUILD_TARGET", "CARGO_PROFILE_RELEASE_LTO", "RUSTFLAGS"]);
    }
}
