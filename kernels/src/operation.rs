//! The operations of a program: loops around something that one kernel copies.

use crate::block_copy::{MEDIUM, PAGE};
use crate::indexed_records::{IndexedRecords, RecordsKernels};
use crate::loops::{Axis, Grid};
use crate::normal_form::NormalForm;
use crate::records::Records;
use crate::select::{self, IndexedKernel, Pair, RunsKernel, StridedKernel};
use crate::survey::ByteRun;
use crate::tuning::{Class, Shape, Tuning};

/// A loop around the next step or the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub count: usize,
    pub stride: i64,
    /// Bytes of one iteration in the packed stream.
    pub bytes: usize,
}

impl Step {
    pub fn axis(self) -> Axis {
        Axis { count: self.count, stride: self.stride as isize }
    }
}

/// Loops, outermost first, around a leaf, except those that its kernel handles.
#[derive(Clone, Debug)]
pub(crate) struct LoopNest {
    pub steps: Vec<Step>,
    pub leaf: Leaf,
    /// Bytes in the packed stream.
    pub bytes: usize,
}

/// The bytes that one call copies. Offsets are from displacement 0, wherever the loops have moved it.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Contiguous bytes, in the two innermost loops around them, which the kernel handles.
    Block { offset: i64, bytes: usize, class: Class, grid: Grid, kernel: Pair<StridedKernel> },
    /// Blocks at listed places, relative to the first in memory.
    Indexed { lowest: i64, block: usize, offsets: Box<[u32]>, class: Class, kernel: Pair<IndexedKernel> },
    /// Records, and the kernels for the blocks of each column.
    Records { records: Records, kernels: Box<[ColumnKernels]> },
    /// Records by index, and the kernels for the groups of their words.
    IndexedRecords { records: IndexedRecords, class: Class, kernels: RecordsKernels },
    /// Runs of different lengths: the start of each, and its end in the packed stream.
    Runs { offsets: Box<[i64]>, ends: Box<[usize]>, class: Class, kernel: Pair<RunsKernel> },
    /// Operations, once at each offset.
    Body { offsets: Box<[i64]>, body: Sequence },
}

/// The kernels for the blocks of a column of records: at one distance, or at listed places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnKernels {
    pub strided: Pair<StridedKernel>,
    pub indexed: Pair<IndexedKernel>,
}

/// The choices for a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub tuning: Tuning,
    /// Bytes of the whole message.
    pub message: usize,
}

impl Target {
    fn strided(self, class: Class, bytes: usize) -> Pair<StridedKernel> {
        Pair::by(self.tuning.ways(class), |way| select::strided(bytes, way))
    }

    fn indexed(self, class: Class, bytes: usize) -> Pair<IndexedKernel> {
        Pair::by(self.tuning.ways(class), |way| select::indexed(bytes, way))
    }

    /// The kernels for a column of blocks of this size.
    fn column(self, bytes: usize) -> ColumnKernels {
        ColumnKernels {
            strided: self.strided(Shape::Strided.class(bytes), bytes),
            indexed: self.indexed(Shape::Listed.class(bytes), bytes),
        }
    }

    /// A run within loops.
    fn block(self, run: ByteRun, loops: &[(usize, i64)]) -> Leaf {
        let ByteRun { offset, bytes } = run;
        let class = match loops {
            [] if bytes > MEDIUM && 2 * bytes > self.message => Shape::Run.class(bytes),
            // Longer than the innermost cache: only the length of the message counts.
            _ if bytes >= LIKE_ONE_RUN => Shape::Run.class(self.message),
            _ if bytes >= LONG_ROW && self.message >= LARGE_MESSAGE => Shape::LongRows.class(bytes),
            _ if has_many_pages(bytes, loops) => Shape::ManyPages.class(bytes),
            _ => Shape::Strided.class(bytes),
        };
        let grid = Grid::row(Axis::ONCE, bytes);
        Leaf::Block { offset, bytes, class, grid, kernel: self.strided(class, bytes) }
    }
}

/// Operations one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub operations: Vec<LoopNest>,
    /// Bytes in the packed stream.
    pub bytes: usize,
}

impl Sequence {
    pub fn new(form: NormalForm, target: Target) -> Self {
        let mut sequence = Self::default();
        match form {
            NormalForm::Sequence(parts) => parts.into_iter().for_each(|part| sequence.push(part, target)),
            form => sequence.push(form, target),
        }
        sequence
    }

    fn push(&mut self, form: NormalForm, target: Target) {
        let operation = LoopNest::new(form, target);
        self.bytes += operation.bytes;
        self.operations.push(operation);
    }
}

impl LoopNest {
    fn new(form: NormalForm, target: Target) -> Self {
        let mut loops = Vec::new();
        let mut inner = form;
        while let NormalForm::Loop { count, stride, body } = inner {
            loops.push((count, stride));
            inner = *body;
        }
        let mut leaf = match inner {
            NormalForm::Run(run) => target.block(run, &loops),
            NormalForm::Places { lowest, block, offsets } => {
                let class = Shape::Listed.class(block);
                Leaf::Indexed { lowest, block, offsets, class, kernel: target.indexed(class, block) }
            }
            NormalForm::Records(records) => {
                let kernels = records.columns.iter().map(|column| target.column(column.block)).collect();
                Leaf::Records { records, kernels }
            }
            NormalForm::IndexedRecords(records) => {
                let class = Shape::IndexedRecords.class(0);
                Leaf::IndexedRecords { kernels: records.kernels(target.tuning.ways(class)), class, records }
            }
            NormalForm::Runs(runs) => Leaf::of_runs(&runs, target),
            NormalForm::Index { offsets, body } => {
                Leaf::Body { offsets: offsets.into(), body: Sequence::new(*body, target) }
            }
            body => Leaf::Body { offsets: Box::new([0]), body: Sequence::new(body, target) },
        };
        let mut bytes = leaf.bytes();
        let mut steps: Vec<Step> = Vec::with_capacity(loops.len());
        for (count, stride) in loops.into_iter().rev() {
            steps.push(Step { count, stride, bytes });
            bytes *= count;
        }
        steps.reverse();
        if let Leaf::Block { bytes, class, grid, kernel, .. } = &mut leaf {
            let mut innermost = || steps.pop().map_or(Axis::ONCE, Step::axis);
            (grid.inner, grid.outer) = (innermost(), innermost());
            if is_transposed(*bytes, grid) {
                *class = Shape::Transposed.class(target.message);
                *kernel = Pair::by(target.tuning.ways(*class), |way| select::transposed(*bytes, way));
            }
        }
        Self { steps, leaf, bytes }
    }

    /// All loops around the leaf's blocks, outermost first.
    pub fn loops(&self) -> impl Iterator<Item = Axis> {
        let grid = match &self.leaf {
            Leaf::Block { grid, .. } => [grid.outer, grid.inner],
            _ => [Axis::ONCE; 2],
        };
        self.steps.iter().map(|step| step.axis()).chain(grid).filter(|axis| *axis != Axis::ONCE)
    }
}

/// Minimum size of blocks that are copied like one run as long as the message, in bytes: rows of 8 KiB lost
/// up to a third of their speed if they were written past the caches.
const LIKE_ONE_RUN: usize = 64 << 10;

/// Minimum size of blocks, and of the message that has them, for [`Shape::LongRows`]: with its array, such a message does
/// not fit into the second-level cache. Rows of 4 KiB are copied a tenth faster with vectors (Zen 4, warm).
const LONG_ROW: usize = 6 << 10;
const LARGE_MESSAGE: usize = 1 << 20;

/// From this number of pages on, a processor begins to lose their addresses. Zen 4 keeps 72 without and 3072
/// with a delay; NAS LU's blocks of 40 bytes pack a fifth slower in small pieces on 162 pages, and as fast or
/// faster from 408 on.
const MANY_PAGES: usize = 400;

/// Whether short blocks are on more pages than the processor's address cache has.
fn has_many_pages(block: usize, loops: &[(usize, i64)]) -> bool {
    let has_pages = |(_, stride): &&(usize, i64)| stride.unsigned_abs() >= PAGE as u64;
    let pages: usize = loops.iter().filter(has_pages).map(|(count, _)| count).product();
    block <= MEDIUM && loops.last().is_some_and(|inner| has_pages(&inner)) && pages >= MANY_PAGES
}

/// Distance of blocks, in bytes, up to which several are in one cache line.
pub(crate) const SAME_LINE: usize = 32;

/// From this number of rows, visiting a line once for several blocks pays off.
const MANY_ROWS: usize = 8;

/// Whether the outer loop's blocks are adjacent and the inner loop's far apart: then it is better to fill a
/// line at once. Not if blocks could overlap, because the one written last must stay the same.
fn is_transposed(block: usize, Grid { inner, outer, .. }: &Grid) -> bool {
    let row = outer.stride.unsigned_abs().saturating_mul(outer.count);
    (block..=SAME_LINE).contains(&outer.stride.unsigned_abs())
        && inner.stride.unsigned_abs() >= row
        && inner.count >= MANY_ROWS
}

impl Leaf {
    fn of_runs(list: &[ByteRun], target: Target) -> Self {
        let mut end = 0;
        let ends = list.iter().map(|run| {
            end += run.bytes;
            end
        });
        let ends = ends.collect();
        let class = Shape::Runs.class(0);
        let kernel = Pair::by(target.tuning.ways(class), select::runs);
        Self::Runs { ends, offsets: list.iter().map(|run| run.offset).collect(), class, kernel }
    }

    /// Bytes in the packed stream.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Block { bytes, .. } => *bytes,
            Self::Indexed { block, offsets, .. } => block * offsets.len(),
            Self::Records { records, .. } => records.count * records.bytes,
            Self::IndexedRecords { records, .. } => records.bytes(),
            Self::Runs { ends, .. } => ends.last().copied().unwrap_or(0),
            Self::Body { offsets, body } => offsets.len() * body.bytes,
        }
    }
}
