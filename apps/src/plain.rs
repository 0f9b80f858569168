//! Plain references: a contiguous message, and the strided one that every benchmark of datatypes begins with.
//!
//! Source: none; they stand beside the applications.
//!
//! Arrays `send` and `received`, two of them because applications seldom send back what they have just received.
//! - `contiguous`: `bytes` bytes.
//! - `strided`: `count` blocks of `blocklength` elements, starts `stride` elements apart: `MPI_Type_vector`. Bytes:
//!   count blocklength size(element).

use datatypes::{Element, Layout};

use crate::nest::Nest;
use crate::{ArraySpec, Arrays, Message, MicroApp, Parameter, ParameterSet, Preset, Side, Test, WireOrder};

/// A message without gaps.
pub const CONTIGUOUS: Test = Test {
    name: "contiguous",
    original_name: None,
    source: "plain reference",
    about: "any number of bytes in one run",
    parameters: &[Parameter::integer("bytes", "bytes", "bytes of the message")],
    sets: &[
        ParameterSet { name: "8", preset: Preset::Default, values: &[8] },
        ParameterSet { name: "1024", preset: Preset::Default, values: &[1 << 10] },
        ParameterSet { name: "16384", preset: Preset::Default, values: &[1 << 14] },
        ParameterSet { name: "131072", preset: Preset::Quick, values: &[1 << 17] },
        ParameterSet { name: "1048576", preset: Preset::Default, values: &[1 << 20] },
        ParameterSet { name: "16777216", preset: Preset::Default, values: &[1 << 24] },
        ParameterSet { name: "268435456", preset: Preset::Full, values: &[1 << 28] },
    ],
    make: |values, _| {
        let bytes = values.within("bytes", 0..=i64::MAX)? as usize;
        Ok(Box::new(Contiguous { bytes }))
    },
};

/// As a parameter: the index in [`Element::ALL`].
pub(crate) const FLOAT: i64 = 10;

/// As a parameter: the index in [`Element::ALL`].
pub(crate) const DOUBLE: i64 = 11;

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
        ParameterSet { name: "16384x1x2_float", preset: Preset::Default, values: &[16_384, 1, 2, FLOAT] },
        ParameterSet { name: "16384x1x2_double", preset: Preset::Quick, values: &[16_384, 1, 2, DOUBLE] },
        ParameterSet { name: "2048x8x16_double", preset: Preset::Default, values: &[2048, 8, 16, DOUBLE] },
        ParameterSet { name: "256x64x128_double", preset: Preset::Default, values: &[256, 64, 128, DOUBLE] },
        ParameterSet {
            name: "32x512x1024_double",
            preset: Preset::Default,
            values: &[32, 512, 1024, DOUBLE],
        },
        ParameterSet { name: "4194304x1x2_double", preset: Preset::Full, values: &[4_194_304, 1, 2, DOUBLE] },
    ],
    make: |values, _| {
        let (count, blocklength) = (values.positive("count")?, values.positive("blocklength")?);
        // Overlapping blocks could be sent, but not received.
        let stride = values.within("stride", blocklength as i64..=i32::MAX.into())? as usize;
        Ok(Box::new(Strided { count, blocklength, stride, element: values.element("element") }))
    },
    ..CONTIGUOUS
};

/// Array of a side.
pub(crate) fn array(side: Side) -> usize {
    match side {
        Side::Send => 0,
        Side::Receive => 1,
    }
}

struct Contiguous {
    bytes: usize,
}

impl MicroApp for Contiguous {
    fn arrays(&self) -> Vec<ArraySpec> {
        ["send", "received"].map(|name| ArraySpec::new(name, Element::Byte, &[self.bytes])).into()
    }

    fn element(&self) -> Element {
        Element::Byte
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let layout = Layout::contiguous(self.bytes as i64, &Layout::named(Element::Byte));
        Message::single(array(side), 0, layout.expect("the arrays fit in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        packed.copy_from_slice(arrays.slice(0));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        arrays.slice_mut(1).copy_from_slice(packed);
    }
}

struct Strided {
    count: usize,
    blocklength: usize,
    stride: usize,
    element: Element,
}

impl Strided {
    fn nest(&self) -> Nest {
        Nest::plane(0, self.blocklength, self.count, self.stride)
    }
}

impl MicroApp for Strided {
    fn arrays(&self) -> Vec<ArraySpec> {
        let elements = (self.count - 1) * self.stride + self.blocklength;
        ["send", "received"].map(|name| ArraySpec::new(name, self.element, &[elements])).into()
    }

    fn element(&self) -> Element {
        self.element
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (count, blocklength, stride) = (self.count as i64, self.blocklength as i64, self.stride as i64);
        let layout = Layout::vector(count, blocklength, stride, &Layout::named(self.element));
        Message::single(array(side), 0, layout.expect("the arrays fit in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.nest().pack_bytes(self.element.size() as usize, arrays.slice(0), packed);
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        self.nest().unpack_bytes(self.element.size() as usize, packed, arrays.slice_mut(1));
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.nest().gather_bytes(self.element.size() as usize, arrays.slice(0), packed);
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.nest().scatter_bytes(self.element.size() as usize, packed, arrays.slice_mut(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_the_elements_of_their_names() {
        assert_eq!(Element::ALL[FLOAT as usize], Element::Float);
        assert_eq!(Element::ALL[DOUBLE as usize], Element::Double);
    }
}
