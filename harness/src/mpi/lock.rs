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
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(at("creating", folder))?;
        }
        let open = File::options().create(true).append(true).open(file).map_err(at("opening", file))?;
        // SAFETY: `flock` takes a descriptor, which `open` keeps valid, and touches no memory of ours.
        let flock = |operation| unsafe { libc::flock(open.as_raw_fd(), operation) };
        if flock(libc::LOCK_EX | libc::LOCK_NB) != 0 {
            say(&format!("waiting for another ddtbench that holds {}", file.display()));
            if flock(libc::LOCK_EX) != 0 {
                return Err(at("locking", file)(std::io::Error::last_os_error()));
            }
        }
        Ok(Self { _file: open })
    }
}
