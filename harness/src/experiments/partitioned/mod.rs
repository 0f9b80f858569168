//! Partitioned transfers: a message between two ranks, handed over in partitions, each as soon as its thread has finished it.

mod expected;
mod figures;
pub mod model;
mod prepared;
pub mod sweep;
mod table;

pub use common::kinds::partitioned::*;
pub use expected::NO_EQUATION;

use super::Experiment;

/// The kind of experiments for partitioned transfers.
pub(super) static EXPERIMENT: Experiment = Experiment {
    parameters: || PARAMETERS.iter().map(|own| &own.info).chain(sweep::PRODUCTS).collect(),
    cases: |selection, _| sweep::cases(selection),
    prepare: |case, methods, _| prepared::prepare(case, methods),
    add_figures: figures::add,
    table_format: &table::TABLE_FORMAT,
};
