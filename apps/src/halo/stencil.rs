//! Stencils with plain buffers: the cost of an exchange if no data has to be gathered.
//!
//! Source: CMB, the communication kernel of Sandia's MiniMOD: 6 peers correspond to a 7-point stencil, 26 to a
//! 27-point one. In CMB, peers are the next ranks of a ring, and all get the same buffer. Here they are the
//! neighbours on a 3-d grid, and each has its own buffer.
//!
//! Arrays `send` and `received` of `bytes / 8` doubles for each direction. Directions are numbered in the order of
//! their offsets (z, y, x): direction d is the opposite of direction `peers - 1 - d`.

use datatypes::Element;

use super::grid::indices;
use super::{Cell, Cells, Grid, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
use crate::face::Face;
use crate::region::{Region, Whole};
use crate::{ArraySpec, Parameter, Preset, Values};

/// Arrays.
const SEND: usize = 0;
const RECEIVED: usize = 1;

/// The peers that share a face.
pub const STENCIL7: HaloTest = HaloTest {
    name: "stencil7",
    original_name: None,
    source: "MiniMOD, CMB kernel",
    about: "one run to each of 6 neighbours on a 3-d grid",
    parameters: &[Parameter::integer("bytes", "bytes", "bytes to each neighbour, a multiple of 8")],
    // 256 B to 4 MiB as in the CMB paper.
    sets: &[
        Preset::Default.set("256", "256"),
        Preset::Default.set("1024", "1024"),
        Preset::Default.set("4096", "4096"),
        Preset::Default.set("16384", "16384"),
        Preset::Quick.set("65536", "65536"),
        Preset::Default.set("262144", "262144"),
        Preset::Default.set("1048576", "1048576"),
        Preset::Default.set("4194304", "4194304"),
        Preset::Full.set("16777216", "16777216"),
    ],
    make: |values, context| build(values, context, |distance| distance == 1),
};

/// The peers that share a face, an edge or a corner.
pub const STENCIL27: HaloTest = HaloTest {
    name: "stencil27",
    about: "one run to each of 26 neighbours on a 3-d grid",
    make: |values, context| build(values, context, |distance| distance > 0),
    ..STENCIL7
};

/// The stencil of all offsets whose number of steps is `included`.
fn build(values: &Values, context: HaloContext, included: fn(u64) -> bool) -> HaloBuilt {
    let bytes = values.positive("bytes")?;
    if !bytes.is_multiple_of(8) {
        return Err(
            values.refuse("bytes", format!("must be a multiple of 8; {} is", bytes.next_multiple_of(8)))
        );
    }
    let offsets = (0..27).map(|i| indices(i, &[3, 3, 3]).into_iter().map(|step| step as i64 - 1).collect());
    let near = |offset: &Vec<i64>| included(offset.iter().map(|step| step.unsigned_abs()).sum());
    Ok(Box::new(Stencil {
        grid: Grid::balanced(context.ranks, 3, context.periodic),
        offsets: offsets.filter(near).collect(),
        doubles: bytes / 8,
    }))
}

struct Stencil {
    grid: Grid,
    /// The offset of each direction; opposite directions are at opposite ends of the list.
    offsets: Vec<Vec<i64>>,
    doubles: usize,
}

impl Stencil {
    fn opposite(&self, direction: usize) -> usize {
        self.offsets.len() - 1 - direction
    }

    fn buffer(&self, array: usize, direction: usize) -> Face {
        let whole = Whole::vectors(array, Element::Double, &[self.offsets.len(), self.doubles], 0, None);
        Face::of(Region::new(&whole, [direction..direction + 1, 0..self.doubles]))
    }

    /// The id of value `i` that `rank` sends in `direction`.
    fn id(&self, rank: usize, direction: usize, i: usize) -> u64 {
        (i + self.doubles * (direction + self.offsets.len() * rank)) as u64
    }
}

impl HaloApp for Stencil {
    fn element(&self) -> Element {
        Element::Double
    }

    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        let shape = [self.offsets.len(), self.doubles];
        ["send", "received"].map(|name| ArraySpec::new(name, Element::Double, &shape)).into()
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for (direction, offset) in self.offsets.iter().enumerate() {
            let Some(peer) = self.grid.neighbour(rank, offset) else { continue };
            sends.push(Transfer { peer, tag: direction, face: self.buffer(SEND, direction) });
            let face = self.buffer(RECEIVED, direction);
            receives.push(Transfer { peer, tag: self.opposite(direction), face });
        }
        vec![Stage::new(sends, receives)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let peer = |offset: &Vec<i64>| self.grid.neighbour(rank, offset);
        let peers: Vec<Option<usize>> = self.offsets.iter().map(peer).collect();
        Box::new(move |element| {
            let (direction, i) = (element / self.doubles, element % self.doubles);
            match (array, peers[direction]) {
                (SEND, _) => Cell::Own(self.id(rank, direction, i)),
                (_, Some(peer)) => Cell::Halo(self.id(peer, self.opposite(direction), i)),
                (_, None) => Cell::Other,
            }
        })
    }
}
