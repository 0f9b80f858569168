//! Values at listed places of an array.

use std::ops::Range;
use std::sync::Arc;

use datatypes::{Element, Layout};

use super::face::FaceBlock;
use crate::blocks::Blocks;
use crate::{Arrays, Piece, WireOrder};

/// Blocks of equal length at listed places, in the list's order: `MPI_Type_create_indexed_block`.
#[derive(Clone, Debug)]
pub(crate) struct List {
    array: usize,
    element: Element,
    /// Elements of a block.
    length: usize,
    /// Blocks of a plane.
    per_plane: usize,
    places: Arc<[u32]>,
    /// Those of `places` that are sent.
    range: Range<usize>,
}

impl List {
    /// The blocks of `length` elements of array `array` at `places`, counted in blocks, cut after every `per_plane`
    /// of them.
    ///
    /// # Panics
    /// If there are no places, or not whole planes of them.
    pub fn new(array: usize, element: Element, length: usize, per_plane: usize, places: Arc<[u32]>) -> Self {
        assert!(!places.is_empty() && places.len().is_multiple_of(per_plane), "a list is made of planes");
        let range = 0..places.len();
        Self { array, element, length, per_plane, places, range }
    }

    fn blocks(&self) -> Blocks<'_> {
        let element_bytes = self.element.size() as usize;
        Blocks { list: &self.places[self.range.clone()], length: self.length, element_bytes }
    }
}

impl FaceBlock for List {
    fn planes(&self) -> usize {
        self.range.len() / self.per_plane
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let at = |plane: usize| self.range.start + plane * self.per_plane;
        Arc::new(Self { range: at(range.start)..at(range.end), ..self.clone() })
    }

    fn bytes(&self) -> usize {
        self.range.len() * self.length * self.element.size() as usize
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let length = self.length as i64;
        let displacements: Vec<i64> =
            self.blocks().list.iter().map(|&place| length * i64::from(place)).collect();
        let layout = Layout::indexed_block(length, &displacements, &Layout::named(self.element));
        vec![Piece {
            array: self.array,
            origin_bytes: 0,
            layout: layout.expect("the places lie in the array"),
        }]
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.blocks().gather(arrays.slice(self.array), packed);
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        self.blocks().scatter(packed, arrays.slice_mut(self.array));
    }
}
