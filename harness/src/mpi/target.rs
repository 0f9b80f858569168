//! An MPI of a run with its rank program.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Installation, OwnLoop, StandIn, Trusted};
use crate::model::mpi_label;

/// An MPI of a run, unchanged or with additional variables.
#[derive(Clone, Debug)]
pub struct Target {
    /// The MPI, with the variables of the variant.
    pub installation: Installation,
    /// The name of the variant; empty for the unchanged MPI.
    pub variant: String,
    pub program: PathBuf,
    pub programs: Trusted,
    pub own_loop: Option<OwnLoop>,
    /// The driver of a simulated device.
    pub stand_in: Option<Arc<StandIn>>,
}

impl Target {
    /// An unchanged MPI for tests.
    #[cfg(test)]
    pub(crate) fn fake(installation: Installation, program: impl Into<PathBuf>) -> Self {
        let (variant, programs, program) = (String::new(), Trusted::default(), program.into());
        Self { installation, variant, program, programs, own_loop: None, stand_in: None }
    }

    /// Its name in tables.
    pub fn label(&self) -> String {
        mpi_label(&self.installation.name, &self.variant)
    }
}
