//! Runs operations over any range of the packed stream.

use std::ops::Range;

use crate::copy::{Any, Block};
use crate::operation::{Leaf, Operation, Sequence};

/// Copies `bytes` in the direction of `PACK`.
///
/// # Safety
/// Both must be valid for that, and not overlap.
#[inline]
unsafe fn plain<const PACK: bool>(array: *mut u8, packed: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe {
        match PACK {
            true => Any::copy(packed, array, bytes),
            false => Any::copy(array, packed, bytes),
        }
    }
}

fn moved(array: *mut u8, by: i64) -> *mut u8 {
    array.wrapping_offset(by as isize)
}

impl Sequence {
    /// Runs what lies in `range` of this sequence's packed stream. `array` is displacement 0, `packed` the place of
    /// the range's first byte.
    ///
    /// # Safety
    /// Every byte that the operations name must lie in memory that may be read (packing) or written (unpacking);
    /// `packed` must have room for the range, be writable when packing, and not overlap what is named.
    pub unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8, range: Range<usize>) {
        let mut at = range.start;
        let first = self.ends.partition_point(|&end| end <= range.start);
        for (operation, &end) in self.operations[first..].iter().zip(&self.ends[first..]) {
            if at >= range.end {
                return;
            }
            let start = end - operation.bytes();
            let part = at - start..range.end.min(end) - start;
            // SAFETY: a part of the caller's range.
            unsafe { operation.run::<PACK>(array, packed.add(at - range.start), part) };
            at = end;
        }
    }
}

impl Operation {
    /// As [`Sequence::run`].
    unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8, range: Range<usize>) {
        let (mut packed, mut skipped, mut left) =
            (packed, range.start % self.leaf_bytes, range.end - range.start);
        let mut position = vec![0; self.loops.len()];
        let mut base = array;
        let mut iteration = range.start / self.leaf_bytes;
        for (place, step) in position.iter_mut().zip(&self.loops).rev() {
            *place = iteration % step.count;
            iteration /= step.count;
            base = moved(base, step.stride.wrapping_mul(*place as i64));
        }
        while left > 0 {
            let bytes = (self.leaf_bytes - skipped).min(left);
            // SAFETY: a part of the caller's range, moved as the loops have it.
            unsafe { self.leaf.run::<PACK>(base, packed, skipped..skipped + bytes) };
            (packed, left, skipped) = (packed.wrapping_add(bytes), left - bytes, 0);
            for (place, step) in position.iter_mut().zip(&self.loops).rev() {
                *place += 1;
                base = moved(base, step.stride);
                if *place < step.count {
                    break;
                }
                base = moved(base, step.stride.wrapping_mul(-(step.count as i64)));
                *place = 0;
            }
        }
    }
}

/// A range of equal blocks: bytes of the first that are left, whole blocks, bytes of the last.
struct Cut {
    head: Range<usize>,
    whole: Range<usize>,
    tail: usize,
}

impl Cut {
    fn of(range: &Range<usize>, block: usize) -> Self {
        let first_whole = range.start.div_ceil(block);
        let last_whole = range.end / block;
        if first_whole > last_whole {
            // All within one block.
            return Self { head: range.clone(), whole: first_whole..first_whole, tail: 0 };
        }
        Self {
            head: range.start..first_whole * block,
            whole: first_whole..last_whole,
            tail: range.end % block,
        }
    }
}

impl Leaf {
    /// As [`Sequence::run`].
    #[inline]
    unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8, range: Range<usize>) {
        match self {
            Self::Copy { offset, .. } => {
                let from = moved(array, *offset).wrapping_add(range.start);
                // SAFETY: a part of the caller's bytes.
                unsafe { plain::<PACK>(from, packed, range.len()) }
            }
            Self::Strided { offset, block, step, kernels } => {
                let cut = Cut::of(&range, *block);
                let place = |i: usize| moved(array, offset.wrapping_add(step.stride.wrapping_mul(i as i64)));
                let kernel = kernels.strided::<PACK>();
                // SAFETY: parts of the caller's bytes; the kernel was chosen for this size and processor.
                unsafe {
                    parts::<PACK>(&cut, *block, packed, place, |packed, whole| {
                        kernel(place(whole.start), packed, *block, whole.len(), step.stride as isize)
                    })
                }
            }
            Self::Indexed { lowest, block, offsets, kernels } => {
                let cut = Cut::of(&range, *block);
                let base = moved(array, *lowest);
                let place = |i: usize| base.wrapping_add(offsets[i] as usize);
                let kernel = kernels.indexed::<PACK>();
                // SAFETY: as above.
                unsafe {
                    parts::<PACK>(&cut, *block, packed, place, |packed, whole| {
                        kernel(base, packed, *block, &offsets[whole])
                    })
                }
            }
            Self::Runs { offsets, ends } => {
                let first = ends.partition_point(|&end| end <= range.start);
                let (mut at, mut start) = (range.start, if first == 0 { 0 } else { ends[first - 1] });
                for (&offset, &end) in offsets[first..].iter().zip(&ends[first..]) {
                    if at >= range.end {
                        return;
                    }
                    let (bytes, skipped) = (range.end.min(end) - at, at - start);
                    // SAFETY: a part of the caller's bytes.
                    unsafe {
                        let from = moved(array, offset).wrapping_add(skipped);
                        plain::<PACK>(from, packed.add(at - range.start), bytes);
                    }
                    (at, start) = (end, end);
                }
            }
            Self::Body { offsets, body } => {
                let bytes = body.bytes();
                let mut at = range.start;
                while at < range.end {
                    let (i, skipped) = (at / bytes, at % bytes);
                    let end = (bytes - skipped).min(range.end - at) + skipped;
                    // SAFETY: a part of the caller's range.
                    unsafe {
                        body.run::<PACK>(moved(array, offsets[i]), packed.add(at - range.start), skipped..end)
                    };
                    at += end - skipped;
                }
            }
        }
    }
}

/// The head, all whole blocks by `whole`, and the tail of a range of equal blocks.
///
/// # Safety
/// As for [`Sequence::run`]; `place` tells where a block is.
#[inline]
unsafe fn parts<const PACK: bool>(
    cut: &Cut,
    block: usize,
    packed: *mut u8,
    place: impl Fn(usize) -> *mut u8,
    whole: impl FnOnce(*mut u8, Range<usize>),
) {
    let mut packed = packed;
    if !cut.head.is_empty() {
        let (i, skipped) = (cut.head.start / block, cut.head.start % block);
        // SAFETY: a part of one of the caller's blocks.
        unsafe { plain::<PACK>(place(i).wrapping_add(skipped), packed, cut.head.len()) };
        packed = packed.wrapping_add(cut.head.len());
    }
    if !cut.whole.is_empty() {
        whole(packed, cut.whole.clone());
        packed = packed.wrapping_add(cut.whole.len() * block);
    }
    if cut.tail > 0 {
        // SAFETY: as above.
        unsafe { plain::<PACK>(place(cut.whole.end), packed, cut.tail) };
    }
}
