//! The shape of a layout in figures: how long its segments are, and how far apart.

use serde::Serialize;

use crate::Segment;

/// Smallest, median and largest of a list, and how many different values it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The smallest value.
    pub min: i64,
    /// The lower median: a value of the list.
    pub median: i64,
    /// The largest value.
    pub max: i64,
    /// How many different values there are.
    pub distinct: usize,
}

impl Spread {
    fn of(mut values: Vec<i64>) -> Option<Self> {
        values.sort_unstable();
        let (&min, &max) = (values.first()?, values.last()?);
        let median = values[(values.len() - 1) / 2];
        values.dedup();
        Some(Self { min, median, max, distinct: values.len() })
    }
}

/// Block length, stride and count statistics of a list of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Number of merged segments.
    pub segments: u64,
    /// Bytes of all segments together.
    pub bytes: u64,
    /// Bytes per segment; `None` without segments.
    pub block_bytes: Option<Spread>,
    /// Bytes from one segment's start to the next one's, in packed order; `None` below two segments.
    pub stride_bytes: Option<Spread>,
}

impl Statistics {
    /// The statistics of several lists of segments, each in an array of its own: no stride leads from one to another.
    pub fn of<L: IntoIterator<Item = Segment>>(lists: impl IntoIterator<Item = L>) -> Self {
        let (mut lengths, mut strides) = (Vec::new(), Vec::new());
        for list in lists {
            let mut last: Option<Segment> = None;
            for segment in list {
                lengths.push(segment.bytes as i64);
                strides.extend(last.map(|last| segment.offset - last.offset));
                last = Some(segment);
            }
        }
        Self {
            segments: lengths.len() as u64,
            bytes: lengths.iter().sum::<i64>() as u64,
            block_bytes: Spread::of(lengths),
            stride_bytes: Spread::of(strides),
        }
    }
}
