//! A message: the bytes of the arrays that travel, in wire order.

use datatypes::{Layout, Segment, Statistics};

/// A layout within one array.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub array: usize,
    /// Byte of the array at which the layout's displacement 0 is: the address that the application passes.
    pub origin_bytes: i64,
    pub layout: Layout,
}

/// The pieces of a message, in wire order.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// One piece per array if the order allows it, more if the wire order goes back and forth.
    pub pieces: Vec<Piece>,
}

impl Message {
    /// A message from one array, passed from its byte `origin_bytes`.
    pub fn single(array: usize, origin_bytes: i64, layout: Layout) -> Self {
        Self { pieces: vec![Piece { array, origin_bytes, layout }] }
    }

    /// Bytes on the wire.
    pub fn size(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.layout.size()).sum()
    }

    /// The segments as (array, segment). Offsets count from the start of the array; adjacent segments of an
    /// array are merged.
    pub fn segments(&self) -> impl Iterator<Item = (usize, Segment)> + '_ {
        let moved = |piece: &Piece, segment: Segment| Segment {
            offset: piece.origin_bytes + segment.offset,
            ..segment
        };
        let mut all = self
            .pieces
            .iter()
            .flat_map(move |p| p.layout.segments().map(move |s| (p.array, moved(p, s))))
            .peekable();
        std::iter::from_fn(move || {
            let (array, mut segment) = all.next()?;
            while let Some((_, next)) =
                all.next_if(|(a, s)| *a == array && s.offset == segment.offset + segment.bytes as i64)
            {
                segment.bytes += next.bytes;
            }
            Some((array, segment))
        })
    }

    /// Statistics of block lengths, strides and counts; strides are between neighbours in the same array.
    pub fn statistics(&self) -> Statistics {
        let mut lists: Vec<(usize, Vec<Segment>)> = Vec::new();
        for (array, segment) in self.segments() {
            match lists.last_mut() {
                Some((last, list)) if *last == array => list.push(segment),
                _ => lists.push((array, vec![segment])),
            }
        }
        Statistics::from_lists(lists.into_iter().map(|(_, list)| list))
    }

    /// The message as one datatype, and the byte, from the start of array 0, to pass it with. `displacements`
    /// are the starts of the arrays from there. A message in one array keeps its own layout and address;
    /// messages in several arrays become a struct passed from array 0, as in the original.
    pub fn datatype(&self, displacements: &[i64]) -> (i64, Layout) {
        match &self.pieces[..] {
            [piece] => (displacements[piece.array] + piece.origin_bytes, piece.layout.clone()),
            pieces => {
                let places: Vec<i64> =
                    pieces.iter().map(|p| displacements[p.array] + p.origin_bytes).collect();
                let layouts: Vec<Layout> = pieces.iter().map(|piece| piece.layout.clone()).collect();
                let whole = Layout::structure(&vec![1; pieces.len()], &places, &layouts);
                (0, whole.expect("arrays are within memory"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use datatypes::Element;

    use super::*;

    fn floats(array: usize, origin_bytes: i64, count: i64) -> Piece {
        let layout = Layout::contiguous(count, &Layout::named(Element::Float)).unwrap();
        Piece { array, origin_bytes, layout }
    }

    #[test]
    fn neighbours_in_one_array_are_one_segment_and_arrays_stay_apart() {
        let message =
            Message { pieces: vec![floats(0, 0, 2), floats(0, 8, 1), floats(1, 12, 1), floats(0, 12, 1)] };
        let segments: Vec<_> = message.segments().map(|(array, s)| (array, s.offset, s.bytes)).collect();
        assert_eq!(segments, [(0, 0, 12), (1, 12, 4), (0, 12, 4)]);
        assert_eq!(message.size(), 20);
    }

    #[test]
    fn a_message_in_one_array_keeps_its_layout_and_address() {
        let piece = floats(1, 40, 3);
        let (origin, layout) = Message::single(1, 40, piece.layout.clone()).datatype(&[0, 1000]);
        assert_eq!((origin, layout), (1040, piece.layout));
    }

    #[test]
    fn strides_are_not_taken_from_one_array_to_the_next() {
        let message = Message { pieces: vec![floats(0, 0, 1), floats(0, 16, 1), floats(1, 400, 1)] };
        let strides = message.statistics().stride_bytes.expect("two segments in one array");
        assert_eq!((strides.min, strides.max, strides.distinct), (16, 16, 1));
    }
}
