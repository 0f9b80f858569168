//! The places of a message in the one memory with all arrays, and in a wire buffer.

use std::ops::{Range, RangeInclusive};

use apps::{Arrays, Message, Piece};
use datatypes::Element;

use crate::memory::{Region, outside};
use crate::payload::{Mismatch, Places, Run, Runs, Wrong};

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

/// The data of the message in the arrays' memory, in wire order. Padding within values, such as the last 6
/// bytes of a `long double`, is not data: copies of the value need not keep it.
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

/// Describes a wrong byte of the arrays' memory in the application's terms.
pub fn in_arrays(arrays: &Arrays, wrong: Wrong) -> Mismatch {
    format!("{}: {}", place_in_arrays(arrays, wrong.at), wrong.values())
}

/// The element of a byte of the arrays' memory, or the nearest array.
pub fn place_in_arrays(arrays: &Arrays, at: usize) -> String {
    let distance = |place: Range<usize>| place.start.saturating_sub(at).max(at.saturating_sub(place.end));
    let nearest = (0..arrays.specs().len()).min_by_key(|&i| distance(arrays.place(i)));
    let i = nearest.expect("a message has arrays");
    let (spec, place) = (&arrays.specs()[i], arrays.place(i));
    let name = format!("array {i} ({})", spec.name);
    if !place.contains(&at) {
        return outside(at, &place, &name);
    }
    let (offset, size) = (at - place.start, spec.element.size() as usize);
    let index = spec.element_text(offset / size).map_or_else(String::new, |text| format!(" = {text}"));
    let element = if size > 1 { format!(", element {}", offset / size) } else { String::new() };
    format!("{name}, byte {offset}{element}{index}")
}

/// Data at these places of a memory whose first byte has this source.
pub fn from_source(spans: &[Span], source: u64) -> Vec<Run> {
    let run = |span: &Span| Run { at: span.offset, bytes: span.bytes, source: source + span.offset as u64 };
    spans.iter().map(run).collect()
}

/// Places whose bytes may change, without sources.
///
/// # Safety
/// As for [`Places::new`].
pub unsafe fn padded_places(memory: Region, spans: &[Span]) -> Places {
    let run = |span: &Span| Run { at: span.offset, bytes: span.bytes, source: 0 };
    // SAFETY: guaranteed by the caller.
    unsafe { Places::new(memory, Runs::from_runs(spans.iter().map(run))) }
}

/// The runs with the data of `here`, whose bytes have the sources of other runs in order.
pub fn runs(here: &[Span], sources: &[Run]) -> Runs {
    let (mut runs, mut sources) = (Vec::with_capacity(here.len()), sources.iter());
    let mut rest = (0, 0);
    for span in here {
        let mut done = 0;
        while done < span.bytes {
            while rest.1 == 0 {
                let run = sources.next().expect("both ends of a message have the same number of bytes");
                rest = (run.source, run.bytes);
            }
            let bytes = rest.1.min(span.bytes - done);
            runs.push(Run { at: span.offset + done, bytes, source: rest.0 });
            (rest, done) = ((rest.0 + bytes as u64, rest.1 - bytes), done + bytes);
        }
    }
    Runs::from_runs(runs)
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

    #[test]
    fn a_run_ends_where_it_ends_at_either_end_and_where_a_message_ends() {
        let run = |at, bytes, source| Run { at, bytes, source };
        let here = [Span { offset: 0, bytes: 6 }, Span { offset: 10, bytes: 6 }];
        let all = runs(&here, &[run(7, 4, 100), run(40, 8, 200)]);
        let part = |numbers| all.part(numbers).iter().collect::<Vec<_>>();
        assert_eq!(part(0..12), [run(0, 4, 100), run(4, 2, 200), run(10, 6, 202)]);
        assert_eq!(part(0..5), [run(0, 4, 100), run(4, 1, 200)]);
        assert_eq!(part(5..12), [run(5, 1, 201), run(10, 6, 202)]);
        assert_eq!(from_source(&here, 30), [run(0, 6, 30), run(10, 6, 40)]);
    }
}
