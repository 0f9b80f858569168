//! The methods at work: a packer of a message, or a plain copy to compare it with.

use std::hint::black_box;

use apps::{ArraySpec, Arrays, Side};
use datatypes::Element;

use crate::checked::CallError;
use crate::memory::{Memory, POISON};
use crate::packing::MessagePacker;
use crate::pattern::Pattern;

/// A method that was made and is being measured.
pub enum ActiveMethod<'a> {
    /// Packs and unpacks the message.
    Packs(Box<MessagePacker<'a>>),
    /// Copies bytes in one piece.
    Copies(PlainCopy),
}

/// A copy from one array to another: so many bytes in place of packing, and so many in place of unpacking.
pub struct PlainCopy {
    pack_bytes: usize,
    unpack_bytes: usize,
    /// What is copied, and where it goes: arrays as the applications' are, begun at different lines of a page. The C
    /// library's copy takes another way, on cold memory half as fast, where both begin at the same.
    memory: Arrays,
}

impl PlainCopy {
    /// Allocates both arrays, and writes them: unwritten memory is one shared zero page, and looks faster.
    pub fn new(pack_bytes: usize, unpack_bytes: usize) -> Self {
        let bytes = pack_bytes.max(unpack_bytes);
        let specs = ["from", "to"].map(|name| ArraySpec::new(name, Element::Byte, &[bytes]));
        let mut memory = Arrays::new(specs.into());
        memory.memory_mut().fill(POISON);
        Self { pack_bytes, unpack_bytes, memory }
    }

    /// Writes new data into what is copied, and spoils the copy.
    pub fn fill(&mut self, data: Pattern) {
        let [from, to] = self.memory.slices_mut([0, 1]);
        data.write(0, from);
        to.fill(POISON);
    }

    /// What is copied in place of the work on one side, and the copy.
    pub fn both(&self, side: Side) -> [&[u8]; 2] {
        let bytes = self.bytes(side);
        [0, 1].map(|i| &self.memory.slice(i)[..bytes])
    }

    #[inline]
    fn copy(&mut self, side: Side) {
        let bytes = self.bytes(side);
        let [from, to] = self.memory.slices_mut::<u8, 2>([0, 1]);
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

impl ActiveMethod<'_> {
    /// Packs the send side, or unpacks to the receive side, once.
    #[inline]
    pub fn work(&mut self, side: Side, memory: &mut Memory) -> Result<(), CallError> {
        match (self, side) {
            (Self::Packs(packer), Side::Send) => packer.pack(memory)?,
            (Self::Packs(packer), Side::Receive) => packer.unpack(memory)?,
            (Self::Copies(copy), side) => copy.copy(side),
        }
        // Nobody looks at most repetitions' bytes, but each must be made.
        black_box(memory);
        Ok(())
    }

    /// Makes datatypes or programs.
    pub fn create(&mut self) -> Result<(), CallError> {
        match self {
            Self::Packs(packer) => packer.create(),
            Self::Copies(_) => Ok(()),
        }
    }

    /// Frees what [`ActiveMethod::create`] made.
    pub fn free(&mut self) -> Result<(), CallError> {
        match self {
            Self::Packs(packer) => packer.free(),
            Self::Copies(_) => Ok(()),
        }
    }

    /// Whether there is something to create.
    pub fn creates(&self) -> bool {
        matches!(self, Self::Packs(packer) if packer.send.how().creates())
    }
}
