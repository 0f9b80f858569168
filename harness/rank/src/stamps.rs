//! Fresh data: a few bytes in every cache line of the send data, rewritten before each repetition.
//!
//! An application writes its arrays between two exchanges, and a packed message has just been written when it is sent.
//! A buffer that is sent again unchanged is still partly in the receiver's cache: contiguous bytes are then sent up to
//! twice as fast as any that were written. Only the last writer of a line matters, not how much of it was written, so
//! one word per line has the same effect as writing all of it (measured: docs/evidence/fresh-data.md).

use std::ops::Range;

use crate::pattern::{Pattern, WORD};
use crate::spans::{LINE_BYTES, Span};

/// The places of all stamps in one memory: for every run one in each line that it touches.
pub struct Stamps {
    /// First bytes of the words that are stamped, rising.
    words: Vec<usize>,
    /// Bytes that are stamped if a run has no whole word in a line, rising.
    bytes: Vec<usize>,
}

impl Stamps {
    /// One stamp for each cache line of each of these runs.
    pub fn of(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut stamps = Self { words: Vec::new(), bytes: Vec::new() };
        for span in spans.into_iter().filter(|span| span.bytes > 0) {
            let end = span.offset + span.bytes;
            for line in span.lines() {
                let (from, to) = (span.offset.max(line * LINE_BYTES), end.min((line + 1) * LINE_BYTES));
                let word = from.next_multiple_of(WORD);
                match word + WORD <= to {
                    true => stamps.words.push(word),
                    false => stamps.bytes.push(from),
                }
            }
        }
        stamps.words.sort_unstable();
        stamps.bytes.sort_unstable();
        stamps
    }

    /// Writes the stamps of `pattern`.
    #[inline]
    pub fn write(&self, memory: &mut [u8], pattern: Pattern) {
        for &at in &self.words {
            memory[at..at + WORD].copy_from_slice(&pattern.word(at / WORD));
        }
        self.bytes.iter().for_each(|&at| memory[at] = pattern.byte(at));
    }

    /// The stamped bytes of a run.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Range<usize>> {
        let end = span.offset + span.bytes;
        let of = |places: &[usize]| {
            places.partition_point(|&at| at < span.offset)..places.partition_point(|&at| at < end)
        };
        let words = self.words[of(&self.words)].iter().map(|&at| at..at + WORD);
        words.chain(self.bytes[of(&self.bytes)].iter().map(|&at| at..at + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First byte and end of each stamp in a run.
    fn stamped(stamps: &Stamps, span: Span) -> Vec<(usize, usize)> {
        stamps.within(span).map(|stamp| (stamp.start, stamp.end)).collect()
    }

    #[test]
    fn every_line_of_every_run_has_a_stamp() {
        let span = |offset, bytes| Span { offset, bytes };
        // Two lines; a run of three bytes; two runs in one line; none of nothing.
        let runs = [span(60, 20), span(129, 3), span(192, 8), span(200, 8), span(300, 0)];
        let stamps = Stamps::of(runs);
        assert_eq!(stamped(&stamps, runs[0]), [(60, 64), (64, 68)]);
        assert_eq!(stamped(&stamps, runs[1]), [(129, 130)]);
        assert_eq!(stamped(&stamps, runs[2]), [(192, 196)]);
        assert_eq!(stamped(&stamps, runs[3]), [(200, 204)]);
        assert_eq!(stamped(&stamps, span(0, 400)).len(), 5);
    }

    #[test]
    fn stamps_are_written_where_they_are_and_nowhere_else() {
        let (span, pattern) = (Span { offset: 5, bytes: 150 }, Pattern::new(1, 7));
        let stamps = Stamps::of([span]);
        let mut memory = vec![0; 200];
        stamps.write(&mut memory, pattern);
        let places: Vec<_> = stamps.within(span).flatten().collect();
        assert_eq!(places.len(), 3 * WORD);
        for (at, &byte) in memory.iter().enumerate() {
            assert_eq!(byte, if places.contains(&at) { pattern.byte(at) } else { 0 }, "{at}");
        }
    }

    #[test]
    fn a_buffer_is_stamped_in_every_line() {
        let stamps = Stamps::of([Span { offset: 0, bytes: 3 * LINE_BYTES + 1 }]);
        assert_eq!(
            stamped(&stamps, Span { offset: 0, bytes: 4 * LINE_BYTES }),
            [(0, 4), (64, 68), (128, 132), (192, 193)]
        );
    }
}
