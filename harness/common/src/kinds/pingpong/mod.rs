//! Ping-pongs: the round trip of a micro-app's message.

pub mod descriptions;
pub mod methods;
mod pairs;
pub mod parts;

pub use pairs::Pairs;

use apps::{MicroApp, Side, WireOrder};

use super::{NOT_REPEATED, Row};
use crate::model::event::MessageFacts;
use crate::model::{Phase, find_method};

pub(super) const ROW: Row = {
    use Phase::{Communicate, Create, Free, InParts, Net, Pack, PeerPack, PeerUnpack, RoundTrip, Unpack};
    Row {
        name: "pingpong",
        command: "run",
        methods: || methods::METHODS,
        find: |name| find_method(methods::METHODS, "method", name),
        phases: &[Create, Pack, Communicate, PeerUnpack, PeerPack, Net, Unpack, InParts, Free, RoundTrip],
        decisive: &[RoundTrip],
        reference: methods::REFERENCE,
        default_ranks: 2,
        refuse_ranks: |ranks| {
            let can = ranks >= 2 && ranks.is_multiple_of(2) && i32::try_from(ranks).is_ok();
            (!can).then_some("must be an even number from 2 to 2147483646: ranks work in pairs")
        },
        only_warm: None,
        only_host: None,
        options: &["pack", "pairs"],
        // A method that packs is timed in phases or as a whole; any other method has a single phase, the whole.
        timed_apart: |block| {
            let packs = [Pack, Unpack].iter().any(|phase| !phase.samples(block).is_empty());
            if packs { &[Create, Free, RoundTrip] } else { NOT_REPEATED }
        },
        is_contest: true,
    }
};

/// Sizes of a micro-app's message in one wire order.
pub fn facts(app: &MicroApp, order: WireOrder) -> MessageFacts {
    let message = app.message(Side::Send, order);
    MessageFacts {
        bytes: message.size(),
        segments: message.segments().count() as u64,
        array_bytes: app.arrays.iter().map(|array| array.bytes() as u64).sum(),
        line_bytes: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Block;

    #[test]
    fn round_trips_of_a_method_that_packs_are_of_other_repetitions_than_its_phases() {
        use Phase::{Communicate, Pack, PeerPack, RoundTrip};
        let apart = |phases: &[Phase]| {
            let mut block = Block::default();
            phases.iter().for_each(|&phase| block.times[phase] = vec![1e-6]);
            (ROW.timed_apart)(&block)
        };
        let packing = apart(&[Pack, Communicate, PeerPack, RoundTrip]);
        assert!(packing.contains(&RoundTrip) && !packing.contains(&Pack) && !packing.contains(&PeerPack));
        let datatype = apart(&[Communicate, RoundTrip]);
        assert!(!datatype.contains(&RoundTrip) && !datatype.contains(&Communicate));
    }
}
