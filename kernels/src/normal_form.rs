//! The normal form of a layout: the bytes to copy, as loops and lists, without MPI's constructors.
//!
//! Order matters: the packed stream follows the type map, so loops are never exchanged, only merged. Offsets
//! are those of the first copy. They wrap like the layout's own offsets, because only the places of data are
//! known to fit into 64 bits.

use datatypes::{Constructor, DistributedArray, Layout, Nest, Part};

use crate::block_copy::LONG;
use crate::indexed_records::{IndexedRecords, gcd};
use crate::records::Records;
use crate::survey::{ByteRun, Survey, compact};

/// The bytes to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NormalForm {
    /// Contiguous bytes.
    Run(ByteRun),
    /// `body`, `count` times, `stride` bytes apart.
    Loop { count: usize, stride: i64, body: Box<NormalForm> },
    /// Blocks of `block` bytes at these places from `lowest`.
    Places { lowest: i64, block: usize, offsets: Box<[u32]> },
    /// `body` at each of these offsets.
    Index { offsets: Vec<i64>, body: Box<NormalForm> },
    /// Runs of different lengths that recur.
    Records(Records),
    /// Runs of records whose places depend on one list of indices.
    IndexedRecords(IndexedRecords),
    /// Runs of different lengths.
    Runs(Vec<ByteRun>),
    /// One after the other; empty for a layout without data.
    Sequence(Vec<NormalForm>),
}

const NOTHING: NormalForm = NormalForm::Sequence(Vec::new());

impl NormalForm {
    /// The form of `count` copies of a layout, whose sizes must fit into the address space.
    pub fn from_layout(layout: &Layout, count: u64) -> Self {
        repeated(count, layout.extent(), build(layout, 0))
    }

    /// Whether there is nothing to copy.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Sequence(parts) if parts.is_empty())
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Run(run) => run.bytes,
            Self::Loop { count, body, .. } => count * body.bytes(),
            Self::Places { block, offsets, .. } => block * offsets.len(),
            Self::Index { offsets, body } => offsets.len() * body.bytes(),
            Self::Records(records) => records.count * records.bytes,
            Self::IndexedRecords(records) => records.bytes(),
            Self::Runs(runs) => runs.iter().map(|run| run.bytes).sum(),
            Self::Sequence(parts) => parts.iter().map(Self::bytes).sum(),
        }
    }

    pub fn moved(self, by: i64) -> Self {
        let moved_run = |run: ByteRun| ByteRun { offset: run.offset.wrapping_add(by), ..run };
        match self {
            Self::Run(run) => Self::Run(moved_run(run)),
            Self::Loop { count, stride, body } => {
                Self::Loop { count, stride, body: Box::new(body.moved(by)) }
            }
            Self::Places { lowest, block, offsets } => {
                Self::Places { lowest: lowest.wrapping_add(by), block, offsets }
            }
            Self::Index { offsets, body } => Self::Index { offsets, body: Box::new(body.moved(by)) },
            Self::Records(records) => Self::Records(records.moved(by)),
            Self::IndexedRecords(records) => Self::IndexedRecords(records.moved(by)),
            Self::Runs(runs) => Self::Runs(runs.into_iter().map(moved_run).collect()),
            Self::Sequence(parts) => Self::Sequence(parts.into_iter().map(|part| part.moved(by)).collect()),
        }
    }
}

/// The form of one copy at `at`.
fn build(layout: &Layout, at: i64) -> NormalForm {
    if layout.size() == 0 {
        return NOTHING;
    }
    // Known since the layout was made: the members of a struct are often single values.
    if let Some(segment) = layout.segment() {
        let offset = at.wrapping_add(segment.offset);
        return NormalForm::Run(ByteRun { offset, bytes: segment.bytes as usize });
    }
    if let Some(Nest { first: Part { displacement, repeat, child }, loops }) = layout.constructor().nest() {
        let row = repeated(repeat, child.extent(), build(child, at.wrapping_add(displacement)));
        return loops.into_iter().fold(row, |body, (count, stride)| repeated(count, stride, body));
    }
    match layout.constructor() {
        Constructor::Named { element } => {
            NormalForm::Run(ByteRun { offset: at, bytes: element.size() as usize })
        }
        Constructor::Indexed { blocklengths, displacements, child } => {
            blocks(blocklengths, displacements, child.extent(), child, at)
        }
        Constructor::Hindexed { blocklengths, displacements_bytes, child } => {
            blocks(blocklengths, displacements_bytes, 1, child, at)
        }
        Constructor::IndexedBlock { blocklength, displacements, child } => {
            let block = repeated(*blocklength as u64, child.extent(), build(child, at));
            indexed(displacements, child.extent(), block)
        }
        Constructor::HindexedBlock { blocklength, displacements_bytes, child } => {
            let block = repeated(*blocklength as u64, child.extent(), build(child, at));
            indexed(displacements_bytes, 1, block)
        }
        Constructor::Struct { blocklengths, displacements_bytes, children } => {
            let mut joined = Joined::default();
            joined.runs.reserve(children.len());
            for ((&length, &displacement), child) in
                blocklengths.iter().zip(displacements_bytes).zip(children)
            {
                let place = at.wrapping_add(displacement);
                match member_run(length as usize, child, place) {
                    // A list of thousands of values is a struct too, if they belong to different arrays.
                    Some(run) => append(&mut joined.runs, run),
                    None => joined.add(repeated(length as u64, child.extent(), build(child, place))),
                }
            }
            joined.finish()
        }
        Constructor::Darray { array, child } => distributed(array, child.extent(), build(child, at)),
        _ => unreachable!("the others are nests"),
    }
}

/// A member of a struct that is one run.
fn member_run(length: usize, child: &Layout, place: i64) -> Option<ByteRun> {
    let segment = child.segment()?;
    let is_run = length == 1 || length > 1 && segment.bytes as i64 == child.extent();
    let (offset, bytes) = (place.wrapping_add(segment.offset), segment.bytes as usize * length);
    (is_run && bytes > 0).then_some(ByteRun { offset, bytes })
}

/// A distributed array of `element`, one dimension around the other.
fn distributed(array: &DistributedArray, extent: i64, element: NormalForm) -> NormalForm {
    let (mut body, mut step) = (element, extent);
    for dim in array.dims() {
        let (places, lengths): (Vec<i64>, Vec<i64>) = array.blocks(dim).unzip();
        let even = lengths.iter().take_while(|length| **length == lengths[0]).count();
        let first = indexed(&places[..even], step, repeated(lengths[0] as u64, step, body.clone()));
        let last = lengths.last().map_or(0, |length| *length as u64);
        let last = indexed(&places[even..], step, repeated(last, step, body));
        body = sequence([first, last].into_iter());
        step = step.wrapping_mul(array.gsizes[dim]);
    }
    body
}

/// Blocks of the given lengths at the given displacements, in units of `scale` bytes.
fn blocks(lengths: &[i64], displacements: &[i64], scale: i64, child: &Layout, at: i64) -> NormalForm {
    let body = build(child, at);
    let Some(&first) = lengths.iter().find(|length| **length > 0) else { return NOTHING };
    if lengths.iter().all(|&length| length == first) {
        return indexed(displacements, scale, repeated(first as u64, child.extent(), body));
    }
    if lengths.iter().all(|&length| length == first || length == 0) {
        let filled = lengths.iter().zip(displacements).filter(|(length, _)| **length > 0);
        let displacements: Vec<i64> = filled.map(|(_, displacement)| *displacement).collect();
        return indexed(&displacements, scale, repeated(first as u64, child.extent(), body));
    }
    let filled = lengths.iter().zip(displacements).filter(|(length, _)| **length > 0);
    let filled = filled.map(|(&length, displacement)| (length, displacement.wrapping_mul(scale)));
    if let NormalForm::Run(run) = body
        && run.bytes as i64 == child.extent()
    {
        return runs(filled.map(|(length, offset)| ByteRun {
            offset: run.offset.wrapping_add(offset),
            bytes: run.bytes * length as usize,
        }));
    }
    sequence(
        filled.map(|(length, offset)| repeated(length as u64, child.extent(), body.clone()).moved(offset)),
    )
}

/// `body`, `count` times, `stride` bytes apart.
fn repeated(count: u64, stride: i64, body: NormalForm) -> NormalForm {
    if count == 0 || body.is_empty() {
        return NOTHING;
    }
    let n = count as usize;
    match body {
        body if n == 1 => body,
        NormalForm::Run(run) if run.bytes as i64 == stride => {
            NormalForm::Run(ByteRun { bytes: run.bytes * n, ..run })
        }
        NormalForm::Loop { count, stride: inner, body } if inner.wrapping_mul(count as i64) == stride => {
            NormalForm::Loop { count: count * n, stride: inner, body }
        }
        body => NormalForm::Loop { count: n, stride, body: Box::new(body) },
    }
}

/// `body` at each displacement, in units of `scale` bytes.
fn indexed(displacements: &[i64], scale: i64, body: NormalForm) -> NormalForm {
    let Some(&first) = displacements.first() else { return NOTHING };
    if body.is_empty() {
        return NOTHING;
    }
    let block_bytes = if let NormalForm::Run(block) = &body { block.bytes as i64 } else { 0 };
    // The distance of adjacent blocks, if it is a whole number of units.
    let touching = block_bytes.checked_div(scale).filter(|units| *units > 0 && units * scale == block_bytes);
    let survey = Survey::from_displacements(displacements, touching);
    if let Some(stride) = survey.stride {
        let body = body.moved(first.wrapping_mul(scale));
        return repeated(displacements.len() as u64, stride.wrapping_mul(scale), body);
    }
    let offset = |displacement: i64| displacement.wrapping_mul(scale);
    let NormalForm::Run(block) = body else {
        let offsets: Vec<i64> = displacements.iter().copied().map(offset).collect();
        return match few_runs(&body).and_then(|runs| IndexedRecords::of_copies(&offsets, &runs)) {
            Some(records) => NormalForm::IndexedRecords(records),
            None => NormalForm::Index { offsets, body: Box::new(body) },
        };
    };
    if displacements.len() >= WORTH_MERGING * (displacements.len() - survey.joined) {
        let run = |&displacement: &i64| ByteRun {
            offset: block.offset.wrapping_add(offset(displacement)),
            ..block
        };
        return runs(displacements.iter().map(run));
    }
    places(displacements, scale, block, &survey)
}

/// The runs of a form that has only a few, in packed order.
fn few_runs(form: &NormalForm) -> Option<Vec<ByteRun>> {
    const MOST: usize = 16;
    let runs: Vec<ByteRun> = match form {
        NormalForm::Run(run) => vec![*run],
        NormalForm::Runs(runs) if runs.len() <= MOST => runs.clone(),
        NormalForm::Places { lowest, block, offsets } if offsets.len() <= MOST => {
            let run = |&at: &u32| ByteRun { offset: lowest.wrapping_add(at.into()), bytes: *block };
            offsets.iter().map(run).collect()
        }
        NormalForm::Loop { count, stride, body } if *count <= MOST => {
            let body = few_runs(body)?;
            let copies = (0..*count as i64).map(|i| stride.wrapping_mul(i));
            let moved =
                |by: i64| body.iter().map(move |run| ByteRun { offset: run.offset.wrapping_add(by), ..*run });
            copies.flat_map(moved).collect()
        }
        NormalForm::Sequence(parts) if parts.len() <= MOST => {
            parts.iter().map(few_runs).collect::<Option<Vec<_>>>()?.concat()
        }
        _ => return None,
    };
    (runs.len() <= MOST).then_some(runs)
}

/// From this number of blocks per merged run, runs of different lengths are better than equal blocks.
const WORTH_MERGING: usize = 4;

/// Equal blocks at listed places: a compact list if they are within 4 GiB.
fn places(displacements: &[i64], scale: i64, block: ByteRun, survey: &Survey) -> NormalForm {
    let ends = (survey.lowest.wrapping_mul(scale), survey.highest.wrapping_mul(scale));
    let (lowest, highest) = (ends.0.min(ends.1), ends.0.max(ends.1));
    if u32::try_from(highest.wrapping_sub(lowest)).is_err() {
        let run = |&d: &i64| ByteRun { offset: block.offset.wrapping_add(d.wrapping_mul(scale)), ..block };
        return NormalForm::Runs(displacements.iter().map(run).collect());
    }
    let run = |i: usize| ByteRun {
        offset: block.offset.wrapping_add(displacements[i].wrapping_mul(scale)),
        ..block
    };
    if let Some(records) = IndexedRecords::from_runs(displacements.len(), run) {
        return NormalForm::IndexedRecords(records);
    }
    let offsets = compact(displacements, scale, lowest);
    NormalForm::Places { lowest: block.offset.wrapping_add(lowest), block: block.bytes, offsets }
}

/// Appends a run, which continues the last one if it is adjacent.
fn append(runs: &mut Vec<ByteRun>, run: ByteRun) {
    match runs.last_mut() {
        Some(last) if last.end() == run.offset => last.bytes += run.bytes,
        _ => runs.push(run),
    }
}

/// Runs in packed order.
fn runs(all: impl Iterator<Item = ByteRun>) -> NormalForm {
    let mut merged = Vec::with_capacity(all.size_hint().0);
    all.for_each(|run| append(&mut merged, run));
    of_merged(merged)
}

/// Runs of which no two neighbours are adjacent: a loop, a list of places, records or a list of runs.
fn of_merged(merged: Vec<ByteRun>) -> NormalForm {
    let Some(&first) = merged.first() else { return NOTHING };
    if merged.len() == 1 {
        return NormalForm::Run(first);
    }
    // Other records at one distance do not need a list.
    if let Some(records) = IndexedRecords::from_runs(merged.len(), |i| merged[i])
        && (records.are_particles() || !records.is_even())
    {
        return NormalForm::IndexedRecords(records);
    }
    let (unit, units) = common_block(&merged);
    let has_few_units = units <= FEW_UNITS * merged.len();
    let are_equal = merged.iter().all(|run| run.bytes == first.bytes);
    if !are_equal
        && let Some(records) = Records::from_runs(&merged)
        // A list for each column costs as much as one for all, and goes through the stream several times.
        && (records.is_even() || !has_few_units)
    {
        return NormalForm::Records(records);
    }
    // Each has the kernel for its length.
    if !are_equal && merged.iter().all(|run| run.bytes > LONG) {
        return NormalForm::Sequence(merged.into_iter().map(NormalForm::Run).collect());
    }
    if !has_few_units {
        return NormalForm::Runs(merged);
    }
    let mut offsets = Vec::with_capacity(units);
    for run in &merged {
        offsets.extend((0..run.bytes / unit).map(|i| run.offset.wrapping_add((i * unit) as i64)));
    }
    let survey = Survey::from_displacements(&offsets, None);
    let block = ByteRun { offset: 0, bytes: unit };
    match survey.stride {
        Some(stride) => {
            repeated(units as u64, stride, NormalForm::Run(ByteRun { offset: offsets[0], ..block }))
        }
        None => places(&offsets, 1, block, &survey),
    }
}

/// Maximum average number of equal blocks into which runs of different lengths are cut: a kernel of one size
/// copies two of them in less time than a kernel of any length copies one run.
const FEW_UNITS: usize = 2;

/// The largest block that all runs consist of, and how many there are.
fn common_block(runs: &[ByteRun]) -> (usize, usize) {
    let unit = runs.iter().fold(0, |unit, run| gcd(unit, run.bytes as u64)) as usize;
    (unit, runs.iter().map(|run| run.bytes / unit).sum())
}

/// One after the other.
fn sequence(parts: impl Iterator<Item = NormalForm>) -> NormalForm {
    let mut joined = Joined::default();
    parts.for_each(|part| joined.add(part));
    joined.finish()
}

/// A sequence under construction: nested sequences are flattened, and adjacent runs are merged into lists of runs.
#[derive(Default)]
struct Joined {
    parts: Vec<NormalForm>,
    /// Runs that may continue, merged.
    runs: Vec<ByteRun>,
}

impl Joined {
    fn add(&mut self, part: NormalForm) {
        match part {
            NormalForm::Run(run) => append(&mut self.runs, run),
            NormalForm::Runs(runs) => runs.into_iter().for_each(|run| append(&mut self.runs, run)),
            NormalForm::Sequence(inner) => inner.into_iter().for_each(|part| self.add(part)),
            other => {
                self.flush();
                self.parts.push(other);
            }
        }
    }

    fn flush(&mut self) {
        match of_merged(std::mem::take(&mut self.runs)) {
            NormalForm::Sequence(parts) => self.parts.extend(parts),
            form => self.parts.push(form),
        }
    }

    fn finish(mut self) -> NormalForm {
        self.flush();
        if self.parts.len() == 1 { self.parts.remove(0) } else { NormalForm::Sequence(self.parts) }
    }
}
