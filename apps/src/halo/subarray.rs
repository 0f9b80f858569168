//! The user's own array on many ranks: the halo around each rank's part of it.
//!
//! Source: none; the user gives the shape.
//!
//! Arrays as in [`crate::subarray`]. The axes with a halo are divided among the ranks of a grid; the others
//! are whole on every rank, and sent whole. `width` layers are exchanged up and down each divided axis, all
//! axes at once. With `corners`, one axis is exchanged after the other, the fastest first. Each face then
//! spans the halo of the axes before, so that edges and corners arrive.

use super::patch::{Axis, Patch, PatchArray, Swap};
use super::{HaloBuilt, HaloContext, HaloTest, PADDED};
use crate::region::Description;
use crate::subarray::{ARRAYS, Declared, ORDER, SHAPE, halo, slowest_first};
use crate::{Parameter, Preset, Values};

/// Dimensions of the grid: as many as [`Swap`] can name. No application known to us divides more than four.
static DIMENSIONS: [usize; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// All faces.
pub const SUBARRAY: HaloTest = HaloTest {
    name: "subarray",
    original_name: None,
    source: "your own array",
    about: "the halo of arrays of any shape: -p shape=102x102x52 -p halo=2 -p width=2",
    parameters: &[
        SHAPE,
        ARRAYS,
        ORDER,
        Parameter::element("element", "predefined type of an element"),
        Parameter::integer("width", "layers", "layers exchanged on each side, or as many as its halo has"),
        halo(
            "points of halo on either side of each axis, or one number for all; 1:2: before and behind; an axis without is not \
             divided; width: as wide as what is exchanged, on x, y and z",
        ),
        Parameter::choice(
            "corners",
            "yes: edges and corners of the halo are exchanged too; no: only faces",
            &["no", "yes"],
        ),
    ],
    sets: &[
        // shape, arrays, order, element, width, halo, corners
        Preset::Quick.set("66x66x66", "66x66x66 1 fortran double 1 width no"),
        Preset::Default.set("66x66x66_corners", "66x66x66 1 fortran double 1 width yes"),
        Preset::Default.set("102x102x52x5", "102x102x52x5 1 fortran double 2 2x2x2x0 no"),
        Preset::Full.set("258x258x258", "258x258x258 1 fortran double 1 width no"),
    ],
    make: build,
};

fn build(values: &Values, mut context: HaloContext) -> HaloBuilt {
    let declared = Declared::new(values)?;
    if declared.element.padded_parts().is_some() {
        return Err(values.refuse("element", PADDED));
    }
    let width = values.positive("width")?;
    let halos = declared.halos(width, None)?;
    let mut dimensions = Vec::new();
    let mut all_axes = Vec::new();
    for (i, (points, halo)) in declared.shapes.iter().zip(&halos).enumerate() {
        let (mut axes, mut divided) = (Vec::new(), 0);
        for (d, (&length, &margin)) in points.iter().zip(halo).enumerate() {
            if margin == [0; 2] {
                axes.push(Axis::Whole { length, first: 0 });
                continue;
            }
            if margin.contains(&0) {
                return Err(values.refuse("halo", "must be on both sides of a divided axis, or on neither"));
            }
            // A halo belongs only to the nearest neighbour.
            declared.check_width(i, d, halo, margin[0].max(margin[1]), width)?;
            axes.push(Axis::Divided { dimension: divided, own: length - margin[0] - margin[1], margin });
            divided += 1;
        }
        all_axes.push(axes);
        dimensions.push(divided);
    }
    let divided = dimensions[0];
    if dimensions.iter().any(|&other| other != divided) {
        return Err(
            values.refuse("halo", "must be on as many axes of each shape: those are divided among the ranks")
        );
    }
    if !(1..=DIMENSIONS.len()).contains(&divided) {
        let most = DIMENSIONS.len();
        return Err(
            values.refuse("halo", format!("must be on 1 to {most} axes: those are divided among the ranks"))
        );
    }
    let has_corners = values.choice("corners") == "yes";
    let one_after_the_other = || {
        let swap = |d: usize| Swap { along: &DIMENSIONS[d..=d], extended: &DIMENSIONS[d + 1..divided] };
        (0..divided).rev().map(swap).collect()
    };
    let swaps = if has_corners {
        one_after_the_other()
    } else {
        vec![Swap { along: &DIMENSIONS[..divided], extended: &[] }]
    };
    let array =
        |(spec, i): (crate::ArraySpec, usize)| PatchArray { name: spec.name, axes: all_axes[i].clone() };
    // Users give it in the order of the shape, in which it is also refused.
    context.grid(divided)?;
    context.dims = context.dims.map(|dims| slowest_first(declared.order, &dims));
    Ok(Box::new(Patch {
        grid: context.grid(divided)?,
        element: declared.element,
        arrays: declared.specs().into_iter().zip(declared.arrays()).map(array).collect(),
        width,
        swaps,
        corners: has_corners,
        value_dimensions: 0,
        description: Description::Subarray(declared.order),
        loops: &[],
    }))
}
