//! MILC on many ranks: the gathers of su3 vectors from all eight directions of a 4-d lattice.
//!
//! Source: MIMD Lattice Computation (MILC), `su3_rmd`, the gathers of its conjugate gradient solver.
//!
//! A rank stores its sites with even x+y+z+t before the odd ones, and so every second x of each row: array
//! `su3(6, lx/2, ly, lz, 2 lt)`, floats, first index fastest; index t of the odd sites is lt + t. These are
//! the two halves of [`crate::milc`]. A slice is sent with even sites first, in the order of the array. As in
//! MILC's gathers, it is received into a separate buffer for each direction.
//!
//! - t: 2 runs of lx ly lz/2 sites; z: 2 lt runs of lx ly/2, the message of the ping-pong; y: 2 lt lz runs of lx/2;
//! - x: in even and in odd sites every second row has a site of a slice, so these are at listed places.
//!
//! Bytes along an axis: 24 times the sites of a slice.

use datatypes::Element;

use super::grid::indices;
use super::{Cell, Cells, Grid, HaloApp, HaloTest, Stage, Transfer};
use crate::ArraySpec;
use crate::face::Face;
use crate::list::List;
use crate::milc::{self, SITE};
use crate::permutation::IndexList;
use crate::region::{Region, Whole};

/// Dimensions of the lattice and of the grid.
const T: usize = 0;
const Z: usize = 1;
const Y: usize = 2;
const X: usize = 3;

/// The buffers, in the order of the directions: down and up along each dimension.
const BUFFERS: &str =
    "from_t_down from_t_up from_z_down from_z_up from_y_down from_y_up from_x_down from_x_up";

/// All eight gathers.
pub const MILC: HaloTest = HaloTest {
    name: "milc",
    original_name: None,
    source: "MILC su3_rmd, gathers of su3 vectors",
    about: "slices of a 4-d lattice in all eight directions, even and odd sites apart",
    parameters: milc::SU3_ZD.parameters,
    sets: milc::SU3_ZD.sets,
    make: |values, context| {
        let even = |name| match values.positive(name)? {
            sites if sites.is_multiple_of(2) => Ok(sites),
            _ => Err(values.refuse(name, "must be even: as many sites of a row are even as odd")),
        };
        let sites = [even("lt")?, even("lz")?, even("ly")?, even("lx")?];
        Ok(Box::new(Milc { grid: context.grid(4)?, sites }))
    },
};

struct Milc {
    grid: Grid,
    /// Sites of a rank along each dimension.
    sites: [usize; 4],
}

/// The index along a dimension of `sites` of the slice that is sent up or down.
fn slice(sites: usize, up: bool) -> usize {
    if up { sites - 1 } else { 0 }
}

impl Milc {
    /// Shape of the lattice's array.
    fn lattice(&self) -> [usize; 5] {
        let [lt, lz, ly, lx] = self.sites;
        [2 * lt, lz, ly, lx / 2, SITE]
    }

    /// Shape of the buffer of a slice across a dimension: the lattice's shape with one index in that
    /// dimension. Across x, where only half of the rows have an even site, there are half as many rows.
    fn buffer(&self, dimension: usize) -> [usize; 5] {
        let mut shape = self.lattice();
        shape[dimension] = if dimension == T { 2 } else { 1 };
        if dimension == X {
            shape[Y] /= 2;
        }
        shape
    }

    /// The slice with index `at` in a dimension.
    fn sent(&self, dimension: usize, at: usize) -> Face {
        let (shape, lt) = (self.lattice(), self.sites[T]);
        if dimension == X {
            let sites = self.places_across_x(at);
            return Face::from_block(List {
                array: 0,
                element: Element::Float,
                length: SITE,
                length_is_known: true,
                per_plane: sites.len() / (2 * lt),
                places: IndexList::given(sites),
            });
        }
        let lattice = Whole::vectors(0, Element::Float, &shape, 1, Some(milc::LOOPS));
        let box_from = |first: usize| {
            let mut bounds = shape.map(|length| 0..length);
            bounds[dimension] = first..first + 1;
            Region::block(&lattice, bounds)
        };
        Face::new(if dimension == T { vec![box_from(at), box_from(lt + at)] } else { vec![box_from(at)] })
    }

    /// The sites with this x: for even and for odd sites, one in each row whose other coordinates have the
    /// right parity.
    fn places_across_x(&self, x: usize) -> Vec<u32> {
        let [lt, lz, ly, lx] = self.sites;
        let mut places = Vec::with_capacity(lt * lz * ly);
        for row in 0..2 * lt * lz * ly {
            let [pt, z, y] = indices(row, &[2 * lt, lz, ly]);
            let odd = pt / lt;
            if (x + y + z + pt % lt) % 2 == odd {
                places.push((x / 2 + lx / 2 * row) as u32);
            }
        }
        places
    }

    /// The whole buffer for the data from direction `from`; it is cut in the same way as the slice.
    fn received(&self, from: usize) -> Face {
        let shape = self.buffer(from / 2);
        // The whole buffer is one run: the application has no loops over it.
        let buffer = Whole::vectors(1 + from, Element::Float, &shape, 1, None);
        let halves = if from / 2 == T { 2 } else { 1 };
        let half = |i: usize| {
            let mut bounds = shape.map(|length| 0..length);
            let sites = shape[T] / halves;
            bounds[T] = i * sites..(i + 1) * sites;
            Region::block(&buffer, bounds)
        };
        Face::new((0..halves).map(half))
    }

    /// The id of a value: its site in the periodic lattice of all ranks, and its component.
    fn id(&self, coordinates: &[usize], site: [i64; 4], component: usize) -> u64 {
        let mut number = 0;
        for d in [T, Z, Y, X] {
            let (sites, all) = (self.sites[d] as i64, (self.sites[d] * self.grid.dims[d]) as i64);
            number = number * all + (coordinates[d] as i64 * sites + site[d]).rem_euclid(all);
        }
        (number as usize * SITE + component) as u64
    }
}

impl HaloApp for Milc {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        let float = |name: &'static str, shape: &[usize]| ArraySpec::new(name, Element::Float, shape);
        let buffers =
            BUFFERS.split_whitespace().enumerate().map(|(from, name)| float(name, &self.buffer(from / 2)));
        [float("su3", &self.lattice())].into_iter().chain(buffers).collect()
    }

    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    fn stages(&self, rank: usize) -> Vec<Stage> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for dimension in [T, Z, Y, X] {
            for (up, offset) in self.grid.along(dimension).iter().enumerate() {
                let Some(peer) = self.grid.neighbour(rank, offset) else { continue };
                let direction = 2 * dimension + up;
                let face = self.sent(dimension, slice(self.sites[dimension], up == 1));
                sends.push(Transfer { peer, tag: direction, face });
                receives.push(Transfer { peer, tag: direction ^ 1, face: self.received(direction) });
            }
        }
        vec![Stage::new(sends, receives)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let [lt, ..] = self.sites;
        let coordinates = self.grid.coordinates(rank);
        if array == 0 {
            return Box::new(move |element| {
                let [pt, z, y, half, c] = indices(element, &self.lattice());
                let (odd, t) = (pt / lt, pt % lt);
                let x = 2 * half + (odd + t + z + y) % 2;
                Cell::Own(self.id(&coordinates, [t, z, y, x].map(|i| i as i64), c))
            });
        }
        let (dimension, up) = ((array - 1) / 2, (array - 1) % 2);
        if self.grid.neighbour(rank, &self.grid.along(dimension)[up]).is_none() {
            return Box::new(|_| Cell::Other);
        }
        // Just outside the rank's own sites. Their number is even, so the peer's index has the same parity.
        let at = if up == 1 { self.sites[dimension] as i64 } else { -1 };
        let parity = at.rem_euclid(2) as usize;
        Box::new(move |element| {
            let shape = self.buffer(dimension);
            let [pt, z, y, half, c] = indices(element, &shape);
            let (odd, t) = (pt / (shape[T] / 2), pt % (shape[T] / 2));
            // In each pair of neighbours in a row, the site with the wanted parity.
            let [t, z, y, half] = [t, z, y, half].map(|i| i as i64);
            let one = |others: i64| (odd as i64 + parity as i64 + others) % 2;
            let site = match dimension {
                T => [at, z, y, 2 * half + one(z + y)],
                Z => [t, at, y, 2 * half + one(t + y)],
                Y => [t, z, at, 2 * half + one(t + z)],
                _ => [t, z, 2 * y + one(t + z), at],
            };
            Cell::Halo(self.id(&coordinates, site, c))
        })
    }
}
