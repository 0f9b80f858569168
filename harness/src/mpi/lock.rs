//! One process at a time: a lock on a file, let go when it is dropped or its process ends.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Say;
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
    pub fn take(file: &Path, say: Say<'_>) -> Result<Self> {
        let open = open(file)?;
        // A file system without locks is no reason not to run.
        if matches!(open.try_lock(), Err(TryLockError::WouldBlock)) {
            say(&format!("waiting for another ddtbench that holds {}", file.display()));
            while matches!(open.try_lock(), Err(TryLockError::WouldBlock)) {
                if interrupt::requested() {
                    return Err(MpiError::Interrupted);
                }
                thread::sleep(LOOK);
            }
        }
        Ok(Self { _file: open })
    }

    /// The lock on `file`, unless another process holds it.
    pub fn take_if_free(file: &Path) -> Result<Option<Self>> {
        let open = open(file)?;
        Ok(open.try_lock().is_ok().then_some(Self { _file: open }))
    }
}

fn open(file: &Path) -> Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
    }
    File::options().create(true).append(true).open(file).map_err(at("opening", file))
}
