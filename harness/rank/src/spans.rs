//! The places of a message in the one memory with all arrays, and in a wire buffer.

use std::ops::RangeInclusive;

use apps::{Arrays, Message, Piece};
use datatypes::Element;

/// Bytes of a cache line on all processors that can evict one.
pub const LINE_BYTES: usize = 64;

/// One contiguous run in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its start, in bytes from the start of the memory.
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

/// The data of the message in the arrays' memory, in wire order. Padding within values, such as the last 6 bytes of a `long double`, is
/// not data: copies of the value need not keep it.
pub fn data_spans(message: &Message, arrays: &Arrays) -> Vec<Span> {
    if !has_padding(message) {
        return spans(message, arrays).collect();
    }
    let of_piece = |Piece { array, origin_bytes, layout }: &Piece| {
        let start = arrays.place(*array).start as i64 + origin_bytes;
        let values = |run: datatypes::ElementRun| Span {
            offset: (start + run.offset) as usize,
            bytes: run.bytes() as usize,
        };
        layout.runs().flat_map(|run| without_padding(run.element, values(run))).collect::<Vec<_>>()
    };
    message.pieces.iter().flat_map(of_piece).collect()
}

/// All bytes of the values in the arrays' memory, if some are padding, which may change with its value.
pub fn padded_spans(message: &Message, arrays: &Arrays) -> Vec<Span> {
    if has_padding(message) { spans(message, arrays).collect() } else { Vec::new() }
}

/// The data of the message in a wire buffer.
pub fn packed_data(message: &Message) -> Vec<Span> {
    if !has_padding(message) {
        return vec![Span { offset: 0, bytes: message.size() as usize }];
    }
    let mut packed = 0;
    let of_run = |run: datatypes::ElementRun| {
        let values = Span { offset: packed, bytes: run.bytes() as usize };
        packed += values.bytes;
        without_padding(run.element, values)
    };
    message.pieces.iter().flat_map(|piece| piece.layout.runs()).flat_map(of_run).collect()
}

fn has_padding(message: &Message) -> bool {
    message.pieces.iter().any(|piece| piece.layout.has(&|element: Element| element.padded_parts().is_some()))
}

/// Consecutive values without their padding.
fn without_padding(element: Element, values: Span) -> impl Iterator<Item = Span> {
    let (part, data) = element.padded_parts().unwrap_or((values.bytes, values.bytes));
    let parts = (0..values.bytes).step_by(part.max(1));
    parts.map(move |at| Span { offset: values.offset + at, bytes: data })
}

/// Whether two lists have no byte in common.
pub fn is_apart(mut one: Vec<Span>, mut other: Vec<Span>) -> bool {
    [&mut one, &mut other].into_iter().for_each(|spans| spans.sort_unstable_by_key(|span| span.offset));
    let mut others = other.iter().peekable();
    !one.iter().any(|span| {
        while others.next_if(|other| other.offset + other.bytes <= span.offset).is_some() {}
        others.peek().is_some_and(|other| other.offset < span.offset + span.bytes)
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
    use apps::ArraySpec;
    use datatypes::Layout;

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

    #[test]
    fn data_is_each_value_without_its_padding() {
        let arrays = Arrays::new(vec![ArraySpec::new("a", Element::LongDouble, &[8])]);
        let start = arrays.place(0).start;
        let message = |layout: &str| Message::single(0, 0, layout.parse::<Layout>().unwrap());
        let of = |spans: Vec<Span>| spans.iter().map(|span| (span.offset, span.bytes)).collect::<Vec<_>>();
        if cfg!(target_arch = "x86_64") {
            let whole = message("vector(2, 2, 3, long_double)");
            assert_eq!(of(data_spans(&whole, &arrays)), [0, 16, 48, 64].map(|at| (start + at, 10)));
            assert_eq!(of(packed_data(&whole)), [0, 16, 32, 48].map(|at| (at, 10)));
            let mixed = message("struct([1, 1], [0, 32], [long_double, double])");
            assert_eq!(of(packed_data(&mixed)), [(0, 10), (16, 8)]);
        }
        let doubles = message("vector(2, 2, 3, double)");
        assert!(data_spans(&doubles, &arrays).into_iter().eq(spans(&doubles, &arrays)));
        assert_eq!(of(packed_data(&doubles)), [(0, 32)]);
    }

    #[test]
    fn lists_are_apart_if_they_share_no_byte() {
        let spans =
            |list: &[(usize, usize)]| list.iter().map(|&(offset, bytes)| Span { offset, bytes }).collect();
        assert!(is_apart(spans(&[(8, 8), (0, 4)]), spans(&[(4, 4), (16, 9)])));
        assert!(!is_apart(spans(&[(8, 8), (0, 4)]), spans(&[(15, 1)])));
    }
}
