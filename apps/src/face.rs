//! A face: what travels from one rank to another, as one stream of bytes, and how it is cut among threads.

use std::ops::Range;
use std::sync::Arc;

use datatypes::Layout;

use crate::{Arrays, Message, Piece, WireOrder};

/// Which of the loops that were written by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// The nest as the application has it, value by value. Compiled like all else: optimised, for the build's base
    /// instruction set.
    Plain,
    /// The same bytes in the same order, by what an expert writes by hand for this nest: copies of known sizes, and
    /// instructions that are chosen when the program runs. The plain loop where nothing is to be gained.
    Tuned,
}

/// One kind of run through arrays, from which datatype, loops and cuts are all made.
///
/// Its planes are the units in which a face is cut: consecutive in the packed stream and equally large.
pub(crate) trait FaceBlock: Send + Sync + std::fmt::Debug {
    /// Number of planes along the slowest dimension, at least 1.
    fn planes(&self) -> usize;

    /// The planes of `range` alone.
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

    /// The most segments that there can be, where an index list says where they lie: known without drawing the list.
    fn listed_segments(&self) -> Option<u64> {
        None
    }
}

/// What is sent to one neighbour, or where what comes from it goes. A part of a face is a face.
///
/// Cheap to clone. The loops allocate nothing. Several threads may pack faces of the same arrays at once, each into
/// bytes of its own; unpacking has the arrays to itself.
#[derive(Clone, Debug)]
pub struct Face {
    /// Each with its bytes.
    blocks: Vec<(usize, Arc<dyn FaceBlock>)>,
    bytes: usize,
}

impl Face {
    pub(crate) fn new(blocks: impl IntoIterator<Item = Arc<dyn FaceBlock>>) -> Self {
        let blocks: Vec<_> = blocks.into_iter().map(|block| (block.bytes(), block)).collect();
        Self { bytes: blocks.iter().map(|(bytes, _)| bytes).sum(), blocks }
    }

    pub(crate) fn of(block: impl FaceBlock + 'static) -> Self {
        Self::new([Arc::new(block) as Arc<dyn FaceBlock>])
    }

    /// Bytes on the wire.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The layouts to send from or to receive into, in wire order. Those of an empty face have no pieces.
    pub fn message(&self, order: WireOrder) -> Message {
        Message { pieces: self.blocks.iter().flat_map(|(_, block)| block.pieces(order)).collect() }
    }

    /// Whether the hand-written loops and the datatype put the values in different orders.
    pub fn orders_differ(&self) -> bool {
        self.blocks.iter().any(|(_, block)| block.orders_differ())
    }

    /// The most segments that there can be, where index lists say where they lie: known without drawing the lists.
    pub fn listed_segments(&self) -> Option<u64> {
        self.blocks.iter().map(|(_, block)| block.listed_segments()).sum()
    }

    /// Packs by hand, in [`WireOrder::Manual`].
    ///
    /// # Panics
    /// If `packed` has not [`Face::bytes`] bytes, or is not aligned to the element.
    pub fn pack(&self, loops: Loops, arrays: &Arrays, mut packed: &mut [u8]) {
        assert_eq!(packed.len(), self.bytes, "bytes of the face");
        for (bytes, block) in &self.blocks {
            block.pack(loops, arrays, packed.split_off_mut(..*bytes).expect("all blocks fit"));
        }
    }

    /// Unpacks by hand, in [`WireOrder::Manual`].
    ///
    /// # Panics
    /// If `packed` has not [`Face::bytes`] bytes, or is not aligned to the element.
    pub fn unpack(&self, loops: Loops, mut packed: &[u8], arrays: &mut Arrays) {
        assert_eq!(packed.len(), self.bytes, "bytes of the face");
        for (bytes, block) in &self.blocks {
            block.unpack(loops, packed.split_off(..*bytes).expect("all blocks fit"), arrays);
        }
    }

    /// Cuts the face into `parts` between planes of its slowest dimension, as equal in bytes as those allow. There
    /// are empty parts where there are fewer planes than parts.
    ///
    /// # Panics
    /// If there are no parts.
    pub fn cut(&self, parts: usize) -> Cut {
        assert!(parts > 0, "a face is cut into parts");
        // 128 bits: the product of two sizes in memory.
        let at = |part| (self.bytes as u128 * part as u128 / parts as u128) as usize;
        self.cut_at((0..=parts).map(|part| self.plane_below(at(part))).collect())
    }

    /// Cuts the face into its planes, which are the most parts that are not empty.
    pub fn planes(&self) -> Cut {
        let mut ends = vec![0];
        for (bytes, block) in &self.blocks {
            let (start, plane) = (ends[ends.len() - 1], bytes / block.planes());
            ends.extend((1..=block.planes()).map(|planes| start + planes * plane));
        }
        self.cut_at(ends)
    }

    /// The last start of a plane that is not behind byte `at`, or the end of the face.
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

    /// The parts between `bounds`, which lie between planes, ascend, and begin and end with the face.
    fn cut_at(&self, bounds: Vec<usize>) -> Cut {
        let ranges: Vec<Range<usize>> = bounds.windows(2).map(|bound| bound[0]..bound[1]).collect();
        Cut { parts: ranges.iter().map(|range| self.within(range)).collect(), ranges }
    }

    /// The planes within bytes `range` of the packed stream.
    fn within(&self, range: &Range<usize>) -> Self {
        let mut blocks = Vec::new();
        let mut start = 0;
        for (bytes, block) in &self.blocks {
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

/// A face in parts that follow each other in its packed stream, so that both ends of a transfer cut alike.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The parts: each packs, unpacks, and has a message of its own.
    pub parts: Vec<Face>,
    /// Bytes of the packed stream that each part fills.
    pub ranges: Vec<Range<usize>>,
}

impl Cut {
    /// The one datatype that stands for all parts in a partitioned operation, with the byte from the start of array
    /// 0 that it is passed with: part `p` begins `p` extents further on. `displacements` are those of the arrays.
    ///
    /// `None` for a face that is not cut evenly, where the parts are not one layout at equal distances, or one of
    /// them is empty. So it is for several arrays of different rows (WRF), for lists, and wherever the parts do not
    /// divide the planes; there [`Face::planes`] may be even. Where either end of a transfer is uneven
    /// ([`HaloApp::target`](crate::halo::HaloApp::target), [`HaloApp::source`](crate::halo::HaloApp::source)), each part that is
    /// not empty needs a request of its own.
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
        Some((origin, resized.expect("parts lie within memory")))
    }
}

/// The bytes by which all pieces of `a` are moved to become those of `b`; `None` if that is not what differs.
fn distance(a: &Message, b: &Message) -> Option<i64> {
    let distance = b.pieces.first()?.origin_bytes - a.pieces.first()?.origin_bytes;
    let moved = |(a, b): (&Piece, &Piece)| {
        a.array == b.array && a.origin_bytes + distance == b.origin_bytes && a.layout == b.layout
    };
    (a.pieces.len() == b.pieces.len() && a.pieces.iter().zip(&b.pieces).all(moved)).then_some(distance)
}
