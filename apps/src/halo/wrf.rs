//! WRF on many ranks: the halo of nine arrays around each rank's patch, one message to a neighbour.
//!
//! Source: Weather Research and Forecasting model, case em_b_wave, the halo exchange of `RSL_LITE`.
//!
//! Arrays as in [`crate::wrf`]: a patch of `ni` by `nj` points in memory with `margin` points around it, of
//! which `width` are exchanged. First along y, then along x, both extended by `width` in the other direction,
//! so that corners arrive in the second stage; at the border of the domain faces are not extended, as in the
//! original's bounds. Patches, margins and widths are those of DDTBench's parameter sets.
//!
//! With w = width and n = 4 + 3 nk + 2 (limit-1) nk, inner ranks send 4 n w (ni + 2w) bytes along y and
//! 4 n w (nj + 2w) along x, to either side.

use datatypes::{Element, Order};

use super::patch::{Axis, Patch, PatchArray, Swap};
use super::{HaloBuilt, HaloContext, HaloTest};
use crate::region::Description;
use crate::wrf::{FIRST_SPECIES, LOOPS, arrays};
use crate::{Parameter, ParameterSet, Preset, Values};

/// Dimensions of the grid.
const J: usize = 0;
const I: usize = 1;

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("ni", "points", "points of a patch along x (fastest)"),
    Parameter::integer("nj", "points", "points of a patch along y"),
    Parameter::integer("nk", "points", "levels, all of them exchanged"),
    Parameter::integer("width", "points", "points exchanged on each side"),
    Parameter::integer("margin", "points", "points in memory around the patch"),
    Parameter::integer("limit", "species", "last species of the 4-d arrays; below 2 none is sent"),
];

/// The patches of em_b_wave on 2x2 to 8x8 ranks, and a large one.
const SETS: &[ParameterSet] = &[
    Preset::Default.set("2x2", "20 41 65 3 7 2"),
    Preset::Default.set("3x3", "13 27 65 3 7 2"),
    Preset::Quick.set("4x4", "10 20 65 3 7 2"),
    Preset::Default.set("5x5", "8 16 65 3 7 2"),
    Preset::Default.set("8x8", "5 10 65 3 7 2"),
    Preset::Full.set("patch256", "256 256 65 3 5 2"),
];

/// As nested vectors.
pub const VEC: HaloTest = HaloTest {
    name: "wrf_vec",
    original_name: None,
    source: "WRF em_b_wave, halo exchange of RSL_LITE",
    about: "y, then x faces of nine arrays with corners, structs of nested vectors",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, context| build(values, context, Description::Vectors),
};

/// As subarrays.
pub const SA: HaloTest = HaloTest {
    name: "wrf_sa",
    about: "y, then x faces of nine arrays with corners, structs of subarrays",
    make: |values, context| build(values, context, Description::Subarray(Order::C)),
    ..VEC
};

fn build(values: &Values, context: HaloContext, description: Description) -> HaloBuilt {
    let [ni, nj, nk] = ["ni", "nj", "nk"].map(|name| values.positive(name));
    let (ni, nj, nk) = (ni?, nj?, nk?);
    // A halo belongs only to the nearest neighbour.
    let width = values.within("width", 1..=ni.min(nj) as i64)?;
    let margin = values.within("margin", width..=i32::MAX.into())? as usize;
    let limit = values.positive("limit")?;
    let i = Axis::Divided { dimension: I, own: ni, margin: [margin; 2] };
    let j = Axis::Divided { dimension: J, own: nj, margin: [margin; 2] };
    let k = Axis::Whole { length: nk, first: 0 };
    let species = Axis::Whole { length: limit, first: limit.min(FIRST_SPECIES as usize - 1) };
    let axes = |dimensions| match dimensions {
        2 => vec![j, i],
        3 => vec![j, k, i],
        _ => vec![species, j, k, i],
    };
    Ok(Box::new(Patch {
        grid: context.grid(2)?,
        element: Element::Float,
        arrays: arrays()
            .map(|(name, dimensions)| PatchArray { name: name.into(), axes: axes(dimensions) })
            .collect(),
        width: width as usize,
        swaps: vec![Swap { along: &[J], extended: &[I] }, Swap { along: &[I], extended: &[J] }],
        corners: true,
        value_dimensions: 0,
        description,
        loops: &[LOOPS, LOOPS],
    }))
}
