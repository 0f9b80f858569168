//! State on this machine is stored below a checkout if that can be written to, otherwise in a folder of the user.
//!
//! A checkout may be shared, or on a read-only file system. MPIs and programs in it are used, and missing
//! ones go to the user's folder. The same applies to a checkout whose path an MPI's compiler wrapper could
//! not print: wrappers print paths unquoted, and blanks would split them.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{CString, OsStr};
use std::fs::DirBuilder;
use std::hash::{Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::Print;
use super::error::{Result, other};
use super::home::Home;

/// The variable for another folder.
const VARIABLE: &str = "DDTBENCH_STATE";

/// One place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateFolder {
    /// Installed MPIs, and the list of MPIs.
    pub installed: PathBuf,
    /// Rank programs, each in a folder.
    pub builds: PathBuf,
    /// The target folder of cargo; `None` in a checkout, which has one.
    pub target: Option<PathBuf>,
}

impl StateFolder {
    fn in_project(root: &Path) -> Self {
        Self { installed: root.join(".ddtbench"), builds: root.join("target/rank"), target: None }
    }

    /// A folder for several checkouts and installations, which share MPIs but not rank programs.
    fn in_folder(folder: &Path, root: &Path) -> Self {
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace(|c| !is_plain_char(c), "_");
        let builds = folder.join("rank").join(format!("{name}-{}", short_hash(root.as_os_str())));
        let target = Some(builds.join("target"));
        Self { installed: folder.to_owned(), builds, target }
    }

    /// The folder of an installed MPI, or for installing it.
    pub fn wheel_folder(&self, name: &str) -> PathBuf {
        self.installed.join("mpi").join(name)
    }

    /// The list of this machine's MPIs.
    pub fn list_file(&self) -> PathBuf {
        self.installed.join("mpis.toml")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectState {
    /// The place for new MPIs and programs.
    pub own: StateFolder,
    /// The project's place, if that is another one. It is only read.
    pub shared: Option<StateFolder>,
    /// Why nothing is written below the project, unless the user has configured another folder.
    away: Option<&'static str>,
}

impl ProjectState {
    /// Below the project, even if another folder is configured.
    pub fn in_project(root: &Path) -> Self {
        Self { own: StateFolder::in_project(root), shared: None, away: None }
    }

    /// In the configured folder, otherwise below a checkout, otherwise in the user's folder.
    ///
    /// # Errors
    /// If the configured folder is not a folder and cannot be created.
    pub fn in_home(home: &Home) -> Result<Self> {
        let asked = asked();
        if let Some(folder) = &asked
            && let Some(file) =
                folder.ancestors().find(|there| there.exists()).filter(|there| !there.is_dir())
        {
            return Err(other(format!(
                "the folder for installed MPIs and rank programs is `{}` (DDTBENCH_STATE), and {} is not a folder; name a \
                 folder that exists or can be made",
                folder.display(),
                file.display()
            )));
        }
        Self::chosen(home, asked, &users)
    }

    fn chosen(home: &Home, asked: Option<PathBuf>, users: &dyn Fn() -> Option<PathBuf>) -> Result<Self> {
        let root = home.root();
        let project = StateFolder::in_project(root);
        let away = match home {
            _ if asked.is_some() => None,
            Home::Installed(_) => None,
            Home::Checkout(_) if !is_plain(root) => {
                Some("has a path that compiler wrappers of MPIs cannot print")
            }
            Home::Checkout(_) if can_be_written(&project.installed) && can_be_written(&project.builds) => {
                return Ok(Self::in_project(root));
            }
            Home::Checkout(_) => Some("cannot be written to"),
        };
        let folder = asked.or_else(users).ok_or_else(|| {
            let reason = away.map_or_else(String::new, |away| format!("{} {away}, and ", root.display()));
            other(format!(
                "{reason}neither XDG_CACHE_HOME nor HOME is the path of a folder of yours: set DDTBENCH_STATE to the folder for \
                 installed MPIs and rank programs"
            ))
        })?;
        // An MPI in such a path cannot be used.
        let shared = matches!(home, Home::Checkout(_)) && is_plain(&project.installed);
        Ok(Self { own: StateFolder::in_folder(&folder, root), shared: shared.then_some(project), away })
    }

    /// Both places; the writable one is first.
    pub fn places(&self) -> impl Iterator<Item = &StateFolder> {
        std::iter::once(&self.own).chain(&self.shared)
    }

    /// Prints once where the state is, if it is not below the project.
    pub fn report(&self, project: &Path, print: Print<'_>) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        let Some(away) = self.away else { return };
        if !REPORTED.swap(true, Ordering::Relaxed) {
            let (project, folder) = (project.display(), self.own.installed.display());
            print(&format!(
                "{project} {away}: installed MPIs and rank programs go to {folder} (set DDTBENCH_STATE for another folder)"
            ));
        }
    }
}

fn asked() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(|folder| absolute(Path::new(&folder)))
}

/// The user's folder for what can be made again, from the XDG base directories. Without a home, a temporary one.
fn users() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("ddtbench")).or_else(temporary)
}

/// A folder that only this user can write to: another one may have created it, to choose the programs that are run.
fn temporary() -> Option<PathBuf> {
    // SAFETY: `geteuid` cannot fail and touches no memory.
    let user = unsafe { libc::geteuid() };
    let folder = env::temp_dir().join(format!("ddtbench-{user}"));
    let _ = DirBuilder::new().mode(0o700).create(&folder);
    let facts = folder.symlink_metadata().ok()?;
    (facts.is_dir() && facts.uid() == user && facts.mode() & 0o022 == 0).then_some(folder)
}

fn absolute(folder: &Path) -> PathBuf {
    std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Whether wrappers can print a path without ambiguity: it has no blanks, quotes, or separators of linker
/// options and folder lists.
pub(super) fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.chars().all(|c| c == '/' || is_plain_char(c)))
}

fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || "._-+=@%~".contains(c)
}

/// Whether a folder is writable, or could be created.
pub(super) fn can_be_written(folder: &Path) -> bool {
    let Some(there) = folder.ancestors().find(|folder| folder.exists()) else { return false };
    let Ok(path) = CString::new(there.as_os_str().as_bytes()) else { return false };
    // SAFETY: `path` is a string that ends with a zero and outlives the call.
    there.is_dir() && unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// Distinguishes names that are equal otherwise.
pub(super) fn short_hash(text: &OsStr) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:06x}", hasher.finish() & 0xff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_wrappers_cannot_print_are_known() {
        for name in ["my clone", "a'b", "a\"b", "a,b", "a:b", "a$b", "a\\b", "a(b)"] {
            assert!(!is_plain(Path::new(name)), "{name}");
        }
        assert!(is_plain(Path::new("für_2.0+x@y=z~")));
    }
}
