//! Plain reference: blocks of one length at random places.
//!
//! Source: none; it is not taken from an application.
//!
//! Arrays `send` and `received` of `places` blocks of `blocklength` elements. Sends the blocks at `count`
//! random places, in random order, and receives them at the same ones: `MPI_Type_create_indexed_block`.
//! Bytes: count blocklength size(element).

use crate::face::Face;
use crate::list::List;
use crate::permutation::IndexList;
use crate::plain::arrays;
use crate::{MicroApp, Parameter, Preset, Test};

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
        Preset::Default.set("16384x1_32768_float", "16384 1 32768 float"),
        Preset::Quick.set("16384x1_32768_double", "16384 1 32768 double"),
        Preset::Default.set("2048x8_4096_double", "2048 8 4096 double"),
        Preset::Default.set("256x64_512_double", "256 64 512 double"),
        Preset::Full.set("4194304x1_8388608_double", "4194304 1 8388608 double"),
    ],
    make: |values, context| {
        let (count, blocklength) = (values.positive("count")?, values.positive("blocklength")?);
        let places = values.within("places", count as i64..=i64::from(i32::MAX) / blocklength as i64)? as u32;
        let element = values.element("element");
        let arrays = values.addressable(arrays(element, &[places as usize, blocklength]))?;
        let places = IndexList::drawn(context.seed, 0, places, count);
        let [send, receive] = [0, 1].map(|array| {
            let places = places.clone();
            let length_is_known = false;
            Face::from_block(List {
                array,
                element,
                length: blocklength,
                length_is_known,
                places,
                per_plane: 1,
            })
        });
        Ok(MicroApp::new(element, arrays, send, receive))
    },
};
