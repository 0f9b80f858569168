//! NAS LU: the pencil exchange of the SSOR solver's right-hand side, one face row of a 2-d decomposition.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), LU, `exchange_1.f`; as micro-app in DDTBench 1.2, `src_c/timing_nas.c`.
//!
//! Array `u(5, nx+2, ny+2)`, doubles, first index fastest; a = 0 and a = nx+1, b = 0 and b = ny+1 are halo.
//! - `nas_lu_x`: sends a = 1..=nx at b = ny, receives at b = 0: one contiguous run.
//! - `nas_lu_y`: sends b = 1..=ny at a = nx, receives at a = 0: ny runs of five doubles.
//!
//! Bytes: 40 nx and 40 ny. The original's hand-written y loop leaves out the last grid point; here both are whole.

use datatypes::{Element, Layout};
use ndarray::{Ix3, s};

use crate::{
    ArraySpec, Arrays, Built, Message, MicroApp, Parameter, ParameterSet, Place, Preset, Side, Test, Values,
    WireOrder,
};

/// Components of the solution at a grid point.
const COMPONENTS: usize = 5;

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
}

impl MicroApp for NasLu {
    fn arrays(&self) -> Vec<ArraySpec> {
        vec![ArraySpec::new("u", Element::Double, &[self.ny + 2, self.nx + 2, COMPONENTS])]
    }

    fn element(&self) -> Element {
        Element::Double
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (nx, ny, row, line) =
            (self.nx as i64, self.ny as i64, self.nx as i64 + 2, self.line(side) as i64);
        let double = Layout::named(Element::Double);
        let point_bytes = COMPONENTS as i64 * 8;
        let point = Layout::contiguous(COMPONENTS as i64, &double).expect("a point is small");
        let (layout, start) = match self.direction {
            Direction::X => (Layout::contiguous(COMPONENTS as i64 * nx, &double), 1 + row * line),
            Direction::Y => (Layout::vector(ny, 1, row, &point), line + row),
        };
        let layout = layout.expect("the array fits in memory");
        Message::single(0, start * point_bytes, layout)
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let u = arrays.view::<f64, Ix3>(0);
        let packed: &mut [f64] = bytemuck::cast_slice_mut(packed);
        let line = self.line(Side::Send);
        match self.direction {
            Direction::X => {
                let row = u.slice_move(s![line, 1..=self.nx, ..]);
                packed.copy_from_slice(row.as_slice().expect("a row is contiguous"));
            }
            Direction::Y => {
                let column = u.slice_move(s![1..=self.ny, line, ..]);
                for (to, from) in packed.as_chunks_mut::<COMPONENTS>().0.iter_mut().zip(column.rows()) {
                    to.copy_from_slice(from.as_slice().expect("components are contiguous"));
                }
            }
        }
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        let u = arrays.view_mut::<f64, Ix3>(0);
        let packed: &[f64] = bytemuck::cast_slice(packed);
        let line = self.line(Side::Receive);
        match self.direction {
            Direction::X => {
                let mut row = u.slice_move(s![line, 1..=self.nx, ..]);
                row.as_slice_mut().expect("a row is contiguous").copy_from_slice(packed);
            }
            Direction::Y => {
                let mut column = u.slice_move(s![1..=self.ny, line, ..]);
                for (from, mut to) in packed.as_chunks::<COMPONENTS>().0.iter().zip(column.rows_mut()) {
                    to.as_slice_mut().expect("components are contiguous").copy_from_slice(from);
                }
            }
        }
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
