//! Checksums of the files of a run that has ended, so that edited files and files of other runs are named.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::recorded::read;
use super::{
    BLOCKS, CASES, CHECKS, COMPARISON, ENVIRONMENT, FIGURES, Folder, FolderError, LAUNCH_FIGURES, LAUNCHES,
    PLAN, REPORT, RUNS, Result, SAMPLES, SUMMARY,
};

/// A row per file of the run.
pub(super) const CHECKSUMS: &str = "checksums.csv";

/// The files of a run that this program has written.
pub(super) const FILES: [&str; 13] = [
    PLAN,
    ENVIRONMENT,
    RUNS,
    CASES,
    CHECKS,
    SAMPLES,
    BLOCKS,
    LAUNCHES,
    LAUNCH_FIGURES,
    SUMMARY,
    FIGURES,
    COMPARISON,
    REPORT,
];

#[derive(Serialize, Deserialize)]
struct Checksum {
    file: String,
    /// That of a missing file is 0.
    crc32: u32,
}

fn crc32(path: &Path, file: &str) -> Result<u32> {
    let mut crc = flate2::Crc::new();
    crc.update(&read(&path.join(file))?);
    Ok(crc.sum())
}

impl Folder {
    /// Writes the checksums, after all other files.
    ///
    /// # Errors
    /// If a file cannot be read, or this one not written.
    pub fn write_checksums(&self) -> Result<()> {
        let row = |file: &&str| Ok(Checksum { file: (*file).to_owned(), crc32: crc32(self.path(), file)? });
        self.write_table(CHECKSUMS, &FILES.iter().map(row).collect::<Result<Vec<_>>>()?)
    }
}

/// Reports files that are not those of the run that ended in this folder. A run that was cut off has no checksums.
///
/// # Errors
/// If files cannot be read.
pub fn changed_files(path: &Path) -> Result<Vec<String>> {
    let file = path.join(CHECKSUMS);
    let bytes = read(&file)?;
    let rows: std::result::Result<Vec<Checksum>, _> =
        csv::Reader::from_reader(&*bytes).deserialize().collect();
    let rows = rows.map_err(|error| FolderError::Broken { path: file, reason: error.to_string() })?;
    let kept: BTreeMap<&str, u32> = rows.iter().map(|row| (row.file.as_str(), row.crc32)).collect();
    let mut changed = Vec::new();
    for file in FILES.iter().filter(|file| kept.contains_key(*file)) {
        if crc32(path, file)? != kept[file] {
            changed.push(format!("{file} was changed or removed after the run ended ({CHECKSUMS})"));
        }
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::About;
    use super::*;

    #[test]
    fn files_that_were_edited_removed_or_added_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let of = |file: &str| dir.path().join(file);
        let folder =
            Folder::create(dir.path(), About { plan: "schema = 1\n".to_owned(), ..About::default() })
                .unwrap();
        folder.write_summary(&[], "<html>").unwrap();
        assert_eq!(changed_files(dir.path()).unwrap(), [""; 0], "the run has not ended");
        folder.write_checksums().unwrap();
        assert_eq!(changed_files(dir.path()).unwrap(), [""; 0]);
        // As `printf 123456789 | gzip -c | tail -c8 | od -tx4` shows.
        fs::write(of(SUMMARY), "123456789").unwrap();
        assert_eq!(crc32(dir.path(), SUMMARY).unwrap(), 0xcbf4_3926);
        fs::remove_file(of(PLAN)).unwrap();
        fs::write(of(COMPARISON), "{}").unwrap();
        let changed = changed_files(dir.path()).unwrap();
        for (i, file) in [PLAN, SUMMARY, COMPARISON].into_iter().enumerate() {
            assert!(changed[i].starts_with(file) && changed.len() == 3, "{changed:?}");
        }
        // A run that is resumed has not ended.
        drop(folder);
        fs::write(of(PLAN), "schema = 1\n").unwrap();
        let recorded = super::super::recorded::Recorded::open(dir.path()).unwrap();
        assert_eq!(recorded.lacking(&Default::default()).unwrap().len(), 2);
        recorded.resume(&Default::default(), About::default()).unwrap();
        assert_eq!(changed_files(dir.path()).unwrap(), [""; 0]);
    }
}
