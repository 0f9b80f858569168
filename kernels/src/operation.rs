//! What a program consists of: loops around something that one kernel copies.

use crate::form::{Form, Run};
use crate::select::{Kernels, Level, kernels};

/// A loop around what is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub count: usize,
    pub stride: i64,
}

/// Loops, outermost first, around a leaf.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub loops: Vec<Step>,
    pub leaf: Leaf,
    /// Bytes of the leaf in the packed stream.
    pub leaf_bytes: usize,
}

/// What is copied at once. Offsets are from displacement 0, wherever the loops have moved it to.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    /// Contiguous bytes.
    Copy { offset: i64, bytes: usize },
    /// Blocks at one distance.
    Strided { offset: i64, block: usize, step: Step, kernels: Kernels },
    /// Blocks at listed places, relative to the first in memory.
    Indexed { lowest: i64, block: usize, offsets: Box<[u32]>, kernels: Kernels },
    /// Runs of different lengths: where each starts, and where it ends in the packed stream.
    Runs { offsets: Box<[i64]>, ends: Box<[usize]> },
    /// Operations, once at each offset.
    Body { offsets: Box<[i64]>, body: Sequence },
}

/// Operations one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub operations: Vec<Operation>,
    /// Where each ends in the packed stream.
    pub ends: Vec<usize>,
}

impl Sequence {
    /// The operations of a form, for a processor that has `level`.
    pub fn of(form: Form, level: Level) -> Self {
        let mut sequence = Self::default();
        match form {
            Form::Sequence(parts) => parts.into_iter().for_each(|part| sequence.push(part, level)),
            form => sequence.push(form, level),
        }
        sequence
    }

    fn push(&mut self, form: Form, level: Level) {
        let operation = Operation::of(form, level);
        self.ends.push(self.bytes() + operation.bytes());
        self.operations.push(operation);
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl Operation {
    fn of(form: Form, level: Level) -> Self {
        let mut loops = Vec::new();
        let mut inner = form;
        while let Form::Loop { count, stride, body } = inner {
            loops.push(Step { count, stride });
            inner = *body;
        }
        let leaf = match inner {
            Form::Run(Run { offset, bytes }) => match loops.pop() {
                Some(step) => Leaf::Strided { offset, block: bytes, step, kernels: kernels(bytes, level) },
                None => Leaf::Copy { offset, bytes },
            },
            Form::Index { offsets, body } => index(offsets, *body, level),
            Form::Runs(runs) => Leaf::of_runs(&runs),
            body => Leaf::Body { offsets: Box::new([0]), body: Sequence::of(body, level) },
        };
        let leaf_bytes = leaf.bytes();
        Self { loops, leaf, leaf_bytes }
    }

    /// Bytes in the packed stream.
    pub fn bytes(&self) -> usize {
        self.loops.iter().map(|step| step.count).product::<usize>() * self.leaf_bytes
    }
}

/// A list of places: compact where the places lie within 4 GiB, as what they hold otherwise.
fn index(offsets: Vec<i64>, body: Form, level: Level) -> Leaf {
    let Form::Run(run) = body else {
        return Leaf::Body { offsets: offsets.into(), body: Sequence::of(body, level) };
    };
    let lowest = offsets.iter().copied().min().unwrap_or(0);
    let compact: Option<Box<[u32]>> =
        offsets.iter().map(|&offset| u32::try_from(offset.wrapping_sub(lowest)).ok()).collect();
    match compact {
        Some(offsets) => Leaf::Indexed {
            lowest: lowest.wrapping_add(run.offset),
            block: run.bytes,
            offsets,
            kernels: kernels(run.bytes, level),
        },
        None => {
            let runs =
                offsets.into_iter().map(|offset| Run { offset: run.offset.wrapping_add(offset), ..run });
            Leaf::of_runs(&runs.collect::<Vec<_>>())
        }
    }
}

impl Leaf {
    fn of_runs(runs: &[Run]) -> Self {
        let mut end = 0;
        let ends = runs.iter().map(|run| {
            end += run.bytes;
            end
        });
        Self::Runs { ends: ends.collect(), offsets: runs.iter().map(|run| run.offset).collect() }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Copy { bytes, .. } => *bytes,
            Self::Strided { block, step, .. } => block * step.count,
            Self::Indexed { block, offsets, .. } => block * offsets.len(),
            Self::Runs { ends, .. } => ends.last().copied().unwrap_or(0),
            Self::Body { offsets, body } => offsets.len() * body.bytes(),
        }
    }
}
