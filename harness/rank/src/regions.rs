//! The relation between the memory that is sent and the memory that is received into.

use apps::{Arrays, MicroApp, Side, WireOrder};

use crate::spans::{Span, spans};

/// The relation of both regions of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regions {
    /// The same bytes in the same order, for tests in which the original answers from the memory it received into (WRF, MILC, SPECFEM3D).
    Same,
    /// No byte in common.
    Apart,
    /// Some bytes in common, or all bytes in another order.
    Overlapping,
}

impl Regions {
    pub fn of(app: &MicroApp, arrays: &Arrays) -> Self {
        let [send, receive] = [Side::Send, Side::Receive].map(|side| app.message(side, WireOrder::Ddt));
        if spans(&send, arrays).eq(spans(&receive, arrays)) {
            return Self::Same;
        }
        let sorted = |message| {
            let mut all: Vec<Span> = spans(message, arrays).collect();
            all.sort_unstable_by_key(|span| span.offset);
            all
        };
        let (send, receive) = (sorted(&send), sorted(&receive));
        let mut others = receive.iter().peekable();
        for span in &send {
            while others.next_if(|other| other.offset + other.bytes <= span.offset).is_some() {}
            if others.peek().is_some_and(|other| other.offset < span.offset + span.bytes) {
                return Self::Overlapping;
            }
        }
        Self::Apart
    }
}

#[cfg(test)]
mod tests {
    use apps::{Context, TESTS};

    use super::*;

    #[test]
    fn every_test_answers_from_where_it_received_or_from_elsewhere() {
        for test in TESTS {
            let values = test.set(test.quick_set().name).unwrap();
            let app = test.build(&values, Context::default()).unwrap();
            let regions = Regions::of(&app, &Arrays::new(app.arrays.clone()));
            assert_ne!(regions, Regions::Overlapping, "{}", test.name);
            let answers_in_place = test.name.starts_with("wrf") || test.name == "milc_su3_zd";
            assert!(!answers_in_place || regions == Regions::Same, "{}", test.name);
        }
    }
}
