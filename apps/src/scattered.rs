//! Plain reference: blocks of one length at random places.
//!
//! Source: none; it stands beside the applications.
//!
//! Arrays `send` and `received` of `places` blocks of `blocklength` elements. Sends the blocks at `count` random places,
//! in random order, and receives at the same ones: `MPI_Type_create_indexed_block`. Bytes:
//! count blocklength size(element).

use datatypes::{Element, Layout};

use crate::blocks::Blocks;
use crate::permutation::IndexList;
use crate::plain::{DOUBLE, FLOAT, array};
use crate::{ArraySpec, Arrays, Message, MicroApp, Parameter, ParameterSet, Preset, Side, Test, WireOrder};

/// A message of equal blocks at random places.
pub const SCATTERED: Test = Test {
    name: "scattered",
    original_name: None,
    source: "plain reference",
    about: "blocks of one length at random places",
    parameters: &[
        Parameter::integer("count", "blocks", "number of blocks"),
        Parameter::integer("blocklength", "elements", "elements of a block"),
        Parameter::integer("places", "blocks", "blocks of the array, among which those that are sent lie"),
        Parameter::element("element", "predefined type of an element"),
    ],
    sets: &[
        ParameterSet {
            name: "16384x1_32768_float",
            preset: Preset::Default,
            values: &[16_384, 1, 32_768, FLOAT],
        },
        ParameterSet {
            name: "16384x1_32768_double",
            preset: Preset::Quick,
            values: &[16_384, 1, 32_768, DOUBLE],
        },
        ParameterSet {
            name: "2048x8_4096_double",
            preset: Preset::Default,
            values: &[2048, 8, 4096, DOUBLE],
        },
        ParameterSet { name: "256x64_512_double", preset: Preset::Default, values: &[256, 64, 512, DOUBLE] },
        ParameterSet {
            name: "4194304x1_8388608_double",
            preset: Preset::Full,
            values: &[4_194_304, 1, 8_388_608, DOUBLE],
        },
    ],
    make: |values, context| {
        let (count, blocklength) = (values.positive("count")?, values.positive("blocklength")?);
        let places = values.within("places", count as i64..=i64::from(i32::MAX) / blocklength as i64)? as u32;
        let list = IndexList::new(context.seed, STREAM, places, count);
        Ok(Box::new(Scattered { blocklength, list, places, element: values.element("element") }))
    },
};

/// Stream of the index list.
const STREAM: u64 = 0;

struct Scattered {
    blocklength: usize,
    list: IndexList,
    places: u32,
    element: Element,
}

impl Scattered {
    fn blocks(&self) -> Blocks<'_> {
        let element_bytes = self.element.size() as usize;
        Blocks { list: self.list.get(), length: self.blocklength, element_bytes }
    }
}

impl MicroApp for Scattered {
    fn arrays(&self) -> Vec<ArraySpec> {
        let shape = [self.places as usize, self.blocklength];
        ["send", "received"].map(|name| ArraySpec::new(name, self.element, &shape)).into()
    }

    fn element(&self) -> Element {
        self.element
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let length = self.blocklength as i64;
        let displacements = self.list.displacements(length);
        let layout = Layout::indexed_block(length, &displacements, &Layout::named(self.element));
        Message::single(array(side), 0, layout.expect("the arrays fit in memory"))
    }

    fn listed_segments(&self) -> Option<u64> {
        Some(self.list.len() as u64)
    }

    fn message_bytes(&self) -> u64 {
        // As the default, without drawing the list.
        (self.list.len() * self.blocklength) as u64 * self.element.size()
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.blocks().pack(arrays.slice(0), packed);
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        self.blocks().unpack(packed, arrays.slice_mut(1));
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.blocks().gather(arrays.slice(0), packed);
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.blocks().scatter(packed, arrays.slice_mut(1));
    }
}
