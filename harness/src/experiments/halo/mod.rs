//! Halos: the exchange of a micro-app between many ranks.

mod figures;
mod prepared;
mod selection;
mod table;

pub use common::kinds::halo::*;

use methods::MANUAL;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Context, Experiment, Prepared};
use crate::model::Record;
use crate::report::table::TableFormat;
use common::parameter::ParameterInfo;

/// Halo exchanges, as one of the kinds of experiments.
#[derive(Debug)]
pub struct Halo;

impl Experiment for Halo {
    fn parameters(&self) -> Vec<&'static ParameterInfo> {
        PARAMETERS.iter().map(|own| &own.info).collect()
    }

    fn cases(&self, selection: &Selection, setup: Context) -> Result<Selected, String> {
        selection::cases(selection, setup)
    }

    fn prepare(&self, case: &PlannedCase, setup: Context) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedExchange::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
