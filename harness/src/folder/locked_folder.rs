//! A folder that only this process writes to: created and locked.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::{FolderError, PLAN, Result, VALUES, at};
use crate::cells;

/// A locked folder for results. No other process writes to it.
#[derive(Debug)]
pub struct LockedFolder {
    path: PathBuf,
    /// The folders that were created for the run, innermost first.
    made: Vec<PathBuf>,
    _lock: File,
    /// Why it is not locked, if the file system has no locks.
    unlocked: Option<String>,
}

impl LockedFolder {
    /// Creates the folder.
    ///
    /// # Errors
    /// If the folder is not empty, is a file, or cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let made = path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
        let made = made.map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(at(path))?;
        let (lock, unlocked) = lock(path)?;
        Self::refuse_used(path)?;
        Ok(Self { path: path.to_owned(), made, _lock: lock, unlocked })
    }

    /// Refuses a folder with files.
    ///
    /// # Errors
    /// If it has any.
    pub fn refuse_used(path: &Path) -> Result<()> {
        let has_files = fs::read_dir(path).is_ok_and(|mut files| files.next().is_some());
        if has_files { Err(FolderError::NotEmpty(path.to_owned())) } else { Ok(()) }
    }

    /// Locks the folder of an earlier run.
    pub(super) fn reopen(path: &Path) -> Result<Self> {
        refuse_links(path)?;
        let (lock, unlocked) = lock(path)?;
        Ok(Self { path: path.to_owned(), made: Vec::new(), _lock: lock, unlocked })
    }

    /// Why other processes are not kept out, if the file system has no locks.
    pub fn unlocked(&self) -> Option<&str> {
        self.unlocked.as_deref()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file, or replaces it atomically.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        replace_by(&self.path.join(name), mode_of(name), |to| to.write_all(bytes))
    }

    /// Writes plain data as JSON.
    pub fn write_json(&self, name: &str, data: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(data).expect("plain data");
        text.push(b'\n');
        self.write(name, &text)
    }

    /// Writes or atomically replaces a table with at least one row.
    pub fn write_table<T: Serialize>(&self, name: &str, rows: &[T]) -> Result<()> {
        let columns = rows.first().map_or_else(Vec::new, cells::columns);
        self.write(name, &[cells::header(&columns), cells::rows(rows)].concat())
    }

    /// Removes these files, and the folders that were created for the run if they are empty.
    pub fn discard(self, names: &[&str]) {
        for name in names {
            // Files that cannot be removed or do not exist are ignored: the error that led here is the important one.
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir_all(self.path.join(VALUES));
        let _ = self.made.iter().try_for_each(fs::remove_dir);
    }
}

/// Refuses a folder with anything except files and folders: writing to a link goes elsewhere, and reading from a pipe may block.
///
/// # Errors
/// The name of the entry.
pub(super) fn refuse_links(path: &Path) -> Result<()> {
    for entry in fs::read_dir(path).map_err(at(path))? {
        let entry = entry.map_err(at(path))?;
        let kind = entry.file_type().map_err(at(&entry.path()))?;
        if !kind.is_file() && !kind.is_dir() {
            let what = if kind.is_symlink() { "a link" } else { "not a plain file" };
            let reason = format!("is {what}: replace it by the file itself, or remove it");
            return Err(FolderError::Broken { path: entry.path(), reason });
        }
    }
    Ok(())
}

pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_by(path, RESULTS_MODE, |to| to.write_all(bytes))
}

/// The umask decides who may read results.
pub(super) const RESULTS_MODE: u32 = 0o666;

/// The mode of a file of a run, before the umask. A plan names programs to run, so other users must not change it.
fn mode_of(name: &str) -> u32 {
    if name == PLAN { 0o644 } else { RESULTS_MODE }
}

/// Writes a new file, then renames it to the old one.
pub(super) fn replace_by(
    path: &Path,
    mode: u32,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || {
        // Without this, only their owner may read temporary files.
        let mode = fs::Permissions::from_mode(mode);
        let mut file = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
        let mut to = BufWriter::new(&mut file);
        fill(&mut to)?;
        to.flush()?;
        drop(to);
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(at(path))
}

/// Locks out other processes while the file is open, or returns why it cannot.
fn lock(path: &Path) -> Result<(File, Option<String>)> {
    /// A process that is being started shares our locks until it executes its program.
    const PATIENCE: Duration = Duration::from_secs(1);
    let folder = File::open(path).map_err(at(path))?;
    let start = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok((folder, None)),
            // A file system without locks is not a reason to refuse.
            Err(TryLockError::Error(error)) => {
                let path = path.display();
                let word = format!(
                    "{path} cannot be locked ({error}): do not start a second ddtbench on it before this one has ended"
                );
                return Ok((folder, Some(word)));
            }
            Err(TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                return Err(FolderError::InUse(path.to_owned()));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::LAUNCHES;

    #[test]
    fn only_its_owner_changes_a_plan() {
        assert_eq!((mode_of(PLAN), mode_of(LAUNCHES)), (0o644, 0o666));
    }
}
