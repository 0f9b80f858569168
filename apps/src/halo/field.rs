//! The values of a field over the whole run: what a rank's memory must hold before and after an exchange.

use std::ops::Range;

use super::grid::indices;
use super::{Cell, HaloApp};
use crate::{ArraySpec, Arrays};

/// Byte of memory that belongs to no value: halo before the exchange, what the exchange leaves out, gaps, guards.
const POISON: u8 = 0xA5;

/// The first element that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank}, {array}{indices:?}: {} instead of {}", hex(.found), hex(.expected))]
pub struct Mismatch {
    /// The rank that looked.
    pub rank: usize,
    /// The array's name; `memory` for a byte between the arrays.
    pub array: &'static str,
    /// Its indices, slowest first; the byte of [`Arrays::memory`] for one between the arrays.
    pub indices: Vec<usize>,
    /// The bytes that are there.
    pub found: Vec<u8>,
    /// The bytes that should be.
    pub expected: Vec<u8>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What every element of a rank's arrays holds, worked out once: an exchange that is repeated is filled and checked
/// each time.
pub struct Field {
    rank: usize,
    /// Per array, per element.
    cells: Vec<Vec<Cell>>,
    /// Of an element of each array.
    bytes: Vec<usize>,
}

impl Field {
    /// That of `rank`.
    pub fn new(app: &dyn HaloApp, rank: usize) -> Self {
        let cells = |(array, spec): (usize, &ArraySpec)| {
            let cells = app.cells(rank, array);
            (0..spec.elements()).map(cells).collect()
        };
        let arrays = app.arrays(rank);
        let bytes = arrays.iter().map(|spec| spec.element.size() as usize).collect();
        Self { rank, cells: arrays.iter().enumerate().map(cells).collect(), bytes }
    }

    /// Fills the rank's memory for an exchange: its own values of this `generation`, poison everywhere else. Values
    /// differ between generations, so that a lost transfer cannot hide behind the one before.
    pub fn fill(&self, arrays: &mut Arrays, generation: u64) {
        arrays.memory_mut().fill(POISON);
        for (array, cells) in self.cells.iter().enumerate() {
            let bytes = arrays.specs()[array].element.size() as usize;
            for (cell, to) in cells.iter().zip(arrays.slice_mut::<u8>(array).chunks_exact_mut(bytes)) {
                if let Cell::Own(id) = *cell {
                    value(id, generation, to);
                }
            }
        }
    }

    /// The bytes that the last value before byte `end` of an array has after an exchange; `None` where nothing of the
    /// exchange lies there.
    pub fn last_value(&self, array: usize, end: i64, generation: u64) -> Option<Vec<u8>> {
        let bytes = *self.bytes.get(array)?;
        let element = usize::try_from(end).ok()?.checked_sub(bytes)? / bytes;
        match *self.cells[array].get(element)? {
            Cell::Own(id) | Cell::Halo(id) => {
                let mut expected = vec![0; bytes];
                value(id, generation, &mut expected);
                Some(expected)
            }
            Cell::Other => None,
        }
    }

    /// Checks the rank's memory after an exchange: own values as they were, halos those of their owners, all else
    /// poison.
    ///
    /// # Errors
    /// The first element that is not what it should be.
    pub fn check(&self, arrays: &Arrays, generation: u64) -> Result<(), Mismatch> {
        let rank = self.rank;
        for (array, (spec, cells)) in arrays.specs().iter().zip(&self.cells).enumerate() {
            let bytes = spec.element.size() as usize;
            let mut expected = vec![0; bytes];
            let found = arrays.slice::<u8>(array).chunks_exact(bytes);
            for (element, (cell, found)) in cells.iter().zip(found).enumerate() {
                match *cell {
                    Cell::Own(id) | Cell::Halo(id) => value(id, generation, &mut expected),
                    Cell::Other => expected.fill(POISON),
                }
                if found != expected {
                    let indices = indices(element, &spec.shape);
                    return Err(Mismatch {
                        rank,
                        array: spec.name,
                        indices,
                        found: found.to_vec(),
                        expected,
                    });
                }
            }
        }
        let memory = arrays.memory();
        for gap in gaps(arrays) {
            if let Some(at) = memory[gap.clone()].iter().position(|&byte| byte != POISON) {
                let at = gap.start + at;
                let (found, expected) = (vec![memory[at]], vec![POISON]);
                return Err(Mismatch { rank, array: "memory", indices: vec![at], found, expected });
            }
        }
        Ok(())
    }
}

/// The bytes of memory that no array has.
fn gaps(arrays: &Arrays) -> impl Iterator<Item = Range<usize>> + '_ {
    let places = (0..arrays.specs().len()).map(|array| arrays.place(array));
    let ends = places.clone().map(|place| place.end);
    let starts = places.map(|place| place.start).chain([arrays.memory().len()]);
    [0].into_iter().chain(ends).zip(starts).map(|(from, to)| from..to)
}

/// The value called `id` in this generation.
fn value(id: u64, generation: u64, bytes: &mut [u8]) {
    for (i, word) in bytes.chunks_mut(8).enumerate() {
        let mixed = mix(id.wrapping_add(mix(generation.wrapping_add(i as u64))));
        word.copy_from_slice(&mixed.to_le_bytes()[..word.len()]);
    }
}

/// The finaliser of SplitMix64: numbers that differ in one bit come to differ in half of them.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
