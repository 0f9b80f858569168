//! 2-d FFT on many ranks: the all-to-all that transposes a distributed matrix.
//!
//! Source: as of [`crate::fft2d`], whose arrays and blocks these are: one transfer to each rank, itself included. The
//! way back is not part of it.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::{cast_slice, cast_slice_mut};
use datatypes::{Element, Layout};

use super::app::refuse_ranks;
use super::face::{Face, FaceBlock};
use super::region::{Region, Whole};
use super::{Cell, Cells, HaloApp, HaloTest, Stage};
use crate::fft2d::{self, COMPLEX_BYTES, Complex, scatter_rows, scatter_tiles};
use crate::{ArraySpec, Arrays, Piece, WireOrder};

/// Arrays.
const MATRIX: usize = 0;
const RECEIVED: usize = 1;

/// The transpose.
pub const FFT2D: HaloTest = HaloTest {
    name: "fft2d",
    original_name: None,
    source: fft2d::FFT2D.source,
    about: "all-to-all transpose of a double complex matrix, a message to each rank",
    parameters: fft2d::FFT2D.parameters,
    sets: fft2d::FFT2D.sets,
    make: |values, context| {
        let (rows, ranks) = (values.positive("n")?, context.ranks);
        if !rows.is_multiple_of(ranks) {
            return Err(refuse_ranks("fft2d", ranks, |ranks| rows.is_multiple_of(ranks)));
        }
        Ok(Box::new(Fft2d { rows, columns: rows / ranks, ranks }))
    },
};

struct Fft2d {
    /// Rows of the matrix: N.
    rows: usize,
    /// Columns of a rank: n.
    columns: usize,
    ranks: usize,
}

impl HaloApp for Fft2d {
    fn element(&self) -> Element {
        Element::DoubleComplex
    }

    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        ["matrix", "received"]
            .map(|name| ArraySpec::new(name, Element::DoubleComplex, &[self.columns, self.rows]))
            .into()
    }

    fn stages(&self, _: usize) -> Vec<Stage> {
        let Self { rows, columns, ranks } = *self;
        let matrix = Whole::vectors(MATRIX, Element::DoubleComplex, &[columns, rows], 0, Some(fft2d::LOOPS));
        let send = |peer| Face::of(Region::new(&matrix, [0..columns, peer * columns..(peer + 1) * columns]));
        let receive = |peer| Face::of(Rows { rows, columns, range: peer * columns..(peer + 1) * columns });
        vec![Stage::all_to_all(ranks, send, receive)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Self { rows, columns, .. } = *self;
        Box::new(move |element| {
            let (row, column) = (element % rows, rank * columns + element / rows);
            let id = |row: usize, column: usize| (row + rows * column) as u64;
            if array == MATRIX { Cell::Own(id(row, column)) } else { Cell::Halo(id(column, row)) }
        })
    }
}

/// Rows `range` of what is received, one after the other: in each, an element of every column.
#[derive(Clone, Debug)]
struct Rows {
    rows: usize,
    columns: usize,
    range: Range<usize>,
}

impl FaceBlock for Rows {
    fn planes(&self) -> usize {
        self.range.len()
    }

    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock> {
        let first = self.range.start;
        Arc::new(Self { range: first + range.start..first + range.end, ..*self })
    }

    fn bytes(&self) -> usize {
        self.range.len() * self.columns * COMPLEX_BYTES as usize
    }

    fn pieces(&self, _: WireOrder) -> Vec<Piece> {
        let (rows, columns) = (self.rows as i64, self.columns as i64);
        let layout = Layout::vector(columns, 1, rows, &Layout::named(Element::DoubleComplex))
            .and_then(|row| Layout::resized(0, COMPLEX_BYTES, &row))
            .and_then(|row| Layout::contiguous(self.range.len() as i64, &row));
        vec![Piece {
            array: RECEIVED,
            origin_bytes: COMPLEX_BYTES * self.range.start as i64,
            layout: layout.expect("the matrix fits in memory"),
        }]
    }

    fn pack(&self, arrays: &Arrays, packed: &mut [u8]) {
        let matrix: &[Complex] = arrays.slice(RECEIVED);
        let packed: &mut [Complex] = cast_slice_mut(packed);
        for (row, to) in self.range.clone().zip(packed.chunks_exact_mut(self.columns)) {
            to.iter_mut().zip(matrix.chunks_exact(self.rows)).for_each(|(to, column)| *to = column[row]);
        }
    }

    fn unpack(&self, packed: &[u8], arrays: &mut Arrays) {
        scatter_rows(cast_slice(packed), arrays.slice_mut(RECEIVED), self.rows, self.range.start);
    }

    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        scatter_tiles(cast_slice(packed), arrays.slice_mut(RECEIVED), self.rows, self.range.start);
    }
}
