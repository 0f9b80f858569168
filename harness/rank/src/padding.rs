//! Padding within values, such as the last 6 bytes of a `long double`: copies of the value need not keep it. Nothing is
//! stamped there, and nothing is compared.

use std::ops::Range;

use apps::{Arrays, Message, Piece};
use datatypes::Element;

use crate::spans::{Span, spans};

/// The values of a packed message that have padding.
pub struct Padding {
    /// Packed bytes of values without others between them, with the bytes of a part and of the data at its start.
    runs: Vec<(Range<usize>, (usize, usize))>,
}

impl Padding {
    /// In the packed bytes of a message.
    pub fn of(message: &Message) -> Self {
        let (mut runs, mut packed) = (Vec::new(), 0);
        let mut add = |element: Element, bytes: usize| {
            runs.extend(element.padded_parts().map(|parts| (packed..packed + bytes, parts)));
            packed += bytes;
        };
        for Piece { layout, .. } in &message.pieces {
            match layout.uniform() {
                Some(element) => add(element, layout.size() as usize),
                None => layout.runs().for_each(|run| add(run.element, run.bytes() as usize)),
            }
        }
        Self { runs }
    }

    /// Copies the padding among the packed bytes from `at` on.
    pub fn copy(&self, at: usize, from: &[u8], to: &mut [u8]) {
        let first = self.runs.partition_point(|(run, _)| run.end <= at);
        let end = at + to.len();
        for (run, (part, data)) in self.runs[first..].iter().take_while(|(run, _)| run.start < end) {
            for packed in run.start.max(at)..run.end.min(end) {
                if (packed - run.start) % part >= *data {
                    to[packed - at] = from[packed - at];
                }
            }
        }
    }
}

/// The runs of a message in the arrays' memory, without padding.
pub fn data_spans<'a>(message: &'a Message, arrays: &Arrays) -> Box<dyn Iterator<Item = Span> + 'a> {
    let is_padded = |element: Element| element.padded_parts().is_some();
    if !message.pieces.iter().any(|piece| piece.layout.has(&is_padded)) {
        return Box::new(spans(message, arrays));
    }
    let starts: Vec<usize> = message.pieces.iter().map(|piece| arrays.place(piece.array).start).collect();
    let pieces = message.pieces.iter().zip(starts);
    Box::new(pieces.flat_map(|(Piece { origin_bytes, layout, .. }, start)| {
        layout.runs().flat_map(move |run| {
            let offset = (start as i64 + origin_bytes + run.offset) as usize;
            without_padding(run.element, Span { offset, bytes: run.bytes() as usize })
        })
    }))
}

/// Consecutive values without their padding.
pub fn without_padding(element: Element, values: Span) -> impl Iterator<Item = Span> {
    let (part, data) = element.padded_parts().unwrap_or((values.bytes, values.bytes));
    let parts = (0..values.bytes).step_by(part.max(1));
    parts.map(move |at| Span { offset: values.offset + at, bytes: data })
}

#[cfg(test)]
mod tests {
    use apps::ArraySpec;
    use datatypes::Layout;

    use super::*;

    fn message(layout: &str) -> Message {
        Message::single(0, 0, layout.parse::<Layout>().unwrap())
    }

    #[test]
    fn what_is_not_data_is_copied() {
        let padded = if cfg!(target_arch = "x86_64") { 6 } else { 0 };
        let values = [0..16, 16..32];
        for layout in ["vector(2, 1, 3, long_double)", "struct([2, 1], [0, 32], [long_double, double])"] {
            let padding = Padding::of(&message(layout));
            let (from, mut to) = (vec![1; 40], vec![0; 40]);
            padding.copy(0, &from, &mut to);
            let expected =
                |at: usize| values.iter().any(|value| (value.end - padded..value.end).contains(&at));
            let found: Vec<bool> = to.iter().map(|&byte| byte == 1).collect();
            assert_eq!(found, (0..40).map(expected).collect::<Vec<_>>(), "{layout}");
            // In parts, at any place.
            let mut parts = vec![0; 40];
            for (i, part) in parts.chunks_mut(7).enumerate() {
                padding.copy(7 * i, &from[..part.len()], part);
            }
            assert_eq!(parts, to, "{layout}");
        }
    }

    #[test]
    fn runs_without_padding_are_the_data_of_each_value() {
        let arrays = Arrays::new(vec![ArraySpec::new("a", Element::LongDouble, &[8])]);
        let start = arrays.place(0).start;
        let bytes = if cfg!(target_arch = "x86_64") { 10 } else { 16 };
        let (whole, parts) = (message("vector(2, 2, 3, long_double)"), [0, 16, 48, 64]);
        if bytes == 10 {
            let expected = parts.map(|at| Span { offset: start + at, bytes });
            assert_eq!(data_spans(&whole, &arrays).collect::<Vec<_>>(), expected);
        }
        let doubles = message("vector(2, 2, 3, double)");
        assert!(data_spans(&doubles, &arrays).eq(spans(&doubles, &arrays)));
    }
}
