//! The memory of a case: the application's arrays and the two wire buffers, as far as its methods need them; the same for every method.

use std::ops::{Deref, DerefMut, Range};

use apps::{Arrays, PAGE_BYTES};
use common::memory::Buffers;

/// Arrays and wire buffers. In every method, sending and receiving use separate buffers, as the arrays of most
/// applications do, so that cache lines change owners in the same way.
pub struct Memory {
    pub arrays: Arrays,
    /// Whether a method uses the arrays. If not, they have no memory.
    pub has_arrays: bool,
    /// The packed data to send, for methods that send packed bytes; empty without such a method.
    pub outgoing: Wire,
    /// The packed data that was received, for methods that receive packed bytes; empty without such a method.
    pub incoming: Wire,
}

impl Memory {
    /// Allocates these buffers, and writes every byte: unwritten memory is one shared zero page, and would look faster.
    pub fn new(arrays: Arrays, message_bytes: u64, buffers: Buffers) -> Self {
        let [outgoing, incoming] =
            buffers.wire_bytes(message_bytes).expect("checked against the machine's memory");
        let [outgoing, incoming] = [outgoing, incoming].map(|bytes| Wire::new(bytes as usize));
        let mut memory = Self { arrays, has_arrays: buffers.arrays, outgoing, incoming };
        if memory.has_arrays {
            memory.arrays.memory_mut().fill(POISON);
        }
        memory.poison_wire();
        memory
    }

    /// Address of byte `offset` of the arrays' memory; valid for all of that memory as long as it exists.
    #[inline]
    pub fn at(&mut self, offset: usize) -> *mut u8 {
        self.arrays.base().wrapping_add(offset)
    }

    /// The arrays, the wire buffer to send, and the received one.
    pub fn regions(&mut self) -> [Region; 3] {
        let arrays = (self.arrays.base(), self.arrays.memory().len());
        let wires = [&mut self.outgoing, &mut self.incoming].map(|wire| (wire.base(), wire.len()));
        // SAFETY: the addresses and lengths of live memory; users of a region guarantee that it is not used otherwise.
        [arrays, wires[0], wires[1]].map(|(start, bytes)| unsafe { Region::new(start, bytes) })
    }

    /// Exchanges the two arrays of an all-to-all, for its way back; and the wire buffers, if received data is sent back.
    #[inline]
    pub fn turn(&mut self, with_wire: bool) {
        self.arrays.swap(0, 1);
        if with_wire {
            std::mem::swap(&mut self.outgoing, &mut self.incoming);
        }
    }

    /// Overwrites both wire buffers, so that a transfer that did not happen does not leave right data.
    pub fn poison_wire(&mut self) {
        self.outgoing.fill(POISON);
        self.incoming.fill(POISON);
    }
}

/// A wire buffer, which begins in the middle of a page.
///
/// Arrays begin near the start of a page. If the target of a copy begins less than a few hundred bytes further into its
/// page than the source, glibc copies backwards, which took twice as long on cold memory (9 compared with 16 GB/s for
/// 128 KiB). This would affect all copies of a long run, depending on where the allocator placed the buffer.
pub struct Wire {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Wire {
    /// A buffer of zeros.
    pub fn new(bytes: usize) -> Self {
        let memory = vec![0; bytes + PAGE_BYTES];
        let start = (PAGE_BYTES / 2).wrapping_sub(memory.as_ptr() as usize) % PAGE_BYTES;
        Self { memory, start, bytes }
    }

    /// Its address, valid for all of it as long as it exists. A pointer to a slice of it would become invalid with the next slice.
    pub fn base(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(self.start)
    }
}

impl Deref for Wire {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.memory[self.start..][..self.bytes]
    }
}

impl DerefMut for Wire {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.bytes]
    }
}

/// Memory that MPI, or several threads in parts, read and write by its address.
#[derive(Clone, Copy)]
pub struct Region {
    start: *mut u8,
    bytes: usize,
}

impl Region {
    /// `bytes` of memory starting at `start`.
    ///
    /// # Safety
    /// They may be read and written through `start` during the lifetime of everything that is created with the region.
    pub unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// The address of its first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// The address of a byte.
    pub fn at(&self, byte: usize) -> *mut u8 {
        self.start.wrapping_add(byte)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it is this memory.
    pub fn is_of(&self, memory: &[u8]) -> bool {
        self.start.cast_const() == memory.as_ptr()
    }

    /// Some of its bytes.
    ///
    /// # Safety
    /// Neither other code nor MPI may use these bytes as long as the slice exists, and the memory must exist until then.
    pub unsafe fn part<'a>(self, range: Range<usize>) -> &'a mut [u8] {
        assert!(range.start <= range.end && range.end <= self.bytes);
        // SAFETY: within the memory, and the caller guarantees exclusive access.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start), range.len()) }
    }
}

/// A nonzero byte, so that neither cleared nor untouched memory is mistaken for data.
pub const POISON: u8 = 0xA5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_buffer_begins_in_the_middle_of_a_page() {
        for bytes in [0, 1, 4096, 1 << 20] {
            let wire = Wire::new(bytes);
            assert_eq!((wire.len(), wire.as_ptr() as usize % PAGE_BYTES), (bytes, PAGE_BYTES / 2));
        }
    }
}
