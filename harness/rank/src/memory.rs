//! The memory of a case: the application's arrays and the two wire buffers, as far as its methods need them; the same for every method.

use std::ops::{Deref, DerefMut, Range};

use anyhow::anyhow;
use apps::{Arrays, PAGE_BYTES};
use common::memory::{self, Buffers};
use common::model::conditions::MemoryKind;

use crate::checked::Comm;
use crate::device::{self, Buffer, Direction, Rows};

/// Bytes next to a wire buffer, on either side, that nothing writes. As many as the alignment of a device's memory.
const MARGIN: usize = 256;

/// Arrays and wire buffers. In every method, sending and receiving use separate buffers, as the arrays of
/// most applications do, so that cache lines change owners in the same way.
pub struct Memory {
    pub arrays: Arrays,
    /// Whether a method uses the arrays. If not, they have no memory.
    pub has_arrays: bool,
    /// The packed data to send, for methods that send packed bytes; empty without such a method.
    pub outgoing: Wire,
    /// The packed data that was received, for methods that receive packed bytes; empty without such a method.
    pub incoming: Wire,
    /// For copies of packed data before sending and after receiving; empty without a method that copies.
    pub copies: [Wire; 2],
    /// The memory that MPI and kernels use in place of the arrays', if the data is not in usual memory.
    twin: Option<Buffer>,
}

impl Memory {
    /// Allocates these buffers for a message.
    pub fn new(arrays: Arrays, message_bytes: u64, buffers: Buffers, kind: MemoryKind) -> Self {
        let wire_bytes = buffers.wire_bytes(message_bytes).expect("checked against the machine's memory");
        Self::with_wires(arrays, buffers.arrays, wire_bytes.map(|bytes| bytes as usize), kind)
    }

    /// Allocates wire buffers of these sizes, and writes every byte: unwritten memory is one shared zero page, and would look faster.
    pub fn with_wires(arrays: Arrays, has_arrays: bool, bytes: [usize; 2], kind: MemoryKind) -> Self {
        let [outgoing, incoming] = bytes.map(|bytes| Wire::new(bytes).within(kind));
        let twin = (!kind.is_host()).then(|| Buffer::new(kind, arrays.memory().len()));
        let copies = [0; 2].map(Wire::new);
        let mut memory = Self { arrays, has_arrays, outgoing, incoming, copies, twin };
        if memory.has_arrays {
            memory.arrays.memory_mut().fill(POISON);
        }
        memory.poison_wire();
        memory.upload();
        memory
    }

    /// Address of byte `offset` of the arrays' memory for MPI; valid for all of that memory as long as it exists.
    #[inline]
    pub fn at(&mut self, offset: usize) -> *mut u8 {
        self.twin.as_ref().map_or_else(|| self.arrays.base(), Buffer::address).wrapping_add(offset)
    }

    /// Whether the data is in usual memory.
    #[inline]
    pub fn is_host(&self) -> bool {
        self.twin.is_none()
    }

    /// The arrays, the wire buffer to send, and the received one.
    pub fn regions(&mut self) -> [Region; 3] {
        let [outgoing, incoming] = self.wires();
        [Region::of_arrays(&mut self.arrays, self.twin.as_ref()), outgoing, incoming]
    }

    /// The first bytes of an array.
    pub fn array(&mut self, array: usize, bytes: usize) -> Region {
        let start = self.arrays.place(array).start;
        Region::of_arrays(&mut self.arrays, self.twin.as_ref()).within(start..start + bytes)
    }

    /// Both wire buffers.
    pub fn wires(&mut self) -> [Region; 2] {
        [&mut self.outgoing, &mut self.incoming].map(Wire::region)
    }

    /// Copies all memory to its twins.
    pub fn upload(&mut self) {
        self.regions().into_iter().for_each(|region| region.copy_all(Direction::ToTwin));
    }

    /// Exchanges the two arrays of an all-to-all, for its way back; and the wire buffers, if received data is sent back.
    #[inline]
    pub fn turn(&mut self, with_wire: bool) {
        self.arrays.swap(0, 1);
        if with_wire {
            std::mem::swap(&mut self.outgoing, &mut self.incoming);
        }
    }

    /// A changed byte of those that no method writes: next to these messages in each wire buffer, and next to
    /// copies. All are put back.
    pub fn stray_byte<M: IntoIterator<Item = Range<usize>>>(&mut self, messages: [M; 2]) -> Option<String> {
        let ([outgoing, incoming], [sent, received]) = (self.wires(), messages);
        let copies = self.copies.each_mut().map(Wire::region);
        // SAFETY: all are borrowed mutably, and MPI uses them only within the functions of a method.
        let [sent, received] = unsafe { [outgoing.stray_byte(sent), incoming.stray_byte(received)] };
        // SAFETY: as above.
        let [before, after] = copies.map(|copy| unsafe { copy.stray_byte(Some(0..copy.bytes)) });
        received.or(sent).or(after).or(before)
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
    twin: Option<Buffer>,
}

impl Wire {
    /// A buffer with a margin on both sides, whose bytes are all written.
    pub fn new(bytes: usize) -> Self {
        let memory = vec![POISON; MARGIN + PAGE_BYTES + bytes + MARGIN];
        let first = memory.as_ptr() as usize + MARGIN;
        let start = MARGIN + (PAGE_BYTES / 2).wrapping_sub(first) % PAGE_BYTES;
        Self { memory, start, bytes, twin: None }
    }

    /// The same with a twin in memory of this kind.
    pub fn within(mut self, kind: MemoryKind) -> Self {
        self.twin = (!kind.is_host()).then(|| Buffer::new(kind, MARGIN + self.bytes + MARGIN));
        self.region().with_margins().copy_all(Direction::ToTwin);
        self
    }

    /// All of it. Users of a region guarantee that it is not used otherwise.
    pub fn region(&mut self) -> Region {
        // SAFETY: the address and length of live memory.
        let region = unsafe { Region::new(self.base(), self.bytes) };
        Region { twin: self.twin_address().unwrap_or(region.twin), ..region }
    }

    /// The first changed byte next to it. All are put back.
    pub fn stray_byte(&mut self) -> Option<String> {
        // SAFETY: it is borrowed mutably, and MPI uses it only during a transfer.
        unsafe { self.region().stray_byte(Some(0..self.bytes)) }
    }

    fn twin_address(&self) -> Option<*mut u8> {
        self.twin.as_ref().map(|twin| twin.address().wrapping_add(MARGIN))
    }

    /// The same address, only to compare it.
    #[inline]
    pub fn place(&self) -> *const u8 {
        self.twin_address().map_or(self.as_ptr(), <*mut u8>::cast_const)
    }

    /// Its address for MPI and kernels.
    #[inline]
    pub fn address(&mut self) -> *mut u8 {
        self.twin_address().unwrap_or_else(|| self.base())
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
    /// The memory that MPI uses in place of this one; null if it uses this one.
    twin: *mut u8,
}

impl Region {
    /// `bytes` of memory starting at `start`.
    ///
    /// # Safety
    /// They may be read and written through `start` during the lifetime of everything that is created with the region.
    pub unsafe fn new(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes, twin: std::ptr::null_mut() }
    }

    /// The arrays' memory. Users of a region guarantee that it is not used otherwise.
    pub fn of_arrays(arrays: &mut Arrays, twin: Option<&Buffer>) -> Self {
        // SAFETY: the address and length of live memory.
        unsafe { Self::new(arrays.base(), arrays.memory().len()) }.with_twin(twin)
    }

    /// The same with a twin of as many bytes, which MPI uses in its place, and which is not used otherwise either.
    fn with_twin(self, twin: Option<&Buffer>) -> Self {
        Self { twin: twin.map_or(std::ptr::null_mut(), Buffer::address), ..self }
    }

    /// Some of its bytes.
    fn within(self, range: Range<usize>) -> Self {
        let twin = if self.has_twin() { self.twin.wrapping_add(range.start) } else { self.twin };
        Self { start: self.at(range.start), bytes: range.len(), twin }
    }

    /// The region of a [`Wire`] with its margins.
    fn with_margins(self) -> Self {
        let twin = if self.has_twin() { self.twin.wrapping_sub(MARGIN) } else { self.twin };
        Self { start: self.start.wrapping_sub(MARGIN), bytes: MARGIN + self.bytes + MARGIN, twin }
    }

    /// The first changed byte outside of the messages, which are in this order in a [`Wire`]. All are put
    /// back, so that the next method is not blamed for them.
    ///
    /// # Safety
    /// This is the region of a wire that exists, and nothing else uses it.
    pub unsafe fn stray_byte(self, messages: impl IntoIterator<Item = Range<usize>>) -> Option<String> {
        let (all, mut last, mut first) = (self.with_margins(), MARGIN..MARGIN, None);
        let end = |message: &Range<usize>| message.end.min(self.bytes);
        let messages = messages.into_iter().map(|message| MARGIN + message.start..MARGIN + end(&message));
        for (i, message) in messages.chain(Some(all.bytes..all.bytes)).enumerate() {
            let gap = if i == 0 { 0 } else { last.end }..message.start;
            let rows = Rows { at: gap.start, bytes: gap.len(), count: 1, step: gap.len() };
            all.copy(Direction::FromTwin, [rows]);
            // SAFETY: within the wire and its margins; guaranteed by the caller.
            let bytes = unsafe { all.part(gap.clone()) };
            let mut stray = |byte: &u8| *byte != POISON;
            // The nearest to a message.
            let stray =
                if i == 0 { bytes.iter().rposition(stray) } else { bytes.iter().position(&mut stray) };
            if let Some(stray) = stray {
                bytes.fill(POISON);
                all.copy(Direction::ToTwin, [rows]);
                let nearest = if i == 0 { &message } else { &last };
                first.get_or_insert(outside(gap.start + stray, nearest, "the message"));
            }
            last = message;
        }
        first.map(|place| format!("{place} (must not change)"))
    }

    /// The address for MPI and kernels.
    pub fn for_mpi(&self) -> *mut u8 {
        if self.has_twin() { self.twin } else { self.start }
    }

    pub fn has_twin(&self) -> bool {
        !self.twin.is_null()
    }

    /// Copies rows of bytes to or from the twin, if there is one.
    #[inline]
    pub fn copy(&self, direction: Direction, rows: impl IntoIterator<Item = Rows>) {
        if self.twin.is_null() {
            return;
        }
        // SAFETY: guaranteed by the caller of `new`; the rows are within the memory, as its users check.
        rows.into_iter().for_each(|rows| unsafe { rows.copy(direction, self.start, self.twin) });
        device::synchronize();
    }

    /// Copies all bytes to or from the twin, if there is one.
    pub fn copy_all(&self, direction: Direction) {
        self.copy(direction, [Rows { at: 0, bytes: self.bytes, count: 1, step: self.bytes }]);
    }

    /// The address of its first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn at(&self, byte: usize) -> *mut u8 {
        self.start.wrapping_add(byte)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

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

/// A byte before or behind the place of something.
pub fn outside(at: usize, place: &Range<usize>, name: &str) -> String {
    let (byte, bytes) = (at as i64 - place.start as i64, place.len());
    format!("byte {byte} of {name}, which has {bytes} bytes")
}

/// Refuses data of this size, in bytes for a rank, if it does not fit into one of the hosts or devices; with
/// data on a device, a rank needs the `staged` bytes on the host too.
///
/// # Errors
/// The memory needed and the memory available; the same on all ranks.
pub fn check_room(world: &Comm, of_rank: Option<u64>, staged: u64, kind: MemoryKind) -> anyhow::Result<()> {
    /// A prime number, so that addresses on a bus rarely share a number below it.
    const BUSES: usize = 65_521;
    let (host, available) = (world.split_shared()?, memory::available_bytes().unwrap_or(u64::MAX));
    let on_host = of_rank.and_then(|bytes| bytes.checked_add(if kind.is_host() { 0 } else { staged }));
    let mut checked = memory::check_bytes(on_host, host.size()?, memory::MACHINE, available);
    if let Some(facts) = device::facts().filter(|_| kind.is_on_device()) {
        // A number for each device of the host.
        let number = facts.bus.bytes().fold(0, |number, byte| (31 * number + usize::from(byte)) % BUSES);
        let (sharing, free) = (host.split(number, 0)?.size()?, device::available_bytes().unwrap_or(u64::MAX));
        checked = checked.and_then(|()| memory::check_bytes(of_rank, sharing, "the device", free));
    }
    let mismatch = checked.clone().err().unwrap_or_default();
    let mismatches = world.gather(mismatch.as_bytes())?;
    if world.everywhere(checked.is_ok())? {
        return Ok(());
    }
    let first = mismatches.iter().find(|mismatch| !mismatch.is_empty());
    Err(anyhow!(first.map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or(mismatch)))
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

    #[test]
    fn changed_bytes_next_to_messages_are_found_once() {
        let mut wire = Wire::new(100);
        wire[5] = 1;
        let region = wire.region();
        for (at, byte, bytes) in [(-1, -1, 10), (10, 10, 10), (19, 19, 10), (100, 80, 80)] {
            // SAFETY: within the wire and its margins.
            unsafe { [at, 101].into_iter().for_each(|at| region.start().offset(at).write(0)) };
            // SAFETY: nothing else uses the wire.
            let stray = || unsafe { region.stray_byte([0..10, 20..100]) };
            let place = format!("byte {byte} of the message, which has {bytes} bytes (must not change)");
            assert_eq!((stray(), stray()), (Some(place), None));
        }
    }
}
