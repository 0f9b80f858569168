//! An MPI of a run with the rank program that was built for it.

use std::path::PathBuf;

use super::Installation;
use crate::model::mpi_label;

/// An MPI of a run, as it is or with more variables set.
#[derive(Clone, Debug)]
pub struct Target {
    /// The MPI, with the variables of the variant.
    pub installation: Installation,
    /// The name of the variant; empty for the MPI as it is.
    pub variant: String,
    /// The rank program that was built for it.
    pub program: PathBuf,
}

impl Target {
    /// Its name in tables.
    pub fn label(&self) -> String {
        mpi_label(&self.installation.name, &self.variant)
    }
}
