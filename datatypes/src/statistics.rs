//! The shape of a layout in numbers: the lengths of its segments, and their distances.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Segment;

/// Minimum, median, maximum and number of different values of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    pub min: i64,
    /// The lower median: a value of the list.
    pub median: i64,
    pub max: i64,
    /// How many different values there are.
    pub distinct: usize,
}

/// How often each value occurs in a list. A regular layout has few values, even if the list is long.
#[derive(Default)]
struct Counts {
    of_value: BTreeMap<i64, u64>,
    /// The last value, and how often it occurred since it was first seen.
    last: (i64, u64),
}

impl Counts {
    fn add(&mut self, value: i64) {
        if self.last.0 == value {
            self.last.1 += 1;
        } else {
            self.settle();
            self.last = (value, 1);
        }
    }

    fn settle(&mut self) {
        let (value, count) = std::mem::take(&mut self.last);
        if count > 0 {
            *self.of_value.entry(value).or_default() += count;
        }
    }

    fn spread(mut self) -> Option<Spread> {
        self.settle();
        let (&min, &max) = (self.of_value.keys().next()?, self.of_value.keys().next_back()?);
        let middle = (self.of_value.values().sum::<u64>() - 1) / 2;
        let mut before = 0;
        let median = self.of_value.iter().find(|(_, count)| {
            before += **count;
            before > middle
        });
        Some(Spread { min, median: *median?.0, max, distinct: self.of_value.len() })
    }
}

/// Block length, stride and count statistics of a list of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Number of merged segments.
    pub segments: u64,
    pub bytes: u64,
    /// Bytes per segment; `None` without segments.
    pub block_bytes: Option<Spread>,
    /// Bytes from one segment's start to the next one's, in packed order; `None` with fewer than two segments.
    pub stride_bytes: Option<Spread>,
}

impl Statistics {
    /// The statistics of several lists of segments in separate arrays: there are no strides between lists.
    pub fn from_lists<L: IntoIterator<Item = Segment>>(lists: impl IntoIterator<Item = L>) -> Self {
        let (mut lengths, mut strides) = (Counts::default(), Counts::default());
        let (mut segments, mut bytes) = (0, 0);
        for list in lists {
            let mut last: Option<Segment> = None;
            for segment in list {
                segments += 1;
                bytes += segment.bytes;
                lengths.add(segment.bytes as i64);
                if let Some(last) = last.replace(segment) {
                    strides.add(segment.offset - last.offset);
                }
            }
        }
        Self { segments, bytes, block_bytes: lengths.spread(), stride_bytes: strides.spread() }
    }
}
