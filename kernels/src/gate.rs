//! A barrier for threads that have little to wait for.

use super::sync::{AtomicUsize, Ordering, hint, thread};

/// A barrier whose threads spin.
pub struct Gate {
    threads: usize,
    spins: u32,
    waiting: AtomicUsize,
    /// How often all have passed.
    passed: AtomicUsize,
}

impl Gate {
    /// For so many threads, at least one; each looks `spins` times before it lets others run.
    pub fn new(threads: usize, spins: u32) -> Self {
        Self { threads, spins, waiting: AtomicUsize::new(0), passed: AtomicUsize::new(0) }
    }

    /// Waits for all threads. The last one to come does `last` before any goes on; all of them see what it did, and
    /// what each did before it came.
    pub fn pass(&self, last: impl FnOnce()) {
        // Nobody can pass before this thread has come, so the count is still that of this round.
        let round = self.passed.load(Ordering::Relaxed);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            last();
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
