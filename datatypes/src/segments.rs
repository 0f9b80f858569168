//! Flatten: from a layout to its segments, lazily, in type-map order.

use crate::constructor::Constructor;
use crate::{Element, Layout};

/// One contiguous run of bytes. Offsets count from the layout's origin and may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First byte.
    pub offset: i64,
    /// Number of bytes, never 0.
    pub bytes: u64,
}

/// Values of one predefined type that lie side by side and follow each other in the type map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First byte, counted from the layout's origin.
    pub offset: i64,
    /// The predefined type.
    pub element: Element,
    /// How many values, never 0.
    pub count: u64,
}

impl Run {
    /// Bytes of the run.
    pub fn bytes(&self) -> u64 {
        self.count * self.element.size()
    }

    /// One past the last byte.
    pub fn end(&self) -> i64 {
        self.offset + self.bytes() as i64
    }

    /// This run and the next as one, where they are one.
    fn joined(self, next: Self) -> Option<Self> {
        (self.end() == next.offset && self.element == next.element)
            .then_some(Self { count: self.count + next.count, ..self })
    }
}

/// The whole type map as one run, or `None`. Assumes checked arguments.
pub(crate) fn single_run(constructor: &Constructor) -> Option<Run> {
    let part_run = |k| {
        let part = constructor.part(k);
        let run = part.child.run()?;
        let dense = part.repeat == 1 || run.bytes() as i64 == part.child.extent();
        dense.then_some(Run { offset: part.displacement + run.offset, count: run.count * part.repeat, ..run })
    };
    let is_empty = |k| {
        let part = constructor.part(k);
        part.repeat == 0 || part.child.size() == 0
    };
    if let Constructor::Named { element } = constructor {
        return Some(Run { offset: 0, element: *element, count: 1 });
    }
    let parts = constructor.part_count();
    if let Constructor::Vector { .. } | Constructor::Hvector { .. } = constructor {
        // All parts are alike: the first two decide for all.
        if parts == 0 || is_empty(0) {
            return None;
        }
        let first = part_run(0)?;
        if parts > 1 {
            first.joined(part_run(1)?)?;
        }
        return Some(Run { count: first.count * parts, ..first });
    }
    let mut whole: Option<Run> = None;
    for k in (0..parts).filter(|&k| !is_empty(k)) {
        let run = part_run(k)?;
        whole = Some(match whole {
            None => run,
            Some(whole) => whole.joined(run)?,
        });
    }
    whole
}

impl Layout {
    /// The runs of the type map, in order; neighbours of the same type are not always joined.
    pub fn runs(&self) -> Runs<'_> {
        let whole = self.run();
        let stack =
            if whole.is_some() { vec![] } else { vec![Frame { layout: self, base: 0, part: 0, copy: 0 }] };
        Runs { stack, whole }
    }

    /// The merged segments in type-map order, made as they are asked for.
    pub fn segments(&self) -> Segments<'_> {
        Segments { runs: self.runs(), pending: None }
    }

    /// The merged segments as a list. Where it may be long, prefer [`Layout::segments`].
    pub fn flatten(&self) -> Vec<Segment> {
        self.segments().collect()
    }

    /// Number of merged segments. Takes time in proportion to them, and no memory.
    pub fn segment_count(&self) -> u64 {
        self.segments().count() as u64
    }
}

/// Where a walk through the tree stands at one level.
#[derive(Debug)]
struct Frame<'a> {
    layout: &'a Layout,
    base: i64,
    part: u64,
    copy: u64,
}

/// Iterator over the runs of a layout; see [`Layout::runs`].
#[derive(Debug)]
pub struct Runs<'a> {
    stack: Vec<Frame<'a>>,
    whole: Option<Run>,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if let Some(run) = self.whole.take() {
            return Some(run);
        }
        loop {
            let frame = self.stack.last_mut()?;
            let constructor = frame.layout.constructor();
            if frame.part == constructor.part_count() {
                self.stack.pop();
                continue;
            }
            let part = constructor.part(frame.part);
            if frame.copy == part.repeat || part.child.size() == 0 {
                frame.part += 1;
                frame.copy = 0;
                continue;
            }
            let extent = part.child.extent();
            let base = frame.base + part.displacement + frame.copy as i64 * extent;
            match part.child.run() {
                Some(run) if run.bytes() as i64 == extent => {
                    let copies = part.repeat - frame.copy;
                    frame.copy = part.repeat;
                    return Some(Run { offset: base + run.offset, count: run.count * copies, ..run });
                }
                Some(run) => {
                    frame.copy += 1;
                    return Some(Run { offset: base + run.offset, ..run });
                }
                None => {
                    frame.copy += 1;
                    self.stack.push(Frame { layout: part.child, base, part: 0, copy: 0 });
                }
            }
        }
    }
}

/// Iterator over the merged segments of a layout; see [`Layout::segments`].
#[derive(Debug)]
pub struct Segments<'a> {
    runs: Runs<'a>,
    pending: Option<Segment>,
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        for run in self.runs.by_ref() {
            let next = Segment { offset: run.offset, bytes: run.bytes() };
            match &mut self.pending {
                Some(last) if last.offset + last.bytes as i64 == next.offset => last.bytes += next.bytes,
                pending => {
                    if let Some(done) = pending.replace(next) {
                        return Some(done);
                    }
                }
            }
        }
        self.pending.take()
    }
}
