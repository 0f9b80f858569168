//! NAS LU: the pencil exchange of the SSOR solver's right-hand side, one face row of a 2-d decomposition.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), LU, `exchange_1.f`; as micro-app in DDTBench 1.2, `src_c/timing_nas.c`.
//!
//! Array `u(5, nx+2, ny+2)`, doubles, first index fastest; a = 0 and a = nx+1, b = 0 and b = ny+1 are halo.
//! - `nas_lu_x`: sends a = 1..=nx at b = ny, receives at b = 0: one contiguous run.
//! - `nas_lu_y`: sends b = 1..=ny at a = nx, receives at a = 0: ny runs of five doubles.
//!
//! Bytes: 40 nx and 40 ny. The original's hand-written y loop leaves out the last grid point; here both are whole.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use crate::box_loops::BoxLoops;
use crate::nest::Nest;
use crate::rows::{pack_column, pack_row, unpack_column, unpack_row};
use crate::{
    ArraySpec, Arrays, Built, Message, MicroApp, Parameter, ParameterSet, Preset, Side, Test, Values,
    WireOrder,
};

/// Components of the solution at a grid point.
pub(crate) const COMPONENTS: usize = 5;

/// A grid point, which the application copies as one value.
type Point = [f64; COMPONENTS];

const SOURCE: &str = "NAS Parallel Benchmarks 3.3 LU, exchange_1.f; DDTBench 1.2 src_c/timing_nas.c";

const PARAMETERS: &[Parameter] = &[
    Parameter::integer("nx", "points", "grid points of a rank along x, halo not counted"),
    Parameter::integer("ny", "points", "grid points of a rank along y, halo not counted"),
];

/// The grids of classes S, W, A, B, C, D, E.
const SETS: &[ParameterSet] = &[
    ParameterSet { name: "12x12", preset: Preset::Default, values: &[12, 12] },
    ParameterSet { name: "33x33", preset: Preset::Default, values: &[33, 33] },
    ParameterSet { name: "64x64", preset: Preset::Default, values: &[64, 64] },
    ParameterSet { name: "102x102", preset: Preset::Default, values: &[102, 102] },
    ParameterSet { name: "162x162", preset: Preset::Default, values: &[162, 162] },
    ParameterSet { name: "408x408", preset: Preset::Quick, values: &[408, 408] },
    ParameterSet { name: "1020x1020", preset: Preset::Default, values: &[1020, 1020] },
    ParameterSet { name: "2040x2040", preset: Preset::Full, values: &[2040, 2040] },
];

/// The contiguous direction.
pub const X: Test = Test {
    name: "nas_lu_x",
    original_name: Some("NAS_LU_x"),
    source: SOURCE,
    about: "one row of grid points, 5 doubles each, contiguous",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| NasLu::boxed(values, RowDirection::X),
};

/// The strided direction.
pub const Y: Test = Test {
    name: "nas_lu_y",
    original_name: Some("NAS_LU_y"),
    about: "one column of grid points, 5 doubles each, a row apart",
    make: |values, _| NasLu::boxed(values, RowDirection::Y),
    ..X
};

/// Axes of the array of points, the slowest first.
const AXIS_Y: Axis = Axis(0);
const AXIS_X: Axis = Axis(1);

/// The loops over a row or column of points, across each axis of the array of points.
pub(crate) const LOOPS: [BoxLoops; 2] = [loops::<0>(), loops::<1>()];

const fn loops<const ACROSS: usize>() -> BoxLoops {
    BoxLoops {
        pack: |arrays, u, line, packed| {
            pack_line(arrays.block(u, line), Axis(ACROSS), cast_slice_mut(packed));
        },
        unpack: |packed, arrays, u, line| {
            unpack_line(cast_slice(packed), arrays.block_mut(u, line), Axis(ACROSS));
        },
    }
}

/// Packs a row of points, across y, or a column.
#[inline]
fn pack_line(points: ArrayView2<'_, Point>, across: Axis, mut packed: &mut [Point]) {
    let line = points.index_axis_move(across, 0);
    match across {
        AXIS_Y => pack_row(line, &mut packed),
        _ => pack_column(line, &mut packed),
    }
}

/// Unpacks to a row of points, across y, or to a column.
#[inline]
fn unpack_line(mut packed: &[Point], points: ArrayViewMut2<'_, Point>, across: Axis) {
    let line = points.index_axis_move(across, 0);
    match across {
        AXIS_Y => unpack_row(&mut packed, line),
        _ => unpack_column(&mut packed, line),
    }
}

/// Named by what the application sends along: x is the row, across y.
enum RowDirection {
    X,
    Y,
}

impl RowDirection {
    /// The axis of the array of points that has one index.
    fn axis(&self) -> Axis {
        match self {
            Self::X => AXIS_Y,
            Self::Y => AXIS_X,
        }
    }
}

struct NasLu {
    nx: usize,
    ny: usize,
    direction: RowDirection,
}

impl NasLu {
    fn boxed(values: &Values, direction: RowDirection) -> Built {
        let nx = values.positive("nx")?;
        let ny = values.positive("ny")?;
        Ok(Box::new(Self { nx, ny, direction }))
    }

    /// The constant index of the exchanged row or column.
    fn line(&self, side: Side) -> usize {
        match (side, &self.direction) {
            (Side::Receive, _) => 0,
            (Side::Send, RowDirection::X) => self.ny,
            (Side::Send, RowDirection::Y) => self.nx,
        }
    }

    /// The points of the exchanged row or column.
    fn bounds(&self, side: Side) -> [Range<usize>; 2] {
        let mut bounds = [1..self.ny + 1, 1..self.nx + 1];
        let line = self.line(side);
        bounds[self.direction.axis().index()] = line..line + 1;
        bounds
    }

    fn nest(&self, side: Side) -> Nest {
        let (row, line) = (COMPONENTS * (self.nx + 2), self.line(side));
        match self.direction {
            RowDirection::X => Nest::plane(COMPONENTS + row * line, COMPONENTS * self.nx, 1, row),
            RowDirection::Y => Nest::plane(COMPONENTS * line + row, COMPONENTS, self.ny, row),
        }
    }
}

impl MicroApp for NasLu {
    fn arrays(&self) -> Vec<ArraySpec> {
        vec![ArraySpec::new("u", Element::Double, &[self.ny + 2, self.nx + 2, COMPONENTS])]
    }

    fn element(&self) -> Element {
        Element::Double
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (nx, ny) = (self.nx as i64, self.ny as i64);
        let double = Layout::named(Element::Double);
        let point = Layout::contiguous(COMPONENTS as i64, &double).expect("a point is small");
        let layout = match self.direction {
            RowDirection::X => Layout::contiguous(COMPONENTS as i64 * nx, &double),
            RowDirection::Y => Layout::vector(ny, 1, nx + 2, &point),
        };
        let origin_bytes = 8 * self.nest(side).start as i64;
        Message::single(0, origin_bytes, layout.expect("the array fits in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let points = arrays.block(0, &self.bounds(Side::Send));
        pack_line(points, self.direction.axis(), cast_slice_mut(packed));
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let points = arrays.block_mut(0, &self.bounds(Side::Receive));
        unpack_line(cast_slice(packed), points, self.direction.axis());
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.nest(Side::Send).gather::<f64>(arrays.slice(0), cast_slice_mut(packed));
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.nest(Side::Receive).scatter::<f64>(cast_slice(packed), arrays.slice_mut(0));
    }
}
