//! Probes: whether an MPI does what partitioned communication needs, one behaviour each. A probe is a case, tried by one
//! method.

mod prepared;
pub mod table;

pub use common::kinds::probes::*;
pub use prepared::TIMEOUT_S;

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Experiment, Kind, Prepared, Setup};
use crate::model::{Outcome, Record};
use crate::report::compared::Compared;
use crate::report::html;
use crate::report::pictures::Drawn;
use crate::report::table::TableFormat;

/// Probes, as one of the kinds of experiments.
#[derive(Debug)]
pub struct Probes;

impl Experiment for Probes {
    fn kind(&self) -> Kind {
        Kind::Probes
    }

    fn cases(&self, _: &Selection, _: Setup) -> Result<Selected, String> {
        Err("probes have no parameters: cases name them".to_owned())
    }

    fn prepare(&self, case: &PlannedCase, _: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedProbe::of(case)?))
    }

    fn add_figures(&self, _: &mut Record, _: &RowContext<'_>) {}

    fn needs_second_try(&self, test: &str, outcome: &Outcome) -> bool {
        list::is_failure_of(test, outcome)
    }

    fn asks_anew(&self) -> bool {
        true
    }

    fn has_failed(&self, record: &Record) -> bool {
        list::is_failure(record)
    }

    /// An MPI without the functions has nothing to fail.
    fn is_success(&self, records: &[&Record]) -> bool {
        !records.iter().any(|record| self.has_failed(record))
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }

    /// The table itself: it has a line per probe.
    fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        self.table(records, width)
    }

    fn table(&self, records: &[Record], width: Option<u16>) -> String {
        table::table(records, width)
    }

    fn page(&self, records: &[Record], _: &[Drawn], environment: &str, _: &Compared) -> String {
        html::text_page(&self.table(records, None), environment)
    }
}
