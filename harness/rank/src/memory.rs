//! The memory of a case: the application's arrays and the two wire buffers, the same for every method.

use apps::Arrays;

/// Arrays and wire buffers. Sending and receiving use separate buffers in every method, as the arrays of most
/// applications do, so that cache lines change owners alike.
pub struct Memory {
    /// The application's arrays.
    pub arrays: Arrays,
    /// What is sent where a method sends packed bytes.
    pub outgoing: Vec<u8>,
    /// What is received where a method receives packed bytes.
    pub incoming: Vec<u8>,
}

impl Memory {
    /// Allocates all, and writes every byte: unwritten memory is one shared zero page, and looks faster.
    pub fn new(arrays: Arrays, message_bytes: usize) -> Self {
        let bytes =
            ddtbench::memory::wire_bytes(message_bytes as u64).expect("checked against the machine's memory");
        let bytes = bytes as usize;
        let mut memory = Self { arrays, outgoing: vec![0; bytes], incoming: vec![0; bytes] };
        memory.arrays.memory_mut().fill(POISON);
        memory.poison_wire();
        memory
    }

    /// Address of byte `offset` of the arrays' memory, to read from; valid over all of that memory.
    #[inline]
    pub fn read_from(&self, offset: usize) -> *const u8 {
        self.arrays.memory().as_ptr().wrapping_add(offset)
    }

    /// Address of byte `offset` of the arrays' memory, to write to; valid over all of that memory.
    #[inline]
    pub fn write_to(&mut self, offset: usize) -> *mut u8 {
        self.arrays.memory_mut().as_mut_ptr().wrapping_add(offset)
    }

    /// Overwrites both wire buffers, so that a transfer that did not happen leaves nothing that looks right.
    pub fn poison_wire(&mut self) {
        self.outgoing.fill(POISON);
        self.incoming.fill(POISON);
    }
}

/// A byte that is not zero, so that neither cleared nor untouched memory passes for data.
pub const POISON: u8 = 0xA5;
