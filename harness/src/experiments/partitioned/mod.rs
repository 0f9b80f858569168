//! Partitioned transfers: a message between two ranks, handed over in partitions, each as soon as its thread has finished it.

mod expected;
mod figures;
pub mod model;
mod prepared;
pub mod sweep;
mod table;

pub use common::kinds::partitioned::*;
pub use expected::NO_EQUATION;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Context, Experiment, Prepared};
use crate::model::Record;
use crate::report::table::TableFormat;
use common::parameter::ParameterInfo;

/// Partitioned transfers, as one of the kinds of experiments.
#[derive(Debug)]
pub struct Partitioned;

impl Experiment for Partitioned {
    fn parameters(&self) -> Vec<&'static ParameterInfo> {
        PARAMETERS.iter().map(|own| &own.info).chain(sweep::PRODUCTS).collect()
    }

    fn cases(&self, selection: &Selection, _setup: Context) -> Result<Selected, String> {
        sweep::cases(selection)
    }

    fn prepare(&self, case: &PlannedCase, _setup: Context) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedTransfer::of(case)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
