//! NAS MG on many ranks: the one layer of halo around each rank's part of a 3-d grid.
//!
//! Source: NAS Parallel Benchmarks 3.3 (MPI), MG, `mg.f`, `comm3` with `give3` and `take3`.
//!
//! Array and sizes as in [`crate::nas_mg`]. Along x, then y, then z, up and down. Faces across y extend over the halo
//! in x, those across z over the halo in x and y, so that edges and corners arrive. DDTBench's tests send only the
//! interior of each face. The application is periodic, and its number of ranks is a power of two.

use datatypes::Element;

use super::HaloTest;
use super::app::refuse_ranks;
use super::patch::{Axis, Patch, PatchArray, Swap};
use crate::nas_mg;
use crate::region::Description;

/// Dimensions of the grid.
const Z: usize = 0;
const Y: usize = 1;
const X: usize = 2;

/// All six faces.
pub const NAS_MG: HaloTest = HaloTest {
    name: "nas_mg",
    original_name: None,
    source: "NAS Parallel Benchmarks 3.3 MG, mg.f comm3",
    about: "six faces of a 3-d grid, one dimension after the other, edges and corners forwarded",
    parameters: nas_mg::X.parameters,
    sets: nas_mg::X.sets,
    make: |values, context| {
        if !context.ranks.is_power_of_two() {
            return Err(refuse_ranks("nas_mg", context.ranks, usize::is_power_of_two));
        }
        // At least one interior point between two halo points.
        let axis = |name, dimension| {
            let points = values.within(name, 3..=i32::MAX.into())? as usize;
            Ok(Axis::Divided { dimension, own: points - 2, margin: [1; 2] })
        };
        let axes = vec![axis("d3", Z)?, axis("d2", Y)?, axis("d1", X)?];
        Ok(Box::new(Patch {
            grid: context.grid(3)?,
            element: Element::Double,
            arrays: vec![PatchArray { name: "u".into(), axes }],
            width: 1,
            swaps: vec![
                Swap { along: &[X], extended: &[] },
                Swap { along: &[Y], extended: &[X] },
                Swap { along: &[Z], extended: &[X, Y] },
            ],
            corners: true,
            value_dimensions: 0,
            description: Description::Vectors,
            loops: &nas_mg::LOOPS,
        }))
    },
};
