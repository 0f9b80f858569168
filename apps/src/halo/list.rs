//! Values at listed places of an array.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};

use super::face::FaceBlock;
use crate::permutation::SharedList;
use crate::{Arrays, Piece, WireOrder};

/// Values at listed places, in the list's order: `MPI_Type_create_indexed_block`. A value `T` has the elements of a block. The
/// loops are those of the messages between two ranks.
#[derive(Debug)]
pub(crate) struct List<T> {
    array: usize,
    element: Element,
    /// Values of a plane.
    per_plane: usize,
    places: SharedList,
    value: PhantomData<T>,
}

impl<T> List<T> {
    /// The values of array `array` at `places`, counted in values, cut after every `per_plane` of them.
    ///
    /// # Panics
    /// If there are no places, or not whole planes of them.
    pub fn new(array: usize, element: Element, per_plane: usize, places: SharedList) -> Self {
        let number = places.get().len();
        assert!(number > 0 && number.is_multiple_of(per_plane), "a list is made of planes");
        Self { array, element, per_plane, places, value: PhantomData }
    }
}

impl<T: Pod + Send + Sync + std::fmt::Debug> FaceBlock for List<T> {
    fn planes(&self) -> usize {
        self.places.get().len() / self.per_plane
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let places = self.places.part(range.start * self.per_plane..range.end * self.per_plane);
        Arc::new(Self { places, value: PhantomData, ..*self })
    }

    fn bytes(&self) -> usize {
        self.places.get().len() * size_of::<T>()
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let length = (size_of::<T>() as u64 / self.element.size()) as i64;
        let displacements: Vec<i64> =
            self.places.get().iter().map(|&place| length * i64::from(place)).collect();
        let layout = Layout::indexed_block(length, &displacements, &Layout::named(self.element));
        vec![Piece {
            array: self.array,
            origin_bytes: 0,
            layout: layout.expect("the places lie in the array"),
        }]
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.places.indices().gather::<T>(arrays.slice(self.array), cast_slice_mut(packed));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        self.places.indices().scatter::<T>(cast_slice(packed), arrays.slice_mut(self.array));
    }
}
