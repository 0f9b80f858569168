//! One process at a time: a lock on a file, let go when it is dropped or its process ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Print;
use super::error::{MpiError, Result, at};
use super::interrupt;

/// How often a lock that another process holds is tried.
const LOOK: Duration = Duration::from_millis(100);

/// A held lock.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock on `file`, and says that it waits.
    pub fn take(file: &Path, print: Print<'_>) -> Result<Self> {
        // What is done under a lock is not left half done.
        interrupt::hold();
        let open = open(file)?;
        match open.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                print(&format!("waiting for another ddtbench that holds {}", file.display()));
                while matches!(open.try_lock(), Err(TryLockError::WouldBlock)) {
                    if interrupt::requested() {
                        return Err(MpiError::Interrupted);
                    }
                    thread::sleep(LOOK);
                }
            }
            // A file system without locks is no reason not to run.
            Err(TryLockError::Error(error)) => print(&without_locks(file, &error)),
        }
        Ok(Self { _file: open })
    }
}

/// What is said where locks do not work.
fn without_locks(file: &Path, error: &io::Error) -> String {
    let folder = file.parent().unwrap_or(file);
    format!(
        "files cannot be locked in {} ({error}): start no second ddtbench there before this one has ended",
        folder.display()
    )
}

fn open(file: &Path) -> Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
    }
    File::options().create(true).append(true).open(file).map_err(at("opening", file))
}
