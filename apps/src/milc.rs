//! MILC: half of two space-time slices, sent in direction -z by the CG solver of a lattice QCD simulation.
//!
//! Source: MIMD Lattice Computation (MILC), `su3_rmd`, the -z gather of su3 vectors; as micro-app in DDTBench
//! 1.2, `src_c/timing_milc.c`.
//!
//! Array `su3(6, lx, ly, lz, lt)`, floats, first index fastest: a site has three complex numbers. Sent and
//! received in place: all t, z in {0, lz/2}, y < ly/2, all x, all six, in this order: 2 lt runs of lx ly/2
//! sites. Here the array is `su3(6, lx, ly lz/2, 2 lt)`, the same memory.
//!
//! Bytes: 24 lt lx ly. The original's datatype has the halves (z) before t. All blocks ascend by the same
//! stride, lx ly lz/2 sites, so the order is the same as that of the loop.

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{ArrayView3, ArrayViewMut3, Ix4};

use crate::face::Face;
use crate::region::{BoxLoops, Description, Region, Whole};
use crate::rows::{SIZE, pack_long_rows, unpack_long_rows};
use crate::{ArraySpec, Built, MicroApp, Parameter, ParameterSet, Preset, Test, Values};

/// Floats of a site: three complex numbers.
pub(crate) const SITE: usize = 6;

/// A site, which the application copies as one value.
type Site = [f32; SITE];

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("lx", "sites", "sites of a rank along x (fastest)"),
    Parameter::integer("ly", "sites", "sites of a rank along y, even"),
    Parameter::integer("lz", "sites", "sites of a rank along z, even"),
    Parameter::integer("lt", "sites", "sites of a rank along t"),
];

/// The lattices 64x64x32x32 to 128x128x64x64 on 1024 ranks, and larger ones.
const SETS: &[ParameterSet] = &[
    Preset::Default.set("8x8x8x8", "8 8 8 8"),
    Preset::Default.set("8x8x8x16", "8 8 8 16"),
    Preset::Default.set("8x16x16x16", "8 16 16 16"),
    Preset::Quick.set("16x16x16x16", "16 16 16 16"),
    Preset::Full.set("32x32x32x32", "32 32 32 32"),
    Preset::Full.set("64x64x32x32", "64 64 32 32"),
];

/// The exchange in direction -z.
pub const SU3_ZD: Test = Test {
    name: "milc_su3_zd",
    original_name: Some("MILC_su3_zd"),
    source: "MILC su3_rmd, -z gather; DDTBench 1.2 src_c/timing_milc.c",
    about: "half of two z slices of a 4-d lattice, six floats a site",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| build(values),
};

/// The loops over the sites (t, z, y, x) of the lattice.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, su3, bounds, packed| {
        let (sites, mut packed) = (arrays.block::<Site, Ix4>(su3, bounds), cast_slice_mut(packed));
        sites.outer_iter().for_each(|slice| pack_planes(slice, &mut packed));
    },
    unpack: |packed, arrays, su3, bounds| {
        let (mut sites, mut packed) = (arrays.block_mut::<Site, Ix4>(su3, bounds), cast_slice(packed));
        sites.outer_iter_mut().for_each(|slice| unpack_planes(&mut packed, slice));
    },
};

/// The same loops over (t and half of z, y, x).
const LOOPS_OVER_HALVES: BoxLoops = BoxLoops {
    pack: |arrays, su3, bounds, packed| pack_planes(arrays.block(su3, bounds), &mut cast_slice_mut(packed)),
    unpack: |packed, arrays, su3, bounds| {
        unpack_planes(&mut cast_slice(packed), arrays.block_mut(su3, bounds));
    },
};

#[inline]
fn pack_planes(planes: ArrayView3<'_, Site>, packed: &mut &mut [Site]) {
    for plane in planes.outer_iter() {
        pack_long_rows(plane, packed.split_off_mut(..plane.len()).expect(SIZE));
    }
}

#[inline]
fn unpack_planes(packed: &mut &[Site], mut planes: ArrayViewMut3<'_, Site>) {
    for plane in planes.outer_iter_mut() {
        unpack_long_rows(packed.split_off(..plane.len()).expect(SIZE), plane);
    }
}

fn build(values: &Values) -> Built {
    let even = |name| match values.positive(name)? {
        length if length % 2 == 0 => Ok(length),
        _ => Err(values.refuse(name, "must be even: half of it is sent")),
    };
    let [lx, ly, lz, lt] = [values.positive("lx")?, even("ly")?, even("lz")?, values.positive("lt")?];
    // The two halves of z, for each t.
    let shape = [2 * lt, lz / 2 * ly, lx, SITE];
    let arrays = values.addressable(vec![ArraySpec::new("su3", Element::Float, &shape)])?;
    let [sites, apart, lt] = [lx * ly / 2, lx * ly * lz / 2, lt].map(|n| n as i64);
    let half_bytes = SITE as i64 * 4 * apart * lt;
    let layout = Layout::contiguous(SITE as i64, &Layout::named(Element::Float))
        .and_then(|site| Layout::vector(lt, sites, apart, &site))
        .and_then(|half| Layout::hvector(2, 1, half_bytes, &half));
    let description = Description::Own(layout.expect("the array fits in memory"));
    let su3 = Whole::new(0, Element::Float, &shape, 1, Some(LOOPS_OVER_HALVES), description);
    let face = Face::from_block(Region::new(&su3, [0..shape[0], 0..ly / 2, 0..lx, 0..SITE]));
    Ok(MicroApp::new(Element::Float, arrays, face.clone(), face))
}
