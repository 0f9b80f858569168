//! Pictures in the folder of a run. They can be made again from other files.

use std::fs;
use std::path::Path;

use super::locked_folder::replace;
use super::{PICTURES, Result, at};

/// Writes pictures into the folder of a run, and replaces those with the same names.
///
/// # Errors
/// If they cannot be written.
pub fn write_pictures(path: &Path, files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<()> {
    let folder = path.join(PICTURES);
    for (name, bytes) in files {
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        replace(&folder.join(name), &bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_pictures_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        write_pictures(dir.path(), []).unwrap();
        assert!(!dir.path().join(PICTURES).exists(), "a run without pictures has no folder of them");
        for svg in ["<svg/>", "<svg></svg>"] {
            write_pictures(dir.path(), [("overhead.svg".to_owned(), svg.into())]).unwrap();
            assert_eq!(fs::read_to_string(dir.path().join(PICTURES).join("overhead.svg")).unwrap(), svg);
        }
        assert_eq!(fs::read_dir(dir.path().join(PICTURES)).unwrap().count(), 1);
    }
}
