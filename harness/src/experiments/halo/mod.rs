//! Halos: the exchange of a micro-app between many ranks.

mod figures;
mod prepared;
mod selection;
mod table;

pub use common::kinds::halo::*;

use methods::MANUAL;

use super::Experiment;

/// The kind of experiments for halo exchanges.
pub(super) static EXPERIMENT: Experiment = Experiment {
    parameters: || PARAMETERS.iter().map(|own| &own.info).collect(),
    cases: selection::cases,
    prepare: prepared::prepare,
    add_figures: figures::add,
    table_format: &table::TABLE_FORMAT,
};
