//! A link: a message from one rank to another, seen from one of its ends. Its bytes are in runs of this
//! process's memory, and each run knows the sources of its bytes, so a link describes both ends.

use std::ops::Range;

use super::check::Mismatch;
use super::data::{Comparison, Values, Version, WORD};
use crate::device::{Direction, Rows};
use crate::memory::{POISON, Region};

/// Bytes next to each other here, with consecutive sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first one in this process's memory.
    pub at: usize,
    pub bytes: usize,
    /// The source of the first one.
    pub source: u64,
}

/// Runs in the order in which their bytes travel; few rows if they are at equal distances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    rows: Vec<Row>,
    bytes: usize,
}

/// Runs of equal lengths, at equal distances here and among the sources. An irregular list has a row for two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    at: usize,
    source: u64,
    bytes: u32,
    count: u32,
    step: u32,
    source_step: u32,
}

impl Row {
    fn run(self, number: u32) -> Run {
        Run {
            at: self.at + number as usize * self.step as usize,
            bytes: self.bytes as usize,
            source: self.source + u64::from(number) * u64::from(self.source_step),
        }
    }

    /// Adds a run, if it continues the row.
    fn takes(&mut self, run: Run) -> bool {
        if run.bytes != self.bytes as usize || self.count == u32::MAX {
            return false;
        }
        if self.count > 1 {
            let continues = self.run(self.count) == run;
            self.count += u32::from(continues);
            return continues;
        }
        let step = run.at.checked_sub(self.at).and_then(|step| u32::try_from(step).ok());
        let source_step = run.source.checked_sub(self.source).and_then(|step| u32::try_from(step).ok());
        let (Some(step), Some(source_step)) = (step, source_step) else { return false };
        (self.step, self.source_step, self.count) = (step, source_step, 2);
        true
    }
}

impl Runs {
    /// These runs, in this order. Neighbours become one.
    pub fn from_runs(runs: impl IntoIterator<Item = Run>) -> Self {
        let mut all = Self::default();
        let mut last: Option<Run> = None;
        for run in runs.into_iter().filter(|run| run.bytes > 0) {
            match &mut last {
                Some(last)
                    if last.at + last.bytes == run.at && last.source + last.bytes as u64 == run.source =>
                {
                    last.bytes += run.bytes;
                }
                _ => last.replace(run).into_iter().for_each(|run| all.add(run)),
            }
        }
        last.into_iter().for_each(|run| all.add(run));
        all.rows.shrink_to_fit();
        all
    }

    fn add(&mut self, run: Run) {
        /// So that a length fits its field.
        const MOST: usize = 1 << 30;
        for from in (0..run.bytes).step_by(MOST) {
            let run = Run {
                at: run.at + from,
                bytes: (run.bytes - from).min(MOST),
                source: run.source + from as u64,
            };
            self.bytes += run.bytes;
            if !self.rows.last_mut().is_some_and(|row| row.takes(run)) {
                let Run { at, bytes, source } = run;
                self.rows.push(Row { at, source, bytes: bytes as u32, count: 1, step: 0, source_step: 0 });
            }
        }
    }

    /// Bytes of all runs.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn iter(&self) -> impl Iterator<Item = Run> + '_ {
        self.rows.iter().flat_map(|row| (0..row.count).map(|number| row.run(number)))
    }

    /// The same bytes for copies; if these would be many, all bytes from the first to the last.
    fn rows(&self) -> Vec<Rows> {
        /// Copies that take about as long as some 100 KiB more.
        const MOST: usize = 16;
        if self.rows.len() > MOST {
            let at = self.rows.iter().map(|row| row.at).min().unwrap_or(0);
            let bytes = self.end() - at;
            return vec![Rows { at, bytes, count: 1, step: bytes }];
        }
        let rows = |row: &Row| Rows {
            at: row.at,
            bytes: row.bytes as usize,
            count: row.count as usize,
            step: if row.count > 1 { row.step } else { row.bytes } as usize,
        };
        self.rows.iter().map(rows).collect()
    }

    /// The end of the last byte, as an offset.
    pub fn end(&self) -> usize {
        self.rows.iter().map(|row| row.run(row.count - 1)).map(|run| run.at + run.bytes).max().unwrap_or(0)
    }

    /// The bytes with these numbers in the message.
    pub fn part(&self, numbers: Range<usize>) -> Self {
        self.parts(&[numbers.start, numbers.end]).pop().expect("two parts")
    }

    /// The bytes up to each of these numbers, from the one before on.
    pub fn parts(&self, ends: &[usize]) -> Vec<Self> {
        let mut runs = self.iter();
        let (mut rest, mut begun) = (runs.next(), 0);
        let part = |end: &usize| {
            let mut part = Vec::new();
            while let Some(run) = rest.filter(|_| begun < *end) {
                let bytes = run.bytes.min(end - begun);
                part.push(Run { bytes, ..run });
                begun += bytes;
                let (at, source) = (run.at + bytes, run.source + bytes as u64);
                let left = Run { at, bytes: run.bytes - bytes, source };
                rest = if left.bytes > 0 { Some(left) } else { runs.next() };
            }
            Self::from_runs(part)
        };
        ends.iter().map(part).collect()
    }

    /// Up to a word of the bytes from number `from` of the message on, in one run.
    pub fn word(&self, from: usize) -> Option<Run> {
        let mut before = 0;
        for row in &self.rows {
            let bytes = row.bytes as usize * row.count as usize;
            if from < before + bytes {
                let run = row.run(((from - before) / row.bytes as usize) as u32);
                let within = (from - before) % row.bytes as usize;
                return Some(Run {
                    at: run.at + within,
                    bytes: (run.bytes - within).min(WORD),
                    source: run.source + within as u64,
                });
            }
            before += bytes;
        }
        None
    }

    /// The last word of the message, or the part of it in the last run.
    pub fn last_word(&self) -> Option<Run> {
        let row = self.rows.last()?;
        let Run { at, bytes, source } = row.run(row.count - 1);
        let skipped = bytes.saturating_sub(WORD);
        Some(Run { at: at + skipped, bytes: bytes - skipped, source: source + skipped as u64 })
    }
}

/// Runs in a memory.
#[derive(Clone)]
pub struct Places {
    pub memory: Region,
    pub runs: Runs,
}

/// A wrong byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its offset in the memory.
    pub at: usize,
    pub expected: u8,
    pub found: u8,
}

impl Wrong {
    /// A description by the offset in a buffer.
    pub fn in_buffer(self) -> Mismatch {
        format!("packed byte {}: {}", self.at, self.values())
    }

    /// Both values.
    pub fn values(self) -> String {
        let Self { expected, found, .. } = self;
        format!("expected {expected:#04x}, found {found:#04x}")
    }
}

impl Places {
    /// Runs within a memory.
    ///
    /// # Safety
    /// The functions of these places are called only while nothing else reads or writes their bytes.
    ///
    /// # Panics
    /// If they are not within it.
    pub unsafe fn new(memory: Region, runs: Runs) -> Self {
        assert!(runs.end() <= memory.bytes(), "{} bytes of {}", runs.end(), memory.bytes());
        Self { memory, runs }
    }

    /// The bytes up to each of these numbers of the message, from the one before on.
    pub fn parts(&self, ends: &[usize]) -> Vec<Self> {
        let runs = self.runs.parts(ends).into_iter();
        runs.map(|runs| Self { memory: self.memory, runs }).collect()
    }

    fn part<'a>(&self, run: Run) -> &'a mut [u8] {
        // SAFETY: within the memory, as checked by `new`, whose caller guarantees exclusive access.
        unsafe { self.memory.part(run.at..run.at + run.bytes) }
    }

    /// Writes the data of a version.
    pub fn write(&self, version: Version) {
        let mut values = Values::new(version);
        self.runs.iter().for_each(|run| values.write(run.source, self.part(run)));
        self.copy(Direction::ToTwin);
    }

    /// Copies the bytes between the memory and its twin, if it has one.
    fn copy(&self, direction: Direction) {
        if self.memory.has_twin() {
            self.memory.copy(direction, self.runs.rows());
        }
    }

    /// Overwrites the bytes, so that a message that does not arrive is not mistaken for the right one.
    pub fn poison(&self) {
        self.runs.iter().for_each(|run| self.part(run).fill(POISON));
        self.copy(Direction::ToTwin);
    }

    /// The first byte that is not that of a version. Bytes at the offsets `besides` may have any value.
    pub fn wrong(&self, version: Version, besides: &[Range<usize>]) -> Option<Wrong> {
        self.copy(Direction::FromTwin);
        let mut comparison = Comparison::new(version);
        for run in self.runs.iter() {
            let (mut from, found) = (0, &*self.part(run));
            while let Some(i) = comparison.first_difference(run.source + from as u64, &found[from..]) {
                let (i, at) = (from + i, run.at + from + i);
                if !besides.iter().any(|range| range.contains(&at)) {
                    let expected = version.byte(run.source + i as u64);
                    return Some(Wrong { at, expected, found: found[i] });
                }
                from = i + 1;
            }
        }
        None
    }
}

/// A message from one rank to another, at one of its ends.
#[derive(Clone)]
pub struct Link {
    /// The rank of the other end.
    pub peer: usize,
    /// Distinguishes messages between two ranks.
    pub tag: usize,
    /// The bytes to send, or their destination.
    pub places: Places,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: usize, bytes: usize, source: u64) -> Run {
        Run { at, bytes, source }
    }

    #[test]
    fn runs_at_equal_distances_are_one_row() {
        let row =
            |at, source, bytes, count, step, source_step| Row { at, source, bytes, count, step, source_step };
        // Neighbours, of which two have no neighbouring sources; a column; another length.
        let bytes_8 = [(0, 50), (8, 58), (16, 90), (100, 200), (150, 208), (200, 216)];
        let all = Runs::from_runs(
            bytes_8.map(|(at, source)| run(at, 8, source)).into_iter().chain([run(300, 4, 0)]),
        );
        let expected = [
            row(0, 50, 16, 1, 0, 0),
            row(16, 90, 8, 2, 84, 110),
            row(150, 208, 8, 2, 50, 8),
            row(300, 0, 4, 1, 0, 0),
        ];
        assert_eq!(all.rows, expected);
        assert_eq!((all.bytes(), all.end()), (52, 304));
        assert_eq!(all.iter().map(|run| run.bytes).sum::<usize>(), 52);
        let column = Runs::from_runs((0..1000).map(|i| run(16 * i, 8, 8 * i as u64 + 1)));
        assert_eq!(column.rows, [row(0, 1, 8, 1000, 16, 8)]);
        // Backwards.
        let back: Vec<Run> = (0..6).rev().map(|i| run(16 * i, 8, 16 * i as u64)).collect();
        assert_eq!(Runs::from_runs(back.clone()).iter().collect::<Vec<_>>(), back);
    }

    #[test]
    fn a_word_of_a_message_is_found_by_its_number() {
        let all = Runs::from_runs([run(10, 6, 100), run(20, 6, 200), run(40, 3, 7)]);
        let words = [(0, run(10, 4, 100)), (5, run(15, 1, 105)), (6, run(20, 4, 200)), (13, run(41, 2, 8))];
        assert!(words.iter().all(|&(from, word)| all.word(from) == Some(word)));
        assert_eq!((all.word(15), all.last_word()), (None, Some(run(40, 3, 7))));
        assert_eq!((Runs::default().word(0), Runs::default().last_word()), (None, None));
    }

    #[test]
    fn what_is_written_is_right_and_nothing_else_is_touched() {
        let version = Version { generation: 2, repetition: 1 };
        for bytes in [1, 3, 8, 31] {
            let runs = Runs::from_runs((0..5).map(|i| run(3 + 40 * i, bytes, 70 * i as u64)));
            let mut memory = vec![0x11; 256];
            // SAFETY: the memory is used by nothing else until the places are gone.
            let places = unsafe { Places::new(Region::new(memory.as_mut_ptr(), 256), runs.clone()) };
            places.write(version);
            assert_eq!(places.wrong(version, &[]), None);
            assert!(places.wrong(version.changed(), &[]).is_some());
            let value = |at: usize| {
                let run = runs.iter().find(|run| (run.at..run.at + run.bytes).contains(&at))?;
                Some(version.byte(run.source + (at - run.at) as u64))
            };
            for (at, &byte) in memory.iter().enumerate() {
                assert_eq!(byte, value(at).unwrap_or(0x11), "{at}");
            }
            let at = 43 + bytes - 1;
            memory[at] ^= 4;
            let expected = memory[at] ^ 4;
            assert_eq!(places.wrong(version, &[]), Some(Wrong { at, expected, found: memory[at] }));
            assert_eq!(places.wrong(version, std::slice::from_ref(&(at..at + 1))), None);
        }
    }
}
