//! Blocks of one length at listed places of an array.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};

use crate::face::FaceBlock;
use crate::permutation::{IndexList, Indices};
use crate::words::of_words;
use crate::{Arrays, Loops, Piece, WireOrder};

/// Blocks at listed places, in the list's order: `MPI_Type_create_indexed_block`.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub array: usize,
    /// Type of its elements.
    pub element: Element,
    /// Elements of a block.
    pub length: usize,
    /// Whether the application knows that length at compile time, so that its own loop copies known sizes.
    pub length_is_known: bool,
    /// Places of the blocks, counted in blocks.
    pub places: IndexList,
    pub per_plane: usize,
}

impl List {
    fn pack_words<T: Pod>(&self, loops: Loops, array: &[T], packed: &mut [T]) {
        let indices = self.places.indices();
        let places = indices.within(array.len() / self.length);
        match loops {
            Loops::Plain if !self.length_is_known && self.length > 1 => {
                for (to, place) in packed.chunks_exact_mut(self.length).zip(places) {
                    to.iter_mut().zip(&array[place * self.length..]).for_each(|(to, from)| *to = *from);
                }
            }
            _ => match self.length {
                1 => indices.gather(array, packed),
                2 => gather::<2, T>(indices, array, packed),
                3 => gather::<3, T>(indices, array, packed),
                4 => gather::<4, T>(indices, array, packed),
                5 => gather::<5, T>(indices, array, packed),
                6 => gather::<6, T>(indices, array, packed),
                7 => gather::<7, T>(indices, array, packed),
                8 => gather::<8, T>(indices, array, packed),
                16 => gather::<16, T>(indices, array, packed),
                length => {
                    for (to, place) in packed.chunks_exact_mut(length).zip(places) {
                        to.copy_from_slice(&array[place * length..][..length]);
                    }
                }
            },
        }
    }

    fn unpack_words<T: Pod>(&self, loops: Loops, packed: &[T], array: &mut [T]) {
        let indices = self.places.indices();
        let places = indices.within(array.len() / self.length);
        match loops {
            Loops::Plain if !self.length_is_known && self.length > 1 => {
                for (from, place) in packed.chunks_exact(self.length).zip(places) {
                    let to = &mut array[place * self.length..];
                    from.iter().zip(to).for_each(|(from, to)| *to = *from);
                }
            }
            _ => match self.length {
                1 => scatter::<1, T>(loops, indices, packed, array),
                2 => scatter::<2, T>(loops, indices, packed, array),
                3 => scatter::<3, T>(loops, indices, packed, array),
                4 => scatter::<4, T>(loops, indices, packed, array),
                5 => scatter::<5, T>(loops, indices, packed, array),
                6 => scatter::<6, T>(loops, indices, packed, array),
                7 => scatter::<7, T>(loops, indices, packed, array),
                8 => scatter::<8, T>(loops, indices, packed, array),
                16 => scatter::<16, T>(loops, indices, packed, array),
                length => {
                    for (from, place) in packed.chunks_exact(length).zip(places) {
                        array[place * length..][..length].copy_from_slice(from);
                    }
                }
            },
        }
    }
}

/// Gathers blocks of `N` elements.
fn gather<const N: usize, T: Copy>(indices: Indices<'_>, array: &[T], packed: &mut [T]) {
    indices.gather(array.as_chunks::<N>().0, packed.as_chunks_mut::<N>().0);
}

/// Blocks by which tuned loops fetch places ahead. That takes 0.91 of the time if the array is in the
/// second-level cache, 0.7 if it is in none (Intel Xeon, Granite Rapids, with 8 to 64 blocks alike).
const AHEAD: usize = 16;

/// Scatters blocks of `N` elements.
fn scatter<const N: usize, T: Copy>(loops: Loops, indices: Indices<'_>, packed: &[T], array: &mut [T]) {
    let (packed, array) = (packed.as_chunks::<N>().0, array.as_chunks_mut::<N>().0);
    match loops {
        Loops::Plain => indices.scatter::<_, 0>(packed, array),
        Loops::Tuned => indices.scatter::<_, AHEAD>(packed, array),
    }
}

impl FaceBlock for List {
    fn planes(&self) -> usize {
        self.places.len() / self.per_plane
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let places = self.places.part(range.start * self.per_plane..range.end * self.per_plane);
        Arc::new(Self { places, ..self.clone() })
    }

    fn bytes(&self) -> usize {
        self.places.len() * self.length * self.element.size() as usize
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let length = self.length as i64;
        let displacements = self.places.displacements(length);
        let layout = Layout::indexed_block(length, &displacements, &Layout::named(self.element));
        vec![Piece {
            array: self.array,
            origin_bytes: 0,
            layout: layout.expect("the places are in the array"),
        }]
    }

    fn pack(&self, loops: Loops, arrays: &Arrays, packed: &mut [u8]) {
        of_words!(self.element.size(), Word => {
            self.pack_words::<Word>(loops, arrays.slice(self.array), cast_slice_mut(packed));
        });
    }

    fn unpack(&self, loops: Loops, packed: &[u8], arrays: &mut Arrays) {
        of_words!(self.element.size(), Word => {
            self.unpack_words::<Word>(loops, cast_slice(packed), arrays.slice_mut(self.array));
        });
    }

    fn listed_segments(&self) -> Option<u64> {
        Some(self.places.len() as u64)
    }
}
