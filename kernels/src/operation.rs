//! What a program consists of: loops around something that one kernel copies.

use crate::block_copy::{MEDIUM, PAGE};
use crate::loops::Axis;
use crate::normal_form::NormalForm;
use crate::records::Records;
use crate::select::{Kernels, Level, Pair, RunsKernel, StridedKernel, Target, kernels, runs};
use crate::survey::ByteRun;

/// A loop around what is inside.
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

/// What is copied at once. Offsets are from displacement 0, wherever the loops have moved it to.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Contiguous bytes; the two innermost loops around them are the kernel's.
    Block { offset: i64, bytes: usize, kernels: Kernels, how: Nesting },
    /// Blocks at listed places, relative to the first in memory.
    Indexed { lowest: i64, block: usize, offsets: Box<[u32]>, kernels: Kernels },
    /// Records, and the kernels for the blocks of each column.
    Records { records: Records, kernels: Box<[Kernels]> },
    /// Runs of different lengths: where each starts, and where it ends in the packed stream.
    Runs { offsets: Box<[i64]>, ends: Box<[usize]>, kernel: Pair<RunsKernel> },
    /// Operations, once at each offset.
    Body { offsets: Box<[i64]>, body: Sequence },
}

/// In which order the two innermost loops go through their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// As they are packed.
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

/// Pages from which on a processor begins to forget their addresses. Zen 4 remembers 72 at once and 3072 with a delay;
/// NAS LU's blocks of 40 bytes pack a fifth slower in small pieces on 162 pages, and as fast or faster from 408 on.
const MANY_PAGES: usize = 400;

/// Whether short blocks lie on more pages than the processor remembers. There a vector across two cache lines costs
/// twice, and one of 64 bytes always does: blocks had best be copied in small pieces. (Zen 4, 4032 blocks of 64 bytes
/// 4160 bytes apart: in vectors of 64, 32 and 16 bytes, packing 5, 12 and 12 GB/s, unpacking 5, 5 and 16.)
fn has_many_pages(block: usize, loops: &[(usize, i64)]) -> bool {
    let has_pages = |(_, stride): &&(usize, i64)| stride.unsigned_abs() >= PAGE as u64;
    let pages: usize = loops.iter().filter(has_pages).map(|(count, _)| count).product();
    block < MEDIUM && loops.last().is_some_and(|inner| has_pages(&inner)) && pages >= MANY_PAGES
}

/// Distance of blocks up to which several lie in one cache line, in bytes.
pub(crate) const SAME_LINE: u64 = 32;

/// Rows from which on one visit of a line for several blocks pays.
const MANY_ROWS: usize = 8;

/// Whether the outer loop's blocks lie side by side, and the inner loop's far apart: then a line is better filled at
/// once. Not where blocks could overlap: who is written last must stay so.
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
