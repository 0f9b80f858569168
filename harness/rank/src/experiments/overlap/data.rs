//! The data of an operation: bytes that identify their origin, or numbers whose sum is known.

use datatypes::Element;

use crate::memory::Wire;
use crate::pattern::{Pattern, some_place};
use crate::spans::{LINE_BYTES, Span};
use crate::stamps::Stamps;

/// The data that a rank sends: its generation, and the last repetition that rewrote a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// Number of fills so far.
    pub generation: u32,
    /// Counts the rewrites, from 1 in each generation.
    pub repetition: u32,
}

/// A received block: where it is, which rank sent it, and from where in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The place of the received block, as a byte offset.
    pub at: usize,
    pub sender: usize,
    /// Byte offset in the memory of the sender.
    pub from: usize,
    pub bytes: usize,
}

impl Arrival {
    /// The first bytes of the block, some at a random place, and the last ones: each as many as a cache line has, so
    /// that each part includes rewritten bytes.
    pub fn parts(&self, version: Version) -> [Self; 3] {
        let bytes = self.bytes.min(LINE_BYTES);
        let last = self.bytes - bytes;
        [0, some_place(version.generation.into(), last + 1), last].map(|start| Self {
            at: self.at + start,
            from: self.from + start,
            bytes,
            ..*self
        })
    }
}

/// Bytes of a rank's own pattern.
pub struct Bytes {
    stamps: Stamps,
}

impl Bytes {
    /// For a memory with this number of sent blocks; all senders have the same number.
    pub fn new(blocks: usize, bytes: usize) -> Self {
        // Each block has its own stamps, even if several are in one cache line.
        Self { stamps: Stamps::of((0..blocks).map(|block| Span { offset: block * bytes, bytes })) }
    }

    /// Writes the whole memory.
    pub fn fill(&self, memory: &mut Wire, rank: usize, version: Version) {
        Pattern::new(rank, version.generation).write(0, memory);
    }

    /// Rewrites some bytes of each cache line.
    pub fn renew(&self, memory: &mut Wire, rank: usize, version: Version) {
        self.stamps.write(memory, Pattern::of_repetition(rank, version.generation, version.repetition));
    }

    /// A description of the first error in a block.
    pub fn mismatch(&self, found: &[u8], arrival: Arrival, version: Version) -> Option<String> {
        let Arrival { at, sender, from, bytes } = arrival;
        let mut expected = vec![0; bytes];
        Pattern::new(sender, version.generation).write(from, &mut expected);
        if version.repetition > 0 {
            let anew = Pattern::of_repetition(sender, version.generation, version.repetition);
            for stamp in self.stamps.overlapping(from..from + bytes) {
                anew.write(stamp.start, &mut expected[stamp.start - from..stamp.end - from]);
            }
        }
        let found = &found[at..at + bytes];
        let wrong = expected.iter().zip(found).position(|(expected, found)| expected != found)?;
        Some(format!(
            "byte {wrong} of the block from rank {sender}: expected {:#04x}, found {:#04x}",
            expected[wrong], found[wrong]
        ))
    }
}

/// Numbers with exact sums: whole numbers, small enough for many ranks, in single or double precision.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    is_single: bool,
}

impl Numbers {
    /// Numbers of this type: single precision or double.
    pub fn new(element: Element) -> Self {
        Self { is_single: element == Element::Float }
    }

    pub fn bytes(&self) -> usize {
        if self.is_single { size_of::<f32>() } else { size_of::<f64>() }
    }

    /// Numbers in a cache line, one of which is rewritten.
    fn of_line(&self) -> usize {
        LINE_BYTES / self.bytes()
    }

    fn value(&self, rank: usize, version: Version, i: usize) -> f64 {
        /// An odd number with well mixed bits, so that consecutive values differ strongly.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        // Bits of a number: the sum is still exact for 2^32 ranks, and with floats, whose mantissa has 24 bits, for 2^14.
        let bits = if self.is_single { 10 } else { 20 };
        let repetition = if i.is_multiple_of(self.of_line()) { version.repetition } else { 0 };
        let seed = (rank as u64) << 40 ^ u64::from(version.generation) << 20 ^ u64::from(repetition);
        let mixed = (seed.wrapping_add(i as u64)).wrapping_mul(SPREAD);
        ((mixed ^ mixed >> 29).wrapping_mul(SPREAD) >> (64 - bits)) as f64
    }

    /// Writes a number, which both types represent exactly.
    fn write(&self, bytes: &mut [u8], value: f64) {
        match self.is_single {
            true => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
            false => bytes.copy_from_slice(&value.to_ne_bytes()),
        }
    }

    fn read(&self, bytes: &[u8]) -> f64 {
        match self.is_single {
            true => f32::from_ne_bytes(bytes.try_into().expect("a whole number")).into(),
            false => f64::from_ne_bytes(bytes.try_into().expect("a whole number")),
        }
    }

    /// Writes all numbers of `rank`.
    pub fn fill(&self, memory: &mut Wire, rank: usize, version: Version) {
        for (i, bytes) in memory.chunks_exact_mut(self.bytes()).enumerate() {
            self.write(bytes, self.value(rank, version, i));
        }
    }

    /// Rewrites one number of each cache line.
    pub fn renew(&self, memory: &mut Wire, rank: usize, version: Version) {
        for (i, bytes) in memory.chunks_exact_mut(self.bytes()).enumerate().step_by(self.of_line()) {
            self.write(bytes, self.value(rank, version, i));
        }
    }

    /// A description of the first wrong sum over this number of ranks.
    pub fn mismatch(&self, found: &[u8], ranks: usize, version: Version) -> Option<String> {
        self.wrong(found, 0..found.len() / self.bytes(), ranks, version)
    }

    /// The same for the first, a random one and the last of the sums whose numbers are rewritten.
    pub fn check(&self, found: &[u8], ranks: usize, version: Version) -> Option<String> {
        let last = (found.len() / self.bytes()).checked_sub(1)? / self.of_line();
        let lines = [0, some_place(version.generation.into(), last + 1), last];
        self.wrong(found, lines.into_iter().map(|line| line * self.of_line()), ranks, version)
    }

    fn wrong(
        &self,
        found: &[u8],
        mut which: impl Iterator<Item = usize>,
        ranks: usize,
        version: Version,
    ) -> Option<String> {
        which.find_map(|i| {
            let bytes = &found[i * self.bytes()..(i + 1) * self.bytes()];
            let expected = (0..ranks).map(|rank| self.value(rank, version, i)).sum::<f64>();
            let found = self.read(bytes);
            (found != expected).then(|| format!("sum {i}: expected {expected}, found {found}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION: Version = Version { generation: 3, repetition: 2 };

    #[test]
    fn a_block_is_known_by_who_sent_it_and_when() {
        let (bytes, sender) = (Bytes::new(3, 130), 1);
        let mut memory = Wire::new(390);
        bytes.fill(&mut memory, sender, VERSION);
        bytes.renew(&mut memory, sender, VERSION);
        // The second of three blocks of 130 bytes, whose ends are within rewritten words.
        let received = memory[130..260].to_vec();
        let arrival = |sender, from| Arrival { at: 0, sender, from, bytes: 130 };
        assert_eq!(bytes.mismatch(&received, arrival(1, 130), VERSION), None);
        assert_eq!(bytes.mismatch(&memory[..130], arrival(1, 0), VERSION), None);
        let earlier = Version { repetition: 1, ..VERSION };
        for (arrival, version) in
            [(arrival(0, 130), VERSION), (arrival(1, 0), VERSION), (arrival(1, 130), earlier)]
        {
            assert!(bytes.mismatch(&received, arrival, version).is_some(), "{arrival:?} {version:?}");
        }
    }

    #[test]
    fn sums_are_exact_and_know_a_rank_that_is_missing_or_late() {
        for numbers in [Element::Double, Element::Float].map(Numbers::new) {
            let mut memories: Vec<Wire> = (0..3).map(|_| Wire::new(30 * numbers.bytes())).collect();
            for (rank, memory) in memories.iter_mut().enumerate() {
                numbers.fill(memory, rank, Version { repetition: 0, ..VERSION });
                numbers.renew(memory, rank, VERSION);
            }
            let sum = |memories: &[Wire]| -> Vec<u8> {
                let mut sums = vec![0; 30 * numbers.bytes()];
                for (i, bytes) in sums.chunks_exact_mut(numbers.bytes()).enumerate() {
                    let place = i * numbers.bytes()..(i + 1) * numbers.bytes();
                    let all = memories.iter().map(|memory| numbers.read(&memory[place.clone()]));
                    // In the numbers' own precision, as in MPI.
                    match numbers.is_single {
                        true => bytes.copy_from_slice(&all.map(|n| n as f32).sum::<f32>().to_ne_bytes()),
                        false => bytes.copy_from_slice(&all.sum::<f64>().to_ne_bytes()),
                    }
                }
                sums
            };
            assert_eq!(numbers.mismatch(&sum(&memories), 3, VERSION), None);
            assert!(numbers.mismatch(&sum(&memories[..2]), 3, VERSION).is_some());
            numbers.renew(&mut memories[1], 1, Version { repetition: 1, ..VERSION });
            assert!(numbers.mismatch(&sum(&memories), 3, VERSION).unwrap().starts_with("sum 0"));
        }
    }

    #[test]
    fn a_float_holds_the_largest_sum_that_is_promised() {
        let most = f64::from((1 << 10) - 1) * f64::from(1 << 14);
        assert_eq!(f64::from(most as f32), most);
        let numbers = Numbers::new(Element::Float);
        assert!((0..4096).all(|i| numbers.value(3, VERSION, i) < f64::from(1 << 10)));
    }
}
