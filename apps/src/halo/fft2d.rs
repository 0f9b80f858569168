//! 2-d FFT on many ranks: the all-to-all that transposes a distributed matrix.
//!
//! Source, arrays and blocks: see [`crate::fft2d`]. There is one transfer to each rank, including itself. The
//! way back is not included.

use super::app::refuse_ranks;
use super::{Cell, Cells, HaloApp, HaloTest, Stage};
use crate::ArraySpec;
use crate::face::Face;
use crate::fft2d::{self, MATRIX, Transpose};

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
        Ok(Box::new(Transpose { rows, columns: rows / ranks }))
    },
};

impl HaloApp for Transpose {
    fn arrays(&self, _: usize) -> Vec<ArraySpec> {
        Self::arrays(*self)
    }

    fn stages(&self, _: usize) -> Vec<Stage> {
        let columns = self.columns;
        let send = |peer| Face::new(self.sent(peer..peer + 1));
        let receive = |peer| Face::from_block(self.rows(peer * columns..(peer + 1) * columns));
        vec![Stage::all_to_all(self.rows / columns, send, receive)]
    }

    fn cells(&self, rank: usize, array: usize) -> Cells<'_> {
        let Self { rows, columns } = *self;
        Box::new(move |element| {
            let (row, column) = (element % rows, rank * columns + element / rows);
            let id = |row: usize, column: usize| (row + rows * column) as u64;
            if array == MATRIX { Cell::Own(id(row, column)) } else { Cell::Halo(id(column, row)) }
        })
    }
}
