//! Ping-pongs: a message that goes there and back, per micro-app.

mod ddtbench_format;
mod figures;
pub mod methods;
mod pairs;
pub mod parts;
mod prepared;
mod selection;
mod table;

pub use pairs::Pairs;
pub use prepared::{PreparedMessage, facts};
pub use selection::{cases, values};

use super::planned::{PlannedCase, Selected};
use super::selection::Selection;
use super::summary::RowContext;
use super::{Experiment, Kind, NOT_REPEATED, Prepared, Setup, TextFormat};
use crate::model::event::TimedApart;
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

    /// Of a method that packs, a repetition is timed in parts or as a whole; of another, its one part is the whole.
    fn timed_apart(&self) -> TimedApart {
        use Phase::{Create, Free, Pack, RoundTrip, Unpack};
        |block| {
            let packs = [Pack, Unpack].iter().any(|phase| !phase.samples(block).is_empty());
            if packs { &[Create, Free, RoundTrip] } else { NOT_REPEATED }
        }
    }

    fn refuse_ranks(&self, ranks: usize) -> Option<&'static str> {
        let can = ranks >= 2 && ranks.is_multiple_of(2) && i32::try_from(ranks).is_ok();
        (!can).then_some("must be an even number from 2 to 2147483646: ranks work in pairs")
    }

    fn cases(&self, selection: &Selection, setup: Setup) -> Result<Selected, String> {
        cases(selection, setup)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Block;

    #[test]
    fn of_a_method_that_packs_the_whole_is_of_other_repetitions_than_its_parts() {
        use Phase::{Communicate, Pack, PeerPack, RoundTrip};
        let apart = |phases: &[Phase]| {
            let mut block = Block::default();
            phases.iter().for_each(|&phase| block.times[phase] = vec![1e-6]);
            PingPong.timed_apart()(&block)
        };
        let packing = apart(&[Pack, Communicate, PeerPack, RoundTrip]);
        assert!(packing.contains(&RoundTrip) && !packing.contains(&Pack) && !packing.contains(&PeerPack));
        let datatype = apart(&[Communicate, RoundTrip]);
        assert!(!datatype.contains(&RoundTrip) && !datatype.contains(&Communicate));
    }
}
