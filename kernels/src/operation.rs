//! The operations of a program: loops around something that one kernel copies.

use crate::block_copy::{MEDIUM, PAGE};
use crate::indexed_records::IndexedRecords;
use crate::loops::Axis;
use crate::normal_form::NormalForm;
use crate::records::Records;
use crate::select::{Kernels, Level, Pair, RecordsKernel, RunsKernel, StridedKernel, Target, kernels, runs};
use crate::survey::ByteRun;

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

/// Loops, outermost first, around a leaf.
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
    /// Contiguous bytes; the kernel handles the two innermost loops around them.
    Block { offset: i64, bytes: usize, kernels: Kernels, how: Nesting },
    /// Blocks at listed places, relative to the first in memory.
    Indexed { lowest: i64, block: usize, offsets: Box<[u32]>, kernels: Kernels },
    /// Records, and the kernels for the blocks of each column.
    Records { records: Records, kernels: Box<[Kernels]> },
    /// Records by index, and the kernels for the groups of their words.
    IndexedRecords { records: IndexedRecords, kernels: Box<[Pair<RecordsKernel>]> },
    /// Runs of different lengths: the start of each, and its end in the packed stream.
    Runs { offsets: Box<[i64]>, ends: Box<[usize]>, kernel: Pair<RunsKernel> },
    /// Operations, once at each offset.
    Body { offsets: Box<[i64]>, body: Sequence },
}

/// The order in which the two innermost loops visit their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// In packed order.
    Packed,
    /// Several rows at once.
    Transposed,
}

/// Operations one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub operations: Vec<LoopNest>,
    /// Bytes in the packed stream.
    pub bytes: usize,
}

impl Sequence {
    /// The operations of a form.
    pub fn of(form: NormalForm, target: Target) -> Self {
        let mut sequence = Self::default();
        match form {
            NormalForm::Sequence(parts) => parts.into_iter().for_each(|part| sequence.push(part, target)),
            form => sequence.push(form, target),
        }
        sequence
    }

    fn push(&mut self, form: NormalForm, target: Target) {
        let operation = LoopNest::of(form, target);
        self.bytes += operation.bytes;
        self.operations.push(operation);
    }
}

impl LoopNest {
    fn of(form: NormalForm, target: Target) -> Self {
        let mut loops = Vec::new();
        let mut inner = form;
        while let NormalForm::Loop { count, stride, body } = inner {
            loops.push((count, stride));
            inner = *body;
        }
        let mut leaf = match inner {
            NormalForm::Run(ByteRun { offset, bytes }) => {
                let level = if has_many_pages(bytes, &loops) { Level::Base } else { target.level };
                let kernels = kernels(bytes, Target { level, ..target });
                Leaf::Block { offset, bytes, kernels, how: Nesting::Packed }
            }
            NormalForm::Places { lowest, block, offsets } => {
                Leaf::Indexed { lowest, block, offsets, kernels: kernels(block, target) }
            }
            NormalForm::Records(records) => {
                let kernels = records.columns.iter().map(|column| kernels(column.block, target)).collect();
                Leaf::Records { records, kernels }
            }
            NormalForm::IndexedRecords(records) => {
                Leaf::IndexedRecords { kernels: records.kernels(target.level), records }
            }
            NormalForm::Runs(runs) => Leaf::of_runs(&runs, target),
            NormalForm::Index { offsets, body } => {
                Leaf::Body { offsets: offsets.into(), body: Sequence::of(*body, target) }
            }
            body => Leaf::Body { offsets: Box::new([0]), body: Sequence::of(body, target) },
        };
        let mut bytes = leaf.bytes();
        let mut steps: Vec<Step> = Vec::with_capacity(loops.len());
        for (count, stride) in loops.into_iter().rev() {
            steps.push(Step { count, stride, bytes });
            bytes *= count;
        }
        steps.reverse();
        if let (Leaf::Block { bytes, how, .. }, [.., outer, inner]) = (&mut leaf, &steps[..])
            && is_transposed(*bytes, outer, inner)
        {
            *how = Nesting::Transposed;
        }
        Self { steps, leaf, bytes }
    }
}

/// From this number of pages on, a processor begins to lose their addresses. Zen 4 keeps 72 without and 3072 with a
/// delay; NAS LU's blocks of 40 bytes pack a fifth slower in small pieces on 162 pages, and as fast or faster from
/// 408 on.
const MANY_PAGES: usize = 400;

/// Whether short blocks are on more pages than the processor's address cache has. Then a vector across two cache
/// lines costs twice, and one of 64 bytes always is such a vector, so blocks are best copied in small pieces. (Zen 4,
/// 4032 blocks of 64 bytes 4160 bytes apart: with vectors of 64, 32 and 16 bytes, packing reaches 5, 12 and 12 GB/s,
/// unpacking 5, 5 and 16.)
fn has_many_pages(block: usize, loops: &[(usize, i64)]) -> bool {
    let has_pages = |(_, stride): &&(usize, i64)| stride.unsigned_abs() >= PAGE as u64;
    let pages: usize = loops.iter().filter(has_pages).map(|(count, _)| count).product();
    block < MEDIUM && loops.last().is_some_and(|inner| has_pages(&inner)) && pages >= MANY_PAGES
}

/// Distance of blocks, in bytes, up to which several are in one cache line.
pub(crate) const SAME_LINE: u64 = 32;

/// From this number of rows, visiting a line once for several blocks pays off.
const MANY_ROWS: usize = 8;

/// Whether the outer loop's blocks are adjacent and the inner loop's far apart: then it is better to fill a line at
/// once. Not if blocks could overlap, because the one written last must stay the same.
fn is_transposed(block: usize, outer: &Step, inner: &Step) -> bool {
    let row = outer.stride.unsigned_abs().saturating_mul(outer.count as u64);
    (block as u64..=SAME_LINE).contains(&outer.stride.unsigned_abs())
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
        Self::Runs { ends, offsets: list.iter().map(|run| run.offset).collect(), kernel: runs(target.level) }
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

impl Nesting {
    /// The name in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packed => "strided",
            Self::Transposed => "transposed",
        }
    }

    /// The kernel of this order.
    pub fn kernel<const PACK: bool>(self, kernels: &Kernels) -> StridedKernel {
        match self {
            Self::Packed => kernels.strided.of::<PACK>(),
            Self::Transposed => kernels.transposed.of::<PACK>(),
        }
    }
}
