//! Ping-pongs: a micro-app's message goes to another rank and back.

mod ddtbench_format;
mod figures;
mod prepared;
mod selection;
mod table;

pub use common::kinds::pingpong::*;
pub(super) use ddtbench_format::FORMAT as TEXT_FORMAT;
pub use prepared::message;
pub(super) use prepared::{orders_differ, prepare};
pub use selection::{cases, values};

use super::Experiment;

/// The kind of experiments for ping-pongs.
pub(super) static EXPERIMENT: Experiment = Experiment {
    parameters: Vec::new,
    cases,
    prepare,
    add_figures: figures::add,
    table_format: &table::TABLE_FORMAT,
};
