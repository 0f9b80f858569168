//! The threads of a rank: each knows its number, and all meet at barriers. They live as long as the case, as in an
//! application: starting a thread takes longer than many exchanges, and so may a thread's first call of MPI.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::checked::CallError;
use crate::handoff::Gate;
use crate::reporter::EventReporter;

/// Spins before a waiting core yields: several microseconds, many times the transfer of a cache line, and
/// short compared with the scheduler's time slice if there are more ranks than cores.
const SPINS: u32 = 256;

/// A fixed number of threads, including the caller.
pub struct Team {
    threads: usize,
    gate: Gate,
    /// All threads except the caller; asleep while there is nothing to do.
    others: Option<ThreadPool>,
}

/// A thread within [`Team::run`].
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// Its number, from 0; 0 is the thread that called.
    pub number: usize,
    team: &'a Team,
}

impl Team {
    /// A team of `threads`, at least one.
    pub fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = || ThreadPoolBuilder::new().num_threads(threads - 1).build();
        let others = (threads > 1).then(pool).transpose()?;
        Ok(Self { threads, gate: Gate::new(threads, SPINS), others })
    }

    /// Runs `work` on all threads, and waits until all have ended. A panic in any of them is passed on.
    /// Threads wake one after the other, so timed work begins after a barrier.
    pub fn run(&self, work: impl Fn(Member<'_>) + Sync) {
        let first = Member { number: 0, team: self };
        let Some(others) = &self.others else { return work(first) };
        others.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, thread| work(Member { number: thread.index() + 1, team: self }));
            work(first);
        });
    }
}

impl Team {
    /// Runs `work` on all threads, and returns the result of each. An error ends all ranks, because the other
    /// threads, and the other ranks, wait for the one that has failed.
    pub fn results<R: Send>(
        &self,
        reporter: &EventReporter,
        work: impl Fn(Member<'_>) -> Result<R, CallError> + Sync,
    ) -> Vec<R> {
        let results: Vec<Mutex<Option<R>>> = (0..self.threads).map(|_| Mutex::new(None)).collect();
        self.run(|member| match work(member) {
            Ok(result) => *locked(&results[member.number]) = Some(result),
            Err(error) => reporter.abort(error.outcome(error.to_string())),
        });
        results.iter().map(|result| locked(result).take().expect("every thread has ended")).collect()
    }
}

impl Member<'_> {
    /// Whether this is the thread that called [`Team::run`].
    pub fn is_first(self) -> bool {
        self.number == 0
    }

    /// Waits until all threads are here. What any did before is visible to all after.
    pub fn barrier(self) {
        if self.team.threads > 1 {
            self.team.gate.pass();
        }
    }
}

/// Data that threads leave for each other. Data left by a failed thread is never read, because the job ends.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a condition that another thread or the clock makes true. With more threads than cores, it yields.
pub fn spin_until(mut is_so: impl FnMut() -> bool) {
    let mut spins: u32 = 0;
    while !is_so() {
        std::hint::spin_loop();
        spins = spins.wrapping_add(1);
        if spins.is_multiple_of(SPINS) {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_number_is_always_the_same_thread() {
        let team = Team::new(3).unwrap();
        let threads = || {
            let threads = Mutex::new([None; 3]);
            team.run(|member| threads.lock().unwrap()[member.number] = Some(std::thread::current().id()));
            threads.into_inner().unwrap()
        };
        let first = threads();
        assert_eq!(first[0], Some(std::thread::current().id()));
        assert!(first[1].is_some() && first[1] != first[2]);
        (0..20).for_each(|_| assert_eq!(threads(), first));
    }

    #[test]
    fn nobody_passes_a_barrier_before_all_are_there() {
        for threads in [1, 2, 5] {
            let (team, sum) = (Team::new(threads).unwrap(), AtomicUsize::new(0));
            team.run(|member| {
                for round in 1..=100 {
                    sum.fetch_add(1, Ordering::Relaxed);
                    member.barrier();
                    assert_eq!(sum.load(Ordering::Relaxed), round * threads);
                    member.barrier();
                }
            });
        }
    }
}
