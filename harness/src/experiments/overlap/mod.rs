//! Overlap: whether communication goes on while the application computes, and at whose cost. The methodology is that of BenchNBC
//! (Denis, Jaeger, Jeannot and Reynier, "A methodology for assessing computation/communication overlap of MPI nonblocking
//! collectives", CCPE 2022), here also for messages with datatypes and for halos.

mod answer;
pub mod calibration;
mod case;
mod diagnosis;
mod figures;
pub mod methods;
pub mod operations;
mod prepared;
mod selection;
mod setting;
mod table;
mod words;

pub use case::{Built, OverlapCase};
pub use diagnosis::Diagnosis;
pub use setting::{MOST_BYTES, MOST_ROWS, OverlapSetting, PARAMETERS};

use super::parameter::Flag;
use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Calibration, Experiment, Kind, Prepared, Setup};
use crate::model::conditions::Cache;
use crate::model::{MethodInfo, Phase, Record};
use crate::report::table::TableFormat;

/// Overlap in the list of kinds.
pub const KIND: Kind = Kind(&Overlap);

/// Overlap, as one of the kinds of experiments.
#[derive(Debug)]
struct Overlap;

impl Experiment for Overlap {
    fn name(&self) -> &'static str {
        "overlap"
    }

    fn methods(&self) -> &'static [MethodInfo] {
        methods::METHODS
    }

    fn phases(&self) -> &'static [Phase] {
        use Phase::{
            Call, CommunicationAlone, ComputationAlone, ComputationWithoutMpi, Compute, InMpi, Init,
            Overlapped, Rim, RimAlone, Wait,
        };
        &[
            Init,
            CommunicationAlone,
            ComputationWithoutMpi,
            ComputationAlone,
            RimAlone,
            Call,
            Compute,
            Wait,
            Rim,
            InMpi,
            Overlapped,
        ]
    }

    fn reference(&self) -> &'static str {
        methods::REFERENCE
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        let can = ranks >= 2 && i32::try_from(ranks).is_ok();
        (!can).then_some("must be at least 2 ranks")
    }

    fn refuse_cache(&self, cache: Cache) -> Option<&'static str> {
        let reason =
            "must be warm: what is sent has just been written, and the computation evicts what it does";
        (cache != Cache::Warm).then_some(reason)
    }

    fn flags(&self) -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).collect()
    }

    fn cases(&self, selection: &Selection, setup: Setup) -> Result<Selected, String> {
        selection::cases(selection, setup)
    }

    fn prepare(&self, case: &PlannedCase, setup: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(prepared::PreparedOverlap::of(case, setup)?))
    }

    fn calibration(&self, cases: &[PlannedCase]) -> Option<Box<dyn Calibration>> {
        let calibration = calibration::OverlapCalibration::of(cases)?;
        Some(Box::new(calibration))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }

    fn answer(&self, records: &[Record], width: Option<u16>) -> String {
        answer::answer(self.table_format(), records, width)
    }
}
