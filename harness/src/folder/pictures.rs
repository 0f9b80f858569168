//! Pictures in the folder of a run. They can be made again from other files.

use std::fs;
use std::path::Path;

use super::locked_folder::replace;
use super::{PICTURES, Result, at};

/// Writes pictures into the folder of a run, and replaces those with the same names.
pub fn write_pictures(path: &Path, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<()> {
    let folder = path.join(PICTURES);
    for (name, bytes) in files {
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        replace(&folder.join(name), &bytes)?;
    }
    Ok(())
}
