//! Flatten: from a layout to its segments, lazily, in type-map order.

use crate::constructor::{Constructor, Part};
use crate::{Element, Layout};

/// One contiguous run of bytes. Offsets are relative to the layout's origin and may be negative.
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

/// Adjacent values of one predefined type that follow each other in the type map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementRun {
    /// First byte, relative to the layout's origin.
    pub offset: i64,
    pub element: Element,
    /// How many values, never 0.
    pub count: u64,
}

impl ElementRun {
    pub fn bytes(&self) -> u64 {
        self.count * self.element.size()
    }

    /// One past the last byte.
    pub fn end(&self) -> i64 {
        self.offset + self.bytes() as i64
    }
}

/// A whole type map in a single piece: one run of a predefined type, or one segment of any types.
pub(crate) trait Piece: Copy {
    /// The piece that was derived when the layout was made.
    fn from_layout(layout: &Layout) -> Option<Self>;
    fn named(element: Element) -> Self;
    fn bytes(&self) -> u64;
    fn moved(self, by: i64) -> Self;
    /// Adjacent copies.
    fn repeated(self, copies: u64) -> Self;
    /// This piece and the next as one, if they are adjacent.
    fn joined(self, next: Self) -> Option<Self>;

    /// The whole type map as a single piece, or `None`. Arguments must be checked already, and size is not 0.
    fn whole(constructor: &Constructor) -> Option<Self> {
        if let Constructor::Named { element } = constructor {
            return Some(Self::named(*element));
        }
        let piece = |part: Part<'_>| {
            let one = Self::from_layout(part.child)?;
            let dense = part.repeat == 1 || one.bytes() as i64 == part.child.extent();
            dense.then(|| one.moved(part.displacement).repeated(part.repeat))
        };
        if let Some(nest) = constructor.nest() {
            // All steps of a loop are equal, so the first decides for all of them.
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
    fn from_layout(layout: &Layout) -> Option<Self> {
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
    fn from_layout(layout: &Layout) -> Option<Self> {
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
    /// The runs of the type map, in order. Adjacent runs of the same type are not always merged.
    pub fn runs(&self) -> impl Iterator<Item = ElementRun> + '_ {
        Walk::new(self)
    }

    /// The merged segments in type-map order, computed lazily.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        merged(Walk::new(self))
    }

    /// The runs of the type map, in order. Adjacent runs of the same type are merged.
    pub(crate) fn merged_runs(&self) -> impl Iterator<Item = ElementRun> + '_ {
        merged(Walk::new(self))
    }

    /// The merged segments as a list. For long lists, prefer [`Layout::segments`].
    pub fn flatten(&self) -> Vec<Segment> {
        self.segments().collect()
    }
}

/// Merges adjacent pieces.
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

/// The position of a walk at one level of the tree.
#[derive(Debug)]
struct Frame<'a> {
    layout: &'a Layout,
    /// The layout's origin. Data is within 64 bits, but an origin may not be: it wraps, and wraps back at the data.
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
    fn new(layout: &'a Layout) -> Self {
        let whole = P::from_layout(layout);
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
            let Some(piece) = P::from_layout(part.child) else {
                frame.copy += 1;
                self.stack.push(Frame::new(part.child, base));
                continue;
            };
            // Dense copies are one piece; other copies are visited one by one.
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
