//! The folder of an engine's comparison: a finished case is kept by its samples first and its figures last.

use std::path::Path;

use serde::Serialize;

use super::log::Log;
use super::place::Place;
use super::{ENVIRONMENT, FolderError, Result, SAMPLES, at, torn};
use crate::engine::{self, EngineRecord, EngineResult};
use crate::report::engine_csv;

/// The figures.
pub const ENGINE: &str = "engine.csv";

/// A folder that a comparison is being written to.
#[derive(Debug)]
pub struct EngineFolder {
    place: Place,
    samples: Log,
    table: Log,
}

impl EngineFolder {
    /// Makes the folder, and shows that it can be written to.
    ///
    /// # Errors
    /// A folder that is not empty, a file in its place, or one that cannot be written to.
    pub fn create(path: &Path) -> Result<Self> {
        let place = Place::create(path)?;
        let log = |name| Log::open(&place.path().join(name));
        Ok(Self { samples: log(SAMPLES)?, table: log(ENGINE)?, place })
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

    /// Keeps a finished case, and gives its records.
    ///
    /// # Errors
    /// If the disk is full, for example; the files are then as they were.
    pub fn append(&mut self, result: &EngineResult) -> Result<Vec<EngineRecord>> {
        let records = engine::records(result);
        let before = (self.samples.len(), self.table.len());
        let samples = engine_csv::samples(result, self.samples.is_empty());
        let rows = engine_csv::records(&records, self.table.is_empty());
        self.samples.append(&samples).and_then(|()| self.table.append(&rows)).inspect_err(|_| {
            self.table.cut(before.1);
            self.samples.cut(before.0);
        })?;
        Ok(records)
    }

    /// Removes what was made for a comparison that could not begin. Does nothing and gives `false` where a case has
    /// ended.
    pub fn discard(self) -> bool {
        if !self.table.is_empty() {
            return false;
        }
        self.place.discard(&[ENVIRONMENT, SAMPLES, ENGINE]);
        true
    }
}

/// The records of a comparison's folder; of one that was cut off, those that are whole.
///
/// # Errors
/// If there are none, or they cannot be understood.
pub fn read_engine(path: &Path) -> Result<Vec<EngineRecord>> {
    let file = path.join(ENGINE);
    let bytes = std::fs::read(&file).map_err(at(&file))?;
    engine_csv::read(torn::whole_rows(&bytes))
        .map_err(|error| FolderError::Broken { path: file, reason: error.to_string() })
}
