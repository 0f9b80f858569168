//! The values of a field over the whole run: the expected content of a rank's memory before and after an exchange.

use std::ops::Range;

use super::grid::indices;
use super::{Cell, HaloApp};
use crate::{ArraySpec, Arrays, WireOrder};

/// Byte of memory that does not belong to a value: halo before the exchange, elements that are not exchanged, gaps,
/// guards.
const POISON: u8 = 0xA5;

/// The first wrong element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank}, {array}{indices:?}: {} instead of {}", hex(.found), hex(.expected))]
pub struct Mismatch {
    pub rank: usize,
    /// The array's name; `memory` for a byte between the arrays.
    pub array: &'static str,
    /// Its indices, slowest first; for a byte between the arrays, its index in [`Arrays::memory`].
    pub indices: Vec<usize>,
    /// The bytes found.
    pub found: Vec<u8>,
    /// The expected bytes.
    pub expected: Vec<u8>,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The version of a field's values: a fill, and the changes since then.
///
/// A change flips the same bits in every byte of each rank's own values in the faces that it sends. So every exchange
/// delivers other data than the one before, and nothing else has to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Number of the fill.
    pub generation: u64,
    /// Changes since then.
    pub changes: u32,
}

impl Version {
    /// The bits that all changes together have flipped in each sent byte. They differ between any two versions of a
    /// fill that are less than 255 changes apart.
    pub fn flipped(self) -> u8 {
        if self.changes == 0 { 0 } else { ((self.changes - 1) % 255) as u8 + 1 }
    }

    /// The version after one more change.
    #[must_use]
    pub fn next(self) -> Self {
        Self { changes: self.changes + 1, ..self }
    }
}

impl From<u64> for Version {
    /// An unchanged fill.
    fn from(generation: u64) -> Self {
        Self { generation, changes: 0 }
    }
}

/// The content of an element after the exchange: like [`Cell`], but a rank's own values are split into sent and not
/// sent.
#[derive(Clone, Copy)]
enum Content {
    Own(u64),
    Sent(u64),
    Halo(u64),
    Other,
}

/// The content of every element of a rank's arrays. It is computed once, because a repeated exchange is filled and
/// checked many times.
pub struct Field {
    rank: usize,
    /// For each array and each element.
    contents: Vec<Vec<Content>>,
    /// Bytes of an element of each array.
    bytes: Vec<usize>,
}

impl Field {
    /// The field of `rank`.
    pub fn new(app: &dyn HaloApp, rank: usize) -> Self {
        let contents = |(array, spec): (usize, &ArraySpec)| {
            let cells = app.cells(rank, array);
            let content = |element| match cells(element) {
                Cell::Own(id) => Content::Own(id),
                Cell::Halo(id) => Content::Halo(id),
                Cell::Other => Content::Other,
            };
            (0..spec.elements()).map(content).collect()
        };
        let arrays = app.arrays(rank);
        let bytes = arrays.iter().map(|spec| spec.element.size() as usize).collect();
        let mut field = Self { rank, contents: arrays.iter().enumerate().map(contents).collect(), bytes };
        for send in app.stages(rank).iter().flat_map(|stage| &stage.sends) {
            for (array, segment) in send.face.message(WireOrder::Ddt).segments() {
                let elements = field.elements(array, segment.offset, segment.bytes);
                for content in &mut field.contents[array][elements] {
                    if let Content::Own(id) = *content {
                        *content = Content::Sent(id);
                    }
                }
            }
        }
        field
    }

    /// The elements of an array in the `bytes` bytes from byte `offset` on.
    fn elements(&self, array: usize, offset: i64, bytes: u64) -> Range<usize> {
        let size = self.bytes[array];
        let start = offset as usize / size;
        start..start + bytes as usize / size
    }

    pub fn element_bytes(&self, array: usize) -> usize {
        self.bytes[array]
    }

    /// Whether the element at byte `offset` of an array is one of the rank's own values that are sent, so that a
    /// change flips its bits.
    pub fn changes(&self, array: usize, offset: usize) -> bool {
        matches!(self.contents[array][offset / self.bytes[array]], Content::Sent(_))
    }

    /// Fills the rank's memory for an exchange: its own values of this `generation`, poison everywhere else. Values
    /// differ between generations, so that a lost transfer cannot be hidden by data of the previous one.
    pub fn fill(&self, arrays: &mut Arrays, generation: u64) {
        arrays.memory_mut().fill(POISON);
        for (array, contents) in self.contents.iter().enumerate() {
            let bytes = arrays.specs()[array].element.size() as usize;
            for (content, to) in contents.iter().zip(arrays.slice_mut::<u8>(array).chunks_exact_mut(bytes)) {
                if let Content::Own(id) | Content::Sent(id) = *content {
                    value(id, generation, to);
                }
            }
        }
    }

    /// The bytes of the last value before byte `end` of an array after an exchange of an unchanged fill; `None` if
    /// the exchange does not deliver a value there.
    pub fn last_value(&self, array: usize, end: i64, generation: u64) -> Option<Vec<u8>> {
        let bytes = *self.bytes.get(array)?;
        let element = usize::try_from(end).ok()?.checked_sub(bytes)? / bytes;
        match *self.contents[array].get(element)? {
            Content::Halo(id) => {
                let mut expected = vec![0; bytes];
                value(id, generation, &mut expected);
                Some(expected)
            }
            Content::Own(_) | Content::Sent(_) | Content::Other => None,
        }
    }

    /// Checks the rank's memory after an exchange: own values are unchanged, halos have their owners' values, and
    /// everything else has poison. Every value in a halo is sent by its owner and has changed with it.
    ///
    /// # Errors
    /// The first wrong element.
    pub fn check(&self, arrays: &Arrays, version: impl Into<Version>) -> Result<(), Mismatch> {
        let rank = self.rank;
        let version = version.into();
        let (generation, flipped) = (version.generation, version.flipped());
        for (array, (spec, contents)) in arrays.specs().iter().zip(&self.contents).enumerate() {
            let bytes = spec.element.size() as usize;
            let mut expected = vec![0; bytes];
            let found = arrays.slice::<u8>(array).chunks_exact(bytes);
            for (element, (content, found)) in contents.iter().zip(found).enumerate() {
                match *content {
                    Content::Own(id) => value(id, generation, &mut expected),
                    Content::Sent(id) | Content::Halo(id) => {
                        value(id, generation, &mut expected);
                        expected.iter_mut().for_each(|byte| *byte ^= flipped);
                    }
                    Content::Other => expected.fill(POISON),
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

/// The bytes of memory outside all arrays.
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

/// A hash and not a random generator: it can be computed for any number at any time, and different numbers give
/// different results.
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
