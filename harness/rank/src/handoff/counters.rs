//! Counters that say who comes last.

use std::ops::Range;

use super::sync::{AtomicUsize, Ordering};

/// For each of some runs of neighbouring partitions, how many of them are ready. Whoever marks the last one of a run is told
/// so; nobody waits for a lock.
pub struct Counters {
    /// Partitions of each run.
    sizes: Vec<usize>,
    /// The run of each partition.
    of_partition: Vec<usize>,
    counters: Vec<Counter>,
}

/// On a cache line of its own: threads that finish partitions of different runs do not disturb each other.
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

    /// Forgets what was ready. Called while no thread marks; a barrier tells the others.
    pub fn reset(&self) {
        self.counters.iter().for_each(|counter| counter.0.store(0, Ordering::Relaxed));
    }

    /// Marks a partition; its run, if that is complete with it: what other threads wrote before they marked theirs is
    /// visible then.
    #[inline]
    pub fn mark(&self, partition: usize) -> Option<usize> {
        let run = self.of_partition[partition];
        // Release what this thread wrote, acquire what all those did that have marked before.
        let marked = self.counters[run].0.fetch_add(1, Ordering::AcqRel) + 1;
        (marked == self.sizes[run]).then_some(run)
    }
}
