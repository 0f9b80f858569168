//! Plain reference: blocks of one length at random places.
//!
//! Source: none; it stands beside the applications.
//!
//! Arrays `send` and `received` of `places` blocks of `blocklength` elements. Sends the blocks at `count` random places,
//! in random order, and receives at the same ones: `MPI_Type_create_indexed_block`. Bytes:
//! count blocklength size(element).

use bytemuck::Pod;
use datatypes::{Element, Layout};

use crate::permutation::IndexList;
use crate::plain::{DOUBLE, FLOAT, array};
use crate::{
    ArraySpec, Arrays, Kind, Message, MicroApp, Parameter, ParameterSet, Place, Preset, Side, Test, WireOrder,
};

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
        Parameter {
            name: "element",
            unit: "type",
            about: "predefined type of an element",
            kind: Kind::Element,
        },
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

/// Which way blocks are copied.
enum Way<'a> {
    Gather { arrays: &'a Arrays, packed: &'a mut [u8] },
    Scatter { packed: &'a [u8], arrays: &'a mut Arrays },
}

impl Scattered {
    fn copy(&self, way: Way<'_>) {
        match self.element.size() {
            1 => self.copy_of::<u8>(way),
            2 => self.copy_of::<u16>(way),
            4 => self.copy_of::<u32>(way),
            8 => self.copy_of::<u64>(way),
            _ => self.copy_of::<[u64; 2]>(way),
        }
    }

    /// Short blocks have a loop of their own, whose copies the compiler knows the size of.
    fn copy_of<T: Pod>(&self, way: Way<'_>) {
        match self.blocklength {
            1 => self.copy_short::<1, T>(way),
            2 => self.copy_short::<2, T>(way),
            3 => self.copy_short::<3, T>(way),
            4 => self.copy_short::<4, T>(way),
            5 => self.copy_short::<5, T>(way),
            6 => self.copy_short::<6, T>(way),
            7 => self.copy_short::<7, T>(way),
            8 => self.copy_short::<8, T>(way),
            16 => self.copy_short::<16, T>(way),
            _ => self.copy_long::<T>(way),
        }
    }

    fn copy_short<const N: usize, T: Pod>(&self, way: Way<'_>) {
        let list = self.list.get();
        match way {
            Way::Gather { arrays, packed } => {
                let (blocks, _) = arrays.slice::<T>(0).as_chunks::<N>();
                let (packed, _) = bytemuck::cast_slice_mut::<u8, T>(packed).as_chunks_mut::<N>();
                packed.iter_mut().zip(list).for_each(|(to, &place)| *to = blocks[place as usize]);
            }
            Way::Scatter { packed, arrays } => {
                let (blocks, _) = arrays.slice_mut::<T>(1).as_chunks_mut::<N>();
                let (packed, _) = bytemuck::cast_slice::<u8, T>(packed).as_chunks::<N>();
                packed.iter().zip(list).for_each(|(from, &place)| blocks[place as usize] = *from);
            }
        }
    }

    fn copy_long<T: Pod>(&self, way: Way<'_>) {
        let length = self.blocklength;
        let starts = self.list.get().iter().map(|&place| place as usize * length);
        match way {
            Way::Gather { arrays, packed } => {
                let array = arrays.slice::<T>(0);
                let packed = bytemuck::cast_slice_mut::<u8, T>(packed).chunks_exact_mut(length);
                packed.zip(starts).for_each(|(to, start)| to.copy_from_slice(&array[start..][..length]));
            }
            Way::Scatter { packed, arrays } => {
                let array = arrays.slice_mut::<T>(1);
                let packed = bytemuck::cast_slice::<u8, T>(packed).chunks_exact(length);
                packed.zip(starts).for_each(|(from, start)| array[start..][..length].copy_from_slice(from));
            }
        }
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

    fn message_bytes(&self) -> u64 {
        // As the default, without drawing the list.
        (self.list.len() * self.blocklength) as u64 * self.element.size()
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.copy(Way::Gather { arrays, packed });
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        self.copy(Way::Scatter { packed, arrays });
    }

    fn places(&self, side: Side, _: WireOrder) -> Vec<Place> {
        let mut places = Vec::new();
        for &place in self.list.get() {
            for i in 0..self.blocklength {
                places.push(Place { array: array(side), element: place as usize * self.blocklength + i });
            }
        }
        places
    }
}
