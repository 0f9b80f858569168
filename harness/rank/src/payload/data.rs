//! Which value a byte has: a function of its source, of the fill, and of the repetition.
//!
//! A word is its number times an odd number, xor a seed from the version. So no two words of one rank are
//! equal within 16 GiB, and at one place no two repetitions of a fill have the same word.

/// Bytes of a word.
pub const WORD: usize = 4;

/// An odd number with well mixed bits (the golden ratio's), so that multiplication permutes the 32-bit words.
const SPREAD: u32 = 0x9E37_79B9;

/// Bytes with the same upper half of their word's number.
const HALF_BYTES: u64 = (WORD as u64) << 32;

/// Which data: the number of the fill, and of the change since then, 0 before the first. Equal on all ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// Counts the fills.
    pub generation: u32,
    /// Counts the changes since the fill.
    pub repetition: u32,
}

/// The source of byte `offset` of a rank's memory number `memory`. Each memory has less than 1 TiB.
pub fn source_of(rank: usize, memory: usize, offset: usize) -> u64 {
    (rank as u64) << 42 | (memory as u64) << 40 | offset as u64
}

/// The source of the first byte of a rank's arrays.
pub fn source_of_arrays(rank: usize) -> u64 {
    source_of(rank, 0, 0)
}

/// The source of the first byte of a rank's wire buffer to send.
pub fn source_of_outgoing(rank: usize) -> u64 {
    source_of(rank, 1, 0)
}

impl Version {
    /// The data of a fill.
    pub fn of_fill(generation: u32) -> Self {
        Self { generation, repetition: 0 }
    }

    /// The data of the next fill.
    #[must_use]
    pub fn filled(self) -> Self {
        Self { generation: self.generation + 1, repetition: 0 }
    }

    /// The data after one more change.
    #[must_use]
    pub fn changed(self) -> Self {
        Self { repetition: self.repetition + 1, ..self }
    }

    /// The data of the fill, before any change.
    #[must_use]
    pub fn initial(self) -> Self {
        Self { repetition: 0, ..self }
    }

    /// Writes the bytes with consecutive sources from `source` on.
    pub fn write(self, source: u64, bytes: &mut [u8]) {
        Values::new(self).write(source, bytes);
    }

    /// The byte with this source.
    pub fn byte(self, source: u64) -> u8 {
        let mut byte = [0];
        self.write(source, &mut byte);
        byte[0]
    }

    /// The place of the first wrong byte of `bytes`, which have consecutive sources.
    pub fn first_difference(self, source: u64, bytes: &[u8]) -> Option<usize> {
        Comparison::new(self).first_difference(source, bytes)
    }
}

/// The values of a version, with the seed of the last words.
pub struct Values {
    version: Version,
    /// The upper half of the words' numbers, and their seed.
    seed: (u32, u32),
}

impl Values {
    pub fn new(version: Version) -> Self {
        Self { version, seed: (0, seed(version, 0)) }
    }

    /// Writes the bytes with consecutive sources from `source` on.
    #[inline]
    pub fn write(&mut self, source: u64, bytes: &mut [u8]) {
        let left = HALF_BYTES - source % HALF_BYTES;
        if bytes.len() as u64 > left {
            let (first, rest) = bytes.split_at_mut(left as usize);
            self.write_half(source, first);
            return self.write(source + left, rest);
        }
        self.write_half(source, bytes);
    }

    #[inline]
    fn write_half(&mut self, source: u64, bytes: &mut [u8]) {
        let high = (source / HALF_BYTES) as u32;
        if self.seed.0 != high {
            self.seed = (high, seed(self.version, high));
        }
        let (seed, within) = (self.seed.1, source as usize % WORD);
        let mut product = ((source / WORD as u64) as u32).wrapping_mul(SPREAD);
        let mut bytes = bytes;
        if within > 0 {
            let head = (WORD - within).min(bytes.len());
            let (first, rest) = bytes.split_at_mut(head);
            first.copy_from_slice(&(product ^ seed).to_ne_bytes()[within..within + head]);
            (bytes, product) = (rest, product.wrapping_add(SPREAD));
        }
        let (words, tail) = bytes.as_chunks_mut::<WORD>();
        for word in words {
            *word = (product ^ seed).to_ne_bytes();
            product = product.wrapping_add(SPREAD);
        }
        tail.copy_from_slice(&(product ^ seed).to_ne_bytes()[..tail.len()]);
    }
}

/// A number with well mixed bits, another one for each number (SplitMix64).
pub fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Different for any two repetitions of a fill; for other versions and halves with a chance of 2^-32.
fn seed(version: Version, high: u32) -> u32 {
    let fill = mixed(u64::from(version.generation) << 32 | u64::from(high)) as u32;
    let seed = fill ^ version.repetition.wrapping_mul(SPREAD);
    let seed = (seed ^ seed >> 15).wrapping_mul(0x2C1B_3C6D);
    seed ^ seed >> 12
}

/// A comparison of many runs with the values of a version.
pub struct Comparison {
    values: Values,
    expected: [u8; Self::CHUNK],
}

impl Comparison {
    /// Bytes compared at once.
    const CHUNK: usize = 4096;

    pub fn new(version: Version) -> Self {
        Self { values: Values::new(version), expected: [0; Self::CHUNK] }
    }

    /// The place of the first wrong byte of `bytes`, which have consecutive sources.
    #[inline]
    pub fn first_difference(&mut self, source: u64, bytes: &[u8]) -> Option<usize> {
        bytes.chunks(Self::CHUNK).enumerate().find_map(|(k, found)| {
            let expected = &mut self.expected[..found.len()];
            self.values.write(source + (k * Self::CHUNK) as u64, expected);
            if expected == found {
                return None;
            }
            expected.iter().zip(found).position(|(e, f)| e != f).map(|i| k * Self::CHUNK + i)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const VERSION: Version = Version { generation: 3, repetition: 7 };

    #[test]
    fn any_part_reads_as_the_whole_does() {
        // Also where the number of words exceeds 32 bits.
        for start in [0, 1 << 44, HALF_BYTES - 30, source_of(1, 1, 5)] {
            let mut whole = vec![0; 64];
            VERSION.write(start, &mut whole);
            for from in 0..20 {
                for length in 0..44 {
                    let mut part = vec![0; length];
                    VERSION.write(start + from as u64, &mut part);
                    assert_eq!(part, whole[from..from + length], "{start} {from} {length}");
                    assert_eq!(VERSION.first_difference(start + from as u64, &part), None);
                }
            }
            whole[37] ^= 1;
            assert_eq!(VERSION.first_difference(start, &whole), Some(37));
        }
    }

    #[test]
    fn words_of_a_rank_are_distinct() {
        let mut memory = vec![0; 1 << 18];
        VERSION.write(source_of(2, 0, 0), &mut memory);
        let words: HashSet<[u8; WORD]> = memory.as_chunks().0.iter().copied().collect();
        assert_eq!(words.len(), memory.len() / WORD);
    }

    #[test]
    fn fills_repetitions_and_ranks_differ() {
        let mut words = HashSet::new();
        let mut all = 0;
        for rank in (0..64).chain(1020..1100).chain([65_535, 65_536, 1 << 20]) {
            for generation in [0, 1, 2, 65_535, 65_536] {
                for repetition in 0..20 {
                    let mut word = [0; WORD];
                    Version { generation, repetition }.write(source_of(rank, 0, 64), &mut word);
                    (all, _) = (all + 1, words.insert(word));
                }
            }
        }
        assert_eq!(words.len(), all);
        let of_fill = (0..100_000).map(|repetition| seed(Version { generation: 9, repetition }, 5));
        assert_eq!(of_fill.collect::<HashSet<_>>().len(), 100_000);
    }
}
