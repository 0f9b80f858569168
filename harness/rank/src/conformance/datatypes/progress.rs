//! The file that says what this process is doing. It is mapped into memory, so that it is up to date however the process ends.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use common::conformance::Progress;

/// The mapped file.
pub struct ProgressFile {
    words: &'static [AtomicU64],
}

impl ProgressFile {
    /// Creates the file. It stays mapped until the process ends.
    ///
    /// # Errors
    /// If it cannot be created or mapped.
    pub fn create(path: &Path) -> io::Result<Self> {
        let bytes = Progress::words() * size_of::<u64>();
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        file.set_len(bytes as u64)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file of this length, at an address that the system chooses.
        let map =
            unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the mapping has this length and is never removed; it begins at a page, and atomics allow that others read it.
        Ok(Self { words: unsafe { std::slice::from_raw_parts(map.cast::<AtomicU64>(), Progress::words()) } })
    }

    pub fn begin(&self, case: u64, operation: usize) {
        self.words[1].store(operation as u64 + 1, Ordering::Relaxed);
        self.words[0].store(case + 1, Ordering::Release);
    }

    pub fn complete(&self, operation: usize) {
        self.words[2 + operation].fetch_add(1, Ordering::Relaxed);
    }

    /// All is done.
    pub fn end(&self) {
        self.words[0].store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_what_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress");
        let file = ProgressFile::create(&path).unwrap();
        let read = || Progress::read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(read().begun, None);
        file.begin(41, 3);
        assert_eq!((read().begun, read().done[3]), (Some((41, 3)), 0));
        file.complete(3);
        file.end();
        assert_eq!((read().begun, read().done[3]), (None, 1));
    }
}
