//! A file to which complete pieces are appended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{FolderError, at};

/// An append-only file. Appended bytes are on the disk.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Opens or creates the file.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(at(path))?;
        let length = file.metadata().map_err(at(path))?.len();
        Ok(Self { path: path.to_owned(), file, length })
    }

    /// Appends in one write and waits for the disk. [`Log::cut`] removes the rest of a failed write. Fails if
    /// the file was moved or removed, because the data would be lost.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), FolderError> {
        self.is_there().map_err(at(&self.path))?;
        let write = |mut file: &File| {
            file.write_all(bytes)?;
            match file.sync_data() {
                // Some file systems and special files cannot sync.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
                synced => synced,
            }
        };
        write(&self.file).map_err(at(&self.path))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Whether the path still leads to the open file.
    fn is_there(&self) -> io::Result<()> {
        let (here, open) = (std::fs::metadata(&self.path)?, self.file.metadata()?);
        match (here.dev(), here.ino()) == (open.dev(), open.ino()) {
            true => Ok(()),
            false => Err(io::Error::other("it was replaced by another file")),
        }
    }

    /// Its length, in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Truncates the file to an earlier length. If that fails too, resuming sets the rest aside.
    pub fn cut(&mut self, length: u64) {
        self.length = length;
        let _ = self.file.set_len(length).and_then(|()| self.file.sync_data());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_moved_or_removed_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path).unwrap();
        log.append(b"one\n").unwrap();
        std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        let error = log.append(b"two\n").unwrap_err().to_string();
        assert!(error.contains("log: No such file"), "{error}");
        std::fs::write(&path, b"another's\n").unwrap();
        let error = log.append(b"two\n").unwrap_err().to_string();
        assert!(error.contains("another file"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"another's\n");
    }
}
