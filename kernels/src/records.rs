//! Records: the values of several arrays that belong together, packed next to each other, one record after the other.
//!
//! A structure of arrays that is packed as an array of structures is a list of runs whose lengths recur. It
//! is copied column by column. Each column has blocks of one size: in the array at one distance or at listed
//! places, in the stream one record apart.

use std::ops::Range;

use crate::loops::{Axis, Grid};
use crate::operation::ColumnKernels;
use crate::survey::{ByteRun, Survey, compact};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Records {
    pub columns: Vec<Column>,
    pub count: usize,
    /// Bytes of one record in the packed stream.
    pub bytes: usize,
}

/// One block of every record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// Byte of the record at which the block begins.
    at: usize,
    pub block: usize,
    places: Places,
}

/// The places of a column's blocks, from displacement 0.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Places {
    /// At one distance.
    Even { offset: i64, stride: i64 },
    /// At listed places.
    Listed { lowest: i64, offsets: Box<[u32]> },
}

/// Maximum number of columns for which a pattern is searched.
const MOST_COLUMNS: usize = 16;

/// From this number of records, columns pay off.
const FEWEST_RECORDS: usize = 8;

/// Records that are copied column by column before the next ones: 16 KiB of the packed stream for records of one
/// cache line. These stay in the innermost cache from the first column to the last. 64 records were 2 to 5% slower.
const ROWS: usize = 256;

impl Records {
    /// Runs whose lengths recur after 2 to [`MOST_COLUMNS`] of them, with each column in a separate part of memory.
    /// Interleaved columns could overlap, and then it would matter which is written last. `None` for all others.
    pub fn from_runs(runs: &[ByteRun]) -> Option<Self> {
        let recurs = |n: usize| {
            runs.len().is_multiple_of(n) && runs[n..].iter().zip(runs).all(|(a, b)| a.bytes == b.bytes)
        };
        let most = MOST_COLUMNS.min(runs.len() / FEWEST_RECORDS);
        let columns = (2..=most).find(|&n| recurs(n))?;
        let mut at = 0;
        let column = |i: usize| {
            let block = runs[i].bytes;
            at += block;
            let offsets: Vec<i64> = runs[i..].iter().step_by(columns).map(|run| run.offset).collect();
            Some(Column { at: at - block, block, places: Places::from_offsets(&offsets)? })
        };
        let columns: Vec<Column> = (0..columns).map(column).collect::<Option<_>>()?;
        let records = Self { count: runs.len() / columns.len(), columns, bytes: at };
        records.columns_lie_apart().then_some(records)
    }

    /// Whether each column ends before the next one begins.
    fn columns_lie_apart(&self) -> bool {
        // Offsets may have wrapped; the distance between any two places of data is less than half of the
        // address space.
        let base = self.columns[0].places.get(0);
        let span = |column: &Column| column.span(self.count, base);
        let mut spans: Vec<(i64, i64)> = self.columns.iter().map(span).collect();
        spans.sort_unstable();
        spans.windows(2).all(|pair| pair[0].1 <= pair[1].0)
    }

    /// Whether no column needs a list.
    pub fn is_even(&self) -> bool {
        self.columns.iter().all(|column| matches!(column.places, Places::Even { .. }))
    }

    /// Offset and bytes of each block, record by record.
    pub fn each(&self, mut block: impl FnMut(i64, usize)) {
        for i in 0..self.count {
            self.columns.iter().for_each(|column| block(column.places.get(i), column.block));
        }
    }

    pub fn moved(mut self, by: i64) -> Self {
        for column in &mut self.columns {
            let (Places::Even { offset, .. } | Places::Listed { lowest: offset, .. }) = &mut column.places;
            *offset = offset.wrapping_add(by);
        }
        self
    }

    /// Runs all records; `array` is displacement 0, `packed` the place of the first of them.
    ///
    /// # Safety
    /// As for [`Sequence::run`](crate::operation::Sequence::run), with the kernels for the columns' blocks.
    #[inline(never)]
    pub unsafe fn run<const PACK: bool>(&self, kernels: &[ColumnKernels], array: *mut u8, packed: *mut u8) {
        for first in (0..self.count).step_by(ROWS) {
            let rows = first..self.count.min(first + ROWS);
            let packed = packed.wrapping_add(first * self.bytes);
            for (column, kernels) in self.columns.iter().zip(kernels) {
                let packed = packed.wrapping_add(column.at);
                // SAFETY: blocks of the caller's records.
                unsafe { column.run::<PACK>(kernels, array, packed, rows.clone(), self.bytes) };
            }
        }
    }
}

impl Column {
    /// The first byte of `count` blocks, and one past the last, from `base`.
    fn span(&self, count: usize, base: i64) -> (i64, i64) {
        let ends = match &self.places {
            Places::Even { .. } => [self.places.get(0), self.places.get(count - 1)],
            Places::Listed { lowest, offsets } => {
                [*lowest, lowest.wrapping_add(offsets.iter().max().copied().unwrap_or(0).into())]
            }
        };
        let [one, other] = ends.map(|offset| offset.wrapping_sub(base));
        (one.min(other), one.max(other) + self.block as i64)
    }

    /// Runs the blocks of `rows`, `record` bytes apart in the packed stream.
    ///
    /// # Safety
    /// As for [`Records::run`].
    unsafe fn run<const PACK: bool>(
        &self,
        kernels: &ColumnKernels,
        array: *mut u8,
        packed: *mut u8,
        rows: Range<usize>,
        record: usize,
    ) {
        // SAFETY: guaranteed by the caller; the kernels were chosen for this size and processor.
        unsafe {
            match &self.places {
                Places::Even { stride, .. } => {
                    let place = array.wrapping_offset(self.places.get(rows.start) as isize);
                    let axis = Axis { count: rows.len(), stride: *stride as isize };
                    kernels.strided.in_direction::<PACK>()(
                        place,
                        packed,
                        self.block,
                        &Grid::row(axis, record),
                    );
                }
                Places::Listed { lowest, offsets } => {
                    let place = array.wrapping_offset(*lowest as isize);
                    kernels.indexed.in_direction::<PACK>()(place, packed, self.block, record, &offsets[rows]);
                }
            }
        }
    }
}

impl Places {
    /// `None` if a list does not fit into 32 bits.
    fn from_offsets(offsets: &[i64]) -> Option<Self> {
        let survey = Survey::from_displacements(offsets, None);
        if let Some(stride) = survey.stride {
            return Some(Self::Even { offset: offsets[0], stride });
        }
        u32::try_from(survey.highest.wrapping_sub(survey.lowest)).ok()?;
        Some(Self::Listed { lowest: survey.lowest, offsets: compact(offsets, 1, survey.lowest) })
    }

    /// Offset of block `i`.
    fn get(&self, i: usize) -> i64 {
        match self {
            Self::Even { offset, stride } => offset.wrapping_add(stride.wrapping_mul(i as i64)),
            Self::Listed { lowest, offsets } => lowest.wrapping_add(offsets[i].into()),
        }
    }
}
