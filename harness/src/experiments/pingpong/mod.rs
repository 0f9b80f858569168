//! Ping-pongs: a message that goes there and back, per micro-app.

mod ddtbench_format;
mod figures;
mod prepared;
mod selection;
mod table;

pub use common::kinds::pingpong::*;
pub(super) use ddtbench_format::FORMAT as TEXT_FORMAT;
pub use prepared::PreparedMessage;
pub use selection::{cases, values};

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Context, Experiment, Prepared};
use crate::model::Record;
use crate::report::table::TableFormat;

/// Ping-pongs, as one of the kinds of experiments.
#[derive(Debug)]
pub struct PingPong;

impl Experiment for PingPong {
    fn cases(&self, selection: &Selection, setup: Context) -> Result<Selected, String> {
        cases(selection, setup)
    }

    fn prepare(&self, case: &PlannedCase, setup: Context) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(PreparedMessage::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
