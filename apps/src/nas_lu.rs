//! NAS LU: the pencil exchange of the SSOR solver's right-hand side, one face row of a 2-d decomposition.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), LU, `exchange_1.f`; as micro-app in DDTBench 1.2, `src_c/timing_nas.c`.
//!
//! Array `u(5, nx+2, ny+2)`, doubles, first index fastest; a = 0 and a = nx+1, b = 0 and b = ny+1 are halo.
//! - `nas_lu_x`: sends a = 1..=nx at b = ny, receives at b = 0: one contiguous run.
//! - `nas_lu_y`: sends b = 1..=ny at a = nx, receives at a = 0: ny runs of five doubles.
//!
//! Bytes: 40 nx and 40 ny. The original's hand-written y loop omits the last grid point; here both directions
//! are complete.

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::Element;
use ndarray::{Axis, Ix2};

use crate::face::Face;
use crate::region::{BoxLoops, Region, Whole};
use crate::rows::{pack_column, pack_row, unpack_column, unpack_row};
use crate::{ArraySpec, Built, MicroApp, Parameter, ParameterSet, Preset, Test, Values};

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
    Preset::Default.set("12x12", "12 12"),
    Preset::Default.set("33x33", "33 33"),
    Preset::Default.set("64x64", "64 64"),
    Preset::Default.set("102x102", "102 102"),
    Preset::Default.set("162x162", "162 162"),
    Preset::Quick.set("408x408", "408 408"),
    Preset::Default.set("1020x1020", "1020 1020"),
    Preset::Full.set("2040x2040", "2040 2040"),
];

/// The contiguous direction.
pub const X: Test = Test {
    name: "nas_lu_x",
    original_name: Some("NAS_LU_x"),
    source: SOURCE,
    about: "one row of grid points, 5 doubles each, contiguous",
    parameters: PARAMETERS,
    sets: SETS,
    make: |values, _| build(values, ACROSS_Y),
};

/// The strided direction.
pub const Y: Test = Test {
    name: "nas_lu_y",
    original_name: Some("NAS_LU_y"),
    about: "one column of grid points, 5 doubles each, a row apart",
    make: |values, _| build(values, ACROSS_X),
    ..X
};

/// Axes of the array of points, the slowest first: a row or a column has a single index on its axis.
const ACROSS_Y: usize = 0;
const ACROSS_X: usize = 1;

/// The loops over a row or column of points, across each axis of the array of points.
pub(crate) const LOOPS: [BoxLoops; 2] = [
    BoxLoops {
        pack: |arrays, u, row, packed| {
            let points = arrays.block::<Point, Ix2>(u, row);
            pack_row(points.index_axis_move(Axis(ACROSS_Y), 0), &mut cast_slice_mut(packed));
        },
        unpack: |packed, arrays, u, row| {
            let points = arrays.block_mut::<Point, Ix2>(u, row);
            unpack_row(&mut cast_slice(packed), points.index_axis_move(Axis(ACROSS_Y), 0));
        },
    },
    BoxLoops {
        pack: |arrays, u, column, packed| {
            let points = arrays.block::<Point, Ix2>(u, column);
            pack_column(points.index_axis_move(Axis(ACROSS_X), 0), &mut cast_slice_mut(packed));
        },
        unpack: |packed, arrays, u, column| {
            let points = arrays.block_mut::<Point, Ix2>(u, column);
            unpack_column(&mut cast_slice(packed), points.index_axis_move(Axis(ACROSS_X), 0));
        },
    },
];

/// The exchange of a row or column across an axis.
fn build(values: &Values, across: usize) -> Built {
    let (nx, ny) = (values.positive("nx")?, values.positive("ny")?);
    let shape = [ny + 2, nx + 2, COMPONENTS];
    let arrays = values.addressable(vec![ArraySpec::new("u", Element::Double, &shape)])?;
    // A row is described by its doubles, a column by its points, i.e. by one dimension fewer: `across` is 1 for a column.
    let u = Whole::vectors(0, Element::Double, &shape, across, Some(LOOPS[across]));
    let line = |at: usize| {
        let mut bounds = [1..ny + 1, 1..nx + 1, 0..COMPONENTS];
        bounds[across] = at..at + 1;
        Face::from_block(Region::new(&u, bounds))
    };
    Ok(MicroApp::new(Element::Double, arrays, line([ny, nx][across]), line(0)))
}
