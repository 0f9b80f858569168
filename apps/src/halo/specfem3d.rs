//! SPECFEM3D_GLOBE on many ranks: a transpose.
//!
//! Source: SPECFEM3D_GLOBE, mesh of 10x10x6 ranks, the messages of [`crate::specfem3d`].
//!
//! - `specfem3d_mt`: `send(dim1, ranks, dim3)`, floats, first index fastest. Plane p of the middle index goes to rank p:
//!   dim3 runs of dim1. From rank p it arrives in one run, in `received(dim1, dim3, ranks)`. Bytes to each: 4 dim1 dim3.
//!   The ping-pong has the planes of two ranks, and sends one of them.

use datatypes::Element;

use super::face::Face;
use super::grid::indices;
use super::region::{Region, Whole};
use super::{Cell, Cells, HaloApp, HaloTest, Stage};
use crate::{ArraySpec, Parameter, ParameterSet, Preset};

/// The transpose.
pub const MT: HaloTest = HaloTest {
    name: "specfem3d_mt",
    original_name: None,
    source: crate::specfem3d::MT.source,
    about: "all-to-all of the planes of a 3-d array's middle index, each received in one run",
    parameters: &[
        Parameter::integer("dim1", "values", "extent of the fastest index"),
        Parameter::integer("dim3", "values", "extent of the slowest index"),
    ],
    sets: &[
        ParameterSet { name: "3x7600", preset: Preset::Quick, values: &[3, 7600] },
        ParameterSet { name: "3x6400", preset: Preset::Default, values: &[3, 6400] },
        ParameterSet { name: "3x5600", preset: Preset::Default, values: &[3, 5600] },
        ParameterSet { name: "3x6200", preset: Preset::Default, values: &[3, 6200] },
        ParameterSet { name: "3x760000", preset: Preset::Full, values: &[3, 760_000] },
    ],
    make: |values, context| {
        let [dim1, dim3] = ["dim1", "dim3"].map(|name| values.positive(name));
        Ok(Box::new(Transpose { dim1: dim1?, dim3: dim3?, ranks: context.ranks }))
    },
};

/// `specfem3d_mt`.
struct Transpose {
    dim1: usize,
    dim3: usize,
    ranks: usize,
}

impl Transpose {
    /// The shapes of the two arrays.
    fn shapes(&self) -> [[usize; 3]; 2] {
        [[self.dim3, self.ranks, self.dim1], [self.ranks, self.dim3, self.dim1]]
    }
}

impl HaloApp for Transpose {
    fn element(&self) -> Element {
        Element::Float
    }

    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        let [send, received] = self.shapes();
        vec![
            ArraySpec::new("send", Element::Float, &send),
            ArraySpec::new("received", Element::Float, &received),
        ]
    }

    fn stages(&self, _: usize) -> Vec<Stage> {
        let Self { dim1, dim3, ranks } = *self;
        let [send, received] = self.shapes();
        let (send, received) =
            (Whole::vectors(0, Element::Float, &send, 1), Whole::vectors(1, Element::Float, &received, 1));
        vec![Stage::all_to_all(
            ranks,
            |peer| Face::of(Region::new(&send, &[0, peer, 0], &[dim3, 1, dim1])),
            |peer| Face::of(Region::new(&received, &[peer, 0, 0], &[1, dim3, dim1])),
        )]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Self { dim1, dim3, ranks } = *self;
        // Value i of row k that one rank sends to another.
        let id = move |from: usize, to: usize, k: usize, i: usize| {
            (i + dim1 * (k + dim3 * (to + ranks * from))) as u64
        };
        let shape = self.shapes()[array];
        Box::new(move |element| {
            let [a, b, i] = indices(element, &shape);
            if array == 0 { Cell::Own(id(rank, b, a, i)) } else { Cell::Halo(id(a, rank, b, i)) }
        })
    }
}
