//! Threads that go through the steps of a computation together, and when each has done its share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use std::{iter, thread};

use super::Compute;
use crate::gate::Gate;

/// Steps before the first that is recorded: memory is then mapped, and the processor awake.
pub const WARM_UP_STEPS: usize = 10;

/// Looks at a gate before a thread lets others run: some 10 to 100 µs. Waiting threads spin, since to be woken takes as
/// long as the differences that are to be seen; with more threads than processors they must not spin for ever.
const SPINS: u32 = 10_000;

/// The times of `steps` steps, in nanoseconds: for each step and thread, from the common start of the step, when the
/// last thread has come to it, to the end of the thread's share. Fewer steps if `stop` says so after one of them.
///
/// [`WARM_UP_STEPS`] come before. This thread is thread 0.
///
/// # Panics
/// If the system refuses a thread.
pub fn record(compute: &dyn Compute, steps: usize, stop: &(dyn Fn() -> bool + Sync)) -> Vec<Vec<u64>> {
    let team = Team {
        compute,
        stop,
        gate: Gate::new(compute.threads(), SPINS),
        epoch: Instant::now(),
        start_ns: AtomicU64::new(0),
        is_stopped: AtomicBool::new(false),
    };
    let by_thread: Vec<Vec<u64>> = thread::scope(|scope| {
        let work = |thread| team.work(thread, steps);
        let others: Vec<_> = (1..compute.threads()).map(|t| scope.spawn(move || work(t))).collect();
        let mine = work(0);
        let theirs = others.into_iter().map(|other| other.join().expect("no share panics"));
        iter::once(mine).chain(theirs).collect()
    });
    (0..by_thread[0].len()).map(|step| by_thread.iter().map(|times| times[step]).collect()).collect()
}

struct Team<'a> {
    compute: &'a dyn Compute,
    stop: &'a (dyn Fn() -> bool + Sync),
    gate: Gate,
    epoch: Instant,
    /// Start of the step, since the epoch.
    start_ns: AtomicU64,
    is_stopped: AtomicBool,
}

impl Team<'_> {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// One thread's part of everything: its time in each step that counts.
    fn work(&self, thread: usize, steps: usize) -> Vec<u64> {
        let mut times_ns = Vec::new();
        for step in 0..steps.saturating_add(WARM_UP_STEPS) {
            self.gate.pass(|| self.start_ns.store(self.now_ns(), Ordering::Relaxed));
            self.compute.share(thread);
            let end_ns = self.now_ns();
            if step >= WARM_UP_STEPS {
                times_ns.push(end_ns - self.start_ns.load(Ordering::Relaxed));
            }
            self.gate.pass(|| {
                self.compute.settle();
                self.is_stopped.store(step >= WARM_UP_STEPS && (self.stop)(), Ordering::Relaxed);
            });
            if self.is_stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        times_ns
    }
}
