//! Ping-pongs: a message that goes there and back, per micro-app.

mod ddtbench_format;
mod figures;
pub mod methods;
mod pairs;
mod prepared;
mod selection;
mod table;

pub use pairs::Pairs;
pub use prepared::{PreparedMessage, facts};
pub use selection::{Selection, SelectionError};

use super::planned::PlannedCase;
use super::summary::RowContext;
use super::{Experiment, Kind, Prepared, Setup, TextFormat};
use crate::model::{MethodInfo, Phase, Record};
use crate::report::table::TableFormat;

/// Ping-pongs in the list of kinds.
pub const KIND: Kind = Kind(&PingPong);

/// Ping-pongs, as one of the kinds of experiments.
#[derive(Debug)]
struct PingPong;

impl Experiment for PingPong {
    fn name(&self) -> &'static str {
        "pingpong"
    }

    fn methods(&self) -> &'static [MethodInfo] {
        methods::METHODS
    }

    fn phases(&self) -> &'static [Phase] {
        use Phase::{Communicate, Create, Free, InParts, Net, Pack, PeerPack, PeerUnpack, RoundTrip, Unpack};
        &[Create, Pack, Communicate, PeerUnpack, PeerPack, Net, Unpack, InParts, Free, RoundTrip]
    }

    fn reference(&self) -> &'static str {
        methods::REFERENCE
    }

    fn command(&self) -> &'static str {
        "run"
    }

    fn options(&self) -> &'static [&'static str] {
        &["pairs"]
    }

    fn text_formats(&self) -> &'static [TextFormat] {
        &[ddtbench_format::FORMAT]
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        let can = ranks >= 2 && ranks.is_multiple_of(2) && i32::try_from(ranks).is_ok();
        (!can).then_some("must be an even number from 2 to 2147483646: ranks work in pairs")
    }

    fn prepare(&self, case: &PlannedCase, setup: Setup) -> Result<Box<dyn Prepared>, String> {
        Ok(Box::new(PreparedMessage::of(case, setup)?))
    }

    fn add_figures(&self, record: &mut Record, context: &RowContext<'_>) {
        figures::add(record, context);
    }

    fn table_format(&self) -> &'static TableFormat {
        &table::TABLE_FORMAT
    }
}
