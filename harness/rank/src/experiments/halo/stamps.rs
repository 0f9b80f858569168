//! The values that change between two exchanges of a block: every value that a rank itself sends, in the arrays; for
//! the reference, a word in every cache line of its messages. Other memory is not touched, so caches stay as the
//! exchange left them, and still no exchange transfers the same data as the previous one.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use apps::WireOrder;
use apps::halo::{Field, Version};
use common::packing::Packing;

use super::links::{HaloMemory, Links};
use crate::pattern::some_place;

/// Bytes of a cache line of a message, in which one word changes; messages are aligned to it in wire buffers.
const LINE_BYTES: usize = 64;
const WORD_BYTES: usize = 8;

/// Runs with equal lengths and equal distances, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    start: usize,
    bytes: usize,
    stride: usize,
    count: usize,
}

/// The bytes that change, in few rows: a face with one value per row of its array has a row for each of its planes.
#[derive(Debug, PartialEq, Eq)]
struct Rows(Vec<Row>);

impl Rows {
    /// The rows of some bytes, given in runs that may be adjacent.
    fn of(runs: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut joined: Vec<Range<usize>> = Vec::new();
        for run in runs {
            match joined.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => joined.push(run),
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        for Range { start, end } in joined {
            let bytes = end - start;
            match rows.last_mut().filter(|last| last.bytes == bytes && start > last.start) {
                Some(last) if last.count == 1 => (last.stride, last.count) = (start - last.start, 2),
                Some(last) if start == last.start + last.count * last.stride => last.count += 1,
                _ => rows.push(Row { start, bytes, stride: 0, count: 1 }),
            }
        }
        Self(rows)
    }

    /// Flips bits in all bytes of the rows.
    ///
    /// # Safety
    /// The rows are in the memory from `base` on, which is not used otherwise in the meantime.
    unsafe fn flip(&self, base: *mut u8, bits: u8) {
        let wide = u64::from_ne_bytes([bits; 8]);
        for row in &self.0 {
            for number in 0..row.count {
                let mut at = base.wrapping_add(row.start + number * row.stride);
                let mut left = row.bytes;
                while left >= 8 {
                    // SAFETY: eight bytes of a row, guaranteed by the caller; their alignment is not known.
                    unsafe { at.cast::<u64>().write_unaligned(at.cast::<u64>().read_unaligned() ^ wide) };
                    (at, left) = (at.wrapping_add(8), left - 8);
                }
                for _ in 0..left {
                    // SAFETY: as above, of one byte.
                    unsafe { *at ^= bits };
                    at = at.wrapping_add(1);
                }
            }
        }
    }
}

/// The bytes of a rank that change, by the thread that packs them: each thread then finds the bytes that it wrote in its caches.
pub struct Stamps {
    base: *mut u8,
    of_threads: Vec<Rows>,
}

// SAFETY: the address is only written through by `write`, whose callers guarantee exclusive access.
unsafe impl Sync for Stamps {}

impl Stamps {
    /// The values that the rank itself sends. A value in several faces changes once, with the first face.
    pub fn of_arrays(links: &Links, memory: &HaloMemory, field: &Field, threads: usize) -> Self {
        // SAFETY: nothing is exchanged while stamps are set up.
        let arrays = unsafe { memory.arrays.share() };
        let mut of_threads: Vec<Vec<Range<usize>>> = vec![Vec::new(); threads];
        let mut taken: Vec<Vec<bool>> =
            arrays.specs().iter().map(|spec| vec![false; spec.elements()]).collect();
        for link in links.stages.iter().flat_map(|stage| &stage.sends) {
            for (runs, part) in of_threads.iter_mut().zip(&link.cut.parts) {
                for (array, segment) in part.message(WireOrder::Ddt).segments() {
                    let (start, bytes) = (arrays.place(array).start, field.element_bytes(array));
                    let offset = segment.offset as usize;
                    for offset in (offset..offset + segment.bytes as usize).step_by(bytes) {
                        let is_new = !std::mem::replace(&mut taken[array][offset / bytes], true);
                        if is_new && field.changes(array, offset) {
                            runs.push(start + offset..start + offset + bytes);
                        }
                    }
                }
            }
        }
        Self::new(memory.base(), of_threads)
    }

    /// A word in every cache line of the reference's messages.
    pub fn of_messages(links: &Links, memory: &HaloMemory, threads: usize) -> Self {
        let mut of_threads: Vec<Vec<Range<usize>>> = vec![Vec::new(); threads];
        for link in links.stages.iter().flat_map(|stage| &stage.sends) {
            for (runs, range) in of_threads.iter_mut().zip(&link.cut.ranges) {
                let lines = (range.start.next_multiple_of(LINE_BYTES)..range.end).step_by(LINE_BYTES);
                let word =
                    |at: usize| link.wire.start + at..(link.wire.start + at + WORD_BYTES).min(link.wire.end);
                runs.extend(lines.map(word));
            }
        }
        Self::new(memory.outgoing.start(), of_threads)
    }

    fn new(base: *mut u8, of_threads: Vec<Vec<Range<usize>>>) -> Self {
        Self { base, of_threads: of_threads.into_iter().map(Rows::of).collect() }
    }

    /// Changes a thread's bytes from those of `version` to those of the next.
    ///
    /// # Safety
    /// The memory that they were created for exists, and its sent parts are not used otherwise in the meantime.
    pub unsafe fn write(&self, thread: usize, version: Version) {
        // SAFETY: guaranteed by the caller; each thread has separate bytes.
        unsafe { self.of_threads[thread].flip(self.base, version.flipped() ^ version.next().flipped()) };
    }
}

/// Removes the changes from a message of the reference, which then has its initial data.
pub fn take_off(message: &mut [u8], version: Version) {
    for line in message.chunks_mut(LINE_BYTES) {
        line.iter_mut().take(WORD_BYTES).for_each(|byte| *byte ^= version.flipped());
    }
}

/// A share of an expected message, as some of its values.
struct Share {
    peer: usize,
    tag: usize,
    /// Their places, and their initial values.
    values: Vec<(*mut u8, Vec<u8>)>,
    bytes: usize,
}

/// The shares expected in an exchange, and where the values to check are: in the arrays, or in the wire buffer. They
/// contain addresses: callers of their functions guarantee that the memory still exists.
pub struct Shares(Vec<Share>);

// SAFETY: the addresses are only read from, by one thread.
unsafe impl Sync for Shares {}

impl Shares {
    /// The messages of other ranks in the first stage, for observing their arrival by the last value: packed messages
    /// in the wire buffer, others in the arrays. A rank's messages to itself do not show how early messages arrive.
    pub fn early(
        links: &Links,
        memory: &HaloMemory,
        field: &Field,
        generation: u64,
        packing: Packing,
        rank: usize,
    ) -> Self {
        let first = links.stages.first().into_iter().flat_map(|stage| &stage.receives);
        Self::of(first.filter(|link| link.peer != rank), memory, field, generation, packing)
    }

    /// The data received in all stages, at its final place in the arrays: the last, the first and a random value of each share.
    pub fn arrived(links: &Links, memory: &HaloMemory, field: &Field, generation: u64) -> Self {
        let all = links.stages.iter().flat_map(|stage| &stage.receives);
        Self::of(all, memory, field, generation, Packing::Datatype)
    }

    fn of<'a>(
        links: impl Iterator<Item = &'a super::links::Link>,
        memory: &HaloMemory,
        field: &Field,
        generation: u64,
        packing: Packing,
    ) -> Self {
        let order = if packing.is_by_hand() { WireOrder::Manual } else { WireOrder::Ddt };
        let parts = links
            .flat_map(|link| link.cut.parts.iter().zip(&link.cut.ranges).map(move |(p, r)| (link, p, r)));
        let shares = parts.filter_map(|(link, part, range)| {
            let message = part.message(order);
            let (array, last) = message.segments().last()?;
            let value = |array, end| {
                let expected = field.last_value(array, end, generation)?;
                let address = memory.address(memory.displacements[array] + end);
                Some((address.wrapping_sub(expected.len()), expected))
            };
            let mut values = vec![value(array, last.end())?];
            if packing.packs() {
                let (address, expected) = &mut values[0];
                *address = memory.incoming.at(link.wire.start + range.end).wrapping_sub(expected.len());
            } else {
                let random = some_place(generation, message.segments().count());
                let others = [0, random].into_iter().filter_map(|number| message.segments().nth(number));
                values.extend(others.filter_map(|(array, segment)| {
                    value(array, segment.offset + field.element_bytes(array) as i64)
                }));
            }
            Some(Share { peer: link.peer, tag: link.tag, values, bytes: range.len() })
        });
        Self(shares.collect())
    }

    /// Words of the reference's messages, the first, a random one and the last of those that change, in the wire
    /// buffer: `expected` returns the bytes by sender, tag and place in the message.
    pub fn of_messages(
        links: &Links,
        memory: &HaloMemory,
        generation: u64,
        expected: impl Fn(usize, usize, usize, &mut [u8]),
    ) -> Self {
        let share = |link: &super::links::Link| {
            let (peer, tag, bytes) = (link.peer, link.tag, link.wire.len());
            let lines = bytes.div_ceil(LINE_BYTES);
            let word = |line: usize| {
                let at = line * LINE_BYTES;
                let mut word = vec![0; WORD_BYTES.min(bytes.saturating_sub(at))];
                expected(peer, tag, at, &mut word);
                (memory.incoming.at(link.wire.start + at), word)
            };
            let values = [0, some_place(generation, lines), lines.saturating_sub(1)].map(word).into();
            Share { peer, tag, values, bytes }
        };
        Self(links.stages.iter().flat_map(|stage| &stage.receives).map(share).collect())
    }

    /// Bytes of the shares that have arrived, and of all shares.
    ///
    /// # Safety
    /// The memory that the shares were created from still exists, and only MPI writes to it.
    pub unsafe fn arrived_bytes(&self, version: Version) -> [f64; 2] {
        let bytes = |share: &Share| share.bytes as f64;
        // SAFETY: guaranteed by the caller.
        let there = self.0.iter().filter(|share| unsafe { share.is_there(version) });
        [there.map(bytes).sum(), self.0.iter().map(bytes).sum()]
    }

    /// A description of data that has not arrived, if any.
    ///
    /// # Safety
    /// As for [`Shares::arrived_bytes`].
    pub unsafe fn missing(&self, version: Version) -> Option<String> {
        // SAFETY: guaranteed by the caller.
        let share = self.0.iter().find(|share| unsafe { !share.is_there(version) })?;
        let Share { peer, tag, bytes, .. } = share;
        Some(format!("a share of {bytes} bytes from rank {peer}, tag {tag}, is not the one that was sent"))
    }
}

impl Share {
    /// # Safety
    /// As for [`Shares::arrived_bytes`].
    unsafe fn is_there(&self, version: Version) -> bool {
        let flipped = version.flipped();
        let is_value = |(address, expected): &(*mut u8, Vec<u8>)| {
            expected.iter().enumerate().all(|(i, &expected)| {
                // SAFETY: bytes of the arrays or the wire buffer, which only MPI accesses in the meantime: hence an atomic load.
                let byte = unsafe { AtomicU8::from_ptr(address.wrapping_add(i)) };
                byte.load(Ordering::Relaxed) == expected ^ flipped
            })
        };
        self.values.iter().all(is_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_at_equal_distances_are_one_row() {
        // A run of three values, a column of four values, another run, a column of two runs.
        let runs = [0..8, 8..16, 16..24, 100..108, 150..158, 200..208, 250..258, 990..994, 994..998];
        let column = [2000..2008, 2008..2010, 3000..3010];
        let row = |start, bytes, stride, count| Row { start, bytes, stride, count };
        let expected = [row(0, 24, 0, 1), row(100, 8, 50, 4), row(990, 8, 0, 1), row(2000, 10, 1000, 2)];
        assert_eq!(Rows::of(runs.into_iter().chain(column)).0, expected);
    }

    #[test]
    fn every_byte_of_a_row_is_flipped_and_no_other() {
        for bytes in [1, 4, 8, 12, 16, 31] {
            let rows = Rows::of((0..5).map(|number| 3 + 40 * number..3 + 40 * number + bytes));
            let mut memory = vec![0x11u8; 256];
            // SAFETY: the rows end before 3 + 40 * 4 + 31.
            unsafe { rows.flip(memory.as_mut_ptr(), 0xF0) };
            for (at, &byte) in memory.iter().enumerate() {
                let is_in = (0..5).any(|number| (3 + 40 * number..3 + 40 * number + bytes).contains(&at));
                assert_eq!(byte, if is_in { 0xE1 } else { 0x11 }, "{bytes}: {at}");
            }
        }
    }

    #[test]
    fn what_is_taken_off_a_message_is_what_was_written() {
        let mut message: Vec<u8> = (0..150).collect();
        let before = message.clone();
        let version = Version { generation: 1, changes: 3 };
        take_off(&mut message, version);
        assert_ne!(message, before);
        take_off(&mut message, version);
        assert_eq!(message, before);
    }
}
