//! A lock on a file, for one process at a time. It is released when it is dropped or its process ends.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Print;
use super::error::{MpiError, Result, at};
use super::interrupt;

/// How often a lock of another process is tried.
const POLL: Duration = Duration::from_millis(100);

pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock on `file`, with a message if it has to wait.
    pub fn take(file: &Path, print: Print<'_>) -> Result<Self> {
        // Work under a lock must not be left incomplete.
        interrupt::hold();
        let open = open(file)?;
        match open.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                print(&format!("waiting for another ddtbench that has locked {}", file.display()));
                while matches!(open.try_lock(), Err(TryLockError::WouldBlock)) {
                    if interrupt::requested() {
                        return Err(MpiError::Interrupted);
                    }
                    thread::sleep(POLL);
                }
            }
            // A file system without locks is not a reason to refuse.
            Err(TryLockError::Error(error)) => print(&without_locks(file, &error)),
        }
        Ok(Self { _file: open })
    }
}

/// A warning if locks do not work.
fn without_locks(file: &Path, error: &io::Error) -> String {
    let folder = file.parent().unwrap_or(file);
    format!(
        "files cannot be locked in {} ({error}): do not start a second ddtbench there before this one has ended",
        folder.display()
    )
}

fn open(file: &Path) -> Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
    }
    File::options().create(true).append(true).open(file).map_err(at("opening", file))
}
