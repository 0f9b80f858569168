//! One process at a time: a lock on a file, let go when it is dropped or its process ends.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

use super::Say;
use super::error::{Result, at};

/// A held lock.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock on `file`, and says that it waits.
    pub fn take(file: &Path, say: Say<'_>) -> Result<Self> {
        let open = open(file)?;
        if !flock(&open, libc::LOCK_EX | libc::LOCK_NB) {
            say(&format!("waiting for another ddtbench that holds {}", file.display()));
            if !flock(&open, libc::LOCK_EX) {
                return Err(at("locking", file)(std::io::Error::last_os_error()));
            }
        }
        Ok(Self { _file: open })
    }

    /// The lock on `file`, unless another process holds it.
    pub fn take_if_free(file: &Path) -> Result<Option<Self>> {
        let open = open(file)?;
        Ok(flock(&open, libc::LOCK_EX | libc::LOCK_NB).then_some(Self { _file: open }))
    }
}

fn open(file: &Path) -> Result<File> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(at("creating", folder))?;
    }
    File::options().create(true).append(true).open(file).map_err(at("opening", file))
}

fn flock(file: &File, operation: i32) -> bool {
    // SAFETY: `flock` takes a descriptor, which the open file keeps valid, and touches no memory of ours.
    unsafe { libc::flock(file.as_raw_fd(), operation) == 0 }
}
