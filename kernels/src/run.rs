//! Runs operations.

use crate::operation::{Leaf, LoopNest, Sequence, Step};

fn moved(array: *mut u8, by: i64) -> *mut u8 {
    array.wrapping_offset(by as isize)
}

impl Sequence {
    /// Runs all operations. `array` is displacement 0, `packed` the place of the stream's first byte.
    ///
    /// # Safety
    /// Every byte that the operations name must be in memory that may be read (packing) or written
    /// (unpacking); `packed` must have room for all, be writable when packing, and not overlap the array.
    #[inline]
    pub unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        match &self.operations[..] {
            // SAFETY: guaranteed by the caller.
            [only] => unsafe { only.run::<PACK>(&only.steps, array, packed) },
            // SAFETY: as above.
            _ => unsafe { self.run_all::<PACK>(array, packed) },
        }
    }

    /// Several operations. Here and below, a separate function: short messages take less time if the path to
    /// their kernel saves no registers.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline(never)]
    unsafe fn run_all<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        let mut packed = packed;
        for operation in &self.operations {
            // SAFETY: a part of the operations that the caller guarantees.
            unsafe { operation.run::<PACK>(&operation.steps, array, packed) };
            packed = packed.wrapping_add(operation.bytes);
        }
    }

    /// Runs all operations once at each offset.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline(never)]
    unsafe fn run_at<const PACK: bool>(&self, offsets: &[i64], array: *mut u8, packed: *mut u8) {
        let mut packed = packed;
        for &offset in offsets {
            // SAFETY: one of the caller's copies.
            unsafe { self.run::<PACK>(moved(array, offset), packed) };
            packed = packed.wrapping_add(self.bytes);
        }
    }
}

impl LoopNest {
    /// Runs the leaf within `steps`.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline]
    unsafe fn run<const PACK: bool>(&self, steps: &[Step], array: *mut u8, packed: *mut u8) {
        match steps {
            // SAFETY: guaranteed by the caller.
            [] => unsafe { self.leaf.run::<PACK>(array, packed) },
            // SAFETY: as above.
            [step, inner @ ..] => unsafe { self.repeat::<PACK>(*step, inner, array, packed) },
        }
    }

    /// Runs the inner steps as often as `step` has iterations.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline(never)]
    unsafe fn repeat<const PACK: bool>(&self, step: Step, inner: &[Step], array: *mut u8, packed: *mut u8) {
        let (mut array, mut packed) = (array, packed);
        for _ in 0..step.count {
            // SAFETY: one of the iterations that the caller guarantees.
            unsafe { self.run::<PACK>(inner, array, packed) };
            array = moved(array, step.stride);
            packed = packed.wrapping_add(step.bytes);
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
        // SAFETY: guaranteed by the caller; the kernels were chosen for these sizes and this processor.
        unsafe {
            match self {
                Self::Block { offset, bytes, grid, kernel, .. } => {
                    kernel.in_direction::<PACK>()(moved(array, *offset), packed, *bytes, grid)
                }
                Self::Indexed { lowest, block, offsets, kernel, .. } => {
                    kernel.in_direction::<PACK>()(moved(array, *lowest), packed, *block, *block, offsets)
                }
                Self::Records { records, kernels } => records.run::<PACK>(kernels, array, packed),
                Self::IndexedRecords { records, kernels, .. } => records.run::<PACK>(kernels, array, packed),
                Self::Runs { offsets, ends, kernel, .. } => {
                    kernel.in_direction::<PACK>()(array, packed, offsets, ends)
                }
                Self::Body { offsets, body } => body.run_at::<PACK>(offsets, array, packed),
            }
        }
    }
}
