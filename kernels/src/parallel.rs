//! Several threads for one message, each with a range of the packed stream.
//!
//! Threads are started for each call and end with it (`std::thread::scope`). A pool's threads are there for good: they
//! would have to be bound beside the ranks, would keep the affinity of whoever called first, and start much sooner
//! only if they spin, on processors that others measure on. A thread started here has the caller's affinity.

use std::ops::Range;
use std::thread;

use crate::block::LINE;
use crate::operation::{Leaf, Operation, Sequence};
use crate::{Program, RunError};

/// Bytes that a thread must have to be worth starting. Starting one and waiting for its end takes 20 to 50 µs on a
/// virtual machine (AMD EPYC, two cores), in which one thread packs 0.5 to 1 MiB. There two threads began to win
/// between 1 and 4 MiB together, for blocks of 8 bytes as for those of 4 KiB.
const LEAST_BYTES: usize = 1 << 20;

/// Longer blocks, or records, are cut between threads; for shorter ones the cut moves to where the block begins.
const LONG_BLOCK: usize = 4096;

impl Program {
    /// As [`Program::pack`], by up to `threads` threads, this one among them.
    ///
    /// Each gathers an equal share of the packed stream, of at least about 1 MiB: a message of less than 2 MiB is
    /// packed by this thread alone. Shares are equal in bytes, not in time, which differs where one part of a layout
    /// has shorter blocks than another.
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn pack_parallel(
        &self,
        array: &[u8],
        origin: i64,
        packed: &mut [u8],
        threads: usize,
    ) -> Result<(), RunError> {
        self.pack_range_parallel(array, origin, 0..self.size(), packed, threads)
    }

    /// As [`Program::unpack`], by up to `threads` threads, this one among them, shared out as in
    /// [`Program::pack_parallel`].
    ///
    /// A layout that overlaps itself is unpacked by this thread alone, so that later bytes stay. Whether it does is
    /// found out by the first call that could use a second thread, and kept. That takes up to three times as long as
    /// unpacking, and, unless blocks follow each other in ascending order, an eighth of the array's memory.
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn unpack_parallel(
        &self,
        packed: &[u8],
        array: &mut [u8],
        origin: i64,
        threads: usize,
    ) -> Result<(), RunError> {
        self.unpack_range_parallel(packed, array, origin, 0..self.size(), threads)
    }

    /// As [`Program::pack_range`], by up to `threads` threads; see [`Program::pack_parallel`].
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn pack_range_parallel(
        &self,
        array: &[u8],
        origin: i64,
        range: Range<usize>,
        packed: &mut [u8],
        threads: usize,
    ) -> Result<(), RunError> {
        let parts = worthwhile(range.len(), threads);
        self.pack_in_parts(array, origin, range, packed, parts)
    }

    /// As [`Program::unpack_range`], by up to `threads` threads; see [`Program::unpack_parallel`].
    ///
    /// # Errors
    /// [`RunError`]; nothing was written then.
    ///
    /// # Panics
    /// If the system refuses a thread.
    pub fn unpack_range_parallel(
        &self,
        packed: &[u8],
        array: &mut [u8],
        origin: i64,
        range: Range<usize>,
        threads: usize,
    ) -> Result<(), RunError> {
        let parts = worthwhile(range.len(), threads);
        self.unpack_in_parts(packed, array, origin, range, parts)
    }

    /// Packs in up to `parts` parts, each by a thread of its own, however small they are.
    pub(crate) fn pack_in_parts(
        &self,
        array: &[u8],
        origin: i64,
        range: Range<usize>,
        packed: &mut [u8],
        parts: usize,
    ) -> Result<(), RunError> {
        self.check(array.len(), origin, &range, packed.len())?;
        // Threads write to `packed`: they part where a line of it begins.
        let lead = packed.as_ptr().addr() % LINE;
        let line = |at: usize| at.saturating_sub((at - range.start + lead) % LINE);
        let mut left = packed;
        let tasks = shares(&range, parts, line).into_iter().map(|share| {
            let (part, behind) = std::mem::take(&mut left).split_at_mut(share.len());
            left = behind;
            (share, part)
        });
        on_threads(tasks, |(share, part)| {
            self.pack_range(array, origin, share, part).expect("a part of what was checked");
        });
        Ok(())
    }

    /// Unpacks in up to `parts` parts, each by a thread of its own, however small they are; in one, if the layout
    /// overlaps itself.
    pub(crate) fn unpack_in_parts(
        &self,
        packed: &[u8],
        array: &mut [u8],
        origin: i64,
        range: Range<usize>,
        parts: usize,
    ) -> Result<(), RunError> {
        self.check(array.len(), origin, &range, packed.len())?;
        if parts <= 1 || !self.is_disjoint() {
            return self.unpack_range(packed, array, origin, range);
        }
        let base = Shared(array.as_mut_ptr().wrapping_offset(origin as isize));
        on_threads(shares(&range, parts, |at| self.sequence.block_start(at)), |share| {
            let part = &packed[share.start - range.start..share.end - range.start];
            // SAFETY: all data lies in `array`, and `part` has the share's length and is only read. Shares have no
            // byte of the stream in common, no two bytes of the stream have the same place, and kernels write to no
            // other place when unpacking: so no two threads write the same byte, and nobody reads what they write
            // until all have ended.
            unsafe { self.sequence.run::<false>(base.get(), part.as_ptr().cast_mut(), share) };
        });
        Ok(())
    }
}

/// Displacement 0 of an array that several threads write to.
struct Shared(*mut u8);

impl Shared {
    fn get(&self) -> *mut u8 {
        self.0
    }
}

// SAFETY: an address may be known to several threads; whoever writes through it says why that is allowed.
unsafe impl Sync for Shared {}

/// Runs every task on a thread of its own, the first on this one.
fn on_threads<T: Send>(tasks: impl IntoIterator<Item = T>, run: impl Fn(T) + Sync) {
    let mut tasks = tasks.into_iter();
    let Some(own) = tasks.next() else { return };
    thread::scope(|scope| {
        for task in tasks {
            let run = &run;
            scope.spawn(move || run(task));
        }
        run(own);
    });
}

/// How many of `threads` threads get enough of `bytes` bytes.
fn worthwhile(bytes: usize, threads: usize) -> usize {
    threads.min(bytes / LEAST_BYTES).max(1)
}

/// `range` in up to `parts` shares that are about equal, in order and none empty. A cut is moved back to where `fit`
/// tells.
fn shares(range: &Range<usize>, parts: usize, fit: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let parts = parts.clamp(1, range.len().max(1));
    let mut shares = Vec::with_capacity(parts);
    let mut start = range.start;
    for i in 1..=parts {
        let even = range.start + (range.len() as u128 * i as u128 / parts as u128) as usize;
        let end = if i == parts { range.end } else { fit(even) };
        if end > start {
            shares.push(start..end);
            start = end;
        }
    }
    shares
}

impl Sequence {
    /// Where the block begins that the byte `at` of the packed stream is in; `at` itself within a long one.
    fn block_start(&self, at: usize) -> usize {
        let i = self.ends.partition_point(|&end| end <= at);
        let Some(operation) = self.operations.get(i) else { return at };
        let start = self.ends[i] - operation.bytes;
        start + operation.block_start(at - start)
    }
}

impl Operation {
    /// As [`Sequence::block_start`].
    fn block_start(&self, at: usize) -> usize {
        let within = at % self.leaf.bytes();
        at - within + self.leaf.block_start(within)
    }
}

impl Leaf {
    /// As [`Sequence::block_start`].
    fn block_start(&self, at: usize) -> usize {
        let back_to = |start: usize, block: usize| if block > LONG_BLOCK { at } else { start };
        match self {
            Self::Block { bytes, .. } => back_to(0, *bytes),
            Self::Indexed { block, .. } => back_to(at - at % block, *block),
            Self::Records { records, .. } => back_to(at - at % records.bytes, records.bytes),
            Self::Runs { ends, .. } => {
                let i = ends.partition_point(|&end| end <= at);
                let start = if i == 0 { 0 } else { ends[i - 1] };
                back_to(start, ends[i] - start)
            }
            Self::Body { body, .. } => {
                let within = at % body.bytes();
                at - within + body.block_start(within)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_leave_nothing_out() {
        let lines = |at: usize| at - at % 64;
        assert_eq!(shares(&(0..1000), 4, lines), [0..192, 192..448, 448..704, 704..1000]);
        assert_eq!(shares(&(100..200), 2, lines), [100..128, 128..200]);
        assert_eq!(shares(&(0..100), 50, lines), [0..64, 64..100]);
        assert_eq!(shares(&(5..8), 9, |at| at), [5..6, 6..7, 7..8]);
        assert_eq!(shares(&(5..5), 3, |at| at), []);
        assert_eq!(shares(&(0..usize::MAX), 2, |at| at).len(), 2);
    }

    #[test]
    fn small_messages_need_one_thread() {
        assert_eq!(worthwhile(2 * LEAST_BYTES - 1, 8), 1);
        assert_eq!(worthwhile(2 * LEAST_BYTES, 8), 2);
        assert_eq!(worthwhile(1 << 30, 8), 8);
        assert_eq!(worthwhile(1 << 30, 0), 1);
    }
}
