//! The methods in use: a packer of a message, or a plain copy as a comparison.

use std::hint::black_box;

use apps::{ArraySpec, Arrays, Side};
use common::memory::Buffers;
use common::model::conditions::MemoryKind;
use datatypes::Element;

use crate::checked::CallError;
use crate::device;
use crate::measure::message_links::source_of_arrays;
use crate::memory::{Memory, POISON};
use crate::packing::MessagePacker;
use crate::payload::Version;

/// A method that was set up and is being measured.
pub enum PackingMethod<'a> {
    /// Packs and unpacks the message.
    Packs(Box<MessagePacker<'a>>),
    /// Copies contiguous bytes.
    Copies(PlainCopy),
}

/// A copy from one array to another, with a number of bytes for packing, and one for unpacking.
pub struct PlainCopy {
    pack_bytes: usize,
    unpack_bytes: usize,
    /// Source and target: arrays like the applications', which begin at different lines of a page. If both begin at the
    /// same line, the C library's copy takes another path, which is half as fast on cold memory.
    memory: Memory,
}

impl PlainCopy {
    /// Allocates both arrays, and writes them: unwritten memory is one shared zero page, and would look faster.
    pub fn new(pack_bytes: usize, unpack_bytes: usize, kind: MemoryKind) -> Self {
        let bytes = pack_bytes.max(unpack_bytes);
        let specs = ["from", "to"].map(|name| ArraySpec::new(name, Element::Byte, &[bytes]));
        let buffers = Buffers { arrays: true, ..Buffers::default() };
        Self { pack_bytes, unpack_bytes, memory: Memory::new(Arrays::new(specs.into()), 0, buffers, kind) }
    }

    /// Writes new data into the source, as if `rank` had made it, and overwrites the target.
    pub fn fill(&mut self, version: Version, rank: usize) {
        let [from, to] = self.memory.arrays.slices_mut([0, 1]);
        version.write(source_of_arrays(rank), from);
        to.fill(POISON);
        self.memory.upload();
    }

    /// Source and target of the copy in place of packing or unpacking, as they were when they were last downloaded.
    pub fn both(&self, side: Side) -> [&[u8]; 2] {
        let bytes = self.bytes(side);
        [0, 1].map(|i| &self.memory.arrays.slice(i)[..bytes])
    }

    /// The same as they are now.
    pub fn both_now(&mut self, side: Side) -> [&[u8]; 2] {
        self.memory.download();
        self.both(side)
    }

    #[inline]
    fn copy(&mut self, side: Side) {
        let bytes = self.bytes(side);
        if !self.memory.is_host() {
            let places = [0, 1].map(|i| self.memory.arrays.place(i).start);
            let [from, to] = places.map(|start| self.memory.at(start));
            // SAFETY: both arrays are at least as long, and nothing else uses them.
            return unsafe { device::copy(to, from, bytes) };
        }
        let [from, to] = self.memory.arrays.slices_mut::<u8, 2>([0, 1]);
        to[..bytes].copy_from_slice(&from[..bytes]);
        black_box(to);
    }

    fn bytes(&self, side: Side) -> usize {
        match side {
            Side::Send => self.pack_bytes,
            Side::Receive => self.unpack_bytes,
        }
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

    /// Whether there is anything to create.
    pub fn creates(&self) -> bool {
        matches!(self, Self::Packs(packer) if packer.send.how().creates())
    }
}
