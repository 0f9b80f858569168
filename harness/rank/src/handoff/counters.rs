//! Counters that identify the last of several threads.

use std::ops::Range;

use super::sync::{AtomicUsize, Ordering};

/// For each of some runs of neighbouring partitions, the number of ready ones. The thread that marks the last
/// one of a run learns so, without waiting for a lock.
pub struct Counters {
    /// Partitions of each run.
    sizes: Vec<usize>,
    /// The run of each partition.
    of_partition: Vec<usize>,
    counters: Vec<Counter>,
}

/// On a separate cache line: threads that finish partitions of different runs do not disturb each other.
#[repr(align(64))]
struct Counter(AtomicUsize);

impl Counters {
    /// For these runs, which cover the partitions from 0 on.
    pub fn new(runs: &[Range<usize>]) -> Self {
        Self {
            sizes: runs.iter().map(Range::len).collect(),
            of_partition: runs.iter().enumerate().flat_map(|(r, run)| vec![r; run.len()]).collect(),
            counters: runs.iter().map(|_| Counter(AtomicUsize::new(0))).collect(),
        }
    }

    /// Resets all counters. Called while no thread marks; a barrier makes this visible to the others.
    pub fn reset(&self) {
        self.counters.iter().for_each(|counter| counter.0.store(0, Ordering::Relaxed));
    }

    /// Marks a partition; returns its run if that is now complete. Data that other threads wrote before they
    /// marked theirs is then visible.
    #[inline]
    pub fn mark(&self, partition: usize) -> Option<usize> {
        let run = self.of_partition[partition];
        // Release the writes of this thread, acquire those of all threads that have marked before.
        let marked = self.counters[run].0.fetch_add(1, Ordering::AcqRel) + 1;
        (marked == self.sizes[run]).then_some(run)
    }
}
