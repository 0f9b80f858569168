//! SPECFEM3D_GLOBE on many ranks: a transpose, and the assembly of values shared by irregular neighbours.
//!
//! Source: SPECFEM3D_GLOBE, mesh of 10x10x6 ranks, the messages of [`crate::specfem3d`].
//!
//! - `specfem3d_mt`: `send(dim1, ranks, dim3)`, floats, first index fastest. Plane p of the middle index goes to rank
//!   p: dim3 runs of dim1. From rank p it arrives in one run, in `received(dim1, dim3, ranks)`. Bytes to each: 4 dim1
//!   dim3. The ping-pong has the planes of two ranks, and sends one of them.
//! - `specfem3d_oc`, `specfem3d_cm`: the points of the ping-pong, shared with a random set of neighbours. The number
//!   of points shared with each is random: from half of icount to icount. Sent from `accel`, received at the same
//!   points of `received`: the application would add the received values, here they are stored. Each point is shared
//!   with one neighbour.
//!
//! Neighbourhoods are random but symmetric: a ring, so that all are connected, and pairs from three random
//! orders of the ranks. So a rank has up to five neighbours, whatever the number of ranks.

use std::collections::{BTreeSet, HashMap};

use datatypes::Element;

use super::grid::indices;
use super::{Cell, Cells, HaloApp, HaloContext, HaloTest, Stage, Transfer};
use crate::face::Face;
use crate::permutation::{IndexList, number, shuffled};
use crate::region::{Region, Whole};
use crate::{ArraySpec, Parameter, ParameterError, Preset, Values, specfem3d};

/// The transpose.
pub const MT: HaloTest = HaloTest {
    name: "specfem3d_mt",
    original_name: None,
    source: specfem3d::MT.source,
    about: "all-to-all of the planes of a 3-d array's middle index, each received in one run",
    parameters: &[
        Parameter::integer("dim1", "values", "extent of the fastest index"),
        Parameter::integer("dim3", "values", "extent of the slowest index"),
    ],
    sets: &[
        Preset::Quick.set("3x7600", "3 7600"),
        Preset::Default.set("3x6400", "3 6400"),
        Preset::Default.set("3x5600", "3 5600"),
        Preset::Default.set("3x6200", "3 6200"),
        Preset::Full.set("3x760000", "3 760000"),
    ],
    make: |values, context| {
        let [dim1, dim3] = ["dim1", "dim3"].map(|name| values.positive(name));
        Ok(Box::new(MeshTranspose { dim1: dim1?, dim3: dim3?, ranks: context.ranks }))
    },
};

/// Values of the outer core.
pub const OC: HaloTest = HaloTest {
    name: "specfem3d_oc",
    about: "single floats at random indices, shared with irregular neighbours",
    parameters: specfem3d::OC.parameters,
    sets: specfem3d::OC.sets,
    make: |values, context| {
        let mesh = SharedMesh::checked(values, ["accel", "received"], ["dim1", "icount"])?;
        Ok(Box::new(Shared::new(context, 1, vec![mesh])))
    },
    ..MT
};

/// Vectors of crust and mantle, and of the inner core.
pub const CM: HaloTest = HaloTest {
    name: "specfem3d_cm",
    about: "three floats each at random indices of two arrays, shared with irregular neighbours",
    parameters: specfem3d::CM.parameters,
    sets: specfem3d::CM.sets,
    make: |values, context| {
        let meshes = vec![
            SharedMesh::checked(values, ["accel_cm", "received_cm"], ["dim2_cm", "icount_cm"])?,
            SharedMesh::checked(values, ["accel_ic", "received_ic"], ["dim2_ic", "icount_ic"])?,
        ];
        Ok(Box::new(Shared::new(context, specfem3d::VECTOR, meshes)))
    },
    ..MT
};

/// `specfem3d_mt`.
struct MeshTranspose {
    dim1: usize,
    dim3: usize,
    ranks: usize,
}

impl MeshTranspose {
    /// The shapes of the two arrays.
    fn shapes(&self) -> [[usize; 3]; 2] {
        [[self.dim3, self.ranks, self.dim1], [self.ranks, self.dim3, self.dim1]]
    }
}

impl HaloApp for MeshTranspose {
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
        let send = Whole::vectors(0, Element::Float, &send, 1, Some(specfem3d::LOOPS));
        // It arrives in place: applications have no loops to unpack it.
        let received = Whole::vectors(1, Element::Float, &received, 1, None);
        vec![Stage::all_to_all(
            ranks,
            |peer| Face::from_block(Region::new(&send, [0..dim3, peer..peer + 1, 0..dim1])),
            |peer| Face::from_block(Region::new(&received, [peer..peer + 1, 0..dim3, 0..dim1])),
        )]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Self { dim1, dim3, ranks } = *self;
        // The id of value i of row k of the block from one rank to another.
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

/// Random orders of the ranks; two ranks that follow each other in one are neighbours.
const PAIRINGS: usize = 3;

/// Maximum number of neighbours: two in the ring, and one of each pairing.
const MOST_NEIGHBOURS: usize = 2 + PAIRINGS;

/// Streams of random numbers, far enough apart to add any number to each.
const PAIRS: u64 = 1 << 60;
const COUNTS: u64 = 2 << 60;
const POINTS: u64 = 3 << 60;

/// The points of one part of the earth.
struct SharedMesh {
    /// Names of the arrays to send from and to receive into.
    names: [&'static str; 2],
    points: usize,
    /// Maximum number of points that two ranks share.
    shared: usize,
}

impl SharedMesh {
    fn checked(
        values: &Values,
        names: [&'static str; 2],
        [points, shared]: [&'static str; 2],
    ) -> Result<Self, ParameterError> {
        let points = values.positive(points)?;
        // Each neighbour has its own points.
        let shared = values.within(shared, 1..=(points / MOST_NEIGHBOURS) as i64)? as usize;
        Ok(Self { names, points, shared })
    }
}

/// `specfem3d_oc` and `specfem3d_cm`.
struct Shared {
    /// Floats per point.
    components: usize,
    meshes: Vec<SharedMesh>,
    seed: u64,
    /// The neighbours of each rank, in ascending order.
    neighbours: Vec<Vec<usize>>,
    /// The points of each mesh that each rank shares: those with its first neighbour, then those with the second, ...
    points: Vec<Vec<IndexList>>,
}

impl Shared {
    fn new(context: HaloContext, components: usize, meshes: Vec<SharedMesh>) -> Self {
        let HaloContext { ranks, seed, .. } = context;
        let neighbours = neighbourhood(ranks, seed);
        let mut shared = Self { components, meshes, seed, neighbours, points: Vec::new() };
        let list = |rank: usize, (number, mesh): (usize, &SharedMesh)| {
            let counts = shared.neighbours[rank].iter().map(|&peer| shared.count(number, rank, peer));
            let stream = POINTS + (rank * shared.meshes.len() + number) as u64;
            IndexList::drawn(seed, stream, mesh.points as u32, counts.sum())
        };
        let lists = |rank| shared.meshes.iter().enumerate().map(|mesh| list(rank, mesh)).collect();
        shared.points = (0..ranks).map(lists).collect();
        shared
    }

    /// How many points of a mesh two neighbours share.
    fn count(&self, mesh: usize, a: usize, b: usize) -> usize {
        let most = self.meshes[mesh].shared;
        let pair = a.min(b) * self.neighbours.len() + a.max(b);
        number(self.seed, COUNTS + (pair * self.meshes.len() + mesh) as u64, most.div_ceil(2)..=most)
    }

    /// The points of a mesh that `rank` shares with `peer`, in the order of the message.
    fn shared(&self, mesh: usize, rank: usize, peer: usize) -> IndexList {
        let before = self.neighbours[rank].iter().take_while(|&&other| other != peer);
        let first: usize = before.map(|&other| self.count(mesh, rank, other)).sum();
        self.points[rank][mesh].part(first..first + self.count(mesh, rank, peer))
    }

    /// The points that `rank` shares with `peer`, in the arrays from number `first` on.
    fn face(&self, first: usize, rank: usize, peer: usize) -> Face {
        let list = |mesh| specfem3d::list(first + mesh, self.components, self.shared(mesh, rank, peer));
        Face::new((0..self.meshes.len()).map(list))
    }

    fn id(&self, rank: usize, mesh: usize, point: usize, component: usize) -> u64 {
        let all: usize = self.meshes.iter().map(|mesh| mesh.points).sum();
        let before: usize = self.meshes[..mesh].iter().map(|mesh| mesh.points).sum();
        (component + self.components * (point + before + all * rank)) as u64
    }
}

impl HaloApp for Shared {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        let array = |(side, mesh): (usize, &SharedMesh)| {
            let shape = specfem3d::shape(mesh.points, self.components);
            ArraySpec::new(mesh.names[side], Element::Float, &shape)
        };
        (0..2).flat_map(|side| self.meshes.iter().map(move |mesh| (side, mesh))).map(array).collect()
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let transfers = |first: usize| {
            let transfer = |&peer: &usize| Transfer { peer, tag: 0, face: self.face(first, rank, peer) };
            self.neighbours[rank].iter().map(transfer).collect()
        };
        vec![Stage::new(transfers(0), transfers(self.meshes.len()))]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let mesh = array % self.meshes.len();
        let split = |element: usize| (element / self.components, element % self.components);
        if array < self.meshes.len() {
            return Box::new(move |element| {
                let (point, component) = split(element);
                Cell::Own(self.id(rank, mesh, point, component))
            });
        }
        // For each of our points, the peer and the point that arrives there.
        let mut arrivals = HashMap::new();
        for &peer in &self.neighbours[rank] {
            let (ours, theirs) = (self.shared(mesh, rank, peer), self.shared(mesh, peer, rank));
            let pairs = ours.get().iter().zip(theirs.get());
            arrivals.extend(pairs.map(|(&ours, &theirs)| (ours as usize, (peer, theirs as usize))));
        }
        Box::new(move |element| {
            let (point, component) = split(element);
            match arrivals.get(&point) {
                Some(&(peer, theirs)) => Cell::Halo(self.id(peer, mesh, theirs, component)),
                None => Cell::Other,
            }
        })
    }
}

/// The neighbours of each rank: symmetric and connected, up to [`MOST_NEIGHBOURS`].
fn neighbourhood(ranks: usize, seed: u64) -> Vec<Vec<usize>> {
    let ring = (0..ranks).map(|rank| (rank, (rank + 1) % ranks));
    let pairings = (0..PAIRINGS).flat_map(|pairing| {
        let order = shuffled(seed, PAIRS + pairing as u64, ranks);
        order.as_chunks::<2>().0.iter().map(|&[a, b]| (a as usize, b as usize)).collect::<Vec<_>>()
    });
    let mut neighbours = vec![BTreeSet::new(); ranks];
    for (a, b) in ring.chain(pairings).filter(|(a, b)| a != b) {
        neighbours[a].insert(b);
        neighbours[b].insert(a);
    }
    neighbours.into_iter().map(|set| set.into_iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbourhoods_are_symmetric_irregular_and_small() {
        for ranks in [1, 2, 3, 7, 64] {
            let neighbours = neighbourhood(ranks, 1);
            for (rank, peers) in neighbours.iter().enumerate() {
                assert!(peers.len() <= MOST_NEIGHBOURS && !peers.contains(&rank));
                assert!(peers.iter().all(|&peer| neighbours[peer].contains(&rank)));
                assert!(ranks == 1 || peers.contains(&((rank + 1) % ranks)));
            }
            let numbers: BTreeSet<usize> = neighbours.iter().map(Vec::len).collect();
            assert!(ranks < 64 || numbers.len() > 1, "all of {ranks} ranks have as many neighbours");
        }
        assert_ne!(neighbourhood(64, 1), neighbourhood(64, 2));
    }
}
