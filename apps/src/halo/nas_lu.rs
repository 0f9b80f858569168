//! NAS LU on many ranks: the edges of each rank's part of a 2-d grid, five doubles per point.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), LU, the arrays and rows of `exchange_1.f`.
//!
//! Array and sizes as in [`crate::nas_lu`]. All four edges at once, without corners: the application sends
//! two of them in each sweep, downwards or upwards.

use datatypes::Element;

use super::HaloTest;
use super::patch::{Axis, Patch, PatchArray, Swap};
use crate::nas_lu::{self, COMPONENTS};
use crate::region::Description;

/// Dimensions of the grid.
const Y: usize = 0;
const X: usize = 1;

/// All four edges.
pub const NAS_LU: HaloTest = HaloTest {
    name: "nas_lu",
    original_name: None,
    source: "NAS Parallel Benchmarks 3.3 LU, exchange_1.f",
    about: "four edges of a 2-d grid of points of 5 doubles: rows in one run, columns a row apart",
    parameters: nas_lu::X.parameters,
    sets: nas_lu::X.sets,
    make: |values, context| {
        let axis =
            |name, dimension| Ok(Axis::Divided { dimension, own: values.positive(name)?, margin: [1; 2] });
        let axes = vec![axis("ny", Y)?, axis("nx", X)?, Axis::Whole { length: COMPONENTS, first: 0 }];
        Ok(Box::new(Patch {
            grid: context.grid(2)?,
            element: Element::Double,
            arrays: vec![PatchArray { name: "u".into(), axes }],
            width: 1,
            swaps: vec![Swap { along: &[Y, X], extended: &[] }],
            corners: false,
            value_dimensions: 1,
            description: Description::Vectors,
            loops: &nas_lu::LOOPS,
        }))
    },
};
