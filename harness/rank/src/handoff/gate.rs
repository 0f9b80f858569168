//! A barrier for threads that wait only briefly.

use super::sync::{AtomicUsize, Ordering, hint, thread};

/// A barrier whose threads spin.
pub struct Gate {
    threads: usize,
    spins: u32,
    waiting: AtomicUsize,
    /// The number of times all threads have passed.
    passed: AtomicUsize,
}

impl Gate {
    /// For `threads` threads, at least one. Each checks `spins` times before it yields to others.
    pub fn new(threads: usize, spins: u32) -> Self {
        Self { threads, spins, waiting: AtomicUsize::new(0), passed: AtomicUsize::new(0) }
    }

    /// Waits for all threads. All of them then see what each did before it arrived.
    pub fn pass(&self) {
        // No thread can pass before this one has arrived, so the count is still that of this round.
        let round = self.passed.load(Ordering::Relaxed);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.waiting.store(0, Ordering::Relaxed);
            self.passed.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.passed.load(Ordering::Acquire) == round {
            if spins < self.spins {
                spins += 1;
                hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
    }
}
