//! The classes of operations for which a way is chosen.

use std::fmt;

use super::shipped::{self, Family};
use crate::block_copy::LONG;
use crate::way::Way;

/// Operations of one shape, with blocks of similar size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    pub(crate) shape: Shape,
    /// Index into the sizes of the shape.
    pub(crate) size: usize,
}

named! {
    /// Packing or unpacking.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Direction {
        /// From the array to the packed stream.
        Pack = "pack",
        /// From the packed stream to the array.
        Unpack = "unpack",
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) enum Shape {
        /// One run, or runs that are as long as whole messages, by their length.
        Run = "one run",
        /// Blocks at one distance.
        Strided = "blocks",
        /// Those of 6 to 64 KiB, in messages of at least 1 MiB.
        LongRows = "long blocks of large messages",
        /// Short ones on so many pages that the processor does not remember their addresses.
        ManyPages = "blocks on many pages",
        /// Blocks whose neighbours in memory are far apart in the stream, by the length of the message.
        Transposed = "transposed blocks, message",
        /// Blocks at listed places.
        Listed = "listed blocks",
        /// Records by index.
        IndexedRecords = "records by index",
        /// Runs of any lengths.
        Runs = "runs of any length",
    }
}

impl Shape {
    /// The largest size of each class, in bytes.
    pub fn sizes(self) -> &'static [usize] {
        const LARGEST: usize = usize::MAX;
        const BLOCKS: &[usize] = &[4, 8, 16, 32, 64, 128, 256, 1024, 2048, 4096, 16384, LARGEST];
        match self {
            Self::Run => &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 23, LARGEST],
            Self::Strided | Self::Listed => BLOCKS,
            Self::ManyPages => BLOCKS.split_at(7).0,
            Self::Transposed => &[1 << 21, LARGEST],
            Self::LongRows | Self::IndexedRecords | Self::Runs => &[LARGEST],
        }
    }

    pub fn class(self, bytes: usize) -> Class {
        let sizes = self.sizes();
        let size = sizes.iter().position(|&most| bytes <= most).unwrap_or(sizes.len() - 1);
        Class { shape: self, size }
    }
}

impl Class {
    pub fn all() -> impl Iterator<Item = Self> {
        Shape::ALL
            .into_iter()
            .flat_map(|shape| (0..shape.sizes().len()).map(move |size| Self { shape, size }))
    }

    /// The way that is shipped for this processor; without its instructions, the widest vectors.
    pub fn shipped(self, direction: Direction) -> Way {
        shipped::way(Family::this(), self.shape, self.size, direction).or_best()
    }

    /// The ways that this processor has to copy it.
    pub fn ways(self, direction: Direction) -> Vec<Way> {
        let Self { shape, size } = self;
        let largest = shape.sizes()[size];
        let has = |way: Way| match (way, shape) {
            (Way::Base | Way::Avx2 | Way::Avx512, _) => true,
            // Shorter ones take less time than the call.
            (Way::Library, Shape::Run | Shape::Strided | Shape::Listed) => largest > 128,
            (Way::Instruction, Shape::Run | Shape::Strided | Shape::Listed) => largest > LONG,
            (Way::Library | Way::Instruction, Shape::LongRows) => true,
            (Way::PastCaches, Shape::Run) => largest > LONG,
            (Way::PastCaches, Shape::Transposed) => direction == Direction::Unpack,
            (Way::Prefetch, Shape::Listed) => largest <= 64,
            (Way::Masked, Shape::Listed) => largest == 16 && direction == Direction::Unpack,
            (Way::Gather, Shape::Listed) => largest == 4 && direction == Direction::Pack,
            _ => false,
        };
        Way::ALL.into_iter().filter(|way| has(*way) && way.is_here()).collect()
    }
}

impl fmt::Display for Class {
    /// Shape and sizes, such as `listed blocks of 9 to 16 bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, sizes) = (self.shape.name(), self.shape.sizes());
        let least = match self.size {
            0 => 1,
            size => sizes[size - 1] + 1,
        };
        match sizes[self.size] {
            _ if sizes.len() == 1 => f.write_str(name),
            usize::MAX => write!(f, "{name} of {least} bytes and more"),
            most => write!(f, "{name} of {least} to {most} bytes"),
        }
    }
}
