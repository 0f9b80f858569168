//! A file that the user has named for what a command makes.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use ddtbench::mpi::interrupt;
use tempfile::NamedTempFile;

/// A file that is there, and whole, only when all is done.
pub(super) struct OutputFile<'a> {
    path: &'a Path,
    replaces: bool,
    file: NamedTempFile,
}

impl<'a> OutputFile<'a> {
    /// One that replaces another if it is forced to; `None` where the command has no such flag.
    ///
    /// # Errors
    /// If the file is there, or its folder cannot be written.
    pub fn begin(path: &'a Path, force: Option<bool>) -> anyhow::Result<Self> {
        let replaces = force == Some(true);
        if !replaces && path.symlink_metadata().is_ok() {
            let more = if force.is_some() { ", or --force" } else { "" };
            bail!("{}: is there already, and is not overwritten; name another file{more}", path.display());
        }
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        // A temporary file is removed in order.
        interrupt::hold();
        // As any other file, less what the user's mask takes away; a temporary one would be for its owner alone.
        let permissions = Permissions::from_mode(0o666);
        let file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder);
        let file = file.with_context(|| format!("{}: cannot be written", path.display()))?;
        Ok(Self { path, replaces, file })
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// If that cannot be done, or another process has made the file meanwhile; then nothing is written.
    pub fn finish(mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let cannot = || format!("{}: cannot be written", self.path.display());
        self.file.write_all(bytes).with_context(cannot)?;
        let kept =
            if self.replaces { self.file.persist(self.path) } else { self.file.persist_noclobber(self.path) };
        kept.map(drop).with_context(cannot)
    }
}

/// Writes a file that must not be there yet.
///
/// # Errors
/// If it is there, or cannot be written.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    OutputFile::begin(path, None)?.finish(bytes)
}
