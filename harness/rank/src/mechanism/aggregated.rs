//! `aggregated`: our own partitioned layer. User partitions are mapped to transport partitions, each of which has an atomic
//! counter: who marks the last of its partitions sends it. Nobody waits for a lock.

use std::ops::Range;

use super::Channel;
use crate::handoff::Counters;

/// Bytes of each of some runs of neighbouring partitions.
pub fn ranges<'a>(
    channel: &'a Channel<'_>,
    runs: &'a [Range<usize>],
) -> impl Iterator<Item = Range<usize>> + 'a {
    let bytes = |run: &Range<usize>| channel.partitions[run.start].start..channel.partitions[run.end - 1].end;
    runs.iter().map(bytes)
}

/// The mapping of partitions to transport partitions, and how many of each are ready.
pub struct Units {
    /// Bytes of each.
    pub bytes: Vec<Range<usize>>,
    counters: Counters,
}

impl Units {
    /// Of runs of neighbouring partitions.
    pub fn new(channel: &Channel<'_>, units: &[Range<usize>]) -> Self {
        Self { bytes: ranges(channel, units).collect(), counters: Counters::new(units) }
    }

    /// How many transport partitions there are.
    pub fn len(&self) -> usize {
        self.counters.len()
    }

    /// Forgets what was ready, as [`Counters::reset`].
    pub fn reset(&self) {
        self.counters.reset();
    }

    /// Marks a partition; its transport partition, if that is complete with it, as [`Counters::mark`].
    #[inline]
    pub fn mark(&self, partition: usize) -> Option<usize> {
        self.counters.mark(partition)
    }
}
