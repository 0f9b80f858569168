//! The threads of a rank: each knows its number, and all meet at barriers.

use kernels::gate::Gate;

use crate::measure::state::SPINS;

/// As many threads as there are, the caller among them.
pub struct Team {
    threads: usize,
    gate: Gate,
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
    pub fn new(threads: usize) -> Self {
        Self { threads, gate: Gate::new(threads, SPINS) }
    }

    /// Runs `work` on all threads, and waits until all have ended. A panic of any is passed on.
    pub fn run(&self, work: impl Fn(Member<'_>) + Sync) {
        let work = &work;
        std::thread::scope(|scope| {
            for number in 1..self.threads {
                scope.spawn(move || work(Member { number, team: self }));
            }
            work(Member { number: 0, team: self });
        });
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
            self.team.gate.pass(|| {});
        }
    }
}

/// Waits for something that another thread or the clock brings about. Others get the core where there are more threads
/// than cores.
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
    fn nobody_passes_a_barrier_before_all_are_there() {
        for threads in [1, 2, 5] {
            let (team, sum) = (Team::new(threads), AtomicUsize::new(0));
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
