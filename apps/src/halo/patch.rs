//! Arrays of which each rank of a grid has a patch with a margin around it, exchanged along one dimension
//! after the other. WRF, NAS MG and NAS LU use this.

use std::ops::Range;
use std::sync::Arc;

use datatypes::Element;

use super::{Cell, Cells, Grid, HaloApp, Stage, Transfer};
use crate::face::Face;
use crate::region::{BoxLoops, Description, Region, Whole};
use crate::{ArrayName, ArraySpec};

/// A dimension of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// Divided along a dimension of the grid: `own` indices per rank, and `margin` more before and behind them.
    Divided { dimension: usize, own: usize, margin: [usize; 2] },
    /// Whole on every rank: `length` indices, exchanged from index `first` on.
    Whole { length: usize, first: usize },
}

impl Axis {
    fn length(self) -> usize {
        match self {
            Self::Divided { own, margin: [before, behind], .. } => before + own + behind,
            Self::Whole { length, .. } => length,
        }
    }
}

/// An array: its name, and its axes, the slowest first.
#[derive(Clone, Debug)]
pub(crate) struct PatchArray {
    pub name: ArrayName,
    pub axes: Vec<Axis>,
}

/// Dimensions of the grid that are exchanged at the same time, up and down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swap {
    /// The dimensions along which the ranks exchange.
    pub along: &'static [usize],
    /// The dimensions along which the faces extend over the halo, if a neighbour owns that.
    pub extended: &'static [usize],
}

/// The exchange. A message has the faces of all arrays, in order.
#[derive(Debug)]
pub(crate) struct Patch {
    pub grid: Grid,
    pub element: Element,
    pub arrays: Vec<PatchArray>,
    /// Number of indices next to a neighbour that are exchanged, or as many as the margin has.
    pub width: usize,
    pub swaps: Vec<Swap>,
    /// Whether edges and corners of the halo arrive too.
    pub corners: bool,
    /// As in [`Whole`].
    pub value_dimensions: usize,
    pub description: Description,
    /// The application's loops over faces across each dimension of the grid; empty if no application has any.
    pub loops: &'static [BoxLoops],
}

impl Patch {
    /// The array, prepared for faces across a dimension of the grid.
    fn whole(&self, array: usize, dimension: usize) -> Arc<Whole> {
        let shape: Vec<usize> = self.arrays[array].axes.iter().map(|axis| axis.length()).collect();
        let (loops, description) = (self.loops.get(dimension).copied(), self.description.clone());
        Whole::new(array, self.element, &shape, self.value_dimensions, loops, description)
    }

    /// The indices along each axis of the face towards `offset`, inside the patch or outside it.
    fn bounds(
        &self,
        rank: usize,
        axes: &[Axis],
        swap: Swap,
        offset: &[i64],
        beyond: bool,
    ) -> Vec<Range<usize>> {
        let bounds = |axis: &Axis| match *axis {
            Axis::Whole { length, first } => first..length,
            Axis::Divided { dimension, own, margin } => {
                let (start, end) = (margin[0], margin[0] + own);
                // Messages up fill the margins before, messages down those behind.
                let [before, behind] = margin.map(|margin| self.width.min(margin));
                match (offset[dimension], beyond) {
                    (-1, false) => start..start + behind,
                    (-1, true) => start - before..start,
                    (1, false) => end - before..end,
                    (1, true) => end..end + behind,
                    _ => {
                        let extension = |offset: &[i64], width| {
                            let is_owned = self.grid.neighbour(rank, offset).is_some();
                            if swap.extended.contains(&dimension) && is_owned { width } else { 0 }
                        };
                        let [down, up] = self.grid.along(dimension);
                        start - extension(&down, before)..end + extension(&up, behind)
                    }
                }
            }
        };
        axes.iter().map(bounds).collect()
    }

    fn face(&self, rank: usize, swap: Swap, dimension: usize, offset: &[i64], beyond: bool) -> Face {
        let mut blocks = Vec::new();
        for (array, PatchArray { axes, .. }) in self.arrays.iter().enumerate() {
            let bounds = self.bounds(rank, axes, swap, offset, beyond);
            if bounds.iter().all(|indices| !indices.is_empty()) {
                blocks.push(Region::block(&self.whole(array, dimension), bounds));
            }
        }
        Face::new(blocks)
    }
}

impl HaloApp for Patch {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        let shape = |array: &PatchArray| array.axes.iter().map(|axis| axis.length()).collect::<Vec<_>>();
        self.arrays
            .iter()
            .map(|array| ArraySpec::new(array.name.clone(), self.element, &shape(array)))
            .collect()
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let stage = |&swap: &Swap| {
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            for &dimension in swap.along {
                let offsets = self.grid.along(dimension);
                for (up, offset) in offsets.iter().enumerate() {
                    let Some(peer) = self.grid.neighbour(rank, offset) else { continue };
                    let face = |beyond| self.face(rank, swap, dimension, offset, beyond);
                    sends.push(Transfer { peer, tag: 2 * dimension + up, face: face(false) });
                    receives.push(Transfer { peer, tag: 2 * dimension + 1 - up, face: face(true) });
                }
            }
            Stage::new(sends, receives)
        };
        self.swaps.iter().map(stage).collect()
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let axes = &self.arrays[array].axes;
        let coordinates = self.grid.coordinates(rank);
        Box::new(move |element| {
            let (mut outside, mut near, mut sent) = (0, true, true);
            // The element's index in the array of all ranks, fastest dimension first.
            let (mut rest, mut global, mut scale) = (element, 0, 1);
            for axis in axes.iter().rev() {
                let at = rest % axis.length();
                rest /= axis.length();
                match *axis {
                    Axis::Whole { length, first } => {
                        sent &= at >= first;
                        global += scale * at;
                        scale *= length;
                    }
                    Axis::Divided { dimension, own, margin } => {
                        let (at, own) = (at as i64 - margin[0] as i64, own as i64);
                        let [before, behind] = margin.map(|margin| self.width.min(margin) as i64);
                        let length = own * self.grid.dims[dimension] as i64;
                        let position = own * coordinates[dimension] as i64 + at;
                        outside += usize::from(!(0..own).contains(&at));
                        near &= (-before..own + behind).contains(&at)
                            && (self.grid.periodic || (0..length).contains(&position));
                        global += scale * position.rem_euclid(length) as usize;
                        scale *= length as usize;
                    }
                }
            }
            let id = (global * self.arrays.len() + array) as u64;
            match outside {
                0 => Cell::Own(id),
                1 if near && sent => Cell::Halo(id),
                _ if near && sent && self.corners => Cell::Halo(id),
                _ => Cell::Other,
            }
        })
    }
}
