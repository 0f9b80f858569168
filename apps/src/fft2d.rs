//! 2-d FFT: the transpose of a distributed matrix between the FFTs along its two dimensions, and back.
//!
//! Source: T. Hoefler, S. Gottlieb: Parallel Zero-Copy Algorithms for Fast Fourier Transform and Conjugate
//! Gradient using MPI Datatypes (EuroMPI 2010); as micro-app in DDTBench 1.2, `src_c/timing_fft2d.c`.
//!
//! Each of P ranks has n = N/P columns of an N x N matrix: arrays `matrix(N, n)` and `received(N, n)`, double
//! complex, first index fastest. Block p for rank p: for r < n, the n elements c = p n ..= p n + n-1 of column r.
//! Element q of all that is received goes to (q / n, q mod n): a transpose. Then the same with the arrays swapped.
//!
//! Bytes: 16 N n from each rank, 16 n^2 to each. The original pads N with N mod P; here N must be divisible.

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::{Axis, Ix2};

use crate::box_loops::BoxLoops;
use crate::nest::Nest;
use crate::rows::{SIZE, pack_long_rows, unpack_long_rows};
use crate::{
    ArraySpec, Arrays, Built, Context, Exchange, Message, MicroApp, Parameter, ParameterSet, Preset, Side,
    Test, Values, WireOrder,
};

/// Double complex, for which Rust has no type: real and imaginary part.
pub(crate) type Complex = [f64; 2];

/// Bytes of a [`Complex`].
pub(crate) const COMPLEX_BYTES: i64 = 16;

const PARAMETERS: &[Parameter] = &[Parameter::integer(
    "n",
    "elements",
    "rows and columns of the matrix over all ranks, a multiple of them",
)];

/// The original's matrices, and a larger one.
const SETS: &[ParameterSet] = &[
    ParameterSet { name: "256", preset: Preset::Default, values: &[256] },
    ParameterSet { name: "512", preset: Preset::Quick, values: &[512] },
    ParameterSet { name: "768", preset: Preset::Default, values: &[768] },
    ParameterSet { name: "1024", preset: Preset::Default, values: &[1024] },
    ParameterSet { name: "1536", preset: Preset::Default, values: &[1536] },
    ParameterSet { name: "4096", preset: Preset::Full, values: &[4096] },
];

/// The transpose.
pub const FFT2D: Test = Test {
    name: "fft2d",
    original_name: Some("FFT"),
    source: "Hoefler and Gottlieb, EuroMPI 2010; DDTBench 1.2 src_c/timing_fft2d.c",
    about: "all-to-all transpose of a double complex matrix",
    parameters: PARAMETERS,
    sets: SETS,
    make: Fft2d::boxed,
};

/// The loops over a block of the matrix that one rank is sent.
pub(crate) const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, matrix, block, packed| {
        pack_long_rows(arrays.block::<Complex, Ix2>(matrix, block), cast_slice_mut(packed));
    },
    unpack: |packed, arrays, matrix, block| {
        unpack_long_rows(cast_slice(packed), arrays.block_mut::<Complex, Ix2>(matrix, block));
    },
};

/// Unpacks rows of a transpose from row `first` of a matrix with columns of `rows` on: column by column, as in the
/// original, written in order, read a row apart.
pub(crate) fn scatter_rows(packed: &[Complex], matrix: &mut [Complex], rows: usize, first: usize) {
    let columns = matrix.len() / rows;
    for (r, column) in matrix.chunks_exact_mut(rows).enumerate() {
        for (to, row) in column[first..].iter_mut().zip(packed.chunks_exact(columns)) {
            *to = row[r];
        }
    }
}

/// Columns that are written at a time: what they read of a row is a cache line.
const TILE: usize = 4;

/// As [`scatter_rows`], [`TILE`] columns at a time: every cache line is read once, and not once for each column.
pub(crate) fn scatter_tiles(packed: &[Complex], matrix: &mut [Complex], rows: usize, first: usize) {
    let columns = matrix.len() / rows;
    for (tile, group) in matrix.chunks_mut(TILE * rows).enumerate() {
        let at = tile * TILE;
        if group.len() < TILE * rows {
            for (r, column) in group.chunks_exact_mut(rows).enumerate() {
                for (to, row) in column[first..].iter_mut().zip(packed.chunks_exact(columns)) {
                    *to = row[at + r];
                }
            }
            continue;
        }
        let [a, b, c, d] = group
            .get_disjoint_mut([0, 1, 2, 3].map(|r| r * rows + first..(r + 1) * rows))
            .expect("columns are disjoint");
        let columns_of = a.iter_mut().zip(b).zip(c).zip(d);
        for ((((a, b), c), d), row) in columns_of.zip(packed.chunks_exact(columns)) {
            [*a, *b, *c, *d] = *row[at..].first_chunk::<TILE>().expect("a tile lies in the row");
        }
    }
}

struct Fft2d {
    /// Rows of the matrix: N.
    rows: usize,
    /// Columns of a rank: n.
    columns: usize,
    /// P.
    ranks: usize,
}

impl Fft2d {
    fn boxed(values: &Values, context: Context) -> Built {
        let (rows, ranks) = (values.positive("n")?, context.ranks.max(1));
        if rows % ranks != 0 {
            let above = rows.next_multiple_of(ranks);
            let nearest = match above - ranks {
                0 => format!("the nearest is {above}"),
                below => format!("the nearest are {below} and {above}"),
            };
            return Err(values.refuse("n", format!("must be a multiple of the {ranks} ranks; {nearest}")));
        }
        Ok(Box::new(Self { rows, columns: rows / ranks, ranks }))
    }

    /// What a rank sends to one peer.
    fn gather(&self) -> Layout {
        let (rows, n) = (self.rows as i64, self.columns as i64);
        let layout = Layout::vector(n, n, rows, &Layout::named(Element::DoubleComplex))
            .and_then(|block| Layout::resized(0, COMPLEX_BYTES * n, &block));
        layout.expect("the matrix fits in memory")
    }

    /// Where what comes from one peer goes.
    fn scatter(&self) -> Layout {
        let (rows, n) = (self.rows as i64, self.columns as i64);
        let layout = Layout::vector(n, 1, rows, &Layout::named(Element::DoubleComplex))
            .and_then(|row| Layout::resized(0, COMPLEX_BYTES, &row))
            .and_then(|row| Layout::contiguous(n, &row));
        layout.expect("the matrix fits in memory")
    }
}

impl MicroApp for Fft2d {
    fn arrays(&self) -> Vec<ArraySpec> {
        ["matrix", "received"]
            .map(|name| ArraySpec::new(name, Element::DoubleComplex, &[self.columns, self.rows]))
            .into()
    }

    fn element(&self) -> Element {
        Element::DoubleComplex
    }

    fn message(&self, side: Side, _: WireOrder) -> Message {
        let (array, block) = match side {
            Side::Send => (0, self.gather()),
            Side::Receive => (1, self.scatter()),
        };
        let whole = Layout::contiguous(self.ranks as i64, &block).expect("the matrix fits in memory");
        Message::single(array, 0, whole)
    }

    fn exchange(&self) -> Exchange {
        Exchange::AllToAll { send_block: self.gather(), receive_block: self.scatter() }
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let mut packed: &mut [Complex] = cast_slice_mut(packed);
        let matrix = arrays.view::<Complex, Ix2>(0);
        for block in matrix.axis_chunks_iter(Axis(1), self.columns) {
            pack_long_rows(block, packed.split_off_mut(..block.len()).expect(SIZE));
        }
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        scatter_rows(cast_slice(packed), arrays.slice_mut(1), self.rows, 0);
    }

    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        let n = self.columns;
        let blocks = Nest { planes: self.ranks, plane_stride: n, ..Nest::plane(0, n, n, self.rows) };
        blocks.gather::<Complex>(arrays.slice(0), cast_slice_mut(packed));
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        scatter_tiles(cast_slice(packed), arrays.slice_mut(1), self.rows, 0);
    }
}
