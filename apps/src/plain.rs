//! Plain references: a contiguous message, and the strided one with which every benchmark of datatypes begins.
//!
//! Source: none; they are not taken from an application.
//!
//! Arrays `send` and `received`: two, because applications seldom send back the data that they have just received.
//! - `contiguous`: `bytes` bytes.
//! - `strided`: `count` blocks of `blocklength` elements, starts `stride` elements apart: `MPI_Type_vector`. Bytes:
//!   count blocklength size(element).

use std::ops::Range;
use std::sync::Arc;

use datatypes::{Element, Layout};

use crate::face::{Face, FaceBlock};
use crate::region::{Description, Region, Whole};
use crate::{ArraySpec, Arrays, Loops, MicroApp, Parameter, Piece, Preset, Test, WireOrder};

/// A message without gaps.
pub const CONTIGUOUS: Test = Test {
    name: "contiguous",
    original_name: None,
    source: "plain reference",
    about: "any number of bytes in one run",
    parameters: &[Parameter::integer("bytes", "bytes", "bytes of the message")],
    sets: &[
        Preset::Default.set("8", "8"),
        Preset::Default.set("1024", "1024"),
        Preset::Default.set("16384", "16384"),
        Preset::Quick.set("131072", "131072"),
        Preset::Default.set("1048576", "1048576"),
        Preset::Default.set("16777216", "16777216"),
        Preset::Full.set("268435456", "268435456"),
    ],
    make: |values, _| {
        let bytes = values.within("bytes", 0..=i64::MAX)? as usize;
        let arrays = values.addressable(arrays(Element::Byte, &[bytes]))?;
        let [send, receive] =
            [0, 1].map(|array| Face::from_block(Run { array, element: Element::Byte, range: 0..bytes }));
        Ok(MicroApp::new(Element::Byte, arrays, send, receive))
    },
};

/// A message of equal blocks at equal distances.
pub const STRIDED: Test = Test {
    name: "strided",
    about: "blocks of one length at one distance",
    parameters: &[
        Parameter::integer("count", "blocks", "number of blocks"),
        Parameter::integer("blocklength", "elements", "elements of a block"),
        Parameter::integer("stride", "elements", "elements from the start of a block to that of the next"),
        Parameter::element("element", "predefined type of an element"),
    ],
    sets: &[
        Preset::Default.set("16384x1x2_float", "16384 1 2 float"),
        Preset::Quick.set("16384x1x2_double", "16384 1 2 double"),
        Preset::Default.set("2048x8x16_double", "2048 8 16 double"),
        Preset::Default.set("256x64x128_double", "256 64 128 double"),
        Preset::Default.set("32x512x1024_double", "32 512 1024 double"),
        Preset::Full.set("4194304x1x2_double", "4194304 1 2 double"),
    ],
    make: |values, _| {
        let (count, blocklength) = (values.positive("count")?, values.positive("blocklength")?);
        // Overlapping blocks could be sent, but not received.
        let stride = values.within("stride", blocklength as i64..=i32::MAX.into())? as usize;
        let element = values.element("element");
        let elements = (count - 1) * stride + blocklength;
        let arrays = values.addressable(arrays(element, &[elements]))?;
        let layout = Layout::vector(count as i64, blocklength as i64, stride as i64, &Layout::named(element));
        let description = Description::Own(layout.expect("the arrays fit in memory"));
        let [send, receive] = [0, 1].map(|array| {
            // Only the end of the last row is missing.
            let rows = Whole::new(array, element, &[count, stride], 0, None, description.clone());
            Face::from_block(Region::new(&rows, [0..count, 0..blocklength]))
        });
        Ok(MicroApp::new(element, arrays, send, receive))
    },
    ..CONTIGUOUS
};

/// The source and the destination.
pub(crate) fn arrays(element: Element, shape: &[usize]) -> Vec<ArraySpec> {
    ["send", "received"].map(|name| ArraySpec::new(name, element, shape)).into()
}

/// Consecutive elements of an array, copied as they are.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub array: usize,
    pub element: Element,
    pub range: Range<usize>,
}

impl Run {
    fn place(&self) -> Range<usize> {
        let bytes = self.element.size() as usize;
        self.range.start * bytes..self.range.end * bytes
    }
}

impl FaceBlock for Run {
    fn planes(&self) -> usize {
        self.range.len()
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let first = self.range.start;
        Arc::new(Self { range: first + range.start..first + range.end, ..*self })
    }

    fn bytes(&self) -> usize {
        self.place().len()
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let layout = Layout::contiguous(self.range.len() as i64, &Layout::named(self.element));
        let (origin_bytes, layout) = (self.place().start as i64, layout.expect("the arrays fit in memory"));
        vec![Piece { array: self.array, origin_bytes, layout }]
    }

    fn pack(&self, _: Loops, arrays: &Arrays, packed: &mut [u8]) {
        packed.copy_from_slice(&arrays.slice(self.array)[self.place()]);
    }

    fn unpack(&self, _: Loops, packed: &[u8], arrays: &mut Arrays) {
        arrays.slice_mut(self.array)[self.place()].copy_from_slice(packed);
    }
}
