//! Runs operations over any range of the packed stream.
//!
//! What is asked for whole goes straight to the kernels; a range is cut at every loop into the rest of an iteration,
//! whole iterations, and the beginning of one.

use std::ops::Range;

use crate::block_copy::LONG;
use crate::loops::{self, Axis, Grid};
use crate::operation::{Leaf, LoopNest, Sequence, Step, grid};

fn moved(array: *mut u8, by: i64) -> *mut u8 {
    array.wrapping_offset(by as isize)
}

fn shifted(range: &Range<usize>, start: usize) -> Range<usize> {
    range.start - start..range.end - start
}

impl Sequence {
    /// Runs all of this sequence. `array` is displacement 0, `packed` the place of the stream's first byte.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn whole<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        let mut start = 0;
        for (operation, &end) in self.operations.iter().zip(&self.ends) {
            // SAFETY: a part of what the caller answers for.
            unsafe { operation.whole::<PACK>(&operation.steps, array, packed.add(start)) };
            start = end;
        }
    }

    /// Runs what lies in `range` of this sequence's packed stream. `array` is displacement 0, `packed` the place of
    /// the range's first byte.
    ///
    /// # Safety
    /// Every byte that the operations name must lie in memory that may be read (packing) or written (unpacking);
    /// `packed` must have room for the range, be writable when packing, and not overlap what is named.
    pub unsafe fn run<const PACK: bool>(&self, array: *mut u8, packed: *mut u8, range: Range<usize>) {
        if range == (0..self.bytes()) {
            // SAFETY: the caller's.
            return unsafe { self.whole::<PACK>(array, packed) };
        }
        let mut at = range.start;
        let first = self.ends.partition_point(|&end| end <= range.start);
        for (operation, &end) in self.operations[first..].iter().zip(&self.ends[first..]) {
            if at >= range.end {
                return;
            }
            let part = shifted(&(at..range.end.min(end)), end - operation.bytes);
            // SAFETY: a part of the caller's range.
            unsafe { operation.part::<PACK>(&operation.steps, array, packed.add(at - range.start), part) };
            at = end;
        }
    }
}

impl LoopNest {
    /// Runs the leaf within `steps`, all of it.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn whole<const PACK: bool>(&self, steps: &[Step], array: *mut u8, packed: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match steps.split_first() {
                None => self.leaf.whole::<PACK>(array, packed),
                Some((step, inner)) => self.times::<PACK>(step, step.count, inner, array, packed),
            }
        }
    }

    /// Runs `times` iterations of `step`, with all that is in it.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn times<const PACK: bool>(
        &self,
        step: &Step,
        times: usize,
        inner: &[Step],
        array: *mut u8,
        packed: *mut u8,
    ) {
        if let (Leaf::Block { offset, bytes, kernels, how }, [] | [_]) = (&self.leaf, inner) {
            let kernel = match inner {
                [] => kernels.strided.of::<PACK>(),
                _ => how.kernel::<PACK>(kernels),
            };
            // SAFETY: the caller's; the kernel was chosen for this size and processor.
            return unsafe {
                kernel(moved(array, *offset), packed, *bytes, grid(step, times, inner.first(), *bytes))
            };
        }
        let (mut array, mut packed) = (array, packed);
        for _ in 0..times {
            // SAFETY: one iteration of those that the caller answers for.
            unsafe { self.whole::<PACK>(inner, array, packed) };
            array = moved(array, step.stride);
            packed = packed.wrapping_add(step.bytes);
        }
    }

    /// Runs what lies in `range` of the leaf within `steps`.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn part<const PACK: bool>(
        &self,
        steps: &[Step],
        array: *mut u8,
        packed: *mut u8,
        range: Range<usize>,
    ) {
        let Some((step, inner)) = steps.split_first() else {
            // SAFETY: the caller's.
            return unsafe { self.leaf.part::<PACK>(array, packed, range) };
        };
        let iteration = |i: usize| moved(array, step.stride.wrapping_mul(i as i64));
        let part = |i: usize, part: Range<usize>, packed: *mut u8| {
            // SAFETY: a part of the caller's range.
            unsafe { self.part::<PACK>(inner, iteration(i), packed, part) }
        };
        each_piece(&range, step.bytes, packed, part, |whole, packed| {
            // SAFETY: as above.
            unsafe { self.times::<PACK>(step, whole.len(), inner, iteration(whole.start), packed) }
        });
    }
}

/// What `range` has of equal pieces, with its place in the packed stream, where that of the range is `packed`: a `part` of the
/// first and of the last one, as its number and its bytes, and the `whole` ones between them.
#[inline(always)]
fn each_piece(
    range: &Range<usize>,
    bytes: usize,
    packed: *mut u8,
    mut part: impl FnMut(usize, Range<usize>, *mut u8),
    whole: impl FnOnce(Range<usize>, *mut u8),
) {
    let (first, last) = (range.start.div_ceil(bytes), range.end / bytes);
    if first > last {
        return part(last, shifted(range, last * bytes), packed);
    }
    let (head, tail) = (first * bytes - range.start, range.end % bytes);
    if head > 0 {
        part(first - 1, bytes - head..bytes, packed);
    }
    if first < last {
        whole(first..last, packed.wrapping_add(head));
    }
    if tail > 0 {
        part(last, 0..tail, packed.wrapping_add(range.len() - tail));
    }
}

impl Leaf {
    /// Runs all of it.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    #[inline]
    unsafe fn whole<const PACK: bool>(&self, array: *mut u8, packed: *mut u8) {
        match self {
            Self::Block { offset, bytes, kernels, .. } => {
                let once = Grid::row(Axis { count: 1, stride: 0 }, *bytes);
                // SAFETY: the caller's; the kernel was chosen for this size and processor.
                unsafe { kernels.strided.of::<PACK>()(moved(array, *offset), packed, *bytes, once) }
            }
            Self::Indexed { lowest, block, offsets, kernels } => {
                let kernel = kernels.indexed.of::<PACK>();
                // SAFETY: the caller's; the kernel was chosen for this size and processor.
                unsafe { kernel(moved(array, *lowest), packed, *block, *block, offsets) }
            }
            Self::Records { records, kernels } => {
                // SAFETY: as above.
                unsafe { records.run::<PACK>(kernels, array, packed, 0..records.count) }
            }
            Self::Runs { offsets, ends, kernel } => {
                // SAFETY: as above.
                unsafe { kernel.of::<PACK>()(array, packed, 0, offsets, ends) }
            }
            Self::Body { offsets, body } => {
                // SAFETY: the caller's.
                unsafe { at_each::<PACK>(offsets, body, array, packed) }
            }
        }
    }

    /// Runs what lies in `range` of it.
    ///
    /// # Safety
    /// As for [`Sequence::run`].
    unsafe fn part<const PACK: bool>(&self, array: *mut u8, packed: *mut u8, range: Range<usize>) {
        match self {
            Self::Block { offset, kernels, .. } => {
                let from = moved(array, *offset).wrapping_add(range.start);
                // SAFETY: a part of the caller's bytes; the kernels of a long block are those of all long blocks.
                unsafe {
                    match range.len() {
                        LONG.. => {
                            let once = Grid::row(Axis { count: 1, stride: 0 }, range.len());
                            kernels.strided.of::<PACK>()(from, packed, range.len(), once)
                        }
                        bytes => loops::plain::<PACK>(from, packed, bytes),
                    }
                }
            }
            Self::Indexed { lowest, block, offsets, kernels } => {
                let base = moved(array, *lowest);
                let part = |i: usize, part: Range<usize>, packed: *mut u8| {
                    let from = base.wrapping_add(offsets[i] as usize + part.start);
                    // SAFETY: a part of the caller's range.
                    unsafe { loops::plain::<PACK>(from, packed, part.len()) }
                };
                each_piece(&range, *block, packed, part, |whole, packed| {
                    // SAFETY: as above; the kernel was chosen for this size and processor.
                    unsafe { kernels.indexed.of::<PACK>()(base, packed, *block, *block, &offsets[whole]) }
                });
            }
            Self::Records { records, kernels } => {
                let part = |i: usize, part: Range<usize>, packed: *mut u8| {
                    // SAFETY: a part of the caller's range.
                    unsafe { records.run_part::<PACK>(i, array, packed, part) }
                };
                each_piece(&range, records.bytes, packed, part, |whole, packed| {
                    // SAFETY: as above; the kernels were chosen for these sizes and processor.
                    unsafe { records.run::<PACK>(kernels, array, packed, whole) }
                });
            }
            Self::Runs { offsets, ends, kernel } => {
                let start = |i: usize| if i == 0 { 0 } else { ends[i - 1] };
                let first = ends.partition_point(|&end| end <= range.start);
                let last = ends.partition_point(|&end| end <= range.end);
                let plain = |i: usize, part: Range<usize>| {
                    let from = moved(array, offsets[i]).wrapping_add(part.start - start(i));
                    // SAFETY: a part of one of the caller's runs.
                    unsafe {
                        loops::plain::<PACK>(from, packed.wrapping_add(part.start - range.start), part.len())
                    }
                };
                if first == last {
                    return plain(first, range.clone());
                }
                let whole = if start(first) == range.start { first } else { first + 1 };
                plain(first, range.start..start(whole));
                // SAFETY: runs that lie in the caller's range; the stream's byte 0 may lie nowhere.
                unsafe {
                    let stream = packed.wrapping_sub(range.start);
                    kernel.of::<PACK>()(
                        array,
                        stream,
                        start(whole),
                        &offsets[whole..last],
                        &ends[whole..last],
                    );
                }
                if start(last) < range.end {
                    plain(last, start(last)..range.end);
                }
            }
            Self::Body { offsets, body } => {
                let part = |i: usize, part: Range<usize>, packed: *mut u8| {
                    // SAFETY: a part of the caller's range.
                    unsafe { body.run::<PACK>(moved(array, offsets[i]), packed, part) }
                };
                each_piece(&range, body.bytes(), packed, part, |whole, packed| {
                    // SAFETY: as above.
                    unsafe { at_each::<PACK>(&offsets[whole], body, array, packed) }
                });
            }
        }
    }
}

/// Runs a body at each offset.
///
/// # Safety
/// As for [`Sequence::run`].
unsafe fn at_each<const PACK: bool>(offsets: &[i64], body: &Sequence, array: *mut u8, packed: *mut u8) {
    let mut packed = packed;
    for &offset in offsets {
        // SAFETY: one of the caller's copies.
        unsafe { body.whole::<PACK>(moved(array, offset), packed) };
        packed = packed.wrapping_add(body.bytes());
    }
}
