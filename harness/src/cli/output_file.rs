//! A file that the user has named for what a command makes.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail};
use ddtbench::mpi::interrupt;

/// Writes a file that must not exist yet; it exists, whole, only when all is done.
///
/// # Errors
/// If it exists, or cannot be written.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!("{}: is there already, and is not overwritten; name another file", path.display());
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // A temporary file is removed in order.
    interrupt::hold();
    let cannot = || format!("{}: cannot be written", path.display());
    // As any other file, less what the user's mask takes away; a temporary one would be for its owner alone.
    let permissions = Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().permissions(permissions).tempfile_in(folder).with_context(cannot)?;
    file.write_all(bytes).with_context(cannot)?;
    file.persist_noclobber(path).map(drop).with_context(cannot)
}
