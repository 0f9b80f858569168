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

use datatypes::{Element, Layout};
use ndarray::{ArrayView2, ArrayViewMut2, s};

use crate::nest::Nest;
use crate::rows::{pack_column, pack_row, unpack_column, unpack_row};
use crate::{
    ArraySpec, Arrays, Built, Message, MicroApp, Parameter, ParameterSet, Place, Preset, Side, Test, Values,
    WireOrder,
};

/// Components of the solution at a grid point.
const COMPONENTS: usize = 5;

/// A grid point, which the application copies as one value.
type Point = [f64; COMPONENTS];

/// Why the array has this shape.
const SHAPE: &str = "the array has all points and their halo";

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
    make: |values, _| NasLu::boxed(values, Direction::X),
};

/// The strided direction.
pub const Y: Test = Test {
    name: "nas_lu_y",
    original_name: Some("NAS_LU_y"),
    about: "one column of grid points, 5 doubles each, a row apart",
    make: |values, _| NasLu::boxed(values, Direction::Y),
    ..X
};

enum Direction {
    X,
    Y,
}

struct NasLu {
    nx: usize,
    ny: usize,
    direction: Direction,
}

impl NasLu {
    fn boxed(values: &Values, direction: Direction) -> Built {
        let nx = values.positive("nx")?;
        let ny = values.positive("ny")?;
        Ok(Box::new(Self { nx, ny, direction }))
    }

    /// The constant index of the exchanged row or column.
    fn line(&self, side: Side) -> usize {
        match (side, &self.direction) {
            (Side::Receive, _) => 0,
            (Side::Send, Direction::X) => self.ny,
            (Side::Send, Direction::Y) => self.nx,
        }
    }

    /// Extents of the array of points, slowest first.
    fn points(&self) -> (usize, usize) {
        (self.ny + 2, self.nx + 2)
    }

    /// Extents of the array of values, where a row has all values of its points.
    fn rows(&self) -> (usize, usize) {
        (self.ny + 2, COMPONENTS * (self.nx + 2))
    }

    /// The values of a row's inner points.
    fn inner_values(&self) -> Range<usize> {
        COMPONENTS..COMPONENTS * (self.nx + 1)
    }

    fn nest(&self, side: Side) -> Nest {
        let (row, line) = (COMPONENTS * (self.nx + 2), self.line(side));
        match self.direction {
            Direction::X => Nest::plane(COMPONENTS + row * line, COMPONENTS * self.nx, 1, row),
            Direction::Y => Nest::plane(COMPONENTS * line + row, COMPONENTS, self.ny, row),
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
            Direction::X => Layout::contiguous(COMPONENTS as i64 * nx, &double),
            Direction::Y => Layout::vector(ny, 1, nx + 2, &point),
        };
        let origin_bytes = 8 * self.nest(side).start as i64;
        Message::single(0, origin_bytes, layout.expect("the array fits in memory"))
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let line = self.line(Side::Send);
        match self.direction {
            Direction::X => {
                let u = ArrayView2::from_shape(self.rows(), arrays.slice::<f64>(0)).expect(SHAPE);
                pack_row(u.slice(s![line, self.inner_values()]), &mut bytemuck::cast_slice_mut(packed));
            }
            Direction::Y => {
                let u = ArrayView2::from_shape(self.points(), arrays.slice::<Point>(0)).expect(SHAPE);
                pack_column(u.slice(s![1..=self.ny, line]), &mut bytemuck::cast_slice_mut(packed));
            }
        }
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let line = self.line(Side::Receive);
        match self.direction {
            Direction::X => {
                let mut u = ArrayViewMut2::from_shape(self.rows(), arrays.slice_mut::<f64>(0)).expect(SHAPE);
                unpack_row(&mut bytemuck::cast_slice(packed), u.slice_mut(s![line, self.inner_values()]));
            }
            Direction::Y => {
                let mut u =
                    ArrayViewMut2::from_shape(self.points(), arrays.slice_mut::<Point>(0)).expect(SHAPE);
                unpack_column(&mut bytemuck::cast_slice(packed), u.slice_mut(s![1..=self.ny, line]));
            }
        }
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.nest(Side::Send).gather::<f64>(arrays.slice(0), bytemuck::cast_slice_mut(packed));
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.nest(Side::Receive).scatter::<f64>(bytemuck::cast_slice(packed), arrays.slice_mut(0));
    }

    fn places(&self, side: Side, _: WireOrder) -> Vec<Place> {
        let line = self.line(side);
        let points: Vec<(usize, usize)> = match self.direction {
            Direction::X => (1..=self.nx).map(|a| (a, line)).collect(),
            Direction::Y => (1..=self.ny).map(|b| (line, b)).collect(),
        };
        let mut places = Vec::new();
        for (a, b) in points {
            for c in 0..COMPONENTS {
                places.push(Place { array: 0, element: c + COMPONENTS * (a + (self.nx + 2) * b) });
            }
        }
        places
    }
}
