//! WRF: one halo exchange of the atmosphere model, faces of nine arrays in one message.
//!
//! Source: Weather Research and Forecasting model, case em_b_wave, the halo exchange between patches in one
//! horizontal direction; as micro-app in DDTBench 1.2, `src_c/timing_wrf.c`.
//!
//! Nine arrays of floats, i fastest, then k, then j, then species s: four (i, j), three (i, k, j), two (i, k,
//! j, s), with i = ims..=ime, k = kms..=kme, j = jms..=jme, s = 1..=limit. Sent and received in place, array
//! by array: s = 2..=limit, j = js..=je, k = kms..=kme, i = is..=ie. The x tests send a few i of many j, the
//! y tests a few j of many i: they differ only in the bounds.
//!
//! With si = ie-is+1 and so on, the bytes are 4 si sj (4 + 3 sk + 2 (limit-1) sk).
//! `_vec` describes each face by nested vectors, `_sa` by a subarray; the loops are the same.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout, LayoutError, Order};
use ndarray::{Ix2, Ix3, Ix4};

use crate::face::Face;
use crate::region::{BoxLoops, Description, Region, Whole};
use crate::rows::{pack_planes, pack_rows, unpack_planes, unpack_rows};
use crate::{
    ArraySpec, Arrays, Built, MicroApp, Parameter, ParameterError, ParameterSet, Preset, Test, Values,
};

/// The arrays and their number of dimensions, in the order of the message.
pub(crate) fn arrays() -> impl Iterator<Item = (&'static str, usize)> {
    let names = "array2d_1 array2d_2 array2d_3 array2d_4 array3d_1 array3d_2 array3d_3 array4d_1 array4d_2";
    names.split(' ').zip([2, 2, 2, 2, 3, 3, 3, 4, 4])
}

/// The first species that is sent: in WRF's 4-d arrays index 1 is a placeholder (`PARAM_FIRST_SCALAR` is 2).
pub(crate) const FIRST_SPECIES: i64 = 2;

const SOURCE: &str = "WRF em_b_wave, halo exchange; DDTBench 1.2 src_c/timing_wrf.c";

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("ims", "index", "first i in memory"),
    Parameter::integer("ime", "index", "last i in memory"),
    Parameter::integer("jms", "index", "first j in memory"),
    Parameter::integer("jme", "index", "last j in memory"),
    Parameter::integer("kms", "index", "first k in memory; the whole column is sent"),
    Parameter::integer("kme", "index", "last k in memory"),
    Parameter::integer("is", "index", "first i that is sent"),
    Parameter::integer("ie", "index", "last i that is sent"),
    Parameter::integer("js", "index", "first j that is sent"),
    Parameter::integer("je", "index", "last j that is sent"),
    Parameter::integer("limit", "species", "last species of the 4-d arrays; below 2 none is sent"),
];

/// The patches of em_b_wave on 2x2 to 8x8 ranks, and a large one.
const X_SETS: &[ParameterSet] = &[
    Preset::Default.set("2x2", "-4 27 34 85 1 65 18 20 38 81 2"),
    Preset::Quick.set("4x4", "4 27 14 47 1 65 18 20 18 43 2"),
    Preset::Default.set("8x8", "4 22 4 27 1 65 13 15 8 23 2"),
    Preset::Full.set("patch256", "-4 261 -4 261 1 65 254 256 1 256 2"),
];

/// Like [`X_SETS`].
const Y_SETS: &[ParameterSet] = &[
    Preset::Default.set("2x2", "-4 27 34 85 1 65 1 23 41 43 2"),
    Preset::Default.set("3x3", "8 34 21 61 1 65 12 30 28 30 2"),
    Preset::Quick.set("4x4", "4 27 14 47 1 65 8 23 21 23 2"),
    Preset::Default.set("5x5", "10 31 10 39 1 65 14 27 17 19 2"),
    Preset::Default.set("8x8", "4 22 4 27 1 65 8 18 11 13 2"),
    Preset::Full.set("patch256", "-4 261 -4 261 1 65 1 256 254 256 2"),
];

/// Short runs, as nested vectors.
pub const X_VEC: Test = Test {
    name: "wrf_x_vec",
    original_name: Some("WRF_x_vec"),
    source: SOURCE,
    about: "x faces of nine arrays, a struct of nested vectors: runs of a few floats",
    parameters: PARAMETERS,
    sets: X_SETS,
    make: |values, _| {
        build(values, |axes| Description::Own(vectors(axes).expect("the arrays fit in memory")))
    },
};

/// Short runs, as subarrays.
pub const X_SA: Test = Test {
    name: "wrf_x_sa",
    original_name: Some("WRF_x_sa"),
    about: "x faces of nine arrays, a struct of subarrays: runs of a few floats",
    make: |values, _| build(values, |_| Description::Subarray(Order::C)),
    ..X_VEC
};

/// Longer runs, as nested vectors.
pub const Y_VEC: Test = Test {
    name: "wrf_y_vec",
    original_name: Some("WRF_y_vec"),
    about: "y faces of nine arrays, a struct of nested vectors: runs of a row",
    sets: Y_SETS,
    ..X_VEC
};

/// Longer runs, as subarrays.
pub const Y_SA: Test = Test {
    name: "wrf_y_sa",
    original_name: Some("WRF_y_sa"),
    about: "y faces of nine arrays, a struct of subarrays: runs of a row",
    sets: Y_SETS,
    ..X_SA
};

/// The loops over the face of one array.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, array, bounds, packed| pack_face(arrays, array, bounds, &mut cast_slice_mut(packed)),
    unpack: |packed, arrays, array, bounds| unpack_face(&mut cast_slice(packed), arrays, array, bounds),
};

/// Packs the indices (j, i), (j, k, i) or (species, j, k, i) of an array.
fn pack_face(arrays: &Arrays, array: usize, bounds: &[Range<usize>], packed: &mut &mut [f32]) {
    match bounds.len() {
        2 => pack_rows(arrays.block::<f32, Ix2>(array, bounds), packed),
        3 => pack_planes(arrays.block::<f32, Ix3>(array, bounds), packed),
        _ => {
            for species in arrays.block::<f32, Ix4>(array, bounds).outer_iter() {
                pack_planes(species, packed);
            }
        }
    }
}

/// Unpacks to the indices (j, i), (j, k, i) or (species, j, k, i) of an array.
fn unpack_face(packed: &mut &[f32], arrays: &mut Arrays, array: usize, bounds: &[Range<usize>]) {
    match bounds.len() {
        2 => unpack_rows(packed, arrays.block_mut::<f32, Ix2>(array, bounds)),
        3 => unpack_planes(packed, arrays.block_mut::<f32, Ix3>(array, bounds)),
        _ => {
            for species in arrays.block_mut::<f32, Ix4>(array, bounds).outer_iter_mut() {
                unpack_planes(packed, species);
            }
        }
    }
}

/// One dimension: how many indices there are in memory, and which of them are sent, counted from 0.
#[derive(Clone, Copy)]
struct WrfAxis {
    memory: usize,
    start: usize,
    sent: usize,
}

impl WrfAxis {
    /// Both pairs of bounds are inclusive: `first..=last` within `memory_first..=memory_last`.
    fn checked(
        values: &Values,
        [memory_first, memory_last]: [&'static str; 2],
        [first, last]: [&'static str; 2],
    ) -> Result<Self, ParameterError> {
        let memory_start = values.within(memory_first, i32::MIN.into()..=i32::MAX.into())?;
        let memory_end = values.within(memory_last, memory_start..=i32::MAX.into())?;
        let start = values.within(first, memory_start..=memory_end)?;
        let end = values.within(last, start..=memory_end)?;
        let length = |from: i64, to: i64| (to - from + 1) as usize;
        Ok(Self {
            memory: length(memory_start, memory_end),
            start: (start - memory_start) as usize,
            sent: length(start, end),
        })
    }

    /// The indices that are sent.
    fn range(self) -> Range<usize> {
        self.start..self.start + self.sent
    }
}

/// The exchange of the faces. `description` describes each from its axes, the slowest first.
fn build(values: &Values, description: fn(&[WrfAxis]) -> Description) -> Built {
    let i = WrfAxis::checked(values, ["ims", "ime"], ["is", "ie"])?;
    let j = WrfAxis::checked(values, ["jms", "jme"], ["js", "je"])?;
    let k = WrfAxis::checked(values, ["kms", "kme"], ["kms", "kme"])?;
    let limit = values.positive("limit")?;
    let start = FIRST_SPECIES as usize - 1;
    let species = WrfAxis { memory: limit, start, sent: limit.saturating_sub(start) };
    let axes = |dimensions| match dimensions {
        2 => vec![j, i],
        3 => vec![j, k, i],
        _ => vec![species, j, k, i],
    };
    let shape = |dimensions| axes(dimensions).iter().map(|axis| axis.memory).collect::<Vec<_>>();
    let specs = arrays().map(|(name, dimensions)| ArraySpec::new(name, Element::Float, &shape(dimensions)));
    let specs = values.addressable(specs.collect())?;
    let is_sent =
        |&(_, (_, dimensions)): &(usize, (_, usize))| axes(dimensions).iter().all(|axis| axis.sent > 0);
    let block = |(array, (_, dimensions)): (usize, (_, usize))| {
        let axes = axes(dimensions);
        let (shape, description) = (shape(dimensions), description(&axes));
        let whole = Whole::new(array, Element::Float, &shape, 0, Some(LOOPS), description);
        Region::block(&whole, axes.iter().map(|axis| axis.range()).collect::<Vec<_>>())
    };
    let face = Face::new(arrays().enumerate().filter(is_sent).map(block));
    Ok(MicroApp::new(Element::Float, specs, face.clone(), face))
}

/// The original's nested vectors: one for each axis beyond the first, even if only one index is sent.
fn vectors(axes: &[WrfAxis]) -> Result<Layout, LayoutError> {
    let [outer @ .., rows, run] = axes else { unreachable!("every array has two dimensions") };
    let plane = [rows.sent, run.sent, run.memory].map(|n| n as i64);
    let plane = Layout::vector(plane[0], plane[1], plane[2], &Layout::named(Element::Float))?;
    let stride_bytes = 4 * (run.memory * rows.memory) as i64;
    let nested = outer.iter().rev().try_fold((plane, stride_bytes), |(inner, stride_bytes), axis| {
        let vector = Layout::hvector(axis.sent as i64, 1, stride_bytes, &inner)?;
        Ok((vector, stride_bytes * axis.memory as i64))
    });
    nested.map(|(layout, _)| layout)
}
