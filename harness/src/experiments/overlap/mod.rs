//! Overlap: whether communication goes on while the application computes, and at whose cost. The methodology is that of BenchNBC
//! (Denis, Jaeger, Jeannot and Reynier, "A methodology for assessing computation/communication overlap of MPI nonblocking
//! collectives", CCPE 2022), here also for messages with datatypes and for halos.

pub mod calibration;
mod diagnosis;
mod figures;
mod prepared;
mod selection;
mod sentences;
mod table;

pub use common::kinds::overlap::*;
pub use diagnosis::Diagnosis;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Context, Experiment, Prepared};
use crate::model::Record;
use crate::report::table::TableFormat;
use common::parameter::ParameterInfo;

/// Overlap, as one of the kinds of experiments.
#[derive(Debug)]
pub struct Overlap;

impl Experiment for Overlap {
    fn parameters(&self) -> Vec<&'static ParameterInfo> {
        PARAMETERS.iter().map(|own| &own.info).collect()
    }

    fn cases(&self, selection: &Selection, setup: Context) -> Result<Selected, String> {
        selection::cases(selection, setup)
    }

    fn prepare(&self, case: &PlannedCase, setup: Context) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedOverlap::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
