//! Checks of an MPI's correctness. Each one is a separate process that is stopped if it prints nothing for too long. Nothing is timed.

pub mod datatypes;
pub(crate) mod process;
pub mod table;

use serde::{Deserialize, Serialize};

use crate::model::check::{Answer, Check};
use crate::model::conditions::MemoryKind;
use crate::model::mpi_label;
use crate::mpi::Target;
use crate::report::columns::{Align, Column, Table};

/// A check that prints nothing for so many seconds is stopped. No step takes nearly so long, even for large messages on a slow machine.
pub const TIMEOUT_S: f64 = 10.0;

/// How the checks of an MPI are started.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The MPI, with its rank program.
    pub target: &'a Target,
    /// A check that prints nothing for so many seconds is stopped.
    pub timeout_s: f64,
    /// Divides it, but not for a process that has not begun.
    pub hurry: f64,
    /// The memory of data that is described by a datatype.
    pub memory: MemoryKind,
}

impl<'a> Conditions<'a> {
    /// With data in usual memory.
    pub fn on_host(target: &'a Target, timeout_s: f64) -> Self {
        Self { target, timeout_s, hurry: 1.0, memory: MemoryKind::Host }
    }
}

/// The answer of an MPI to a check: a row of `checks.csv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The name of the check.
    pub check: String,
    pub mpi: String,
    pub mpi_version: String,
    /// Its variant; empty for the unchanged MPI.
    pub mpi_variant: String,
    /// The number of processes.
    pub ranks: usize,
    pub answer: Answer,
}

impl CheckResult {
    /// The answer of an MPI to a check.
    pub fn new(target: &Target, check: &Check, answer: Answer) -> Self {
        Self {
            check: check.name.to_owned(),
            mpi: target.installation.name.clone(),
            mpi_version: target.installation.version.clone(),
            mpi_variant: target.variant.clone(),
            ranks: check.ranks,
            answer,
        }
    }

    /// The name of the MPI in tables.
    pub fn mpi_label(&self) -> String {
        mpi_label(&self.mpi, &self.mpi_variant)
    }

    /// Whether the MPI does not conform.
    pub fn is_failure(&self) -> bool {
        self.answer.outcome.is_failure()
    }
}

/// A table of texts.
fn left_aligned<'a>(names: impl Iterator<Item = &'a str>, rows: Vec<Vec<String>>) -> Table<'a> {
    let column = |(i, name)| Column::new(name, Align::Left, if i == 0 { 0 } else { 2 });
    Table { columns: names.enumerate().map(column).collect(), rows }
}
