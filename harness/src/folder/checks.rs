//! The folder of checks: their results, and the account of the machine and its MPIs.

use std::path::Path;

use serde::Serialize;

use super::locked_folder::LockedFolder;
use super::{CHECKS, ENVIRONMENT, Result};

/// A folder that results of checks are being written to. No other process writes to it meanwhile.
#[derive(Debug)]
pub struct CheckFolder(LockedFolder);

impl CheckFolder {
    /// Creates the folder.
    ///
    /// # Errors
    /// A folder that is not empty, a file in its place, or one that cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        LockedFolder::create(path).map(Self)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Replaces the account of the machine.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_environment(&self, environment: &impl Serialize) -> Result<()> {
        self.0.write_json(ENVIRONMENT, environment)
    }

    /// Replaces the results; there is at least one.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write_results(&self, results: &[impl Serialize]) -> Result<()> {
        self.0.write_table(CHECKS, results)
    }

    /// Removes a folder without results.
    pub fn discard(self) {
        self.0.discard(&[ENVIRONMENT]);
    }
}
