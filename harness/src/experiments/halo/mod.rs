//! Halos: the exchange of a micro-app between many ranks.

mod case;
mod figures;
pub mod methods;
mod prepared;
mod selection;
mod setting;
mod table;

pub use case::{HaloCase, message, rank_bytes};
pub use setting::{HaloSetting, PARAMETERS, Start};

use methods::MANUAL;

use super::parameter::Flag;
use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Experiment, Kind, Prepared, Setup};
use crate::model::conditions::Cache;
use crate::model::{MethodInfo, Phase, Record};
use crate::report::table::TableFormat;

/// Halos in the list of kinds.
pub const KIND: Kind = Kind(&Halo);

/// Halo exchanges, as one of the kinds of experiments.
#[derive(Debug)]
struct Halo;

impl Experiment for Halo {
    fn name(&self) -> &'static str {
        "halo"
    }

    fn methods(&self) -> &'static [MethodInfo] {
        methods::METHODS
    }

    fn method(&self, name: &str) -> Result<&'static MethodInfo, String> {
        methods::find(name)
    }

    fn phases(&self) -> &'static [Phase] {
        use Phase::{Communicate, Compute, Exchange, Init, Pack, Total, Unpack};
        &[Init, Compute, Pack, Communicate, Unpack, Total, Exchange]
    }

    fn reference(&self) -> &'static str {
        methods::REFERENCE
    }

    /// A square grid, and a number that all exchanges have.
    fn default_ranks(&self) -> usize {
        4
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        let can = ranks >= 1 && i32::try_from(ranks).is_ok();
        (!can).then_some("must be a whole number from 1 to 2147483647")
    }

    fn refuse_cache(&self, cache: Cache) -> Option<&'static str> {
        let reason = "must be warm: halos are measured as the last exchange left the caches";
        (cache != Cache::Warm).then_some(reason)
    }

    fn flags(&self) -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).collect()
    }

    fn cases(&self, selection: &Selection, setup: Setup) -> Result<Selected, String> {
        selection::cases(selection, setup)
    }

    fn prepare(&self, case: &PlannedCase, setup: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedExchange::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
