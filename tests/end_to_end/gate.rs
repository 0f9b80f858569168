//! A gate in the middle of a case, which stops a run at a known point however fast the machine is: rank 0
//! waits in its first `MPI_Type_commit` until it may pass (`faulty_mpi.c`).

use std::fs;
use std::path::{Path, PathBuf};

use super::faulty_mpi;
use super::job::Job;
use super::setup::Mpi;

/// A file that exists while the gate is closed.
pub struct Gate(PathBuf);

impl Gate {
    /// A closed gate, whose files are in this folder.
    pub fn closed(dir: &Path) -> Self {
        let gate = Self(dir.join("gate"));
        fs::write(&gate.0, "").unwrap();
        gate
    }

    /// The fault of an MPI that has this gate.
    pub fn fault(&self) -> String {
        format!("gate {}", self.0.display())
    }

    /// The gate as a variant of an MPI, called `gated`.
    pub fn variant(&self, mpi: &Mpi) -> String {
        faulty_mpi::variant(mpi, "gated", &self.fault())
    }

    /// Waits until the ranks of a case are at the gate.
    #[track_caller]
    pub fn reach(&self, job: &mut Job) {
        job.until("at the gate", |job| {
            let is_there = self.is_reached();
            assert!(is_there || job.is_running(), "it has ended before: {:?}", job.output());
            is_there
        });
    }

    /// Whether the ranks of a case have reached the gate since the last call.
    pub fn is_reached(&self) -> bool {
        fs::remove_file(self.0.with_extension("reached")).is_ok()
    }

    /// Lets the process at the gate pass.
    pub fn pass(&self) {
        fs::write(self.0.with_extension("pass"), "").unwrap();
    }

    /// Lets all processes pass from now on.
    pub fn open(&self) {
        fs::remove_file(&self.0).unwrap();
    }
}
