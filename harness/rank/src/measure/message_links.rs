//! The links of a micro-app's message, one way and back, and what a rank looks at after a round trip.

use std::ops::Range;

use apps::{Exchange, Side, WireOrder};
use common::packing::{Ends, Location};

use crate::memory::{Memory, Region};
use crate::method::{Method, Setup};
use crate::payload::{
    Link, Mismatch, Moved, Places, Run, Runs, Spots, Version, Wrong, source_of_arrays, source_of_outgoing,
};
use crate::spans::{
    Span, data_spans, from_source, in_arrays, is_apart, packed_data, padded_places, padded_spans, runs,
};

/// The order and the memories of a method's messages; methods with the same ones share their links.
#[derive(Clone, PartialEq, Eq)]
pub struct Route {
    from: Location,
    to: Location,
    order: WireOrder,
    is_renewed: bool,
    /// Several messages one way, as ranges of packed bytes.
    messages: Option<Vec<Range<usize>>>,
}

impl Route {
    pub fn from_method(method: &dyn Method) -> Self {
        let Ends { from, to, order, is_renewed, .. } = method.ends();
        Self { from, to, order, is_renewed, messages: method.messages() }
    }

    fn is_within(&self, location: Location) -> bool {
        (self.from, self.to) == (location, location)
    }
}

/// The data of the way back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// In a pair: own data.
    Own,
    /// In a pair: the received data, from its places, as in WRF and MILC.
    InPlace,
    /// In a pair: some of the received data, because the places to send and to receive overlap.
    Mixed,
    /// In an all-to-all: the received data.
    Returned,
    /// In an all-to-all: other data than on the way there.
    Another,
    /// In an all-to-all: the same data as on the way there.
    Repeated,
}

/// The links of a round trip.
pub struct RoundTrip {
    pub there: Moved,
    pub back: Moved,
    answer: Answer,
    /// Whether the way back sends the data received in the wire buffer.
    pub returns_wire: bool,
}

impl RoundTrip {
    /// The links of this rank.
    ///
    /// # Safety
    /// The memory exists and does not move as long as the links, whose functions are called only while MPI does not use it.
    pub unsafe fn new(setup: &Setup<'_>, memory: &mut Memory, route: &Route) -> Self {
        // SAFETY: guaranteed by the caller.
        let [mut there, mut back] =
            [false, true].map(|is_back| unsafe { leg(setup, memory, route, is_back) });
        let answer = if setup.is_all_to_all() {
            match route.is_renewed {
                false => Answer::Repeated,
                true if route.is_within(Location::Arrays) || route.is_within(Location::Wire) => {
                    Answer::Returned
                }
                true => Answer::Another,
            }
        } else {
            let message = |side| data_spans(&setup.app.message(side, route.order), &memory.arrays);
            let (sent, received) = (message(Side::Send), message(Side::Receive));
            let (first, second) =
                if setup.me == 0 { (&mut back, &mut there) } else { (&mut there, &mut back) };
            first.sends.clear();
            second.receives.clear();
            match route.is_within(Location::Arrays) {
                true if sent == received => Answer::InPlace,
                true if !is_apart(sent, received) => Answer::Mixed,
                _ => Answer::Own,
            }
        };
        let returns_wire = answer == Answer::Returned && route.is_within(Location::Wire);
        Self { there, back, answer, returns_wire }
    }

    /// Writes all data that this rank sends, except for answers with received data.
    pub fn write(&self, version: Version) {
        self.there.write(version);
        if self.answer != Answer::Returned {
            self.back.write(version);
        }
    }

    /// Overwrites the places of received data, except those from which a rank sends its own.
    pub fn poison(&self) {
        let targets: &[&Moved] = match self.answer {
            Answer::InPlace | Answer::Mixed => &[],
            Answer::Returned => &[&self.there],
            Answer::Own | Answer::Another | Answer::Repeated => &[&self.there, &self.back],
        };
        targets.iter().for_each(|moved| moved.poison());
    }

    /// The places that this rank looks at in the repetitions of a block.
    pub fn looks(&self, generation: u32) -> Looks {
        let (there, back) = (&self.there, &self.back);
        let both = |(received, answer): (Vec<_>, Vec<_>)| {
            Spots::from_messages(received.into_iter().chain(answer), generation)
        };
        let marks = match self.answer {
            Answer::Own => return Looks { after: both(self.compared()), ..Looks::default() },
            Answer::InPlace | Answer::Mixed | Answer::Returned | Answer::Another => {
                Spots::from_messages(&back.sends, generation)
            }
            // Data that is sent again unchanged arrives at the same place twice: other bytes must be there in between.
            Answer::Repeated => there.looks(generation),
        };
        Looks {
            after: back.looks(generation),
            before_answer: there.looks(generation),
            marks,
            unmarked: Some(both(self.compared())),
        }
    }

    /// The received data that is still there after a round trip: of the first message, and of the answer.
    fn compared(&self) -> (Vec<&Places>, Vec<&Places>) {
        let (there, back) = (self.there.received().collect(), self.back.received().collect());
        match self.answer {
            Answer::Own => (there, back),
            // An answer with received data brings a rank its own.
            Answer::InPlace | Answer::Returned => (there, self.there.sends.iter().collect()),
            Answer::Mixed => (there, Vec::new()),
            Answer::Another | Answer::Repeated => (Vec::new(), back),
        }
    }

    /// The first wrong byte of all that this rank received in a round trip, besides the marks in answers,
    /// which [`Looks::wrong`] compares.
    pub fn wrong(&self, version: Version, looks: &Looks) -> Option<(Region, Wrong)> {
        let (received, answer) = self.compared();
        let is_marked = matches!(self.answer, Answer::InPlace | Answer::Mixed | Answer::Returned);
        let wrong = |all: Vec<&Places>, marks: &Spots| {
            all.into_iter().find_map(|places| {
                let marks = if is_marked { marks.ranges(places.memory) } else { Vec::new() };
                Some((places.memory, places.wrong(version, &marks)?))
            })
        };
        wrong(received, &looks.marks).or_else(|| wrong(answer, &looks.after))
    }
}

/// The places that a rank looks at in the repetitions of a block. Without any spots, nothing.
///
/// If ranks answer with the data that they received, an answer that is lost leaves the right bytes in place. Such a rank keeps a few
/// received bytes and writes its own there before it answers, which takes a few nanoseconds of the timed part.
#[derive(Default)]
pub struct Looks {
    /// After a repetition.
    pub after: Spots,
    /// In the first message, if ranks answer from the same memory: kept before they answer.
    pub before_answer: Spots,
    /// In such an answer: the rank's own bytes, which show whose answer it is.
    pub marks: Spots,
    /// If answers need marks: the words to look at after a repetition without them.
    pub unmarked: Option<Spots>,
}

impl Looks {
    /// The first wrong byte after a repetition. The time does not depend on the result. If answers had no marks, one that is lost
    /// cannot be seen.
    #[inline]
    pub fn wrong(&self, version: Version, has_marks: bool) -> Option<(Region, Wrong)> {
        if let (Some(unmarked), false) = (&self.unmarked, has_marks) {
            return unmarked.wrong(version);
        }
        let (before, after) = (self.before_answer.wrong_copy(version), self.after.wrong(version));
        before.or(after)
    }
}

/// Describes a wrong byte of a case's memory.
pub fn described(memory: &Memory, (region, wrong): (Region, Wrong)) -> Mismatch {
    match region.is_of(memory.arrays.memory()) {
        true => in_arrays(&memory.arrays, wrong),
        false => wrong.in_buffer(),
    }
}

/// The first error in all received data.
pub fn wrong_received(memory: &Memory, moved: &Moved, version: Version) -> Option<Mismatch> {
    moved.wrong(version).map(|(link, wrong)| described(memory, (link.places.memory, wrong)))
}

/// The first byte of a rank's arrays that must not change, and has.
pub fn changed(memory: &mut Memory, rank: usize, moved: &Moved, version: Version) -> Option<Mismatch> {
    let [arrays, ..] = memory.regions();
    // SAFETY: all memory is borrowed mutably, and MPI uses it only within the functions of a method.
    let wrong = unsafe { moved.changed(arrays, source_of_arrays(rank), version) }?;
    Some(format!("{} (must not change)", in_arrays(&memory.arrays, wrong)))
}

/// The messages of one way. For the way back of an all-to-all the arrays, or the wire buffers, have changed roles.
///
/// # Safety
/// As for [`RoundTrip::new`].
unsafe fn leg(setup: &Setup<'_>, memory: &mut Memory, route: &Route, is_back: bool) -> Moved {
    // Data that is never written again is sent from the same place both ways.
    let is_turned = is_back && setup.is_all_to_all() && route.is_renewed;
    if is_turned {
        memory.turn(route.is_within(Location::Wire));
    }
    let [arrays, outgoing, incoming] = memory.regions();
    let places = |side, location, wire| {
        let message = setup.app.message(side, route.order);
        match location {
            Location::Arrays => (arrays, data_spans(&message, &memory.arrays)),
            Location::Wire => (wire, packed_data(&message)),
        }
    };
    let (from, sent) = places(Side::Send, route.from, outgoing);
    let (to, received) = places(Side::Receive, route.to, incoming);
    let padded = padded_spans(&setup.app.message(Side::Receive, route.order), &memory.arrays);
    // SAFETY: guaranteed by the caller.
    let padded = (route.to == Location::Arrays).then(|| unsafe { padded_places(arrays, &padded) });
    if is_turned {
        memory.turn(route.is_within(Location::Wire));
    }
    let source = if route.from == Location::Arrays { source_of_arrays } else { source_of_outgoing };
    let from_rank = |rank| from_source(&sent, source(rank));
    let (blocks, total): (usize, usize) = (setup.blocks(), sent.iter().map(|span| span.bytes).sum());
    let incoming: Vec<Run> = match setup.app.exchange {
        Exchange::Pairs => from_rank(setup.peer()),
        // Each rank sends the block that it has for this one.
        Exchange::AllToAll { .. } => {
            let mine = setup.me * total / blocks..(setup.me + 1) * total / blocks;
            let block = |rank| Runs::from_runs(from_rank(rank)).part(mine.clone());
            (0..setup.ranks).flat_map(|rank| block(rank).iter().collect::<Vec<_>>()).collect()
        }
    };
    let block = |i: usize| setup.message_bytes / blocks * (i + 1);
    let ends = match &route.messages {
        Some(messages) => messages.iter().map(|message| message.end).collect(),
        None => (0..blocks).map(block).collect::<Vec<_>>(),
    };
    // Padding within values is not data.
    let ends: Vec<usize> = ends
        .iter()
        .map(|end| (*end as u128 * total as u128 / setup.message_bytes.max(1) as u128) as usize)
        .collect();
    // SAFETY: guaranteed by the caller.
    let places = |memory, here: &[Span], sources: &[Run]| unsafe { Places::new(memory, runs(here, sources)) };
    let link = |(i, places)| {
        let peer = if setup.is_all_to_all() { i } else { setup.peer() };
        Link { peer, tag: 0, places }
    };
    let receives = places(to, &received, &incoming).parts(&ends).into_iter().enumerate().map(link).collect();
    Moved { sends: places(from, &sent, &from_rank(setup.me)).parts(&ends), receives, padded }
}
