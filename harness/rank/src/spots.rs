//! Spots: a few bytes of each message, checked after every repetition, outside the timed part. They are the first, the last and a
//! random stamp of a message, or the last stamp of each of several messages. Stamps change in every repetition, so a lost, stale or
//! truncated message is detected in any of them. The last repetition of a block is also compared as a whole (`steady.rs`).
//!
//! A rank checks bytes that it has received itself, so their lines are already in its caches. The spots stay the same for a block, so
//! the caches are as they would be without checks.
//!
//! If a rank answers with the data that it received, as in MILC, a lost answer leaves the right bytes in place. Such a rank copies
//! the spots and writes its own stamps there before it answers, which takes a few nanoseconds of the timed part.

use std::ops::Range;

use apps::{Exchange, MicroApp, Side, WireOrder};
use common::packing::{Ends, Location};

use crate::expected::{Mismatch, mismatch_at};
use crate::measure::session::Session;
use crate::memory::{Memory, POISON};
use crate::method::Method;
use crate::padding::data_spans;
use crate::pattern::{Pattern, WORD, some_place};
use crate::regions::Regions;
use crate::spans::{Span, spans};
use crate::stamps::Stamps;

/// The memory of a case that a spot is in, by its name between two repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Buffer {
    Arrays,
    Outgoing,
    Incoming,
}

impl Buffer {
    fn of(self, memory: &Memory) -> &[u8] {
        match self {
            Self::Arrays => memory.arrays.memory(),
            Self::Outgoing => &memory.outgoing,
            Self::Incoming => &memory.incoming,
        }
    }

    fn of_mut(self, memory: &mut Memory) -> &mut [u8] {
        match self {
            Self::Arrays => memory.arrays.memory_mut(),
            Self::Outgoing => &mut memory.outgoing,
            Self::Incoming => &mut memory.incoming,
        }
    }
}

/// A few bytes of a message at one end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spot {
    place: Buffer,
    /// Byte offsets in that memory.
    at: usize,
    /// Number of bytes: those of a stamp, or the part of it in one run.
    bytes: usize,
    /// The rank that sends them.
    sender: usize,
    /// Byte offsets in the pattern of that rank.
    from: usize,
    /// Byte offsets in the packed message.
    packed_at: usize,
}

impl Spot {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.bytes
    }

    /// The expected value, in the first bytes.
    #[inline]
    fn expected(&self, sent_by: impl Fn(usize) -> Pattern) -> [u8; WORD] {
        self.stamp(sent_by(self.sender))
    }

    /// The stamp of a pattern, in the first bytes. Most are whole words.
    #[inline]
    fn stamp(&self, pattern: Pattern) -> [u8; WORD] {
        if self.bytes == WORD && self.from.is_multiple_of(WORD) {
            return pattern.word(self.from / WORD);
        }
        let mut stamp = [0; WORD];
        pattern.write(self.from, &mut stamp[..self.bytes]);
        stamp
    }

    /// The value found, in the first bytes.
    #[inline]
    fn found(&self, memory: &Memory) -> [u8; WORD] {
        let mut found = [0; WORD];
        found[..self.bytes].copy_from_slice(&self.place.of(memory)[self.range()]);
        found
    }

    fn mismatch(&self, memory: &Memory, expected: [u8; WORD], found: [u8; WORD]) -> Option<Mismatch> {
        let i = expected.iter().zip(&found).position(|(expected, found)| expected != found)?;
        let (expected, found) = (expected[i], found[i]);
        Some(match self.place {
            Buffer::Arrays => mismatch_at(&memory.arrays, self.at + i, expected, found),
            _ => format!("packed byte {}: expected {expected:#04x}, found {found:#04x}", self.packed_at + i),
        })
    }
}

/// The spots of one rank in the repetitions of a block. Without any, nothing is checked.
#[derive(Default)]
pub struct Spots {
    /// Checked after a repetition.
    after: Vec<Spot>,
    /// Whether the next repetition sends the memory of these spots: the arrays of an all-to-all get their own data back.
    are_sent: bool,
    /// Places in the first message, if ranks answer from the same memory: copied before they answer, and checked after the repetition.
    before_answer: Vec<Spot>,
    copies: Vec<[u8; WORD]>,
    /// Places in such an answer.
    answer: Vec<Spot>,
    /// The bytes there before a rank wrote its own stamps.
    overwritten: Vec<[u8; WORD]>,
    /// Repetitions that were checked.
    repetitions: u32,
    /// The first error.
    mismatch: Option<Mismatch>,
}

impl Spots {
    /// The spots of ping-pongs by this method, for the generation of data that has just begun; the same on all ranks.
    pub fn of_round_trip(session: &Session<'_>, memory: &mut Memory, method: &dyn Method) -> Self {
        let (setup, ends) = (session.setup, method.ends());
        let in_arrays = (ends.from, ends.to) == (Location::Arrays, Location::Arrays);
        if setup.is_all_to_all() {
            let (_, before_answer) = leg(session, memory, method, false);
            let (answer, after) = leg(session, memory, method, true);
            // Data that is sent again unchanged arrives at the same place twice: other bytes must be there in between.
            let answer = if ends.is_renewed { answer } else { before_answer.clone() };
            return Self { are_sent: in_arrays, ..Self::new(after, before_answer, answer) };
        }
        let (answer, after) = leg(session, memory, method, false);
        match setup.me {
            1 if in_arrays && session.regions != Regions::Apart => Self::new(Vec::new(), after, answer),
            _ => Self::new(after, Vec::new(), Vec::new()),
        }
    }

    /// The spots of messages that are not answered: only the receiving ranks have any.
    pub fn of_one_way(session: &Session<'_>, memory: &mut Memory, method: &dyn Method) -> Self {
        let receives = session.setup.me == 1 || session.setup.is_all_to_all();
        let after = if receives { leg(session, memory, method, false).1 } else { Vec::new() };
        Self::new(after, Vec::new(), Vec::new())
    }

    /// The spots of packing and of unpacking in one process, whose packed bytes are from rank 1: the expected data after either.
    pub fn of_packing(app: &MicroApp, memory: &Memory, order: WireOrder, generation: u32) -> [Self; 2] {
        let whole = 0..app.message_bytes() as usize;
        let stamps = Stamps::of(data_spans(&app.message(Side::Send, order), &memory.arrays));
        let chosen = choose(generation, &[whole], |add| {
            each_of_arrays(app, memory, order, &[&stamps], add);
        });
        let of = |sender, place| {
            let spot = |&Stamp { packed_at, from, bytes }: &Stamp| Spot {
                place,
                at: packed_at,
                bytes,
                sender,
                from,
                packed_at,
            };
            chosen.iter().flatten().map(spot).collect::<Vec<_>>()
        };
        let (packed, mut unpacked) = (of(0, Buffer::Outgoing), of(1, Buffer::Incoming));
        place_in_arrays(app, memory, order, &mut unpacked);
        [packed, unpacked].map(|after| Self::new(after, Vec::new(), Vec::new()))
    }

    fn new(after: Vec<Spot>, before_answer: Vec<Spot>, answer: Vec<Spot>) -> Self {
        let (copies, overwritten) = (vec![[0; WORD]; before_answer.len()], vec![[0; WORD]; answer.len()]);
        Self { after, before_answer, copies, answer, overwritten, ..Self::default() }
    }

    /// Copies the received bytes, and writes the stamps of `mine` into the next message.
    fn before_answer(&mut self, memory: &mut Memory, mine: Pattern) {
        for (spot, copy) in self.before_answer.iter().zip(&mut self.copies) {
            *copy = spot.found(memory);
        }
        for (spot, overwritten) in self.answer.iter().zip(&mut self.overwritten) {
            *overwritten = spot.found(memory);
            spot.place.of_mut(memory)[spot.range()].copy_from_slice(&spot.stamp(mine)[..spot.bytes]);
        }
    }

    /// Removes our stamps from the answer, and restores the received bytes.
    pub fn restore(&self, memory: &mut Memory) {
        // If two spots share bytes, the first has the bytes from before.
        for (spot, overwritten) in self.answer.iter().zip(&self.overwritten).rev() {
            spot.place.of_mut(memory)[spot.range()].copy_from_slice(&overwritten[..spot.bytes]);
        }
    }

    /// The stamps that a pair's answers are expected to have at their spots, by their places in the packed bytes that the peer has
    /// sent back.
    pub fn answer_stamps(&self, sent_by: impl Fn(usize) -> Pattern) -> Vec<(usize, Vec<u8>)> {
        let stamp = |spot: &Spot| (spot.packed_at, spot.expected(&sent_by)[..spot.bytes].to_vec());
        self.after.iter().map(stamp).collect()
    }

    /// Restores a rank's own data if the answers had others' stamps there and it is sent again.
    pub fn put_back(&self, memory: &mut Memory, own: Pattern) {
        for spot in self.after.iter().filter(|_| self.are_sent) {
            own.write(spot.at, &mut spot.place.of_mut(memory)[spot.range()]);
        }
    }

    /// Overwrites received bytes, if the next message has the same values.
    pub fn spoil(&self, memory: &mut Memory) {
        for spot in self.after.iter().chain(&self.before_answer) {
            spot.place.of_mut(memory)[spot.range()].fill(POISON);
        }
    }

    /// Checks all spots of a repetition, in which each rank has sent its pattern.
    #[inline]
    pub fn check(&mut self, memory: &Memory, sent_by: impl Fn(usize) -> Pattern) {
        self.repetitions += 1;
        let wrong = self.first_wrong(memory, sent_by);
        let wrong = wrong.and_then(|(spot, [expected, found])| spot.mismatch(memory, expected, found));
        if let (Some(wrong), None) = (wrong, &self.mismatch) {
            self.mismatch = Some(format!("repetition {} of a block: {wrong}", self.repetitions));
        }
    }

    /// The first error of all checks, once.
    pub fn found(&mut self) -> Option<Mismatch> {
        self.mismatch.take()
    }

    /// The first wrong spot. The time does not depend on the result.
    #[inline]
    fn first_wrong(
        &self,
        memory: &Memory,
        sent_by: impl Fn(usize) -> Pattern,
    ) -> Option<(&Spot, [[u8; WORD]; 2])> {
        let after = self.after.iter().map(|spot| (spot, spot.found(memory)));
        let before = self.before_answer.iter().zip(self.copies.iter().copied());
        before.chain(after).fold(None, |first, (spot, found)| {
            let expected = spot.expected(&sent_by);
            first.or_else(|| (expected != found).then_some((spot, [expected, found])))
        })
    }
}

impl Session<'_> {
    /// Called between a message and its answer, if ranks answer from the same memory: within the timed part.
    #[inline]
    pub fn before_answer(&mut self, memory: &mut Memory) {
        if !self.spots.before_answer.is_empty() {
            let mine = self.sent_by(self.setup.me);
            self.spots.before_answer(memory, mine);
        }
    }

    /// Checks the spots of the last repetition.
    #[inline]
    pub fn check(&mut self, memory: &Memory) {
        let (generation, repetition) = (self.generation, self.repetition);
        self.spots.check(memory, |rank| Pattern::sent(rank, generation, repetition));
    }

    /// Takes the time of a check, and leaves no trace.
    #[inline]
    pub fn check_in_vain(&self, memory: &Memory) {
        std::hint::black_box(self.spots.first_wrong(memory, |rank| self.sent_by(rank)));
    }
}

/// A stamp of a message, at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    /// Its place in the packed message.
    packed_at: usize,
    /// Its place in the sender's memory, which determines the pattern.
    from: usize,
    bytes: usize,
}

/// The spots of the messages of one way: those that this rank sends, and those that it receives. `is_back` is for the
/// way back of an all-to-all, in which the arrays have changed roles.
fn leg(
    session: &Session<'_>,
    memory: &mut Memory,
    method: &dyn Method,
    is_back: bool,
) -> (Vec<Spot>, Vec<Spot>) {
    let (setup, ends) = (session.setup, method.ends());
    // Data that is never written again is sent from the same place both ways.
    let is_turned = is_back && ends.is_renewed;
    if is_turned {
        memory.arrays.swap(0, 1);
    }
    let messages = method.messages().unwrap_or_else(|| blocks(setup.message_bytes, setup.blocks()));
    let chosen = choose(session.generation, &messages, |add| each_stamp(session, memory, ends, add));
    let returns = is_back && ends.returns_what_came();
    let sends = chosen.iter().flatten().map(|stamp| {
        let Stamp { packed_at, from, bytes } = *stamp;
        let (place, at) = match ends.from {
            Location::Arrays => (Buffer::Arrays, from),
            Location::Wire if returns => (Buffer::Incoming, packed_at),
            Location::Wire => (Buffer::Outgoing, packed_at),
        };
        Spot { place, at, bytes, sender: setup.me, from, packed_at }
    });
    let sends = sends.collect();
    let mut receives: Vec<Spot> = Vec::new();
    let wire = if returns { Buffer::Outgoing } else { Buffer::Incoming };
    let mut receive = |sender: usize, stamp: &Stamp, packed_at: usize| {
        let Stamp { from, bytes, .. } = *stamp;
        receives.push(Spot { place: wire, at: packed_at, bytes, sender, from, packed_at });
    };
    match setup.app.exchange {
        Exchange::Pairs => chosen.iter().flatten().for_each(|stamp| {
            receive(setup.peer(), stamp, stamp.packed_at);
        }),
        // Each rank sends the block that it has for this one.
        Exchange::AllToAll { .. } => (0..setup.ranks).for_each(|sender| {
            for stamp in &chosen[setup.me] {
                let packed_at = stamp.packed_at - messages[setup.me].start + messages[sender].start;
                receive(sender, stamp, packed_at);
            }
        }),
    }
    if ends.to == Location::Arrays {
        place_in_arrays(setup.app, memory, ends.order, &mut receives);
    }
    if is_turned {
        memory.arrays.swap(0, 1);
    }
    (sends, receives)
}

/// The packed bytes of equal blocks.
fn blocks(bytes: usize, count: usize) -> Vec<Range<usize>> {
    let block = bytes / count;
    (0..count).map(|i| i * block..(i + 1) * block).collect()
}

/// The first, the last and a random stamp of a message; the same on all ranks. For several messages only the last stamp of each,
/// which is enough to show all that are lost, stale or truncated: a rank with many stamps to check would make the others wait.
fn choose(
    generation: u32,
    messages: &[Range<usize>],
    each: impl FnOnce(&mut dyn FnMut(Stamp)),
) -> Vec<Vec<Stamp>> {
    let target = |message: &Range<usize>| message.start + some_place(generation.into(), message.len());
    let mut chosen: Vec<Option<[Stamp; 3]>> = vec![None; messages.len()];
    each(&mut |Stamp { packed_at, from, bytes }| {
        let k = messages.partition_point(|message| message.end <= packed_at);
        let Some(message) = messages.get(k).filter(|message| message.contains(&packed_at)) else { return };
        let stamp = Stamp { packed_at, from, bytes: bytes.min(message.end - packed_at) };
        let [first, random, last] = chosen[k].get_or_insert([stamp; 3]);
        if packed_at < first.packed_at {
            *first = stamp;
        }
        if packed_at > last.packed_at {
            *last = stamp;
        }
        let distance = |stamp: &Stamp| stamp.packed_at.abs_diff(target(message));
        if distance(&stamp) < distance(random) {
            *random = stamp;
        }
    });
    let is_single = messages.len() == 1;
    let distinct = |stamps: [Stamp; 3]| {
        let mut stamps = stamps[if is_single { 0 } else { 2 }..].to_vec();
        stamps.dedup();
        stamps
    };
    chosen.into_iter().map(|stamps| stamps.map_or_else(Vec::new, distinct)).collect()
}

/// All stamps of the sent data, by the roles of the arrays.
fn each_stamp(session: &Session<'_>, memory: &Memory, ends: Ends, add: &mut dyn FnMut(Stamp)) {
    let (setup, renewal) = (session.setup, &session.renewal);
    if ends.from == Location::Wire && ends.is_renewed {
        let whole = Span { offset: 0, bytes: setup.message_bytes };
        let stamp = |at: Range<usize>| Stamp { packed_at: at.start, from: at.start, bytes: at.len() };
        renewal.wire.within(whole).for_each(|at| add(stamp(at)));
    } else {
        // Data that is never written again has the pattern of the arrays.
        each_of_arrays(setup.app, memory, ends.order, &[&renewal.arrays, &renewal.turned], add);
    }
}

/// All stamps of the data sent from the arrays.
fn each_of_arrays(
    app: &MicroApp,
    memory: &Memory,
    order: WireOrder,
    stamps: &[&Stamps],
    add: &mut dyn FnMut(Stamp),
) {
    let mut next = 0;
    for span in spans(&app.message(Side::Send, order), &memory.arrays) {
        for at in stamps.iter().flat_map(|stamps| stamps.within(span)) {
            add(Stamp { packed_at: next + at.start - span.offset, from: at.start, bytes: at.len() });
        }
        next += span.bytes;
    }
}

/// Finds the places of packed bytes in the arrays of their receiver. If a stamp is divided there, its first part counts.
fn place_in_arrays(app: &MicroApp, memory: &Memory, order: WireOrder, spots: &mut [Spot]) {
    spots.sort_by_key(|spot| spot.packed_at);
    let mut left = spots.iter_mut().peekable();
    let mut next = 0;
    for span in spans(&app.message(Side::Receive, order), &memory.arrays) {
        while let Some(spot) = left.next_if(|spot| spot.packed_at < next + span.bytes) {
            spot.place = Buffer::Arrays;
            spot.at = span.offset + spot.packed_at - next;
            spot.bytes = spot.bytes.min(span.offset + span.bytes - spot.at);
        }
        next += span.bytes;
    }
}

#[cfg(test)]
mod tests {
    use apps::{Arrays, Context};
    use common::memory::Buffers;

    use super::*;
    use crate::expected::Stream;

    fn app() -> MicroApp {
        let test = apps::find("nas_lu_y").unwrap();
        test.build(&test.set(test.quick_set().name).unwrap(), Context::default()).unwrap()
    }

    fn stamp(packed_at: usize, bytes: usize) -> Stamp {
        Stamp { packed_at, from: 1000 + packed_at, bytes }
    }

    #[test]
    fn the_first_the_last_and_a_random_stamp_of_a_message_are_chosen() {
        // Datatypes need not rise in memory, and so stamps come in any order.
        let all: Vec<_> = (0..19).rev().map(|line| stamp(64 * line, 4)).collect();
        let mut drawn = std::collections::BTreeSet::new();
        for generation in 0..50 {
            let chosen = choose(generation, std::slice::from_ref(&(0..1200)), |add| {
                all.iter().copied().for_each(add);
            });
            assert_eq!((chosen[0][0], chosen[0].last()), (stamp(0, 4), Some(&stamp(1152, 4))));
            drawn.insert(chosen[0][1].packed_at);
        }
        assert!(drawn.len() > 10, "{drawn:?}");
    }

    #[test]
    fn of_several_messages_the_last_stamp_of_each_is_chosen() {
        let chosen = choose(1, &[0..1200, 1200..1218, 1218..1270], |add| {
            (0..20).map(|line| stamp(64 * line, 4)).for_each(add);
        });
        assert_eq!(chosen[0], [stamp(1152, 4)]);
        assert_eq!(chosen[1], [stamp(1216, 2)], "a stamp that is cut off counts as far as it goes");
        assert_eq!(chosen[2], [], "nothing is written again there");
    }

    #[test]
    fn what_is_missing_at_any_spot_is_found_and_named_with_its_repetition() {
        let (app, generation, order) = (app(), 7, WireOrder::Ddt);
        let mut memory = Memory::new(Arrays::new(app.arrays.clone()), app.message_bytes(), Buffers::ALL);
        let [mut packed, mut unpacked] = Spots::of_packing(&app, &memory, order, generation);
        let pattern = |rank: usize| Pattern::new(rank, generation);
        let whole = |memory: &mut Memory| {
            let message = app.message(Side::Send, order);
            let [from_0, from_1] = [0, 1].map(|rank| {
                let mut bytes = vec![0; message.size() as usize];
                Stream::of(&message, &memory.arrays, pattern(rank)).read(&mut bytes);
                bytes
            });
            memory.outgoing[..from_0.len()].copy_from_slice(&from_0);
            let mut next = 0;
            for Span { offset, bytes } in spans(&app.message(Side::Receive, order), &memory.arrays) {
                memory.arrays.memory_mut()[offset..offset + bytes]
                    .copy_from_slice(&from_1[next..next + bytes]);
                next += bytes;
            }
        };
        for spots in [&mut packed, &mut unpacked] {
            assert_eq!(spots.after.len(), 3);
            whole(&mut memory);
            spots.check(&memory, pattern);
            assert_eq!(spots.found(), None);
            for spot in 0..3 {
                let at = spots.after[spot].at;
                spots.after[spot].place.of_mut(&mut memory)[at] ^= 1;
                spots.check(&memory, pattern);
                assert!(
                    spots.found().unwrap().starts_with(&format!("repetition {} of a block: ", 2 * spot + 2))
                );
                whole(&mut memory);
                spots.check(&memory, pattern);
                assert_eq!(spots.found(), None);
            }
            spots.spoil(&mut memory);
            spots.check(&memory, pattern);
            assert!(spots.found().is_some());
        }
    }

    #[test]
    fn own_stamps_in_an_answer_are_taken_back() {
        let app = app();
        let mut memory = Memory::new(Arrays::new(app.arrays.clone()), app.message_bytes(), Buffers::ALL);
        let spot =
            |at, sender| Spot { place: Buffer::Arrays, at, bytes: WORD, sender, from: at, packed_at: at };
        // The second begins within the first.
        let mut spots = Spots::new(Vec::new(), vec![spot(64, 0)], vec![spot(64, 1), spot(66, 1)]);
        let (theirs, mine) = (Pattern::new(0, 3), Pattern::new(1, 3));
        theirs.write(0, memory.arrays.memory_mut());
        let before = memory.arrays.memory().to_vec();
        spots.before_answer(&mut memory, mine);
        assert_eq!(mine.first_difference(64, &memory.arrays.memory()[64..70]), None);
        spots.check(&memory, |rank| Pattern::new(rank, 3));
        assert_eq!(spots.found(), None, "the received bytes were copied");
        spots.restore(&mut memory);
        assert_eq!(memory.arrays.memory(), before);
    }
}
