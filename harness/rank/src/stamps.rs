//! Fresh data: a few bytes in every cache line of the send data, rewritten before each repetition.
//!
//! An application writes its arrays between two exchanges, and a packed message has just been written when it is sent.
//! A buffer that is sent again unchanged is still partly in the receiver's cache: contiguous bytes are then sent up to
//! twice as fast as any that were written. Only the last writer of a line matters, not how much of it was written, so
//! one word per line has the same effect as writing all of it (measured: docs/evidence/fresh-data.md).

use std::ops::Range;

use crate::pattern::{Pattern, WORD};
use crate::spans::{LINE_BYTES, Span};

/// Whole lines from which a run is recorded as a range: shorter ones, whose order in memory and time should be that of all stamps, as
/// single words. At 64 lines the words of a run take 12% of its memory, and a range almost none.
const LONG_RUN_LINES: usize = 64;

/// The places of all stamps in one memory: for every run one in each line that it touches.
pub struct Stamps {
    /// Lines of long runs, which are stamped at their start, rising and apart.
    lines: Vec<Range<usize>>,
    /// First bytes of the words that are stamped, rising.
    words: Vec<usize>,
    /// Bytes that are stamped if a run has no whole word in a line, rising.
    bytes: Vec<usize>,
}

impl Stamps {
    /// One stamp for each cache line of each of these runs.
    pub fn of(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut stamps = Self { lines: Vec::new(), words: Vec::new(), bytes: Vec::new() };
        for span in spans.into_iter().filter(|span| span.bytes > 0) {
            let end = span.offset + span.bytes;
            let whole = span.offset.div_ceil(LINE_BYTES)..end / LINE_BYTES;
            let is_long = whole.len() >= LONG_RUN_LINES;
            if is_long {
                stamps.lines.push(whole.clone());
            }
            for line in span.lines().filter(|line| !is_long || !whole.contains(line)) {
                let (from, to) = (span.offset.max(line * LINE_BYTES), end.min((line + 1) * LINE_BYTES));
                let word = from.next_multiple_of(WORD);
                match word + WORD <= to {
                    true => stamps.words.push(word),
                    false => stamps.bytes.push(from),
                }
            }
        }
        stamps.lines.sort_unstable_by_key(|lines| lines.start);
        stamps.lines.dedup_by(|next, before| {
            let overlaps = next.start <= before.end;
            if overlaps {
                before.end = before.end.max(next.end);
            }
            overlaps
        });
        stamps.words.sort_unstable();
        stamps.bytes.sort_unstable();
        stamps
    }

    /// Writes the stamps of `pattern`.
    #[inline]
    pub fn write(&self, memory: &mut [u8], pattern: Pattern) {
        let mut write_word = |at: usize| {
            memory[at..at + WORD].copy_from_slice(&pattern.word(at / WORD));
        };
        self.words.iter().for_each(|&at| write_word(at));
        self.lines.iter().flat_map(Range::clone).for_each(|line| write_word(line * LINE_BYTES));
        self.bytes.iter().for_each(|&at| memory[at] = pattern.byte(at));
    }

    /// The stamped bytes of a run.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Range<usize>> {
        let end = span.offset + span.bytes;
        let (first, last) = (span.offset.div_ceil(LINE_BYTES), end.div_ceil(LINE_BYTES));
        let lines = &self.lines[self.lines.partition_point(|lines| lines.end <= first)..];
        let lines = lines.iter().take_while(move |lines| lines.start < last);
        let lines = lines.flat_map(move |lines| lines.start.max(first)..lines.end.min(last));
        let of = |places: &[usize]| {
            places.partition_point(|&at| at < span.offset)..places.partition_point(|&at| at < end)
        };
        let words = self.words[of(&self.words)].iter().copied().chain(lines.map(|line| line * LINE_BYTES));
        let words = words.map(|at| at..at + WORD);
        words.chain(self.bytes[of(&self.bytes)].iter().map(|&at| at..at + 1))
    }

    /// The stamped bytes in a range, also those of stamps that extend beyond it.
    pub fn overlapping(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let offset = range.start.saturating_sub(WORD - 1);
        let stamps = self.within(Span { offset, bytes: range.end - offset });
        let stamps = stamps.map(move |stamp| stamp.start.max(range.start)..stamp.end.min(range.end));
        stamps.filter(|stamp| !stamp.is_empty())
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
    fn long_runs_have_the_stamps_of_short_ones() {
        for (offset, bytes) in [(5, 70 * LINE_BYTES), (64, 64 * LINE_BYTES), (100, 100 * LINE_BYTES + 3)] {
            let run = Span { offset, bytes };
            let stamps = Stamps::of([run]);
            assert_eq!(stamps.lines.len(), 1);
            let cut = |line: usize| {
                let (from, to) =
                    (offset.max(line * LINE_BYTES), (offset + bytes).min((line + 1) * LINE_BYTES));
                Span { offset: from, bytes: to - from }
            };
            let short = Stamps::of(run.lines().map(cut));
            assert!(short.lines.is_empty());
            let sorted = |stamps: &Stamps, span: Span| {
                let mut all = stamped(stamps, span);
                all.sort_unstable();
                all
            };
            for (from, length) in [(0, 9000), (70, 1), (128, 64), (127, 66), (4000, 500)] {
                let span = Span { offset: from, bytes: length };
                assert_eq!(sorted(&stamps, span), sorted(&short, span), "{from} {length}");
            }
            let [mut one, mut other] = [vec![0; 9000], vec![0; 9000]];
            stamps.write(&mut one, Pattern::new(0, 1));
            short.write(&mut other, Pattern::new(0, 1));
            assert_eq!(one, other);
        }
    }

    #[test]
    fn stamps_of_a_range_are_cut_at_its_ends() {
        let stamps = Stamps::of([Span { offset: 0, bytes: 200 }]);
        let of = |range| stamps.overlapping(range).map(|stamp| (stamp.start, stamp.end)).collect::<Vec<_>>();
        assert_eq!(of(2..66), [(2, 4), (64, 66)]);
        assert_eq!(of(4..64), []);
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
