//! When partitions became ready in a transfer: written by their threads, read by the one that ends the transfer.

use super::slot::Slot;
use super::sync::{AtomicU64, Ordering};

pub struct ReadyTimes {
    /// The time of each partition, as the bits of seconds, minus the time that its thread had spent here before.
    ready_s: Vec<AtomicU64>,
    /// Seconds that each thread has spent on marking in this transfer.
    spent_s: Vec<Spent>,
}

/// On a separate cache line: only its thread uses it during a transfer.
#[repr(align(64))]
struct Spent(Slot<f64>);

impl ReadyTimes {
    /// For this number of partitions and threads.
    pub fn new(partitions: usize, threads: usize) -> Self {
        Self {
            ready_s: (0..partitions).map(|_| AtomicU64::new(0)).collect(),
            spent_s: (0..threads).map(|_| Spent(Slot::new(0.0))).collect(),
        }
    }

    /// Begins a transfer.
    ///
    /// # Safety
    /// No thread notes a time now, and a barrier follows before any does.
    pub unsafe fn begin(&self) {
        // SAFETY: guaranteed by the caller.
        self.spent_s.iter().for_each(|spent| unsafe { *spent.0.get() = 0.0 });
    }

    /// Notes that a partition became ready at `now_s`.
    ///
    /// # Safety
    /// Called by the thread of this number.
    #[inline]
    pub unsafe fn note(&self, thread: usize, partition: usize, now_s: f64) {
        // SAFETY: the thread's own value.
        let spent_s = unsafe { *self.spent_s[thread].0.get() };
        self.ready_s[partition].store((now_s - spent_s).to_bits(), Ordering::Relaxed);
    }

    /// Adds to the time that a thread has spent on marking; it is subtracted from the times of its next partitions.
    ///
    /// # Safety
    /// As for [`ReadyTimes::note`].
    #[inline]
    pub unsafe fn spend(&self, thread: usize, seconds: f64) {
        // SAFETY: the thread's own value.
        unsafe { *self.spent_s[thread].0.get() += seconds };
    }

    /// When each partition became ready; the times of this transfer require a barrier after they were noted.
    pub fn all_s(&self) -> Vec<f64> {
        self.ready_s.iter().map(|bits| f64::from_bits(bits.load(Ordering::Relaxed))).collect()
    }
}
