//! A layout compiled for kernels on a device: where each word of the packed stream is. The kernels are in `device/pack.cu`.
//!
//! A message has few parts, each with one kernel: equal blocks in up to three loops, of which the outermost may be a list; records
//! at listed places; or, for everything else, a list of blocks of any length. Loops are not exchanged, so the packed stream is that
//! of the type map. This crate neither allocates on a device nor starts anything there.

use bytemuck::{Pod, Zeroable};
use datatypes::{Layout, Segment};

use crate::CompileError;
use crate::bounds::Reach;
use crate::indexed_records::IndexedRecords;
use crate::normal_form::NormalForm;

/// The kernels for the devices of NVIDIA, as text for the driver, which compiles it.
pub const PTX: &str = include_str!("../device/pack.ptx");

/// The kernels' names end with one of these numbers of bytes.
pub const WORD_BYTES: [u32; 5] = [1, 2, 4, 8, 16];

/// Words that a thread of `places` and `records` copies.
pub const WORDS_OF_A_THREAD: u32 = 4;

/// Numbers of words are below this, so that a division is a product.
const MOST_WORDS: u64 = 1 << 31;

/// More parts than this are one list of blocks: starting a kernel takes as long as copying some 10 KiB.
const MOST_PARTS: usize = 8;

/// Copies of a layout in device memory.
#[derive(Clone, Debug)]
pub struct DeviceProgram {
    /// The parts of the packed stream, in order.
    pub parts: Vec<DevicePart>,
    size: usize,
}

/// A part of the packed stream.
#[derive(Clone, Debug)]
pub struct DevicePart {
    /// Its first byte in the packed stream.
    pub packed: usize,
    pub bytes: usize,
    /// The greatest number of bytes that divides all places and lengths.
    pub alignment: u64,
    pub shape: Shape,
}

/// The places of a part in the arrays, in bytes.
#[derive(Clone, Debug)]
pub enum Shape {
    Places(DevicePlaces),
    Records(DeviceRecords),
    Blocks(Vec<Segment>),
}

/// Equal blocks in loops.
#[derive(Clone, Debug)]
pub struct DevicePlaces {
    /// Place of the first block, or what listed places are relative to.
    pub first: i64,
    /// Bytes of a block.
    pub block: u64,
    /// Blocks of each loop, and bytes from one to the next; innermost loop first.
    pub loops: Vec<(u64, i64)>,
    /// The places of a loop around these.
    pub listed: Option<Vec<i64>>,
}

/// Records: word `w` of record `r` is at `offsets[w] + scales[w] * indices[r]`.
#[derive(Clone, Debug)]
pub struct DeviceRecords {
    /// Bytes of the words that follow; a kernel for shorter words needs [`DeviceRecords::in_words_of`].
    pub word_bytes: u32,
    pub offsets: Vec<i64>,
    pub scales: Vec<i64>,
    pub indices: Vec<u32>,
}

/// A divisor of numbers below 2^31, as the kernels take it: the upper half of the product with `factor`,
/// shifted. A factor of 0 means division by 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Divisor {
    pub value: u32,
    pub factor: u32,
    pub shift: u32,
}

impl Divisor {
    /// # Panics
    /// If it is 0, or not below 2^31.
    pub fn new(value: u32) -> Self {
        assert!(value > 0 && u64::from(value) < MOST_WORDS);
        if value == 1 {
            return Self { value, factor: 0, shift: 0 };
        }
        let bits = u32::BITS - (value - 1).leading_zeros();
        let factor = (1_u64 << (31 + bits)).div_ceil(u64::from(value));
        Self { value, factor: u32::try_from(factor).expect("at most 2^32 - 1"), shift: bits - 1 }
    }
}

impl DeviceProgram {
    /// Compiles `count` copies of `layout`, one extent apart, whose displacement 0 is byte `origin` of the arrays.
    ///
    /// # Errors
    /// If they reach beyond the address space.
    pub fn from_layout(layout: &Layout, count: u64, origin: i64) -> Result<Self, CompileError> {
        let size = Reach::from_layout(layout, count)?.size;
        let form = NormalForm::from_layout(layout, count).moved(origin);
        let with_bytes = |form: &NormalForm| Some((form.bytes(), shape(form)?));
        let shapes = match &form {
            NormalForm::Sequence(forms) if forms.len() <= MOST_PARTS => {
                forms.iter().map(with_bytes).collect()
            }
            NormalForm::Sequence(_) => None,
            form => with_bytes(form).map(|shape| vec![shape]),
        };
        let shapes = shapes.unwrap_or_else(|| vec![(size, Shape::Blocks(all_blocks(layout, count, origin)))]);
        let mut packed = 0;
        let part = |(bytes, shape): (usize, Shape)| {
            let part = DevicePart { packed, bytes, alignment: shape.alignment(), shape };
            packed += bytes;
            part
        };
        let parts = shapes.into_iter().map(part).collect();
        assert_eq!(packed, size, "a program packs what its layout holds");
        Ok(Self { parts, size })
    }

    /// Bytes of the packed stream.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl DevicePart {
    /// The size of the kernel's words in bytes, for arrays that begin at a multiple of the largest size, and
    /// a packed stream `begin` bytes after one. `None` if there are too many words for the kernels.
    pub fn word_bytes(&self, begin: usize) -> Option<u32> {
        let common = self.alignment | (begin + self.packed) as u64;
        let bytes = 1 << common.trailing_zeros().min(WORD_BYTES[4].trailing_zeros());
        (self.bytes as u64 / u64::from(bytes) < MOST_WORDS).then_some(bytes)
    }
}

impl Shape {
    /// All of these numbers or'ed: the lowest bit is the alignment.
    fn alignment(&self) -> u64 {
        match self {
            Self::Places(DevicePlaces { first, block, loops, listed }) => {
                let strides =
                    loops.iter().fold(*first as u64 | block, |all, (_, stride)| all | *stride as u64);
                listed.iter().flatten().fold(strides, |all, place| all | *place as u64)
            }
            Self::Records(DeviceRecords { word_bytes, offsets, scales, .. }) => {
                offsets.iter().chain(scales).fold(u64::from(*word_bytes), |all, place| all | *place as u64)
            }
            Self::Blocks(blocks) => {
                blocks.iter().fold(0, |all, block| all | block.offset as u64 | block.bytes)
            }
        }
    }
}

/// The merged blocks of all copies.
fn all_blocks(layout: &Layout, count: u64, origin: i64) -> Vec<Segment> {
    let copies = (0..count as i64).map(|copy| origin.wrapping_add(copy.wrapping_mul(layout.extent())));
    let of_copy = |by: i64| {
        layout
            .segments()
            .map(move |Segment { offset, bytes }| Segment { offset: offset.wrapping_add(by), bytes })
    };
    copies.flat_map(of_copy).collect()
}

/// The shape of a form; `None` if it needs a list of blocks.
fn shape(form: &NormalForm) -> Option<Shape> {
    match form {
        NormalForm::IndexedRecords(records) => Some(Shape::Records(of_records(records))),
        NormalForm::Runs(runs) => {
            let block =
                |run: &crate::survey::ByteRun| Segment { offset: run.offset, bytes: run.bytes as u64 };
            Some(Shape::Blocks(runs.iter().map(block).collect()))
        }
        form => places(form).map(Shape::Places),
    }
}

fn of_records(records: &IndexedRecords) -> DeviceRecords {
    let words =
        || records.groups.iter().flat_map(|group| group.offsets.iter().map(move |at| (*at, group.scale)));
    DeviceRecords {
        word_bytes: records.word_bytes as u32,
        offsets: words().map(|(offset, _)| offset).collect(),
        scales: words().map(|(_, scale)| scale as i64).collect(),
        indices: records.indices.to_vec(),
    }
}

fn places(form: &NormalForm) -> Option<DevicePlaces> {
    match form {
        NormalForm::Run(run) => {
            Some(DevicePlaces { first: run.offset, block: run.bytes as u64, loops: Vec::new(), listed: None })
        }
        NormalForm::Loop { count, stride, body } => {
            let steps = (0..*count as i64).map(|i| i.wrapping_mul(*stride));
            places(body).map(|body| match body.listed.is_none() && body.loops.len() < 3 {
                true => {
                    let loops = [body.loops, vec![(*count as u64, *stride)]].concat();
                    DevicePlaces { loops, ..body }
                }
                false => body.at_each(steps),
            })
        }
        NormalForm::Places { lowest, block, offsets } => {
            let one = DevicePlaces { first: *lowest, block: *block as u64, loops: Vec::new(), listed: None };
            Some(one.at_each(offsets.iter().map(|offset| i64::from(*offset))))
        }
        NormalForm::Index { offsets, body } => Some(places(body)?.at_each(offsets.iter().copied())),
        NormalForm::Records(_)
        | NormalForm::IndexedRecords(_)
        | NormalForm::Runs(_)
        | NormalForm::Sequence(_) => None,
    }
}

impl DeviceRecords {
    /// The same in words of this number of bytes, which divides the present one.
    #[must_use]
    pub fn in_words_of(&self, bytes: u32) -> Self {
        let parts = || (0..self.word_bytes / bytes).map(|part| i64::from(part * bytes));
        let offsets = self.offsets.iter().flat_map(|offset| parts().map(move |part| offset + part)).collect();
        let scales = self.scales.iter().flat_map(|scale| parts().map(move |_| *scale)).collect();
        Self { word_bytes: bytes, offsets, scales, indices: self.indices.clone() }
    }
}

impl DevicePlaces {
    /// All of them at each of these places.
    fn at_each(mut self, offsets: impl Iterator<Item = i64>) -> Self {
        let mut inner = self.listed.take();
        if inner.is_none() && self.loops.len() == 3 {
            let (count, stride) = self.loops.pop().expect("three loops");
            inner = Some((0..count as i64).map(|i| i.wrapping_mul(stride)).collect());
        }
        let inner = inner.unwrap_or_else(|| vec![0]);
        let place = |outer: i64| inner.iter().map(move |inner| outer.wrapping_add(*inner));
        self.listed = Some(offsets.flat_map(place).collect());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of every byte of the packed stream, computed as the kernels do.
    fn places_of(part: &DevicePart, word: u32) -> Vec<i64> {
        let words = (part.bytes / word as usize) as u32;
        let quotient = |number: u32, by: Divisor| match by.factor {
            0 => number,
            factor => ((u64::from(number) * u64::from(factor)) >> 32) as u32 >> by.shift,
        };
        let place = |number: u32| match &part.shape {
            Shape::Places(places) => {
                let count =
                    |i: usize| places.loops.get(i).map_or((1, 0), |&(count, stride)| (count as u32, stride));
                let block = places.block as u32 / word;
                let (within, number) = (number % block, quotient(number, Divisor::new(block)));
                let row = quotient(number, Divisor::new(count(0).0));
                let plane = quotient(row, Divisor::new(count(1).0));
                let outer = match &places.listed {
                    Some(listed) => listed[plane as usize],
                    None => i64::from(plane) * count(2).1,
                };
                places.first
                    + outer
                    + i64::from(row % count(1).0) * count(1).1
                    + i64::from(number % count(0).0) * count(0).1
                    + i64::from(within * word)
            }
            Shape::Records(records) => {
                let records = records.in_words_of(word);
                let (w, r) =
                    (number as usize % records.offsets.len(), number as usize / records.offsets.len());
                records.offsets[w] + records.scales[w] * i64::from(records.indices[r])
            }
            Shape::Blocks(_) => unreachable!("listed"),
        };
        if let Shape::Blocks(blocks) = &part.shape {
            return blocks.iter().flat_map(|block| block.offset..block.offset + block.bytes as i64).collect();
        }
        (0..words).flat_map(|number| place(number)..place(number) + i64::from(word)).collect()
    }

    #[test]
    fn a_divisor_divides() {
        for value in (1..2000).chain([4095, 4097, 65_537, (1 << 30) - 1, 1 << 30, (1 << 31) - 1]) {
            let by = Divisor::new(value);
            let near = |n: u64| [n.saturating_sub(1), n, n + 1];
            for number in [0, 1, 1000, 123_456_789, (1 << 31) - 2].into_iter().flat_map(near) {
                for number in near(number / u64::from(value) * u64::from(value)).into_iter().chain([number]) {
                    let number = number.min((1 << 31) - 1) as u32;
                    let found = match by.factor {
                        0 => number,
                        factor => ((u64::from(number) * u64::from(factor)) >> 32) as u32 >> by.shift,
                    };
                    assert_eq!(found, number / value, "{number} / {value}");
                }
            }
        }
    }

    #[test]
    fn layouts_of_all_shapes_have_the_bytes_of_the_type_map_in_its_order() {
        let mut shapes = [0; 3];
        for text in include_str!("device.txt").lines() {
            let (count, layout) = text.split_once(" * ").unwrap();
            let count = count.parse().unwrap();
            let layout: Layout = layout.parse().unwrap();
            let program = DeviceProgram::from_layout(&layout, count, 100).unwrap();
            let expected: Vec<i64> = all_blocks(&layout, count, 100)
                .iter()
                .flat_map(|block| block.offset..block.offset + block.bytes as i64)
                .collect();
            let mut found = Vec::new();
            for part in &program.parts {
                shapes[match part.shape {
                    Shape::Places(_) => 0,
                    Shape::Records(_) => 1,
                    Shape::Blocks(_) => 2,
                }] += 1;
                found.extend(places_of(part, part.word_bytes(0).unwrap()));
            }
            assert_eq!(found, expected, "{text}");
        }
        assert!(shapes[0] > 3 && shapes[1] > 0 && shapes[2] > 0, "{shapes:?}");
    }
}
