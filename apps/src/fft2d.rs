//! 2-d FFT: the transpose of a distributed matrix between the FFTs along its two dimensions, and back.
//!
//! Source: T. Hoefler, S. Gottlieb: Parallel Zero-Copy Algorithms for Fast Fourier Transform and Conjugate
//! Gradient using MPI Datatypes (EuroMPI 2010); as micro-app in DDTBench 1.2, `src_c/timing_fft2d.c`.
//!
//! Each of P ranks has n = N/P columns of an N x N matrix: arrays `matrix(N, n)` and `received(N, n)`, double
//! complex, first index fastest. The block for rank p has, for each r < n, the n elements c = p n ..= p n +
//! n-1 of column r. Element q of all received elements goes to (q / n, q mod n): a transpose. Then the same
//! with the arrays swapped.
//!
//! Bytes: 16 N n from each rank, 16 n^2 to each. The original pads N with N mod P; here N must be divisible.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};
use ndarray::Ix2;

use crate::face::{Face, FaceBlock};
use crate::region::{BoxLoops, Region, Whole};
use crate::rows::{pack_long_rows, unpack_long_rows};
use crate::{
    ArraySpec, Arrays, Built, Context, Exchange, Loops, MicroApp, Parameter, ParameterSet, Piece, Preset,
    Test, Values, WireOrder,
};

/// Double complex, for which Rust has no type: real and imaginary part.
type Complex = [f64; 2];

const COMPLEX_BYTES: i64 = 16;

/// Arrays.
pub(crate) const MATRIX: usize = 0;
const RECEIVED: usize = 1;

const PARAMETERS: &[Parameter] = &[Parameter::integer(
    "n",
    "elements",
    "rows and columns of the matrix over all ranks, a multiple of them",
)];

/// The original's matrices, and a larger one.
const SETS: &[ParameterSet] = &[
    Preset::Default.set("256", "256"),
    Preset::Quick.set("512", "512"),
    Preset::Default.set("768", "768"),
    Preset::Default.set("1024", "1024"),
    Preset::Default.set("1536", "1536"),
    Preset::Full.set("4096", "4096"),
];

/// The transpose.
pub const FFT2D: Test = Test {
    name: "fft2d",
    original_name: Some("FFT"),
    source: "Hoefler and Gottlieb, EuroMPI 2010; DDTBench 1.2 src_c/timing_fft2d.c",
    about: "all-to-all transpose of a double complex matrix",
    parameters: PARAMETERS,
    sets: SETS,
    make: build,
};

/// The loops over the block of the matrix for one rank.
const LOOPS: BoxLoops = BoxLoops {
    pack: |arrays, matrix, block, packed| {
        pack_long_rows(arrays.block::<Complex, Ix2>(matrix, block), cast_slice_mut(packed));
    },
    unpack: |packed, arrays, matrix, block| {
        unpack_long_rows(cast_slice(packed), arrays.block_mut::<Complex, Ix2>(matrix, block));
    },
};

/// Unpacks rows of a transpose, starting at row `first`, into a matrix with columns of `rows` elements. As in
/// the original it goes column by column: it writes in order, and reads with a stride of a row.
fn scatter_rows(packed: &[Complex], matrix: &mut [Complex], rows: usize, first: usize) {
    let columns = matrix.len() / rows;
    for (r, column) in matrix.chunks_exact_mut(rows).enumerate() {
        for (to, row) in column[first..].iter_mut().zip(packed.chunks_exact(columns)) {
            *to = row[r];
        }
    }
}

/// Columns written at a time: of each row they read one cache line.
const TILE: usize = 4;

/// Like [`scatter_rows`], but [`TILE`] columns at a time: every cache line is read only once, and not once
/// for each column.
fn scatter_tiles(packed: &[Complex], matrix: &mut [Complex], rows: usize, first: usize) {
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
            [*a, *b, *c, *d] = *row[at..].first_chunk::<TILE>().expect("a tile is in the row");
        }
    }
}

fn build(values: &Values, context: Context) -> Built {
    let (rows, ranks) = (values.positive("n")?, context.ranks.max(1));
    if rows % ranks != 0 {
        let above = rows.next_multiple_of(ranks);
        let nearest = match above - ranks {
            0 => format!("the nearest is {above}"),
            below => format!("the nearest are {below} and {above}"),
        };
        return Err(values.refuse("n", format!("must be a multiple of the {ranks} ranks; {nearest}")));
    }
    let transpose = Transpose { rows, columns: rows / ranks };
    let arrays = values.addressable(transpose.arrays())?;
    let columns = transpose.columns;
    let n = columns as i64;
    let send_block = Layout::vector(n, n, rows as i64, &Layout::named(Element::DoubleComplex))
        .and_then(|block| Layout::resized(0, COMPLEX_BYTES * n, &block))
        .expect("the matrix fits in memory");
    let receive_block = transpose.rows(0..columns).layout();
    let send = Face::new(transpose.sent(0..ranks));
    let receive = Face::from_block(transpose.rows(0..rows));
    Ok(MicroApp {
        exchange: Exchange::AllToAll { send_block, receive_block },
        ..MicroApp::new(Element::DoubleComplex, arrays, send, receive)
    })
}

/// The transpose, as one rank sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transpose {
    /// Rows of the matrix: N.
    pub rows: usize,
    /// Columns of a rank: n.
    pub columns: usize,
}

impl Transpose {
    pub fn arrays(self) -> Vec<ArraySpec> {
        let array = |name| ArraySpec::new(name, Element::DoubleComplex, &[self.columns, self.rows]);
        ["matrix", "received"].map(array).into()
    }

    /// The data for each of these peers.
    pub fn sent(self, peers: Range<usize>) -> impl Iterator<Item = Arc<dyn FaceBlock>> {
        let Self { rows, columns } = self;
        let matrix = Whole::vectors(MATRIX, Element::DoubleComplex, &[columns, rows], 0, Some(LOOPS));
        peers.map(move |peer| Region::block(&matrix, [0..columns, peer * columns..(peer + 1) * columns]))
    }

    /// Rows `range` of the received data.
    pub fn rows(self, range: Range<usize>) -> Rows {
        Rows { transpose: self, range }
    }
}

/// Some rows of the received data, one after the other. Each has one element of every column.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    transpose: Transpose,
    range: Range<usize>,
}

impl Rows {
    fn layout(&self) -> Layout {
        let Transpose { rows, columns } = self.transpose;
        Layout::vector(columns as i64, 1, rows as i64, &Layout::named(Element::DoubleComplex))
            .and_then(|row| Layout::resized(0, COMPLEX_BYTES, &row))
            .and_then(|row| Layout::contiguous(self.range.len() as i64, &row))
            .expect("the matrix fits in memory")
    }
}

impl FaceBlock for Rows {
    fn planes(&self) -> usize {
        self.range.len()
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let first = self.range.start;
        Arc::new(self.transpose.rows(first + range.start..first + range.end))
    }

    fn bytes(&self) -> usize {
        self.range.len() * self.transpose.columns * COMPLEX_BYTES as usize
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let origin_bytes = COMPLEX_BYTES * self.range.start as i64;
        vec![Piece { array: RECEIVED, origin_bytes, layout: self.layout() }]
    }

    fn pack(&self, _: Loops, arrays: &Arrays, packed: &mut [u8]) {
        let Transpose { rows, columns } = self.transpose;
        let matrix: &[Complex] = arrays.slice(RECEIVED);
        let packed: &mut [Complex] = cast_slice_mut(packed);
        for (row, to) in self.range.clone().zip(packed.chunks_exact_mut(columns)) {
            to.iter_mut().zip(matrix.chunks_exact(rows)).for_each(|(to, column)| *to = column[row]);
        }
    }

    fn unpack(&self, loops: Loops, packed: &[u8], arrays: &mut Arrays) {
        let (rows, first) = (self.transpose.rows, self.range.start);
        match loops {
            Loops::Plain => scatter_rows(cast_slice(packed), arrays.slice_mut(RECEIVED), rows, first),
            Loops::Tuned => scatter_tiles(cast_slice(packed), arrays.slice_mut(RECEIVED), rows, first),
        }
    }
}
