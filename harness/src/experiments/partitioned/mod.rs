//! Partitioned transfers: a message between two ranks, handed over in partitions, each as soon as its thread has finished it.

mod expected;
mod figures;
pub mod methods;
pub mod model;
mod prepared;
mod setting;
pub mod sweep;
mod table;

pub use expected::NO_EQUATION;
pub use setting::{PARAMETERS, Setting};

use super::parameter::Flag;
use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Experiment, Kind, Prepared, Setup};
use crate::model::{MethodInfo, Phase, Record};
use crate::report::table::TableFormat;

/// The name of a transfer between two ranks, where results name a test.
pub const TEST: &str = "partitioned";

/// Partitioned transfers in the list of kinds.
pub const KIND: Kind = Kind(&Partitioned);

/// Partitioned transfers, as one of the kinds of experiments.
#[derive(Debug)]
struct Partitioned;

impl Experiment for Partitioned {
    fn name(&self) -> &'static str {
        "partitioned"
    }

    fn methods(&self) -> &'static [MethodInfo] {
        methods::MECHANISMS
    }

    fn method(&self, name: &str) -> Result<&'static MethodInfo, String> {
        methods::find(name)
    }

    fn phases(&self) -> &'static [Phase] {
        use Phase::{AfterLast, Compute, Delay, FirstPartition, Init, Solution, Total};
        &[Init, Compute, FirstPartition, Delay, AfterLast, Total, Solution]
    }

    fn reference(&self) -> &'static str {
        methods::SINGLE
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        (ranks != 2).then_some("must be 2: one rank sends and one receives")
    }

    fn options(&self) -> &'static [&'static str] {
        &["rule", "startall"]
    }

    fn flags(&self) -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).chain(sweep::PRODUCTS).collect()
    }

    fn cases(&self, selection: &Selection, _setup: Setup) -> Result<Selected, String> {
        sweep::cases(selection)
    }

    fn prepare(&self, case: &PlannedCase, _setup: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedTransfer::of(case)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
