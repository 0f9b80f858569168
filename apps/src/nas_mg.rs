//! NAS MG: the faces of a 3-d grid that the multigrid solver's smoother exchanges.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), MG, `mg.f`, `give3` and `take3`; as micro-app in DDTBench 1.2,
//! `src_c/timing_nas.c`.
//!
//! Array `u(d1, d2, d3)`, doubles, first index fastest; the outermost layer is halo, the interior is 1..=d-2.
//! - `nas_mg_x`: sends x = d1-2, receives x = d1-1; order z, y: (d2-2)(d3-2) single doubles.
//! - `nas_mg_y`: sends y = d2-2, receives y = d2-1; order z, x: d3-2 runs of d1-2.
//! - `nas_mg_z`: sends z = 1, receives z = 0; order y, x: d2-2 runs of d1-2.

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::Element;
use ndarray::{ArrayView3, ArrayViewMut3, Axis};

use crate::face::Face;
use crate::region::{BoxLoops, Region, Whole};
use crate::rows::{pack_column, pack_rows, unpack_column, unpack_rows};
use crate::{ArraySpec, Built, MicroApp, Parameter, ParameterSet, Preset, Test, Values};

const SOURCE: &str = "NAS Parallel Benchmarks 3.3 MG, mg.f give3/take3; DDTBench 1.2 src_c/timing_nas.c";

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("d1", "points", "grid points of a rank along x (fastest), halo counted"),
    Parameter::integer("d2", "points", "grid points of a rank along y, halo counted"),
    Parameter::integer("d3", "points", "grid points of a rank along z, halo counted"),
];

/// The grids of classes S, W, A and C on four ranks, and a larger one.
const SETS: &[ParameterSet] = &[
    Preset::Default.set("34x18x18", "34 18 18"),
    Preset::Quick.set("130x66x66", "130 66 66"),
    Preset::Default.set("258x130x130", "258 130 130"),
    Preset::Default.set("514x258x258", "514 258 258"),
    Preset::Full.set("1026x258x258", "1026 258 258"),
];

/// The face of single doubles.
pub const X: Test = Test {
    name: "nas_mg_x",
    original_name: Some("NAS_MG_x"),
    source: SOURCE,
    about: "the x face of a 3-d grid: single doubles, a row apart",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| build(values, AXIS_X),
};

/// The face with one run per plane.
pub const Y: Test = Test {
    name: "nas_mg_y",
    original_name: Some("NAS_MG_y"),
    about: "the y face of a 3-d grid: rows, a plane apart",
    make: |values, _| build(values, AXIS_Y),
    ..X
};

/// The face with one run per row.
pub const Z: Test = Test {
    name: "nas_mg_z",
    original_name: Some("NAS_MG_z"),
    about: "the z face of a 3-d grid: rows without their halo",
    make: |values, _| build(values, AXIS_Z),
    ..X
};

/// Axes of the array, the slowest first.
const AXIS_Z: Axis = Axis(0);
const AXIS_Y: Axis = Axis(1);
const AXIS_X: Axis = Axis(2);

/// The loops over a face across each axis of the array.
pub(crate) const LOOPS: [BoxLoops; 3] = [loops::<0>(), loops::<1>(), loops::<2>()];

const fn loops<const ACROSS: usize>() -> BoxLoops {
    BoxLoops {
        pack: |arrays, u, face, packed| {
            give3(arrays.block(u, face), Axis(ACROSS), cast_slice_mut(packed));
        },
        unpack: |packed, arrays, u, face| {
            take3(cast_slice(packed), arrays.block_mut(u, face), Axis(ACROSS));
        },
    }
}

/// Packs the one plane of a face across an axis. In an x face neither loop goes over neighbours in memory.
#[inline]
fn give3(face: ArrayView3<'_, f64>, across: Axis, mut packed: &mut [f64]) {
    let plane = face.index_axis_move(across, 0);
    match across {
        AXIS_X => plane.outer_iter().for_each(|column| pack_column(column, &mut packed)),
        _ => pack_rows(plane, &mut packed),
    }
}

/// Unpacks to the one plane of a face across an axis.
#[inline]
fn take3(mut packed: &[f64], face: ArrayViewMut3<'_, f64>, across: Axis) {
    let mut plane = face.index_axis_move(across, 0);
    match across {
        AXIS_X => plane.outer_iter_mut().for_each(|column| unpack_column(&mut packed, column)),
        _ => unpack_rows(&mut packed, plane),
    }
}

/// The exchange of the faces across an axis.
fn build(values: &Values, across: Axis) -> Built {
    // At least one interior point between two halo points.
    let points = |name| Ok(values.within(name, 3..=i32::MAX.into())? as usize);
    let shape = [points("d3")?, points("d2")?, points("d1")?];
    let arrays = values.addressable(vec![ArraySpec::new("u", Element::Double, &shape)])?;
    let d = across.index();
    let u = Whole::vectors(0, Element::Double, &shape, 0, Some(LOOPS[d]));
    let (sent, received) = if across == AXIS_Z { (1, 0) } else { (shape[d] - 2, shape[d] - 1) };
    let face = |at: usize| {
        let mut bounds = shape.map(|points| 1..points - 1);
        bounds[d] = at..at + 1;
        Face::from_block(Region::new(&u, bounds))
    };
    Ok(MicroApp::new(Element::Double, arrays, face(sent), face(received)))
}
