//! Runs operations.

use crate::loops::{Axis, Grid};
use crate::operation::{Leaf, LoopNest, Sequence, Step};

fn moved(array: *mut u8, by: i64) -> *mut u8 {
    array.wrapping_offset(by as isize)
}

impl Sequence {
    /// Runs all operations. `array` is displacement 0, `packed` the place of the stream's first byte.
    ///
    /// # Safety
    /// Every byte that the operations name must be in memory that may be read (packing) or written (unpacking);
    /// `packed` must have room for all, be writable when packing, and not overlap the array.
    pub unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        let mut packed = packed;
        for operation in &self.operations {
            // SAFETY: a part of the operations that the caller guarantees.
            unsafe { operation.run::<PACK>(&operation.steps, array, packed) };
            packed = packed.wrapping_add(operation.bytes);
        }
    }
}

impl LoopNest {
    /// Runs the leaf within `steps`.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn run<const PACK: bool>(&self, steps: &[Step], array: *mut u8, packed: *mut u8) {
        match (&self.leaf, steps) {
            // SAFETY: guaranteed by the caller.
            (leaf, []) => unsafe { leaf.run::<PACK>(array, packed) },
            (Leaf::Block { offset, bytes, row, .. }, [step]) => {
                let loops = Grid::row(step.axis(), *bytes);
                // SAFETY: guaranteed by the caller; the kernel was chosen for this size and processor.
                unsafe { row.in_direction::<PACK>()(moved(array, *offset), packed, *bytes, loops) }
            }
            (Leaf::Block { offset, bytes, grid, .. }, [outer, inner]) => {
                let loops = Grid { inner: inner.axis(), outer: outer.axis(), packed_step: *bytes };
                // SAFETY: as above.
                unsafe { grid.in_direction::<PACK>()(moved(array, *offset), packed, *bytes, loops) }
            }
            (_, [step, inner @ ..]) => {
                let (mut array, mut packed) = (array, packed);
                for _ in 0..step.count {
                    // SAFETY: one of the iterations that the caller guarantees.
                    unsafe { self.run::<PACK>(inner, array, packed) };
                    array = moved(array, step.stride);
                    packed = packed.wrapping_add(step.bytes);
                }
            }
        }
    }
}

impl Leaf {
    /// Runs the leaf.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline]
    unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        match self {
            Self::Block { offset, bytes, row, .. } => {
                let once = Grid::row(Axis { count: 1, stride: 0 }, *bytes);
                // SAFETY: guaranteed by the caller; the kernel was chosen for this size and processor.
                unsafe { row.in_direction::<PACK>()(moved(array, *offset), packed, *bytes, once) }
            }
            Self::Indexed { lowest, block, offsets, kernel, .. } => {
                // SAFETY: guaranteed by the caller; the kernel was chosen for this size and processor.
                unsafe {
                    kernel.in_direction::<PACK>()(moved(array, *lowest), packed, *block, *block, offsets)
                }
            }
            Self::Records { records, kernels } => {
                // SAFETY: as above.
                unsafe { records.run::<PACK>(kernels, array, packed) }
            }
            Self::IndexedRecords { records, kernels, .. } => {
                // SAFETY: as above.
                unsafe { records.run::<PACK>(kernels, array, packed) }
            }
            Self::Runs { offsets, ends, kernel, .. } => {
                // SAFETY: as above.
                unsafe { kernel.in_direction::<PACK>()(array, packed, offsets, ends) }
            }
            Self::Body { offsets, body } => {
                let mut packed = packed;
                for &offset in offsets {
                    // SAFETY: one of the caller's copies.
                    unsafe { body.run::<PACK>(moved(array, offset), packed) };
                    packed = packed.wrapping_add(body.bytes);
                }
            }
        }
    }
}
