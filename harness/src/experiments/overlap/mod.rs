//! Overlap: whether communication continues while the application computes, and at whose cost. The methodology is that of
//! BenchNBC (Denis, Jaeger, Jeannot and Reynier, "A methodology for assessing computation/communication overlap of MPI
//! nonblocking collectives", CCPE 2022), here also for messages with datatypes and for halos.

pub mod calibration;
mod diagnosis;
mod figures;
mod prepared;
mod selection;
mod sentences;
mod table;

pub use common::kinds::overlap::*;
pub use diagnosis::Diagnosis;

use super::Experiment;

/// The kind of experiments for overlap.
pub(super) static EXPERIMENT: Experiment = Experiment {
    parameters: || PARAMETERS.iter().map(|own| &own.info).collect(),
    cases: selection::cases,
    prepare: prepared::prepare,
    add_figures: figures::add,
    table_format: &table::TABLE_FORMAT,
};
