//! The folders that rank programs are built in: one for each installation of an MPI and each set of compiler's settings, so that
//! none is ever built over while a run uses it.
//!
//! The crate `mpi` looks at its variables only when it is built first, so a folder that was built for another MPI
//! would silently stay with it. A stamp in each folder says what it was built for.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::{Result, at};
use super::state::{ProjectState, StateFolder, short_hash};
use super::{Installation, Source};

/// What a folder is built for.
const STAMP: &str = "built-for.txt";
/// What came of the build: the program, and of what source it is.
const OUTCOME: &str = "built.txt";

/// Variables with which cargo and the wrappers of MPIs compile something else. One in which they differ is another build.
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
/// Groups of such variables, each with the beginning of its names.
const GROUPS: [&str; 3] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_"];
/// Members of the groups that name folders, and how much is done at once.
const NO_SETTINGS: [&str; 4] =
    ["CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET_DIR", "CARGO_BUILD_BUILD_DIR", "CARGO_TARGET_DIR"];

/// A folder for the rank program of an MPI, as it is built now.
#[derive(Debug)]
pub(super) struct Build {
    /// The folder: cargo's target folder.
    pub folder: PathBuf,
    /// Whether all lay elsewhere when it was begun: what was made for the MPI leads to where that no longer is.
    pub was_moved: bool,
    stamp: Stamp,
    /// The name that leads to the folder as long as no other is built for it.
    link: Option<PathBuf>,
}

/// What tells builds apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// Where the wrapper lies.
    wrapper: String,
    /// What it is: the same path may hold another MPI tomorrow.
    mpi: String,
    /// Settings of compilers.
    settings: Vec<String>,
}

impl Build {
    /// Where the rank program of an MPI is built. One that is installed from packages is built in the folder of its name; of any
    /// other a name may mean another one tomorrow, so its folder has a name of its own, to which the MPI's name leads.
    pub fn of(mpi: &Installation, state: &ProjectState) -> Self {
        Self::with(mpi, state, settings(env::vars_os()))
    }

    fn with(mpi: &Installation, state: &ProjectState, settings: Vec<String>) -> Self {
        let stamp = Stamp::of(mpi, settings);
        let plain = state.own.builds.join(&mpi.name);
        let is_folder = plain.symlink_metadata().is_ok_and(|facts| facts.is_dir());
        let found = Stamp::read(&plain);
        let was_moved = matches!(&found, Ok(Some(found)) if found.was_moved_to(&stamp, &state.own, mpi));
        let is_ours = match found {
            Ok(found) => found.as_ref() == Some(&stamp) || was_moved,
            // Begun, but nothing is built there yet.
            Err(error) => error.kind() == io::ErrorKind::NotFound && !plain.join("release").exists(),
        };
        let is_free = !plain.exists() && mpi.source == Source::Wheel && stamp.settings.is_empty();
        if is_free || is_folder && is_ours {
            return Self { folder: plain, was_moved, stamp, link: None };
        }
        let folder = plain.with_file_name(format!("{}-{}", mpi.name, stamp.hash()));
        let link = (!is_folder && mpi.source != Source::Wheel).then_some(plain);
        Self { folder, was_moved: false, stamp, link }
    }

    /// Writes down what is built, before it is.
    pub fn begin(&self) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(at("creating", &self.folder))?;
        let file = self.folder.join(STAMP);
        fs::write(&file, self.stamp.text()).map_err(at("writing", &file))
    }

    /// Writes down what has been built, and lets the MPI's name lead to it.
    pub fn end(&self, program: &Path, root: &Path) -> Result<()> {
        let below = program.strip_prefix(&self.folder).unwrap_or(program);
        let source = source_hash(root).map_err(at("reading", root))?;
        let file = self.folder.join(OUTCOME);
        let text = format!("{}\nsource {source:016x}\n", below.display());
        fs::write(&file, text).map_err(at("writing", &file))?;
        let Some(link) = &self.link else { return Ok(()) };
        let name = self.folder.file_name().unwrap_or_default();
        if link.read_link().is_ok_and(|to| to == Path::new(name)) {
            return Ok(());
        }
        // Put into place as a whole: another process may follow it meanwhile.
        let new = link.with_file_name(format!(".{}.new", name.to_string_lossy()));
        let _ = fs::remove_file(&new);
        symlink(name, &new).and_then(|()| fs::rename(&new, link)).map_err(at("linking", link))
    }

    /// The program that was built here, whatever has become of its source.
    pub fn program(&self) -> Option<PathBuf> {
        let is_of_this = Stamp::read(&self.folder).is_ok_and(|found| found.as_ref() == Some(&self.stamp));
        let outcome = fs::read_to_string(self.folder.join(OUTCOME)).unwrap_or_default();
        let program = self.folder.join(outcome.lines().next().unwrap_or("release/ddtbench-rank"));
        (is_of_this && program.is_file()).then_some(program)
    }
}

/// The rank program of an MPI in a place that is only read, if it is of this MPI, these settings and the source as it is now.
/// The place may have been elsewhere when it was built.
pub(super) fn built_in(place: &StateFolder, mpi: &Installation, root: &Path) -> Option<PathBuf> {
    let wanted = Stamp::of(mpi, settings(env::vars_os()));
    let mut folders: Vec<PathBuf> = folders_of(place, &mpi.name);
    folders.retain(|folder| {
        Stamp::read(folder).ok().flatten().is_some_and(|found| found.is_of(&wanted, place, mpi))
    });
    let source = if folders.is_empty() { None } else { source_hash(root).ok() }?;
    folders.into_iter().find_map(|folder| {
        let outcome = fs::read_to_string(folder.join(OUTCOME)).ok()?;
        let (program, of) = outcome.trim_end().split_once('\n')?;
        let program = folder.join(program);
        (of == format!("source {source:016x}") && program.is_file()).then_some(program)
    })
}

/// The folders that were built in for an MPI of this name.
pub(super) fn folders_of(place: &StateFolder, name: &str) -> Vec<PathBuf> {
    let is_hash = |hash: &str| hash.len() == 6 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_of_name = |folder: &str| {
        folder == name
            || folder.strip_prefix(name).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_hash)
    };
    let entries = place.builds.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_of_name))
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
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
            mpi: format!("{}\nwrapper of {}", mpi.title(), seconds.as_nanos()),
            settings,
        }
    }

    /// Whether it says the same as `wanted`, but perhaps for where the MPI lay that is kept in this place.
    fn is_of(&self, wanted: &Self, place: &StateFolder, mpi: &Installation) -> bool {
        let below = mpi.mpicc.strip_prefix(&place.installed);
        let is_same = self.wrapper == wanted.wrapper
            || below.is_ok_and(|below| Path::new(&self.wrapper).ends_with(below));
        is_same && (&self.mpi, &self.settings) == (&wanted.mpi, &wanted.settings)
    }

    /// Whether it is the same MPI, which has gone from where it was then.
    fn was_moved_to(&self, wanted: &Self, place: &StateFolder, mpi: &Installation) -> bool {
        self.wrapper != wanted.wrapper && self.is_of(wanted, place, mpi) && !Path::new(&self.wrapper).exists()
    }

    fn text(&self) -> String {
        let settings: String = self.settings.iter().map(|setting| format!("{setting}\n")).collect();
        format!("{}\n{}\n{settings}", self.wrapper, self.mpi)
    }

    /// That of a folder; none in one that is damaged.
    fn read(folder: &Path) -> io::Result<Option<Self>> {
        let text = fs::read_to_string(folder.join(STAMP))?;
        let mut lines = text.lines().map(str::to_owned);
        let stamp = || {
            let (wrapper, title, time) = (lines.next()?, lines.next()?, lines.next()?);
            Some(Self { wrapper, mpi: format!("{title}\n{time}"), settings: lines.collect() })
        };
        Ok(std::iter::once_with(stamp).flatten().next())
    }

    fn hash(&self) -> String {
        short_hash(OsStr::new(&self.text()))
    }
}

/// What of the environment changes a build, as lines.
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

/// What tells sources of rank programs apart.
fn source_hash(root: &Path) -> io::Result<u64> {
    let mut left: Vec<PathBuf> =
        ["apps", "datatypes", "kernels", "harness"].map(|folder| root.join(folder)).to_vec();
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    while let Some(folder) = left.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else if path
                .extension()
                .is_some_and(|kind| ["rs", "c", "h", "toml"].iter().any(|of| kind == *of))
            {
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
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project with an MPI installed, and one that is in `PATH`.
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

    fn build(build: &Build, root: &Path) -> PathBuf {
        build.begin().unwrap();
        let program = build.folder.join("release/ddtbench-rank");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        build.end(&program, root).unwrap();
        program
    }

    #[test]
    fn each_installation_has_a_folder_of_its_own_and_none_is_taken_from_another() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, first) = project(root.path());
        let of = |mpi: &Installation| Build::with(mpi, &state, Vec::new());
        let plain = state.own.builds.join("mpich");
        assert_eq!(of(&wheel).folder, plain);
        let wheels = build(&of(&wheel), root.path());
        assert_eq!(of(&wheel).program().as_ref(), Some(&wheels));
        // The same name, another library; the same, compiled otherwise.
        let newer = Installation { version: "2".to_owned(), ..wheel.clone() };
        let native = Build::with(&wheel, &state, vec!["RUSTFLAGS=\"-Ctarget-cpu=native\"".to_owned()]);
        for other in [of(&newer), native] {
            assert!(other.folder != plain && other.program().is_none(), "{other:?}");
            build(&other, root.path());
        }
        assert!(wheels.exists() && of(&wheel).folder == plain && of(&newer).program().is_some());

        // Two versions of one family in PATH, one after the other.
        let second = Installation { version: "2".to_owned(), ..first.clone() };
        assert_ne!(of(&first).folder, of(&second).folder);
        let leads_to = || state.own.builds.join("system-mpich").canonicalize().unwrap();
        let real = |folder: PathBuf| folder.canonicalize().unwrap();
        build(&of(&first), root.path());
        assert_eq!(leads_to(), real(of(&first).folder));
        build(&of(&second), root.path());
        assert_eq!(leads_to(), real(of(&second).folder));
        assert!(of(&first).program().is_some(), "a run with the first goes on");
        assert_eq!(folders_of(&state.own, "system-mpich").len(), 3);
        assert_eq!(folders_of(&state.own, "mpich").len(), 3);
    }

    #[test]
    fn what_nobody_knows_for_what_it_was_built_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let (state, wheel, _) = project(root.path());
        let plain = state.own.builds.join("mpich");
        fs::create_dir_all(plain.join("release")).unwrap();
        assert_ne!(Build::with(&wheel, &state, Vec::new()).folder, plain);
        fs::remove_dir(plain.join("release")).unwrap();
        assert_eq!(Build::with(&wheel, &state, Vec::new()).folder, plain, "nothing was built there");
    }

    #[test]
    fn what_was_built_is_used_where_it_is_now_as_long_as_its_source_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::create_dir_all(old.join("harness")).unwrap();
        fs::write(old.join("harness/a.rs"), "1").unwrap();
        let (state, wheel, module) = project(&old);
        build(&Build::with(&wheel, &state, settings(env::vars_os())), &old);
        build(&Build::with(&module, &state, settings(env::vars_os())), &old);
        fs::rename(&old, &new).unwrap();
        let place = ProjectState::in_project(&new).own;
        let moved = Installation { mpicc: place.wheel_folder("mpich").join("bin/mpicc"), ..wheel.clone() };
        assert!(built_in(&place, &moved, &new).is_some_and(|program| program.starts_with(&new)));
        assert_eq!(built_in(&place, &Installation { version: "2".to_owned(), ..moved.clone() }, &new), None);
        let state = ProjectState::in_project(&new);
        let again = Build::with(&moved, &state, Vec::new());
        assert!(again.was_moved && again.folder == place.builds.join("mpich"));
        let module = Installation { mpicc: new.join("v1/bin/mpicc"), ..module };
        assert_eq!(built_in(&place, &module, &new), None, "another MPI, as far as anybody knows");
        fs::write(new.join("harness/a.rs"), "2").unwrap();
        assert_eq!(built_in(&place, &moved, &new), None, "of another source");
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
