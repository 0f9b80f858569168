//! The bytes looked at: a few of each message after every repetition, all bytes after some, and all memory when a method is verified.
//!
//! A rank looks at bytes that it has received itself, so their lines are already in its caches. The places
//! stay the same for a block, so the caches are as they would be without checks.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::data::{Values, Version, WORD, mixed};
use super::link::{Places, Run, Runs, Wrong};
use crate::device::{Direction, Rows};
use crate::memory::{POISON, Region};

/// A description of the first difference.
pub type Mismatch = String;

/// One of `count` places, at random, different for each generation; the same on all ranks.
pub fn some_place(generation: u32, count: usize) -> usize {
    (((mixed(generation.into()) >> 32) * count as u64) >> 32) as usize
}

/// A word of a message, or the part of it in one run.
#[derive(Clone, Copy)]
struct Spot {
    memory: Region,
    run: Run,
}

impl Spot {
    fn bytes<'a>(&self) -> &'a mut [u8] {
        // SAFETY: bytes of places, whose creator guarantees exclusive access while they are used.
        unsafe { self.memory.part(self.range()) }
    }

    /// Copies them between the memory and its twin, if it has one.
    #[inline]
    fn copy(&self, direction: Direction) {
        let Run { at, bytes, .. } = self.run;
        self.memory.copy(direction, [Rows { at, bytes, count: 1, step: bytes }]);
    }

    fn range(&self) -> Range<usize> {
        self.run.at..self.run.at + self.run.bytes
    }

    /// The value found, in the first bytes.
    #[inline]
    fn found(&self) -> [u8; WORD] {
        let mut found = [0; WORD];
        self.copy(Direction::FromTwin);
        found[..self.run.bytes].copy_from_slice(self.bytes());
        found
    }

    /// The value of a version, in the first bytes.
    #[inline]
    fn expected(&self, values: &mut Values) -> [u8; WORD] {
        let mut expected = [0; WORD];
        values.write(self.run.source, &mut expected[..self.run.bytes]);
        expected
    }
}

/// Words of some messages.
#[derive(Default)]
pub struct Spots {
    spots: Vec<Spot>,
    copies: Vec<[u8; WORD]>,
}

impl Spots {
    /// The first, the last and a random word of each message; the same at both ends. Of many messages only the last word of each, which
    /// is enough to show all that are lost, late, or cut off: a rank with many words to look at would make the others wait.
    pub fn from_messages<'a>(messages: impl IntoIterator<Item = &'a Places>, generation: u32) -> Self {
        /// Messages of which three words are looked at.
        const FEW: usize = 8;
        let messages: Vec<&Places> = messages.into_iter().collect();
        let words = |runs: &Runs| {
            let random = some_place(generation, runs.bytes()) / WORD * WORD;
            let others = [runs.word(0), runs.word(random)];
            let mut words = Vec::from_iter(others.into_iter().filter(|_| messages.len() <= FEW).flatten());
            words.extend(runs.last_word());
            words.dedup();
            words
        };
        let of_message = |places: &&Places| {
            let memory = places.memory;
            words(&places.runs).into_iter().map(move |run| Spot { memory, run })
        };
        let spots = messages.iter().flat_map(of_message);
        let spots: Vec<Spot> = spots.collect();
        Self { copies: vec![[0; WORD]; spots.len()], spots }
    }

    pub fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    /// Offsets of these bytes in a memory.
    pub fn ranges(&self, memory: Region) -> Vec<Range<usize>> {
        let in_it = self.spots.iter().filter(|spot| spot.memory.start() == memory.start());
        in_it.map(Spot::range).collect()
    }

    /// Writes the values of a version.
    #[inline]
    pub fn write(&self, version: Version) {
        let mut values = Values::new(version);
        self.spots.iter().for_each(|spot| {
            values.write(spot.run.source, spot.bytes());
            spot.copy(Direction::ToTwin);
        });
    }

    /// Overwrites the bytes, if the next message has the same values.
    pub fn poison(&self) {
        self.spots.iter().for_each(|spot| {
            spot.bytes().fill(POISON);
            spot.copy(Direction::ToTwin);
        });
    }

    /// Keeps the bytes for [`Spots::wrong_copy`].
    #[inline]
    pub fn copy(&mut self) {
        self.spots.iter().zip(&mut self.copies).for_each(|(spot, copy)| *copy = spot.found());
    }

    /// The first wrong one. The time does not depend on the result.
    #[inline]
    pub fn wrong(&self, version: Version) -> Option<(Region, Wrong)> {
        self.first_wrong(version, self.spots.iter().map(Spot::found))
    }

    /// The same of the bytes that were there at the last [`Spots::copy`].
    #[inline]
    pub fn wrong_copy(&self, version: Version) -> Option<(Region, Wrong)> {
        self.first_wrong(version, self.copies.iter().copied())
    }

    #[inline]
    fn first_wrong(
        &self,
        version: Version,
        found: impl Iterator<Item = [u8; WORD]>,
    ) -> Option<(Region, Wrong)> {
        let mut values = Values::new(version);
        let wrong = self.spots.iter().zip(found).fold(None, |first: Option<(&Spot, _)>, (spot, found)| {
            let expected = spot.expected(&mut values);
            first.or_else(|| (expected != found).then_some((spot, [expected, found])))
        });
        let (spot, [expected, found]) = wrong?;
        let i = expected.iter().zip(&found).position(|(expected, found)| expected != found)?;
        let wrong = Wrong { at: spot.run.at + i, expected: expected[i], found: found[i] };
        Some((spot.memory, wrong))
    }
}

/// The last words of some messages, or of parts of them, which show during a transfer how much has arrived.
pub struct ArrivalProbe {
    version: Version,
    /// Each with the bytes of its message.
    ends: Vec<(Spot, usize)>,
}

// SAFETY: the memory is only read, atomically.
unsafe impl Sync for ArrivalProbe {}

impl ArrivalProbe {
    pub fn new<'a>(version: Version, messages: impl IntoIterator<Item = &'a Places>) -> Self {
        let end = |Places { memory, runs }: &Places| {
            let run = runs.last_word().unwrap_or(Run { at: 0, bytes: 0, source: 0 });
            (Spot { memory: *memory, run }, runs.bytes())
        };
        Self { version, ends: messages.into_iter().map(end).collect() }
    }

    /// The numbers of the messages.
    pub fn messages(&self) -> Range<usize> {
        0..self.ends.len()
    }

    /// Whether a message has arrived.
    ///
    /// # Safety
    /// The memory still exists, and only MPI writes to it.
    pub unsafe fn has_arrived(&self, message: usize) -> bool {
        let (spot, _) = &self.ends[message];
        let expected = spot.expected(&mut Values::new(self.version));
        spot.range().zip(expected).all(|(at, expected)| {
            // SAFETY: guaranteed by the caller; MPI may write the byte at the same time, hence an atomic load.
            let byte = unsafe { AtomicU8::from_ptr(spot.memory.at(at)) };
            byte.load(Ordering::Relaxed) == expected
        })
    }

    /// Bytes of the messages that have arrived, and of all.
    ///
    /// # Safety
    /// As for [`ArrivalProbe::has_arrived`].
    pub unsafe fn arrived_bytes(&self) -> [f64; 2] {
        let bytes = |message: usize| self.ends[message].1;
        // SAFETY: guaranteed by the caller.
        let arrived = self.messages().filter(|message| unsafe { self.has_arrived(*message) });
        [arrived.map(bytes).sum::<usize>() as f64, self.messages().map(bytes).sum::<usize>() as f64]
    }
}
