//! The engine's comparison: our pack engine beside the hand-written loops, `memcpy` and the `MPI_Pack` of every MPI, in
//! one process each, without communication.
//!
//! `selection.rs` has the cases that are compared.

mod figures;
pub mod grid;
mod prepared;
mod selection;
mod table;

pub use common::kinds::engine::*;
pub use selection::orders;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Context, Experiment, Prepared};
use crate::model::Record;
use crate::report::table::TableFormat;

/// Whether a test has an `order` of its own that can have this value, which is none of [`PackingOrder`].
fn is_of_a_test(value: &str) -> bool {
    let mut parameters = apps::TESTS.iter().flat_map(|test| test.parameters);
    parameters.any(|own| {
        own.name == ORDER
            && matches!(own.value_type, apps::ParameterType::Choice(words) if words.contains(&value))
    })
}

/// The engine's comparison, as one of the kinds of experiments.
#[derive(Debug)]
pub struct Engine;

impl Experiment for Engine {
    fn cases(&self, selection: &Selection, setup: Context) -> Result<Selected, String> {
        selection::cases(selection, setup.seed)
    }

    fn prepare(&self, case: &PlannedCase, setup: Context) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedComparison::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
