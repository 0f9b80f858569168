//! The methods in use: a packer of a message, or a plain copy as a comparison.

use std::hint::black_box;

use apps::{ArraySpec, Arrays, Side};
use common::memory::Buffers;
use common::model::conditions::MemoryKind;
use datatypes::Element;

use super::verify::{EnginePayload, ME, moved};
use crate::checked::CallError;
use crate::device;
use crate::memory::Memory;
use crate::method::message_packer::MessagePacker;
use crate::payload::{Moved, Places, Run, Runs, source_of_arrays};

/// A method that was set up and is being measured.
pub enum PackingMethod<'a> {
    /// Packs and unpacks the message.
    Packs(Box<MessagePacker<'a>>),
    /// Copies contiguous bytes.
    Copies(Box<PlainCopy>),
}

/// A copy from one array to another, with a number of bytes for packing, and one for unpacking.
pub struct PlainCopy {
    /// Source and target: arrays like the applications', which begin at different lines of a page. If both
    /// begin at the same line, the C library's copy takes another path, which is half as fast on cold memory.
    memory: Memory,
    /// The same for each side.
    moved: [Moved; 2],
}

impl PlainCopy {
    /// Allocates both arrays, and writes them: unwritten memory is one shared zero page, and would look faster.
    pub fn new(pack_bytes: usize, unpack_bytes: usize, kind: MemoryKind) -> Box<Self> {
        let bytes = pack_bytes.max(unpack_bytes);
        let specs = ["from", "to"].map(|name| ArraySpec::new(name, Element::Byte, &[bytes]));
        let buffers = Buffers { arrays: true, ..Buffers::default() };
        let mut memory = Memory::new(Arrays::new(specs.into()), 0, buffers, kind);
        let mut places = |array, bytes| {
            let run = Run { at: 0, bytes, source: source_of_arrays(ME) };
            // SAFETY: memory is never moved with its owner, and is only written and compared while nothing is copied.
            unsafe { Places::new(memory.array(array, bytes), Runs::from_runs([run])) }
        };
        let moved = [pack_bytes, unpack_bytes].map(|bytes| moved(places(0, bytes), places(1, bytes), None));
        Box::new(Self { memory, moved })
    }

    /// Source and target of the copy in place of packing or unpacking.
    pub fn both(&self, side: Side) -> [&[u8]; 2] {
        let bytes = self.bytes(side);
        [0, 1].map(|i| &self.memory.arrays.slice(i)[..bytes])
    }

    #[inline]
    fn copy(&mut self, side: Side) {
        let bytes = self.bytes(side);
        if !self.memory.is_host() {
            let [from, to] = [0, 1].map(|i| self.memory.at(self.memory.arrays.place(i).start));
            // SAFETY: both arrays are at least as long, and nothing else uses them.
            return unsafe { device::copy(to, from, bytes) };
        }
        let [from, to] = self.memory.arrays.slices_mut::<u8, 2>([0, 1]);
        to[..bytes].copy_from_slice(&from[..bytes]);
        black_box(to);
    }

    fn bytes(&self, side: Side) -> usize {
        self.moved[usize::from(side == Side::Receive)].sends[0].memory.bytes()
    }
}

impl PackingMethod<'_> {
    /// Packs the send side, or unpacks to the receive side, once.
    #[inline]
    pub fn work(&mut self, side: Side, memory: &mut Memory) -> Result<(), CallError> {
        match (self, side) {
            (Self::Packs(packer), Side::Send) => packer.pack(memory)?,
            (Self::Packs(packer), Side::Receive) => packer.unpack(memory)?,
            (Self::Copies(copy), side) => copy.copy(side),
        }
        // Most results are not read, but each must be computed.
        black_box(memory);
        Ok(())
    }

    pub fn create(&mut self) -> Result<(), CallError> {
        match self {
            Self::Packs(packer) => packer.create(),
            Self::Copies(_) => Ok(()),
        }
    }

    /// Frees what [`PackingMethod::create`] created.
    pub fn free(&mut self) -> Result<(), CallError> {
        match self {
            Self::Packs(packer) => packer.free(),
            Self::Copies(_) => Ok(()),
        }
    }

    /// The places of the data of both sides; a packer's are those of the payload.
    pub fn moved<'m>(&'m self, payload: &'m EnginePayload) -> &'m [Moved; 2] {
        match self {
            Self::Packs(_) => &payload.sides,
            Self::Copies(copy) => &copy.moved,
        }
    }

    /// Whether there is anything to create.
    pub fn creates(&self) -> bool {
        matches!(self, Self::Packs(packer) if packer.send.how().creates())
    }
}
