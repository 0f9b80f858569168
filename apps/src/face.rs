//! A face: the data that travels from one rank to another, as one stream of bytes, and how it is cut among threads.

use std::ops::Range;
use std::sync::Arc;

use datatypes::Layout;

use crate::{Arrays, Message, Piece, WireOrder};

/// Which of the two hand-written loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// The application's nest, value by value. Compiled with the build's normal optimisation, for its base
    /// instruction set.
    Plain,
    /// The same bytes in the same order, as an expert would write this nest by hand: copies of known sizes,
    /// and instructions chosen at run time. The plain loop if nothing can be gained.
    Tuned,
}

/// One kind of run through arrays. Its datatype, loops and cuts all come from this description.
///
/// Its planes are the units in which a face is cut: consecutive in the packed stream and equally large.
pub(crate) trait FaceBlock: Send + Sync + std::fmt::Debug {
    /// Number of planes along the slowest dimension, at least 1.
    fn planes(&self) -> usize;

    /// Only the planes of `range`.
    fn part(&self, range: Range<usize>) -> Arc<dyn FaceBlock>;

    /// Bytes in the packed stream, the same number in each plane.
    fn bytes(&self) -> usize;

    /// Its layouts, in wire order.
    fn pieces(&self, order: WireOrder) -> Vec<Piece>;

    /// Packs by hand, in [`WireOrder::Manual`].
    fn pack(&self, loops: Loops, arrays: &Arrays, packed: &mut [u8]);

    /// Unpacks by hand, in [`WireOrder::Manual`].
    fn unpack(&self, loops: Loops, packed: &[u8], arrays: &mut Arrays);

    /// Whether the loops and the layouts have the values in different orders.
    fn orders_differ(&self) -> bool {
        false
    }

    /// The maximum number of segments if an index list gives their places. Known without drawing the list.
    fn listed_segments(&self) -> Option<u64> {
        None
    }
}

/// The data for one neighbour, or the place of the data from it. A part of a face is also a face.
///
/// Cheap to clone. The loops allocate nothing. Several threads may pack faces of the same arrays at once,
/// each into its own bytes; unpacking needs the arrays exclusively.
#[derive(Clone, Debug)]
pub struct Face {
    /// Each block with its bytes.
    blocks: Vec<(usize, Arc<dyn FaceBlock>)>,
    bytes: usize,
}

impl Face {
    pub(crate) fn new(blocks: impl IntoIterator<Item = Arc<dyn FaceBlock>>) -> Self {
        let blocks: Vec<_> = blocks.into_iter().map(|block| (block.bytes(), block)).collect();
        Self { bytes: blocks.iter().map(|(bytes, _)| bytes).sum(), blocks }
    }

    pub(crate) fn from_block(block: impl FaceBlock + 'static) -> Self {
        Self::new([Arc::new(block) as Arc<dyn FaceBlock>])
    }

    /// Bytes on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The layouts to send from or to receive into, in wire order. Empty faces have no pieces.
    pub fn message(&self, order: WireOrder) -> Message {
        Message { pieces: self.blocks.iter().flat_map(|(_, block)| block.pieces(order)).collect() }
    }

    /// Whether the hand-written loops and the datatype put the values in different orders.
    pub fn orders_differ(&self) -> bool {
        self.blocks.iter().any(|(_, block)| block.orders_differ())
    }

    /// The maximum number of segments if index lists give their places. Known without drawing the lists.
    pub fn listed_segments(&self) -> Option<u64> {
        self.blocks.iter().map(|(_, block)| block.listed_segments()).sum()
    }

    /// Packs by hand, in [`WireOrder::Manual`].
    ///
    /// # Panics
    /// If `packed` does not have [`Face::bytes`] bytes, or is not aligned to the element.
    pub fn pack(&self, loops: Loops, arrays: &Arrays, mut packed: &mut [u8]) {
        assert_eq!(packed.len(), self.bytes, "bytes of the face");
        for (bytes, block) in &self.blocks {
            block.pack(loops, arrays, packed.split_off_mut(..*bytes).expect("all blocks fit"));
        }
    }

    /// Unpacks by hand, in [`WireOrder::Manual`].
    ///
    /// # Panics
    /// If `packed` does not have [`Face::bytes`] bytes, or is not aligned to the element.
    pub fn unpack(&self, loops: Loops, mut packed: &[u8], arrays: &mut Arrays) {
        assert_eq!(packed.len(), self.bytes, "bytes of the face");
        for (bytes, block) in &self.blocks {
            block.unpack(loops, packed.split_off(..*bytes).expect("all blocks fit"), arrays);
        }
    }

    /// Cuts the face into `parts` between planes of its slowest dimension, with bytes as equal as the planes
    /// allow. If there are fewer planes than parts, some parts are empty.
    ///
    /// # Panics
    /// If `parts` is 0.
    pub fn cut(&self, parts: usize) -> Cut {
        assert!(parts > 0, "a face is cut into parts");
        // 128 bits: the product of two sizes in memory.
        let at = |part| (self.bytes as u128 * part as u128 / parts as u128) as usize;
        self.cut_at((0..=parts).map(|part| self.plane_below(at(part))).collect())
    }

    /// Cuts the face into its planes: the largest possible number of parts that are not empty.
    pub fn planes(&self) -> Cut {
        let mut ends = vec![0];
        for (bytes, block) in &self.blocks {
            let (start, plane) = (ends[ends.len() - 1], bytes / block.planes());
            ends.extend((1..=block.planes()).map(|planes| start + planes * plane));
        }
        self.cut_at(ends)
    }

    /// The start of the last plane that begins at or before byte `at`, or the end of the face.
    fn plane_below(&self, at: usize) -> usize {
        let mut start = 0;
        for (bytes, block) in &self.blocks {
            if at < start + bytes {
                let plane = bytes / block.planes();
                return start + (at - start) / plane * plane;
            }
            start += bytes;
        }
        start
    }

    /// The parts between `bounds`. These are boundaries of planes in ascending order, from the start to the
    /// end of the face.
    fn cut_at(&self, bounds: Vec<usize>) -> Cut {
        let ranges: Vec<Range<usize>> = bounds.windows(2).map(|bound| bound[0]..bound[1]).collect();
        Cut { parts: ranges.iter().map(|range| self.within(range)).collect(), ranges }
    }

    /// The planes within bytes `range` of the packed stream.
    fn within(&self, range: &Range<usize>) -> Self {
        let mut blocks = Vec::new();
        let mut start = 0;
        // A block without data has no planes to cut at.
        for (bytes, block) in self.blocks.iter().filter(|(bytes, _)| *bytes > 0) {
            let plane = bytes / block.planes();
            let clamped = |at: usize| at.saturating_sub(start).min(*bytes) / plane;
            let planes = clamped(range.start)..clamped(range.end);
            if planes == (0..block.planes()) {
                blocks.push(block.clone());
            } else if !planes.is_empty() {
                blocks.push(block.part(planes));
            }
            start += bytes;
        }
        Self::new(blocks)
    }
}

/// A face in parts that follow each other in its packed stream, so that both ends of a transfer cut it the same way.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The parts: each packs and unpacks by itself and has its own message.
    pub parts: Vec<Face>,
    /// Bytes of the packed stream that each part fills.
    pub ranges: Vec<Range<usize>>,
}

impl Cut {
    /// The one datatype that describes all parts in a partitioned operation: part `p` begins `p` extents further on.
    /// With it, the byte (from the start of array 0) to pass it with. `displacements` are those of the arrays.
    ///
    /// `None` if the face is not cut evenly: if the parts do not have one layout at equal distances, or if a
    /// part is empty. This is so for several arrays with different rows (WRF), for lists, and if the number
    /// of parts does not divide that of planes; there [`Face::planes`] may be even. If either end of a
    /// transfer is uneven ([`HaloApp::target`](crate::halo::HaloApp::target),
    /// [`HaloApp::source`](crate::halo::HaloApp::source)), each part that is not empty needs its own request.
    pub fn partition(&self, order: WireOrder, displacements: &[i64]) -> Option<(i64, Layout)> {
        let messages: Vec<Message> = self.parts.iter().map(|part| part.message(order)).collect();
        let first = &messages[0];
        let extent = match messages.get(1) {
            Some(second) => distance(first, second)?,
            None => first.size() as i64,
        };
        let even = |p: usize| distance(first, &messages[p]) == Some(p as i64 * extent);
        if first.pieces.is_empty() || !(1..messages.len()).all(even) {
            return None;
        }
        let (origin, layout) = first.datatype(displacements);
        let resized = Layout::resized(layout.lower_bound(), extent, &layout);
        Some((origin, resized.expect("parts are within memory")))
    }
}

/// The distance in bytes that moves all pieces of `a` to those of `b`; `None` if they differ in any other way.
fn distance(a: &Message, b: &Message) -> Option<i64> {
    let distance = b.pieces.first()?.origin_bytes - a.pieces.first()?.origin_bytes;
    let moved = |(a, b): (&Piece, &Piece)| {
        a.array == b.array && a.origin_bytes + distance == b.origin_bytes && a.layout == b.layout
    };
    (a.pieces.len() == b.pieces.len() && a.pieces.iter().zip(&b.pieces).all(moved)).then_some(distance)
}
