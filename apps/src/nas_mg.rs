//! NAS MG: the faces of a 3-d grid that the multigrid solver's smoother exchanges.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), MG, `mg.f`, `give3` and `take3`; as micro-app in DDTBench 1.2,
//! `src_c/timing_nas.c`.
//!
//! Array `u(d1, d2, d3)`, doubles, first index fastest; the outermost layer is halo, the interior is 1..=d-2.
//! - `nas_mg_x`: sends x = d1-2, receives x = d1-1; order z, y: (d2-2)(d3-2) single doubles.
//! - `nas_mg_y`: sends y = d2-2, receives y = d2-1; order z, x: d3-2 runs of d1-2.
//! - `nas_mg_z`: sends z = 1, receives z = 0; order y, x: d2-2 runs of d1-2.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{ArrayView3, ArrayViewMut3, Axis};

use crate::box_loops::BoxLoops;
use crate::nest::Nest;
use crate::rows::{pack_column, pack_rows, unpack_column, unpack_rows};
use crate::{
    ArraySpec, Arrays, Built, Message, MicroApp, Parameter, ParameterSet, Preset, Side, Test, Values,
    WireOrder,
};

const SOURCE: &str = "NAS Parallel Benchmarks 3.3 MG, mg.f give3/take3; DDTBench 1.2 src_c/timing_nas.c";

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("d1", "points", "grid points of a rank along x (fastest), halo counted"),
    Parameter::integer("d2", "points", "grid points of a rank along y, halo counted"),
    Parameter::integer("d3", "points", "grid points of a rank along z, halo counted"),
];

/// The grids of classes S, W, A and C on four ranks, and a larger one.
const SETS: &[ParameterSet] = &[
    ParameterSet { name: "34x18x18", preset: Preset::Default, values: &[34, 18, 18] },
    ParameterSet { name: "130x66x66", preset: Preset::Quick, values: &[130, 66, 66] },
    ParameterSet { name: "258x130x130", preset: Preset::Default, values: &[258, 130, 130] },
    ParameterSet { name: "514x258x258", preset: Preset::Default, values: &[514, 258, 258] },
    ParameterSet { name: "1026x258x258", preset: Preset::Full, values: &[1026, 258, 258] },
];

/// The face with single doubles.
pub const X: Test = Test {
    name: "nas_mg_x",
    original_name: Some("NAS_MG_x"),
    source: SOURCE,
    about: "the x face of a 3-d grid: single doubles, a row apart",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| NasMg::boxed(values, FaceDirection::X),
};

/// The face with a run per plane.
pub const Y: Test = Test {
    name: "nas_mg_y",
    original_name: Some("NAS_MG_y"),
    about: "the y face of a 3-d grid: rows, a plane apart",
    make: |values, _| NasMg::boxed(values, FaceDirection::Y),
    ..X
};

/// The face with a run per row.
pub const Z: Test = Test {
    name: "nas_mg_z",
    original_name: Some("NAS_MG_z"),
    about: "the z face of a 3-d grid: rows without their halo",
    make: |values, _| NasMg::boxed(values, FaceDirection::Z),
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

/// Packs the one plane of a face across an axis. Of an x face neither loop runs over neighbours.
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

enum FaceDirection {
    X,
    Y,
    Z,
}

impl FaceDirection {
    fn axis(&self) -> Axis {
        match self {
            Self::X => AXIS_X,
            Self::Y => AXIS_Y,
            Self::Z => AXIS_Z,
        }
    }
}

struct NasMg {
    d1: usize,
    d2: usize,
    d3: usize,
    direction: FaceDirection,
}

impl NasMg {
    fn boxed(values: &Values, direction: FaceDirection) -> Built {
        // A point of interior between two of halo.
        let points = |name| Ok(values.within(name, 3..=i32::MAX.into())? as usize);
        Ok(Box::new(Self { d1: points("d1")?, d2: points("d2")?, d3: points("d3")?, direction }))
    }

    /// The constant index of the exchanged face.
    fn face(&self, side: Side) -> usize {
        match (&self.direction, side) {
            (FaceDirection::X, Side::Send) => self.d1 - 2,
            (FaceDirection::X, Side::Receive) => self.d1 - 1,
            (FaceDirection::Y, Side::Send) => self.d2 - 2,
            (FaceDirection::Y, Side::Receive) => self.d2 - 1,
            (FaceDirection::Z, Side::Send) => 1,
            (FaceDirection::Z, Side::Receive) => 0,
        }
    }

    /// The interior of the exchanged face.
    fn bounds(&self, side: Side) -> [Range<usize>; 3] {
        let mut bounds = [self.d3, self.d2, self.d1].map(|points| 1..points - 1);
        let face = self.face(side);
        bounds[self.direction.axis().index()] = face..face + 1;
        bounds
    }

    /// Linear index of a grid point.
    fn index(&self, x: usize, y: usize, z: usize) -> usize {
        x + self.d1 * (y + self.d2 * z)
    }

    fn nest(&self, side: Side) -> Nest {
        let (face, d1, plane) = (self.face(side), self.d1, self.d1 * self.d2);
        match self.direction {
            FaceDirection::X => Nest {
                planes: self.d3 - 2,
                plane_stride: plane,
                ..Nest::plane(self.index(face, 1, 1), 1, self.d2 - 2, d1)
            },
            FaceDirection::Y => Nest::plane(self.index(1, face, 1), d1 - 2, self.d3 - 2, plane),
            FaceDirection::Z => Nest::plane(self.index(1, 1, face), d1 - 2, self.d2 - 2, d1),
        }
    }
}

impl MicroApp for NasMg {
    fn arrays(&self) -> Vec<ArraySpec> {
        vec![ArraySpec::new("u", Element::Double, &[self.d3, self.d2, self.d1])]
    }

    fn element(&self) -> Element {
        Element::Double
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (d1, d2, d3) = (self.d1 as i64, self.d2 as i64, self.d3 as i64);
        let double = Layout::named(Element::Double);
        let layout = match self.direction {
            FaceDirection::X => Layout::vector(d2 - 2, 1, d1, &double)
                .and_then(|column| Layout::hvector(d3 - 2, 1, 8 * d1 * d2, &column)),
            FaceDirection::Y => Layout::vector(d3 - 2, d1 - 2, d1 * d2, &double),
            FaceDirection::Z => Layout::vector(d2 - 2, d1 - 2, d1, &double),
        };
        let origin_bytes = 8 * self.nest(side).start as i64;
        Message::single(0, origin_bytes, layout.expect("the array fits in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let face = arrays.block(0, &self.bounds(Side::Send));
        give3(face, self.direction.axis(), cast_slice_mut(packed));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let face = arrays.block_mut(0, &self.bounds(Side::Receive));
        take3(cast_slice(packed), face, self.direction.axis());
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        match self.direction {
            // Single values.
            FaceDirection::X => self.pack(arrays, packed),
            _ => self.nest(Side::Send).gather::<f64>(arrays.slice(0), cast_slice_mut(packed)),
        }
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        match self.direction {
            FaceDirection::X => self.unpack(packed, arrays),
            _ => self.nest(Side::Receive).scatter::<f64>(cast_slice(packed), arrays.slice_mut(0)),
        }
    }
}
