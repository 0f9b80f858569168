//! The checks of a block, of any kind: the data that is sent, and the first error where it is received.

use super::check::Mismatch;
use super::data::{Version, mixed, source_of_arrays};
use crate::memory::Memory;

/// The data of all messages, and the first error that was seen in them.
#[derive(Default)]
pub struct Checks {
    /// The data that was sent last; equal on all ranks.
    pub version: Version,
    /// Repetitions since the fill, without those that were not looked at.
    seen: u32,
    /// Those of which all bytes were compared.
    pub compared: u32,
    wrong: Option<Mismatch>,
}

impl Checks {
    /// Begins a new fill, on all ranks.
    pub fn fill(&mut self) -> Version {
        *self = Self { version: self.version.filled(), ..Self::default() };
        self.version
    }

    /// The same, and fills all memory of a rank. Wire buffers are poisoned.
    pub fn fill_all(&mut self, memory: &mut Memory, rank: usize) -> Version {
        let version = self.fill();
        if memory.has_arrays {
            version.write(source_of_arrays(rank), memory.arrays.memory_mut());
        }
        memory.poison_wire();
        memory.upload();
        version
    }

    /// Begins a repetition with changed data, on all ranks.
    #[inline]
    pub fn change(&mut self) -> Version {
        self.version = self.version.changed();
        self.version
    }

    /// Keeps an error in the bytes that were looked at after a repetition.
    #[inline]
    pub fn look(&mut self, found: Option<Mismatch>) {
        self.seen += 1;
        self.keep(found);
    }

    /// Whether all bytes are compared after this repetition: after a quarter of them, in random places, the
    /// same on all ranks. The comparison changes the caches, so the next repetition does not count.
    pub fn is_compared(&self) -> bool {
        is_compared(self.version.generation, self.seen)
    }

    /// Keeps an error in all bytes of the last repetition.
    pub fn compare(&mut self, found: Option<Mismatch>) {
        self.compared += 1;
        self.keep(found);
    }

    #[inline]
    fn keep(&mut self, found: Option<Mismatch>) {
        if let Some(found) = found {
            self.wrong.get_or_insert_with(|| format!("repetition {} of a block: {found}", self.seen));
        }
    }

    /// The first error since the fill.
    pub fn wrong(&self) -> Option<Mismatch> {
        self.wrong.clone()
    }
}

fn is_compared(generation: u32, repetition: u32) -> bool {
    mixed(u64::from(generation) << 32 | u64::from(repetition)).is_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_repetitions_is_compared_in_other_places_of_each_block() {
        let places = |generation| (0..25).filter(|i| is_compared(generation, *i)).collect::<Vec<_>>();
        let all: Vec<Vec<u32>> = (1..1000).map(places).collect();
        let mean = all.iter().map(Vec::len).sum::<usize>() as f64 / all.len() as f64;
        assert!((5.5..7.0).contains(&mean), "{mean}");
        for i in 0..25 {
            let blocks = all.iter().filter(|places| places.contains(&i)).count();
            assert!((150..350).contains(&blocks), "repetition {i} in {blocks} of 999 blocks");
        }
        assert!(all.windows(2).filter(|pair| pair[0] == pair[1]).count() < 50);
    }

    #[test]
    fn the_first_error_of_a_fill_is_kept_with_its_repetition() {
        let mut checks = Checks::default();
        checks.fill();
        checks.look(None);
        checks.look(Some("one".to_owned()));
        checks.compare(Some("another".to_owned()));
        assert_eq!(checks.wrong().unwrap(), "repetition 2 of a block: one");
        assert_eq!((checks.compared, checks.change()), (1, Version { generation: 1, repetition: 1 }));
        assert_eq!((checks.fill(), checks.wrong()), (Version::of_fill(2), None));
    }
}
