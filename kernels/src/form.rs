//! The normal form of a layout: what is to be copied, as loops and lists, without MPI's constructors.
//!
//! Order matters: the packed stream follows the type map, so loops are never exchanged, only merged. Offsets are of
//! the first copy and wrap like the layout's own: only where data lies is known to fit into 64 bits.

use datatypes::{Constructor, Layout, Order};

/// What is to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Contiguous bytes.
    Run(Run),
    /// `body`, `count` times, `stride` bytes apart.
    Loop { count: usize, stride: i64, body: Box<Form> },
    /// `body` at each of these offsets.
    Index { offsets: Vec<i64>, body: Box<Form> },
    /// Runs of different lengths.
    Runs(Vec<Run>),
    /// One after the other; empty for a layout without data.
    Sequence(Vec<Form>),
}

/// Contiguous bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// First byte.
    pub offset: i64,
    /// How many, at least 1.
    pub bytes: usize,
}

impl Run {
    fn end(self) -> i64 {
        self.offset.wrapping_add(self.bytes as i64)
    }
}

const NOTHING: Form = Form::Sequence(Vec::new());

impl Form {
    /// The form of `count` copies of a layout, whose sizes must fit into the address space.
    pub fn of(layout: &Layout, count: u64) -> Self {
        repeated(count as i64, layout.extent(), build(layout, 0))
    }

    /// Whether there is nothing to copy.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Sequence(parts) if parts.is_empty())
    }

    fn moved(self, by: i64) -> Self {
        let moved_run = |run: Run| Run { offset: run.offset.wrapping_add(by), ..run };
        match self {
            Self::Run(run) => Self::Run(moved_run(run)),
            Self::Loop { count, stride, body } => {
                Self::Loop { count, stride, body: Box::new(body.moved(by)) }
            }
            Self::Index { offsets, body } => Self::Index { offsets, body: Box::new(body.moved(by)) },
            Self::Runs(runs) => Self::Runs(runs.into_iter().map(moved_run).collect()),
            Self::Sequence(parts) => Self::Sequence(parts.into_iter().map(|part| part.moved(by)).collect()),
        }
    }
}

/// The form of one copy at `at`.
fn build(layout: &Layout, at: i64) -> Form {
    if layout.size() == 0 {
        return NOTHING;
    }
    let extent_of = |child: &Layout, n: i64| n.wrapping_mul(child.extent());
    match layout.constructor() {
        Constructor::Named { element } => Form::Run(Run { offset: at, bytes: element.size() as usize }),
        Constructor::Contiguous { count, child } => repeated(*count, child.extent(), build(child, at)),
        Constructor::Vector { count, blocklength, stride, child } => {
            let block = repeated(*blocklength, child.extent(), build(child, at));
            repeated(*count, extent_of(child, *stride), block)
        }
        Constructor::Hvector { count, blocklength, stride_bytes, child } => {
            let block = repeated(*blocklength, child.extent(), build(child, at));
            repeated(*count, *stride_bytes, block)
        }
        Constructor::Indexed { blocklengths, displacements, child } => {
            let offsets = displacements.iter().map(|&d| extent_of(child, d));
            blocks(blocklengths, offsets, child, at)
        }
        Constructor::Hindexed { blocklengths, displacements_bytes, child } => {
            blocks(blocklengths, displacements_bytes.iter().copied(), child, at)
        }
        Constructor::IndexedBlock { blocklength, displacements, child } => {
            let block = repeated(*blocklength, child.extent(), build(child, at));
            indexed(displacements.iter().map(|&d| extent_of(child, d)).collect(), block)
        }
        Constructor::HindexedBlock { blocklength, displacements_bytes, child } => {
            let block = repeated(*blocklength, child.extent(), build(child, at));
            indexed(displacements_bytes.clone(), block)
        }
        Constructor::Struct { blocklengths, displacements_bytes, children } => {
            let members = blocklengths.iter().zip(displacements_bytes).zip(children);
            sequence(members.map(|((&length, &displacement), child)| {
                repeated(length, child.extent(), build(child, at.wrapping_add(displacement)))
            }))
        }
        Constructor::Subarray { sizes, subsizes, starts, order, child } => {
            subarray(sizes, subsizes, starts, *order, child, at)
        }
        Constructor::Resized { child, .. } => build(child, at),
    }
}

fn subarray(sizes: &[i64], subsizes: &[i64], starts: &[i64], order: Order, child: &Layout, at: i64) -> Form {
    let dims: Vec<usize> = match order {
        Order::C => (0..sizes.len()).rev().collect(),
        Order::Fortran => (0..sizes.len()).collect(),
    };
    let mut weight = child.extent();
    let mut first = at;
    let mut steps = Vec::new();
    for dim in dims {
        first = first.wrapping_add(starts[dim].wrapping_mul(weight));
        steps.push((subsizes[dim], weight));
        weight = weight.wrapping_mul(sizes[dim]);
    }
    steps.into_iter().fold(build(child, first), |body, (count, stride)| repeated(count, stride, body))
}

/// Blocks of given lengths at given offsets.
fn blocks(lengths: &[i64], offsets: impl Iterator<Item = i64>, child: &Layout, at: i64) -> Form {
    let filled: Vec<(i64, i64)> =
        lengths.iter().copied().zip(offsets).filter(|(length, _)| *length > 0).collect();
    let Some(&(first, _)) = filled.first() else { return NOTHING };
    let body = build(child, at);
    if filled.iter().all(|(length, _)| *length == first) {
        let block = repeated(first, child.extent(), body);
        return indexed(filled.into_iter().map(|(_, offset)| offset).collect(), block);
    }
    if let Form::Run(run) = body
        && run.bytes as i64 == child.extent()
    {
        let block = |(length, offset): (i64, i64)| Run {
            offset: run.offset.wrapping_add(offset),
            bytes: run.bytes * length as usize,
        };
        return runs(filled.into_iter().map(block));
    }
    sequence(
        filled
            .into_iter()
            .map(|(length, offset)| repeated(length, child.extent(), body.clone()).moved(offset)),
    )
}

/// `body`, `count` times, `stride` bytes apart.
fn repeated(count: i64, stride: i64, body: Form) -> Form {
    if count <= 0 || body.is_empty() {
        return NOTHING;
    }
    let n = count as usize;
    match body {
        body if n == 1 => body,
        Form::Run(run) if run.bytes as i64 == stride => Form::Run(Run { bytes: run.bytes * n, ..run }),
        Form::Loop { count, stride: inner, body } if inner.wrapping_mul(count as i64) == stride => {
            Form::Loop { count: count * n, stride: inner, body }
        }
        body => Form::Loop { count: n, stride, body: Box::new(body) },
    }
}

/// `body` at each offset.
fn indexed(offsets: Vec<i64>, body: Form) -> Form {
    if offsets.is_empty() || body.is_empty() {
        return NOTHING;
    }
    if let Form::Run(run) = body {
        return runs(
            offsets.into_iter().map(|offset| Run { offset: run.offset.wrapping_add(offset), ..run }),
        );
    }
    match even_stride(&offsets) {
        Some(stride) => repeated(offsets.len() as i64, stride, body.moved(offsets[0])),
        None => Form::Index { offsets, body: Box::new(body) },
    }
}

/// The distance of neighbours, where it is one; of a single offset, 0.
fn even_stride(offsets: &[i64]) -> Option<i64> {
    let mut strides = offsets.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
    let first = strides.next().unwrap_or(0);
    strides.all(|stride| stride == first).then_some(first)
}

/// Runs in packed order: neighbours merged, then a loop, a list of places or a list of runs.
fn runs(all: impl Iterator<Item = Run>) -> Form {
    let mut merged: Vec<Run> = Vec::with_capacity(all.size_hint().0);
    for run in all {
        match merged.last_mut() {
            Some(last) if last.end() == run.offset => last.bytes += run.bytes,
            _ => merged.push(run),
        }
    }
    let Some(&first) = merged.first() else { return NOTHING };
    if merged.len() == 1 {
        return Form::Run(first);
    }
    if merged.iter().any(|run| run.bytes != first.bytes) {
        return Form::Runs(merged);
    }
    let offsets: Vec<i64> = merged.iter().map(|run| run.offset).collect();
    match even_stride(&offsets) {
        Some(stride) => repeated(merged.len() as i64, stride, Form::Run(first)),
        None => Form::Index { offsets, body: Box::new(Form::Run(Run { offset: 0, ..first })) },
    }
}

/// One after the other: nested sequences opened, neighbouring runs treated as runs.
fn sequence(parts: impl Iterator<Item = Form>) -> Form {
    let mut joined = Joined::default();
    for part in parts {
        match part {
            Form::Sequence(inner) => inner.into_iter().for_each(|part| joined.add(part)),
            part => joined.add(part),
        }
    }
    joined.flush();
    if joined.parts.len() == 1 { joined.parts.remove(0) } else { Form::Sequence(joined.parts) }
}

/// A sequence in the making.
#[derive(Default)]
struct Joined {
    parts: Vec<Form>,
    /// Runs that may go on.
    runs: Vec<Run>,
}

impl Joined {
    fn add(&mut self, part: Form) {
        match part {
            Form::Run(run) => self.runs.push(run),
            Form::Runs(runs) => self.runs.extend(runs),
            other => {
                self.flush();
                self.parts.push(other);
            }
        }
    }

    fn flush(&mut self) {
        let form = runs(std::mem::take(&mut self.runs).into_iter());
        if !form.is_empty() {
            self.parts.push(form);
        }
    }
}
