//! The threads that MPI has started in this process, and whether they are busy: the actual effect of asynchronous progress.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Threads of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// All except our own.
    pub of_mpi: usize,
    /// Those that were on a core while this process had nothing to do, which means that they poll.
    pub polling: usize,
}

/// The numbers of the current threads of this process; empty if the kernel does not report them.
pub fn all() -> BTreeSet<libc::pid_t> {
    times_ns().into_keys().collect()
}

impl ThreadCounts {
    /// Counts while this thread sleeps for a moment; `own` are our own threads, which are not counted.
    pub fn sample(own: &BTreeSet<libc::pid_t>) -> Self {
        /// Long compared with the scheduler's time slices.
        const MOMENT: Duration = Duration::from_millis(20);
        let before = times_ns();
        std::thread::sleep(MOMENT);
        let after = times_ns();
        // A quarter of it: a thread that shares its core with another rank's has at most half.
        let busy = MOMENT.as_nanos() as u64 / 4;
        let is_busy = |(thread, after): (&libc::pid_t, &u64)| {
            after.saturating_sub(*before.get(thread).unwrap_or(after)) > busy
        };
        let of_mpi = after.iter().filter(|(thread, _)| !own.contains(thread));
        Self { of_mpi: of_mpi.clone().count(), polling: of_mpi.filter(|times| is_busy(*times)).count() }
    }
}

/// Time that each thread of this process has been on a core, in nanoseconds, by its number; 0 if the kernel does not report it.
fn times_ns() -> HashMap<libc::pid_t, u64> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return HashMap::new() };
    let time_ns = |path: &std::path::Path| {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let of = |task: std::fs::DirEntry| {
        let thread = task.file_name().to_string_lossy().parse().ok()?;
        Some((thread, time_ns(&task.path()).unwrap_or(0)))
    };
    tasks.flatten().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::tests::with_busy_thread;

    #[test]
    fn a_thread_that_polls_differs_from_one_that_sleeps_and_from_our_own() {
        // Other tests run at the same time: their threads start and end.
        let own = all();
        let sampled = |known: &BTreeSet<libc::pid_t>, is_enough: fn(usize) -> bool| {
            let mut samples = (0..3000).map(|_| ThreadCounts::sample(known));
            samples.find(|counts| is_enough(counts.polling)).expect("one in 3000 samples")
        };
        let (thread, seen, mine, ours) = with_busy_thread(|thread| {
            // On a busy machine it may take several attempts until it gets a core.
            let seen = sampled(&own, |polling| polling > 0);
            // Our own threads do not count as the MPI's: only those started since could.
            let mine = all();
            (thread, seen, mine.clone(), sampled(&mine, |polling| polling == 0))
        });
        assert!(mine.contains(&thread) && ours.polling == 0, "{ours:?}; own threads: {mine:?}");
        assert!(seen.of_mpi > 0 && seen.polling > 0, "{seen:?}; own threads: {own:?}");
    }
}
