//! Flatten: from a layout to its segments, lazily, in type-map order.

use crate::constructor::{Constructor, Part};
use crate::{Element, Layout};

/// One contiguous run of bytes. Offsets count from the layout's origin and may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First byte.
    pub offset: i64,
    /// Number of bytes, never 0.
    pub bytes: u64,
}

impl Segment {
    /// One past the last byte.
    pub fn end(&self) -> i64 {
        self.offset + self.bytes as i64
    }
}

/// Values of one predefined type that lie side by side and follow each other in the type map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRun {
    /// First byte, counted from the layout's origin.
    pub offset: i64,
    /// The predefined type.
    pub element: Element,
    /// How many values, never 0.
    pub count: u64,
}

impl ElementRun {
    /// Bytes of the run.
    pub fn bytes(&self) -> u64 {
        self.count * self.element.size()
    }

    /// One past the last byte.
    pub fn end(&self) -> i64 {
        self.offset + self.bytes() as i64
    }
}

/// What a whole type map may be at once: one run of a predefined type, or one segment of any types.
pub(crate) trait Piece: Copy {
    /// What was found out of a layout when it was made.
    fn of(layout: &Layout) -> Option<Self>;
    fn named(element: Element) -> Self;
    fn bytes(&self) -> u64;
    fn moved(self, by: i64) -> Self;
    /// Copies side by side.
    fn repeated(self, copies: u64) -> Self;
    /// This and the next as one, where they are one.
    fn joined(self, next: Self) -> Option<Self>;

    /// The whole type map as one piece, or `None`. Arguments are taken as checked, and size is not 0.
    fn whole(constructor: &Constructor) -> Option<Self> {
        if let Constructor::Named { element } = constructor {
            return Some(Self::named(*element));
        }
        let piece = |part: Part<'_>| {
            let one = Self::of(part.child)?;
            let dense = part.repeat == 1 || one.bytes() as i64 == part.child.extent();
            dense.then(|| one.moved(part.displacement).repeated(part.repeat))
        };
        if let Some(nest) = constructor.nest() {
            // All steps of a loop are alike: the first decides for all, however many there are.
            let first = piece(nest.first)?;
            let around = |whole: Self, (count, stride): (u64, i64)| match count {
                1 => Some(whole),
                _ => whole.joined(first.moved(stride)).map(|_| whole.repeated(count)),
            };
            return nest.loops.into_iter().try_fold(first, around);
        }
        let parts = (0..constructor.part_count()).map(|k| constructor.part(k));
        let mut filled = parts.filter(|part| part.repeat > 0 && part.child.size() > 0);
        let first = piece(filled.next()?)?;
        filled.try_fold(first, |whole, part| whole.joined(piece(part)?))
    }
}

impl Piece for ElementRun {
    fn of(layout: &Layout) -> Option<Self> {
        layout.run()
    }
    fn named(element: Element) -> Self {
        Self { offset: 0, element, count: 1 }
    }
    fn bytes(&self) -> u64 {
        Self::bytes(self)
    }
    fn moved(self, by: i64) -> Self {
        Self { offset: self.offset.wrapping_add(by), ..self }
    }
    fn repeated(self, copies: u64) -> Self {
        Self { count: self.count * copies, ..self }
    }
    fn joined(self, next: Self) -> Option<Self> {
        (self.end() == next.offset && self.element == next.element)
            .then_some(Self { count: self.count + next.count, ..self })
    }
}

impl Piece for Segment {
    fn of(layout: &Layout) -> Option<Self> {
        layout.segment()
    }
    fn named(element: Element) -> Self {
        Self { offset: 0, bytes: element.size() }
    }
    fn bytes(&self) -> u64 {
        self.bytes
    }
    fn moved(self, by: i64) -> Self {
        Self { offset: self.offset.wrapping_add(by), ..self }
    }
    fn repeated(self, copies: u64) -> Self {
        Self { bytes: self.bytes * copies, ..self }
    }
    fn joined(self, next: Self) -> Option<Self> {
        (self.end() == next.offset).then_some(Self { bytes: self.bytes + next.bytes, ..self })
    }
}

impl Layout {
    /// The runs of the type map, in order; neighbours of the same type are not always joined.
    pub fn runs(&self) -> impl Iterator<Item = ElementRun> + '_ {
        Walk::of(self)
    }

    /// The merged segments in type-map order, made as they are asked for.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        merged(Walk::of(self))
    }

    /// The runs of the type map, in order, neighbours of the same type joined.
    pub(crate) fn merged_runs(&self) -> impl Iterator<Item = ElementRun> + '_ {
        merged(Walk::of(self))
    }

    /// The merged segments as a list. Where it may be long, prefer [`Layout::segments`].
    pub fn flatten(&self) -> Vec<Segment> {
        self.segments().collect()
    }
}

/// Neighbours that are one piece as one.
fn merged<P: Piece>(mut pieces: Walk<'_, P>) -> impl Iterator<Item = P> {
    let mut pending = pieces.next();
    std::iter::from_fn(move || {
        let mut piece = pending.take()?;
        for next in pieces.by_ref() {
            match piece.joined(next) {
                Some(longer) => piece = longer,
                None => {
                    pending = Some(next);
                    break;
                }
            }
        }
        Some(piece)
    })
}

/// Where a walk through the tree stands at one level.
#[derive(Debug)]
struct Frame<'a> {
    layout: &'a Layout,
    /// The layout's origin. Only data is known to lie within 64 bits, an origin may not: it wraps, and wraps
    /// back where the data is reached.
    base: i64,
    parts: u64,
    part: u64,
    copy: u64,
}

/// A walk through the tree, in type-map order, down to subtrees that are one piece.
#[derive(Debug)]
struct Walk<'a, P> {
    stack: Vec<Frame<'a>>,
    whole: Option<P>,
}

impl<'a> Frame<'a> {
    fn new(layout: &'a Layout, base: i64) -> Self {
        Self { layout, base, parts: layout.constructor().part_count(), part: 0, copy: 0 }
    }
}

impl<'a, P: Piece> Walk<'a, P> {
    fn of(layout: &'a Layout) -> Self {
        let whole = P::of(layout);
        let done = whole.is_some() || layout.size() == 0;
        Self { stack: if done { vec![] } else { vec![Frame::new(layout, 0)] }, whole }
    }
}

impl<P: Piece> Iterator for Walk<'_, P> {
    type Item = P;

    fn next(&mut self) -> Option<P> {
        if let Some(piece) = self.whole.take() {
            return Some(piece);
        }
        loop {
            let frame = self.stack.last_mut()?;
            if frame.part == frame.parts {
                self.stack.pop();
                continue;
            }
            let part = frame.layout.constructor().part(frame.part);
            if frame.copy == part.repeat || part.child.size() == 0 {
                frame.part += 1;
                frame.copy = 0;
                continue;
            }
            let extent = part.child.extent();
            let gone = (frame.copy as i64).wrapping_mul(extent);
            let base = frame.base.wrapping_add(part.displacement).wrapping_add(gone);
            let Some(piece) = P::of(part.child) else {
                frame.copy += 1;
                self.stack.push(Frame::new(part.child, base));
                continue;
            };
            // Dense copies are one piece; others come one by one.
            let copies = if piece.bytes() as i64 == extent { part.repeat - frame.copy } else { 1 };
            frame.copy += copies;
            if frame.copy == part.repeat {
                frame.part += 1;
                frame.copy = 0;
            }
            return Some(piece.moved(base).repeated(copies));
        }
    }
}
