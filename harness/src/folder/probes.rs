//! The folder of a check: a record for each probe, on disk before the next probe begins.

use std::path::Path;

use serde::Serialize;

use super::log::Log;
use super::place::Place;
use super::{ENVIRONMENT, FolderError, Result, at, rows, torn};
use crate::model::probe::ProbeRecord;

/// What probes saw.
pub const PROBES: &str = "probes.csv";

/// A folder that a check is being written to.
#[derive(Debug)]
pub struct ProbeFolder {
    place: Place,
    table: Log,
}

impl ProbeFolder {
    /// Makes the folder, and shows that it can be written to.
    ///
    /// # Errors
    /// A folder that is not empty, a file in its place, or one that cannot be written to.
    pub fn create(path: &Path) -> Result<Self> {
        let place = Place::create(path)?;
        Ok(Self { table: Log::open(&place.path().join(PROBES))?, place })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Replaces the account of the machine.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_environment(&self, environment: &impl Serialize) -> Result<()> {
        self.place.write_json(ENVIRONMENT, environment)
    }

    /// Keeps a record.
    ///
    /// # Errors
    /// If the disk is full, for example; the file is then as it was.
    pub fn append(&mut self, record: &ProbeRecord) -> Result<()> {
        append(&mut self.table, record)
    }

    /// Removes what was made for a check that could not begin. Does nothing and gives `false` where a probe has ended.
    pub fn discard(self) -> bool {
        if !self.table.is_empty() {
            return false;
        }
        self.place.discard(&[ENVIRONMENT, PROBES]);
        true
    }
}

/// Keeps a record at the end of a table.
pub(super) fn append(table: &mut Log, record: &ProbeRecord) -> Result<()> {
    let before = table.len();
    let row = probes_csv(std::slice::from_ref(record), table.is_empty());
    table.append(&row).inspect_err(|_| table.cut(before))
}

/// The records of a check's folder; of one that was cut off, those that are whole.
///
/// # Errors
/// If there are none, or they cannot be understood.
pub fn read_probes(path: &Path) -> Result<Vec<ProbeRecord>> {
    let file = path.join(PROBES);
    let bytes = std::fs::read(&file).map_err(at(&file))?;
    probes_from(torn::split(&bytes).0)
        .map_err(|error| FolderError::Broken { path: file, reason: error.to_string() })
}

/// Records as a table: the fields of [`ProbeRecord`] in their order.
pub fn probes_csv(records: &[ProbeRecord], header: bool) -> Vec<u8> {
    let header = header && !records.is_empty();
    let header = if header { rows::header(&rows::columns(&records[0])) } else { Vec::new() };
    [header, rows::rows(records)].concat()
}

/// The records of a table with its header.
///
/// # Errors
/// If a row does not fit [`ProbeRecord`].
pub fn probes_from(bytes: &[u8]) -> std::result::Result<Vec<ProbeRecord>, csv::Error> {
    csv::Reader::from_reader(bytes).into_deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::probe::Outcome;

    #[test]
    fn records_are_kept_one_by_one_and_what_is_torn_is_left_out() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("check");
        let mut folder = ProbeFolder::create(&path).unwrap();
        let record = |probe: &str| ProbeRecord {
            mpi: "mpich".to_owned(),
            probe: probe.to_owned(),
            outcome: Outcome::TimedOut,
            detail: "a, \"b\"\nc".to_owned(),
            seconds: 1.5,
        };
        folder.append(&record("ring")).unwrap();
        folder.append(&record("any_order")).unwrap();
        assert_eq!(read_probes(&path).unwrap(), [record("ring"), record("any_order")]);
        assert!(!folder.discard(), "there are results");
        let file = path.join(PROBES);
        let whole = std::fs::read(&file).unwrap();
        std::fs::write(&file, &whole[..whole.len() - 3]).unwrap();
        assert_eq!(read_probes(&path).unwrap(), [record("ring")]);
    }

    #[test]
    fn records_read_back_as_they_were() {
        let record = |probe: &str, detail: &str| ProbeRecord {
            mpi: "mpich".to_owned(),
            probe: probe.to_owned(),
            outcome: Outcome::Passed,
            detail: detail.to_owned(),
            seconds: 0.125,
        };
        let all = [record("equal_counts", ""), record("proc_null", "SIGSEGV, \"at\" once")];
        let mut bytes = probes_csv(&all[..1], true);
        bytes.extend(probes_csv(&all[1..], false));
        assert_eq!(probes_from(&bytes).unwrap(), all);
        assert!(bytes.starts_with(b"mpi,probe,outcome,detail,seconds\nmpich,equal_counts,passed,,0.125\n"));
    }

    #[test]
    fn a_check_that_did_not_begin_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("check");
        assert!(ProbeFolder::create(&path).unwrap().discard());
        assert!(!path.exists());
    }
}
