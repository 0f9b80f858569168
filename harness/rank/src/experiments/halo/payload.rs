//! The payload of an exchange: the values that a rank sends and expects, in the arrays, or for the reference,
//! which leaves the arrays unchanged, in the wire buffers.
//!
//! A value of the application has the same number at its owner and in every halo, so a value that is forwarded is known too.

use std::collections::HashSet;

use apps::halo::{Cell, Cells, HaloApp};
use apps::{Message, WireOrder};
use common::packing::Packing;

use super::links::HaloMessage;
use super::method::Parts;
use crate::measure::message_links::{changed, described};
use crate::payload::{ArrivalProbe, Checks, Link, Mismatch, Moved, Places, Run, Runs, Spots, mixed};

/// The payload of one process.
pub struct ExchangePayload<'a> {
    parts: &'a Parts,
    /// By thread, the data that the rank itself sends: each thread then finds the bytes that it wrote in its caches; and a link for each
    /// thread's share of each received message.
    in_arrays: Moved,
    in_messages: Moved,
    /// Last words of shares that other ranks send in the first stage, packed in either order.
    early: [Vec<Link>; 2],
    pub checks: Checks,
    /// Whether the last fill was one for the reference.
    is_reference: bool,
    /// The places looked at after each exchange since the last fill.
    looks: Spots,
}

/// The source of the first byte of a message of the reference: a number with well mixed bits, far from those of other messages.
fn source_of_message(sender: usize, receiver: usize, tag: usize) -> u64 {
    1 << 63 | mixed((sender as u64) << 40 ^ (receiver as u64) << 16 ^ tag as u64) >> 1
}

impl<'a> ExchangePayload<'a> {
    /// The payload of this process.
    pub fn new(app: &dyn HaloApp, parts: &'a Parts) -> Self {
        let values = CellValues::new(app, parts);
        // SAFETY: the memory outlives the payload, whose functions are called while nothing is exchanged, and
        // by each thread for its own share; probes only read.
        let places = |memory, runs| unsafe { Places::new(memory, runs) };
        let stages = || parts.links.stages.iter();
        let (sends, receives) =
            (|| stages().flat_map(|stage| &stage.sends), || stages().flat_map(|stage| &stage.receives));
        let share = |link: &HaloMessage, memory, runs| Link {
            peer: link.peer,
            tag: link.tag,
            places: places(memory, runs),
        };
        let (outgoing, incoming) = (parts.memory.outgoing, parts.memory.incoming);
        let arrays = parts.memory.all_arrays;
        let mut taken = HashSet::new();
        let mut own: Vec<[Vec<Run>; 2]> = vec![Default::default(); parts.threads];
        for link in sends() {
            let source = source_of_message(parts.rank, link.peer, link.tag);
            for (thread, (part, range)) in link.cut.parts.iter().zip(&link.cut.ranges).enumerate() {
                let values = values.runs_of(&part.message(WireOrder::Ddt));
                let of_rank = values.into_iter().filter(|(run, is_own)| *is_own && taken.insert(run.at));
                own[thread][0].extend(of_rank.map(|(run, _)| run));
                own[thread][1].push(run_of_message(link, range.clone(), source));
            }
        }
        let own: Vec<[Places; 2]> = own
            .into_iter()
            .map(|[in_arrays, in_messages]| {
                [places(arrays, Runs::from_runs(in_arrays)), places(outgoing, Runs::from_runs(in_messages))]
            })
            .collect();
        let shares = || {
            receives().flat_map(|link| {
                link.cut.parts.iter().zip(&link.cut.ranges).map(move |(part, range)| (link, part, range))
            })
        };
        let arrived = |(link, part, _): (&HaloMessage, &apps::Face, _)| {
            let values = values.runs_of(&part.message(WireOrder::Ddt));
            share(link, arrays, Runs::from_runs(values.into_iter().map(|(run, _)| run)))
        };
        let message = |(link, _, range): (&HaloMessage, _, &std::ops::Range<usize>)| {
            let source = source_of_message(link.peer, parts.rank, link.tag);
            share(link, incoming, Runs::from_runs([run_of_message(link, range.clone(), source)]))
        };
        let in_first = parts
            .links
            .stages
            .first()
            .map_or(0, |stage| stage.receives.iter().map(|link| link.cut.parts.len()).sum());
        let early = [WireOrder::Manual, WireOrder::Ddt].map(|order| {
            let packed = |(link, part, range): (&HaloMessage, &apps::Face, &std::ops::Range<usize>)| {
                let mut at = link.wire.start + range.start;
                let values = values.runs_of(&part.message(order)).into_iter().map(|(run, _)| {
                    at += run.bytes;
                    Run { at: at - run.bytes, ..run }
                });
                share(link, incoming, Runs::from_runs(values))
            };
            shares().take(in_first).filter(|(link, ..)| link.peer != parts.rank).map(packed).collect()
        });
        let side = |i: usize, receives| Moved {
            sends: own.iter().map(|both| both[i].clone()).collect(),
            receives,
            padded: None,
        };
        Self {
            parts,
            in_arrays: side(0, shares().map(arrived).collect()),
            in_messages: side(1, shares().map(message).collect()),
            early,
            checks: Checks::default(),
            is_reference: false,
            looks: Spots::default(),
        }
    }

    fn moved(&self) -> &Moved {
        if self.is_reference { &self.in_messages } else { &self.in_arrays }
    }

    /// The data that the rank itself sends, by thread.
    pub fn own(&self) -> &[Places] {
        &self.moved().sends
    }

    /// Writes new data into all memory that a method reads, and what must not be mistaken for it everywhere else.
    pub fn fill(&mut self, is_reference: bool) {
        self.is_reference = is_reference;
        // SAFETY: no other thread runs between exchanges.
        let version = self.checks.fill_all(unsafe { self.parts.memory.all.get() }, self.parts.rank);
        self.moved().poison();
        self.moved().write(version);
        self.looks = self.moved().looks(version.generation);
    }

    /// Looks at the messages of the last exchange.
    pub fn look(&mut self) {
        let wrong = self.looks.wrong(self.checks.version).and_then(|_| self.wrong_received());
        self.checks.look(wrong);
    }

    /// Compares all data that was received in the last exchange.
    pub fn compare(&mut self) {
        self.checks.compare(self.wrong_received());
    }

    /// The first error in all data that was received since the last fill, or next to packed messages.
    pub fn wrong_received(&self) -> Option<Mismatch> {
        let Parts { rank, memory, links, .. } = self.parts;
        let wrong = self.moved().wrong(self.checks.version).map(|(link, wrong)| {
            // SAFETY: no other thread runs between exchanges.
            let what = described(unsafe { memory.all.get() }, (link.places.memory, wrong));
            format!("{what}, in the message from rank {} with tag {}", link.peer, link.tag)
        });
        // SAFETY: as above.
        let stray = unsafe { memory.stray_byte(links) };
        let wrong = wrong.or(stray)?;
        Some(format!("rank {rank}: {wrong}"))
    }

    /// The same, or an error in the rest of the arrays. Afterwards, they must be filled again.
    pub fn wrong(&self) -> Option<Mismatch> {
        self.wrong_received().or_else(|| {
            let Parts { rank, memory, .. } = self.parts;
            // SAFETY: no other thread runs between exchanges.
            let changed = changed(unsafe { memory.all.get() }, *rank, self.moved(), self.checks.version)?;
            Some(format!("rank {rank}: {changed}"))
        })
    }

    /// The places that show, before the next exchange is over, how much of the first stage has arrived from other ranks: the last word
    /// of each share, in the wire buffer if it is packed. A rank's messages to itself do not show how early messages arrive.
    pub fn probe(&self, packing: Packing) -> ArrivalProbe {
        let all: &mut dyn Iterator<Item = &Link> = match packing.packs() {
            true => &mut self.early[usize::from(!packing.is_by_hand())].iter(),
            false => &mut self.in_arrays.receives.iter().take(self.early[0].len()),
        };
        ArrivalProbe::new(self.checks.version.changed(), all.map(|link| &link.places))
    }
}

/// The runs of a share of a message of the reference.
fn run_of_message(link: &HaloMessage, range: std::ops::Range<usize>, source: u64) -> Run {
    Run { at: link.wire.start + range.start, bytes: range.len(), source: source + range.start as u64 }
}

/// The application's values in a rank's arrays.
struct CellValues<'a> {
    cells: Vec<Cells<'a>>,
    /// Each array's place in the arrays' memory, and bytes of its elements.
    places: Vec<(usize, usize)>,
}

impl<'a> CellValues<'a> {
    fn new(app: &'a dyn HaloApp, parts: &Parts) -> Self {
        // SAFETY: nothing is exchanged while the payload is made.
        let arrays = unsafe { &parts.memory.all.share().arrays };
        let place =
            |(i, spec): (usize, &apps::ArraySpec)| (arrays.place(i).start, spec.element.size() as usize);
        let places: Vec<_> = arrays.specs().iter().enumerate().map(place).collect();
        Self { cells: (0..places.len()).map(|i| app.cells(parts.rank, i)).collect(), places }
    }

    /// The values of a message in its order, and whether the rank owns them.
    fn runs_of(&self, message: &Message) -> Vec<(Run, bool)> {
        let mut all = Vec::new();
        for (array, segment) in message.segments() {
            let (start, bytes) = self.places[array];
            let offset = segment.offset as usize;
            for offset in (offset..offset + segment.bytes as usize).step_by(bytes) {
                let (id, is_own) = match (self.cells[array])(offset / bytes) {
                    Cell::Own(id) => (id, true),
                    Cell::Halo(id) => (id, false),
                    Cell::Other => continue,
                };
                // Apart from all that ranks send from their own places.
                let source = 1 << 63 | id.wrapping_mul(bytes as u64);
                all.push((Run { at: start + offset, bytes, source }, is_own));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_any_number_of_ranks_have_their_own_data() {
        let mut starts = HashSet::new();
        for sender in 0..3000 {
            for (receiver, tag) in [(0, 0), (0, 1), (1, 0), (sender + 1, 0), (2999 - sender, 5)] {
                starts.insert(source_of_message(sender, receiver, tag) >> 32);
            }
        }
        // Some of the pairs are the same, and two starts may be equal by chance.
        assert!(starts.len() > 14_900, "{}", starts.len());
    }
}
