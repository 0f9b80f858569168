//! `aggregated`: our own partitioned layer. User partitions are mapped to transport partitions, each of which has an atomic
//! counter: who marks the last of its partitions sends it. Nobody waits for a lock.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Channel;

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
    sizes: Vec<usize>,
    of_partition: Vec<usize>,
    counters: Vec<Counter>,
}

/// On a cache line of its own: threads that finish partitions of different units do not disturb each other.
#[repr(align(64))]
struct Counter(AtomicUsize);

impl Units {
    /// Of runs of neighbouring partitions.
    pub fn new(channel: &Channel<'_>, units: &[Range<usize>]) -> Self {
        Self {
            bytes: ranges(channel, units).collect(),
            sizes: units.iter().map(Range::len).collect(),
            of_partition: units.iter().enumerate().flat_map(|(u, unit)| vec![u; unit.len()]).collect(),
            counters: units.iter().map(|_| Counter(AtomicUsize::new(0))).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Forgets what was ready. Called while no thread marks.
    pub fn reset(&self) {
        self.counters.iter().for_each(|counter| counter.0.store(0, Ordering::Relaxed));
    }

    /// Marks a partition; its unit, if that is complete with it: what other threads wrote into it is visible then.
    #[inline]
    pub fn mark(&self, partition: usize) -> Option<usize> {
        let unit = self.of_partition[partition];
        let marked = self.counters[unit].0.fetch_add(1, Ordering::AcqRel) + 1;
        (marked == self.sizes[unit]).then_some(unit)
    }
}
