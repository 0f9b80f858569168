//! Data that identifies its origin: a value for every byte of every rank in every generation.
//!
//! A word is its index times an odd number, xor a seed from rank and generation. So within one memory no two words are
//! equal, and at one place no two generations or ranks have the same word: bytes that were not sent, were sent from the
//! wrong place, or are left over from an earlier transfer, differ from the expected ones.

/// An odd number with well mixed bits (the golden ratio's), so that multiplication permutes the 32-bit words.
const SPREAD: u32 = 0x9E37_79B1;

/// Bytes of a word.
pub const WORD: usize = 4;

/// The contents of one rank's memory in one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    seed: u32,
}

impl Pattern {
    pub fn new(rank: usize, generation: u32) -> Self {
        // Distinct for the first 65,536 ranks and generations, then mixed by an invertible step.
        let pair = (rank as u32) << 16 ^ generation;
        let mixed = (pair ^ pair >> 15).wrapping_mul(0x2C1B_3C6D);
        Self { seed: mixed ^ mixed >> 12 }
    }

    /// The data written before repetition `repetition`, from 1, by `rank` in `generation`.
    pub fn of_repetition(rank: usize, generation: u32, repetition: u32) -> Self {
        let seed = Self::new(rank, generation).seed ^ repetition.wrapping_mul(SPREAD);
        Self { seed: (seed ^ seed >> 15).wrapping_mul(0x2C1B_3C6D) }
    }

    /// The data that `rank` sends in a repetition of a generation: its initial data, until it is rewritten.
    pub fn sent(rank: usize, generation: u32, repetition: u32) -> Self {
        match repetition {
            0 => Self::new(rank, generation),
            _ => Self::of_repetition(rank, generation, repetition),
        }
    }

    /// The word at `index`, counted in words.
    #[inline]
    pub fn word(self, index: usize) -> [u8; WORD] {
        ((index as u32).wrapping_mul(SPREAD) ^ self.seed).to_ne_bytes()
    }

    pub fn byte(self, offset: usize) -> u8 {
        self.word(offset / WORD)[offset % WORD]
    }

    /// Writes the bytes that belong at `offset` and after it.
    pub fn write(self, offset: usize, bytes: &mut [u8]) {
        let head = (offset.next_multiple_of(WORD) - offset).min(bytes.len());
        let (first, rest) = bytes.split_at_mut(head);
        first.iter_mut().enumerate().for_each(|(i, byte)| *byte = self.byte(offset + i));
        let start = (offset + head) / WORD;
        let (words, tail) = rest.as_chunks_mut::<WORD>();
        words.iter_mut().enumerate().for_each(|(i, word)| *word = self.word(start + i));
        let tail_at = (start + words.len()) * WORD;
        tail.iter_mut().enumerate().for_each(|(i, byte)| *byte = self.byte(tail_at + i));
    }

    /// The first wrong byte of `bytes`, which are at `offset`.
    pub fn first_difference(self, offset: usize, bytes: &[u8]) -> Option<usize> {
        /// Bytes compared at once.
        const CHUNK: usize = 4096;
        let mut expected = [0u8; CHUNK];
        bytes.chunks(CHUNK).enumerate().find_map(|(k, found)| {
            let at = offset + k * CHUNK;
            let expected = &mut expected[..found.len()];
            self.write(at, expected);
            if expected == found {
                return None;
            }
            expected.iter().zip(found).position(|(e, f)| e != f).map(|i| at + i)
        })
    }
}

/// One of `count` places, at random, different for each generation; the same on all ranks.
pub fn some_place(generation: u64, count: usize) -> usize {
    /// The golden ratio's number with 64 bits.
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let share = generation.wrapping_mul(SPREAD) >> 32;
    ((share * count as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_reads_as_the_whole_does() {
        let pattern = Pattern::new(1, 3);
        let mut whole = vec![0; 64];
        pattern.write(0, &mut whole);
        for from in 0..20 {
            for length in 0..20 {
                let mut part = vec![0; length];
                pattern.write(from, &mut part);
                assert_eq!(part, whole[from..from + length], "{from} {length}");
                assert_eq!(pattern.first_difference(from, &part), None);
            }
        }
        whole[37] ^= 1;
        assert_eq!(pattern.first_difference(0, &whole), Some(37));
    }

    #[test]
    fn repetitions_differ_from_each_other_and_from_the_data_they_change() {
        let data = [0, 1].map(|rank| Pattern::new(rank, 9));
        let mut seeds: Vec<u32> = data.iter().map(|pattern| pattern.seed).collect();
        for rank in 0..2 {
            seeds.extend((1..10_000).map(|k| Pattern::of_repetition(rank, 9, k).seed));
        }
        let all = seeds.len();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), all);
    }

    #[test]
    fn ranks_and_generations_differ_everywhere() {
        let patterns: Vec<Pattern> = (0..8).flat_map(|r| (0..8).map(move |g| Pattern::new(r, g))).collect();
        for (i, a) in patterns.iter().enumerate() {
            assert!(patterns[..i].iter().all(|b| a.seed != b.seed));
        }
    }
}
