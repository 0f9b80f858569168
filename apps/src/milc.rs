//! MILC: half of two space-time slices, sent in direction -z by the CG solver of a lattice QCD simulation.
//!
//! Source: MIMD Lattice Computation (MILC), `su3_rmd`, the -z gather of su3 vectors; as micro-app in DDTBench
//! 1.2, `src_c/timing_milc.c`.
//!
//! Array `su3(6, lx, ly, lz, lt)`, floats, first index fastest: a site has three complex numbers. Sent and received
//! in place: all t, z in {0, lz/2}, y < ly/2, all x, all six, in this order: 2 lt runs of lx ly/2 sites.
//!
//! Bytes: 24 lt lx ly. The original's datatype names the halves (z) before t; as all blocks ascend by the same
//! stride, lx ly lz/2 sites, the order is that of the loop.

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{ArrayView4, ArrayViewMut4, Ix4, s};

use crate::box_loops::BoxLoops;
use crate::nest::Nest;
use crate::rows::{SIZE, pack_long_rows, unpack_long_rows};
use crate::{
    ArraySpec, Arrays, Built, Message, MicroApp, Parameter, ParameterSet, Preset, Side, Test, Values,
    WireOrder,
};

/// Floats of a site: three complex numbers.
pub(crate) const SITE: usize = 6;

/// A site, which the application copies as one value.
pub(crate) type Site = [f32; SITE];

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("lx", "sites", "sites of a rank along x (fastest)"),
    Parameter::integer("ly", "sites", "sites of a rank along y, even"),
    Parameter::integer("lz", "sites", "sites of a rank along z, even"),
    Parameter::integer("lt", "sites", "sites of a rank along t"),
];

/// The lattices 64x64x32x32 to 128x128x64x64 on 1024 ranks, and larger ones.
const SETS: &[ParameterSet] = &[
    ParameterSet { name: "8x8x8x8", preset: Preset::Default, values: &[8, 8, 8, 8] },
    ParameterSet { name: "8x8x8x16", preset: Preset::Default, values: &[8, 8, 8, 16] },
    ParameterSet { name: "8x16x16x16", preset: Preset::Default, values: &[8, 16, 16, 16] },
    ParameterSet { name: "16x16x16x16", preset: Preset::Quick, values: &[16, 16, 16, 16] },
    ParameterSet { name: "32x32x32x32", preset: Preset::Full, values: &[32, 32, 32, 32] },
    ParameterSet { name: "64x64x32x32", preset: Preset::Full, values: &[64, 64, 32, 32] },
];

/// The exchange in direction -z.
pub const SU3_ZD: Test = Test {
    name: "milc_su3_zd",
    original_name: Some("MILC_su3_zd"),
    source: "MILC su3_rmd, -z gather; DDTBench 1.2 src_c/timing_milc.c",
    about: "half of two z slices of a 4-d lattice, six floats a site",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| Su3Zd::boxed(values),
};

/// The loops over sites of the lattice.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, su3, bounds, packed| pack_slices(arrays.block(su3, bounds), cast_slice_mut(packed)),
    unpack: |packed, arrays, su3, bounds| unpack_slices(cast_slice(packed), arrays.block_mut(su3, bounds)),
};

/// Packs the sites (t, z, y, x) of a lattice.
#[inline]
fn pack_slices(sites: ArrayView4<'_, Site>, mut packed: &mut [Site]) {
    for slice in sites.outer_iter() {
        for plane in slice.outer_iter() {
            pack_long_rows(plane, packed.split_off_mut(..plane.len()).expect(SIZE));
        }
    }
}

/// Unpacks to the sites (t, z, y, x) of a lattice.
#[inline]
fn unpack_slices(mut packed: &[Site], mut sites: ArrayViewMut4<'_, Site>) {
    for mut slice in sites.outer_iter_mut() {
        for plane in slice.outer_iter_mut() {
            unpack_long_rows(packed.split_off(..plane.len()).expect(SIZE), plane);
        }
    }
}

struct Su3Zd {
    lx: usize,
    ly: usize,
    lz: usize,
    lt: usize,
}

impl Su3Zd {
    fn boxed(values: &Values) -> Built {
        let sites = |name| values.positive(name);
        let even = |name| match values.positive(name)? {
            length if length % 2 == 0 => Ok(length),
            _ => Err(values.refuse(name, "must be even: half of it is sent")),
        };
        Ok(Box::new(Self { lx: sites("lx")?, ly: even("ly")?, lz: even("lz")?, lt: sites("lt")? }))
    }

    fn nest(&self) -> Nest {
        let block = SITE * self.lx * self.ly / 2;
        Nest::plane(0, block, 2 * self.lt, block * self.lz)
    }
}

impl MicroApp for Su3Zd {
    fn arrays(&self) -> Vec<ArraySpec> {
        vec![ArraySpec::new("su3", Element::Float, &[self.lt, self.lz, self.ly, self.lx, SITE])]
    }

    fn element(&self) -> Element {
        Element::Float
    }

    fn message(&self, _: Side, _: WireOrder) -> Message {
        let (lx, ly, lz, lt) = (self.lx as i64, self.ly as i64, self.lz as i64, self.lt as i64);
        let half_bytes = (SITE as i64 * 4) * lx * ly * lz * lt / 2;
        let layout = Layout::contiguous(SITE as i64, &Layout::named(Element::Float))
            .and_then(|site| Layout::vector(lt, lx * ly / 2, lx * ly * lz / 2, &site))
            .and_then(|half| Layout::hvector(2, 1, half_bytes, &half));
        Message::single(0, 0, layout.expect("the array fits in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let su3 = arrays.view::<Site, Ix4>(0);
        pack_slices(su3.slice(s![.., ..;self.lz / 2, ..self.ly / 2, ..]), cast_slice_mut(packed));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let (half, rows) = (self.lz / 2, self.ly / 2);
        let mut su3 = arrays.view_mut::<Site, Ix4>(0);
        unpack_slices(cast_slice(packed), su3.slice_mut(s![.., ..;half, ..rows, ..]));
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.nest().gather::<f32>(arrays.slice(0), cast_slice_mut(packed));
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.nest().scatter::<f32>(cast_slice(packed), arrays.slice_mut(0));
    }
}
