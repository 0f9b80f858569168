//! Stencils with plain buffers: the cost of an exchange if no data has to be gathered.
//!
//! Source: CMB, the communication kernel of Sandia's MiniMOD: 6 peers correspond to a 7-point stencil, 26 to
//! a 27-point one. In CMB, peers are the next ranks of a ring, and all get the same buffer. Here they are the
//! neighbours on a 3-d grid, and each has its own buffer.
//!
//! Arrays `send` and `received` of `bytes / 8` doubles for each direction; `bytes` may differ between the
//! dimensions of the 7-point stencil, as faces of a box do. Directions are numbered in the order of their
//! offsets (z, y, x): direction d is the opposite of direction `peers - 1 - d`.

use std::ops::Range;

use datatypes::Element;

use super::grid::{along, indices};
use super::{Cell, Cells, Grid, HaloApp, HaloBuilt, HaloContext, HaloTest, Stage, Transfer};
use crate::face::Face;
use crate::region::{Region, Whole};
use crate::{ArraySpec, Parameter, ParameterType, Preset, Values};

/// Arrays.
const SEND: usize = 0;
const RECEIVED: usize = 1;

/// The peers that share a face.
pub const STENCIL7: HaloTest = HaloTest {
    name: "stencil7",
    original_name: None,
    source: "MiniMOD, CMB kernel",
    about: "one run to each of 6 neighbours on a 3-d grid",
    parameters: &[Parameter::new(
        "bytes",
        "bytes",
        ParameterType::PER_AXIS,
        "bytes to each neighbour, a multiple of 8; of stencil7 also for each dimension, z, y and x: 64KiBx4KiBx4KiB",
    )],
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

/// Dimensions of the grid.
const DIMENSIONS: usize = 3;

/// The stencil of all offsets whose number of steps is `included`.
fn build(values: &Values, context: HaloContext, included: fn(u64) -> bool) -> HaloBuilt {
    let offset = |i| indices(i, &[3; DIMENSIONS]).map(|step| step as i64 - 1);
    let near = |offset: &[i64; DIMENSIONS]| included(offset.iter().map(|step| step.unsigned_abs()).sum());
    let offsets: Vec<_> = (0..27).map(offset).filter(near).collect();
    let bytes = match values.per_axis("bytes") {
        [list] if list.len() == 1 => [list[0]; DIMENSIONS],
        [list] if list.len() == DIMENSIONS && offsets.len() == 2 * DIMENSIONS => [list[0], list[1], list[2]],
        _ if offsets.len() == 2 * DIMENSIONS => {
            return Err(values.refuse("bytes", "must be one number, or three for z, y and x, joined by x"));
        }
        _ => {
            return Err(
                values.refuse("bytes", "must be one number: edges and corners belong to no dimension")
            );
        }
    };
    for bytes in bytes {
        if bytes == 0 || i32::try_from(bytes).is_err() {
            return Err(values.refuse("bytes", format!("must be from 1 to {}", i32::MAX)));
        }
        if !bytes.is_multiple_of(8) {
            let next = bytes.next_multiple_of(8);
            return Err(values.refuse("bytes", format!("must be a multiple of 8; {next} is")));
        }
    }
    let doubles = |offset: &[i64; DIMENSIONS]| bytes[along(offset).map_or(0, |(d, _)| d)] / 8;
    let mut end = 0;
    let run = |offset| {
        let start = end;
        end += doubles(offset);
        start..end
    };
    let runs = offsets.iter().map(run).collect();
    Ok(Box::new(Stencil { grid: context.grid(DIMENSIONS)?, offsets, runs, doubles: end }))
}

struct Stencil {
    grid: Grid,
    /// The offset of each direction; opposite directions are at opposite ends of the list.
    offsets: Vec<[i64; DIMENSIONS]>,
    /// The elements of each direction in the arrays.
    runs: Vec<Range<usize>>,
    /// Elements of an array.
    doubles: usize,
}

impl Stencil {
    fn opposite(&self, direction: usize) -> usize {
        self.offsets.len() - 1 - direction
    }

    fn buffer(&self, array: usize, direction: usize) -> Face {
        let whole = Whole::vectors(array, Element::Double, &[self.doubles], 0, None);
        Face::from_block(Region::new(&whole, [self.runs[direction].clone()]))
    }

    /// The id of value `i` that `rank` sends in `direction`.
    fn id(&self, rank: usize, direction: usize, i: usize) -> u64 {
        (i + self.runs[direction].start + self.doubles * rank) as u64
    }
}

impl HaloApp for Stencil {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        ["send", "received"].map(|name| ArraySpec::new(name, Element::Double, &[self.doubles])).into()
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn along_grid(&self, tag: usize) -> Option<(usize, bool)> {
        // Whether other directions have a neighbour depends on the grid, but what the exchange needs does not.
        let is_of_faces = self.offsets.len() == 2 * DIMENSIONS;
        along(&self.offsets[tag]).filter(|_| is_of_faces)
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
        let peer = |offset: &[i64; DIMENSIONS]| self.grid.neighbour(rank, offset);
        let peers: Vec<Option<usize>> = self.offsets.iter().map(peer).collect();
        Box::new(move |element| {
            let direction = self.runs.partition_point(|run| run.end <= element);
            let i = element - self.runs[direction].start;
            match (array, peers[direction]) {
                (SEND, _) => Cell::Own(self.id(rank, direction, i)),
                (_, Some(peer)) => Cell::Halo(self.id(peer, self.opposite(direction), i)),
                (_, None) => Cell::Other,
            }
        })
    }
}
