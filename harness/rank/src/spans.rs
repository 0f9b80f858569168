//! The places of a message in the one memory with all arrays.

use std::ops::RangeInclusive;

use apps::{Arrays, Message};

/// Bytes of a cache line on all processors that can evict one.
pub const LINE_BYTES: usize = 64;

/// One contiguous run in the arrays' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its start, in bytes from the start of the arrays' memory.
    pub offset: usize,
    /// Its length in bytes.
    pub bytes: usize,
}

impl Span {
    /// The cache lines that it touches, by number: the arrays' memory begins at a line.
    pub fn lines(self) -> RangeInclusive<usize> {
        self.offset / LINE_BYTES..=(self.offset + self.bytes - 1) / LINE_BYTES
    }
}

/// The runs of the message in the arrays' memory, in wire order; computed lazily, because there may be many.
pub fn spans<'a>(message: &'a Message, arrays: &Arrays) -> impl Iterator<Item = Span> + use<'a> {
    let starts: Vec<i64> = (0..arrays.specs().len()).map(|i| arrays.place(i).start as i64).collect();
    message.segments().map(move |(array, segment)| Span {
        offset: (starts[array] + segment.offset) as usize,
        bytes: segment.bytes as usize,
    })
}

/// Bytes of all cache lines that a message touches: those of its data in the arrays, each counted once, and those of its packed bytes.
pub fn line_bytes(message: &Message, arrays: &Arrays) -> u64 {
    let mut touched = vec![0_u64; (arrays.memory().len() / LINE_BYTES).div_ceil(64)];
    for line in spans(message, arrays).flat_map(Span::lines) {
        touched[line / 64] |= 1 << (line % 64);
    }
    let of_arrays: u32 = touched.iter().map(|word| word.count_ones()).sum();
    (u64::from(of_arrays) + message.size().div_ceil(LINE_BYTES as u64)) * LINE_BYTES as u64
}

#[cfg(test)]
mod tests {
    use apps::{ArraySpec, Piece};
    use datatypes::{Element, Layout};

    use super::*;

    #[test]
    fn a_line_counts_once_however_often_it_is_touched() {
        let arrays = Arrays::new(vec![ArraySpec::new("a", Element::Double, &[64])]);
        // Every second double of the first two lines, then again the first, and one that straddles nothing.
        let layout = Layout::vector(8, 1, 2, &Layout::named(Element::Double)).unwrap();
        let piece = |origin_bytes| Piece { array: 0, origin_bytes, layout: layout.clone() };
        let message = Message { pieces: vec![piece(0), piece(8)] };
        // Two lines of the array; 16 doubles fill two lines of the packed buffer.
        assert_eq!(line_bytes(&message, &arrays), 4 * 64);
    }
}
