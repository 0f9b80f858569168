//! Pictures in the folder of a run: each as SVG, with its data as CSV. They are made of the rest, and can be made again.

use std::fs;
use std::path::Path;

use super::locked_folder::replace;
use super::{PICTURES, Result, at};

/// Writes pictures, each with its name, SVG and CSV, into the folder of a run; those of these names are replaced.
///
/// # Errors
/// If they cannot be written.
pub fn write_pictures<'a>(
    path: &Path,
    pictures: impl IntoIterator<Item = (&'a str, &'a str, &'a [u8])>,
) -> Result<()> {
    let folder = path.join(PICTURES);
    for (name, svg, csv) in pictures {
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        replace(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        replace(&folder.join(format!("{name}.csv")), csv)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_two_files_that_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        write_pictures(dir.path(), []).unwrap();
        assert!(!dir.path().join(PICTURES).exists(), "a run without pictures has no folder of them");
        for svg in ["<svg/>", "<svg></svg>"] {
            write_pictures(dir.path(), [("overhead", svg, &b"a,b\n"[..])]).unwrap();
            let read = |name: &str| fs::read_to_string(dir.path().join(PICTURES).join(name)).unwrap();
            assert_eq!((read("overhead.svg").as_str(), read("overhead.csv").as_str()), (svg, "a,b\n"));
        }
        assert_eq!(fs::read_dir(dir.path().join(PICTURES)).unwrap().count(), 2);
    }
}
