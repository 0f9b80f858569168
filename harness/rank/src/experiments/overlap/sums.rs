//! The data of reductions: numbers whose sum is known. They are the one payload whose received bytes no rank has sent.

use datatypes::Element;

use crate::memory::Wire;
use crate::payload::{Mismatch, Version, mixed, some_place};

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

    fn value(&self, rank: usize, version: Version, i: usize) -> f64 {
        // Bits of a number: the sum is still exact for 2^32 ranks, and with floats, whose mantissa has 24 bits, for 2^14.
        let bits = if self.is_single { 10 } else { 20 };
        let seed = (rank as u64) << 40 ^ u64::from(version.generation) << 20 ^ u64::from(version.repetition);
        (mixed(seed.wrapping_add(i as u64)) >> (64 - bits)) as f64
    }

    fn read(&self, bytes: &[u8]) -> f64 {
        match self.is_single {
            true => f32::from_ne_bytes(bytes.try_into().expect("a whole number")).into(),
            false => f64::from_ne_bytes(bytes.try_into().expect("a whole number")),
        }
    }

    /// Writes the numbers of `rank`, which both types represent exactly.
    pub fn write(&self, memory: &mut Wire, rank: usize, version: Version) {
        for (i, bytes) in memory.chunks_exact_mut(self.bytes()).enumerate() {
            let value = self.value(rank, version, i);
            match self.is_single {
                true => bytes.copy_from_slice(&(value as f32).to_ne_bytes()),
                false => bytes.copy_from_slice(&value.to_ne_bytes()),
            }
        }
    }

    /// A description of the first wrong sum over this number of ranks.
    pub fn wrong(&self, found: &[u8], ranks: usize, version: Version) -> Option<Mismatch> {
        self.first_wrong(found, 0..found.len() / self.bytes(), ranks, version)
    }

    /// The same of the first, a random and the last sum.
    pub fn look(&self, found: &[u8], ranks: usize, version: Version) -> Option<Mismatch> {
        let sums = found.len() / self.bytes();
        let looks = [0, some_place(version.generation, sums), sums.checked_sub(1)?];
        self.first_wrong(found, looks.into_iter(), ranks, version)
    }

    fn first_wrong(
        &self,
        found: &[u8],
        mut which: impl Iterator<Item = usize>,
        ranks: usize,
        version: Version,
    ) -> Option<Mismatch> {
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
    fn sums_are_exact_and_know_a_rank_that_is_missing_or_late() {
        for numbers in [Element::Double, Element::Float].map(Numbers::new) {
            let mut memories: Vec<Wire> = (0..3).map(|_| Wire::new(30 * numbers.bytes())).collect();
            for (rank, memory) in memories.iter_mut().enumerate() {
                numbers.write(memory, rank, VERSION);
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
            assert_eq!(numbers.wrong(&sum(&memories), 3, VERSION), None);
            assert!(numbers.wrong(&sum(&memories[..2]), 3, VERSION).is_some());
            numbers.write(&mut memories[1], 1, Version { repetition: 1, ..VERSION });
            assert!(numbers.look(&sum(&memories), 3, VERSION).unwrap().starts_with("sum 0"));
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
