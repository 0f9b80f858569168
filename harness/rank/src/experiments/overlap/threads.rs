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
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_thread_that_polls_differs_from_one_that_sleeps_and_from_our_own() {
        // Other tests run at the same time: their threads start and end.
        let (ends, own) = (AtomicBool::new(false), all());
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: the call takes no arguments and changes nothing.
                send.send(unsafe { libc::gettid() }).unwrap();
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let thread: libc::pid_t = receive.recv().unwrap();
            // On a busy machine it may take several attempts until it gets a core.
            let mut seen = ThreadCounts::default();
            for _ in 0..3000 {
                seen = ThreadCounts::sample(&own);
                if seen.polling > 0 {
                    break;
                }
            }
            // Our own threads do not count as the MPI's: only those started since could.
            let (mine, mut ours) = (all(), ThreadCounts::default());
            for _ in 0..3000 {
                ours = ThreadCounts::sample(&mine);
                if ours.polling == 0 {
                    break;
                }
            }
            ends.store(true, Ordering::Relaxed);
            assert!(mine.contains(&thread) && ours.polling == 0, "{ours:?}; own threads: {mine:?}");
            assert!(seen.of_mpi > 0 && seen.polling > 0, "{seen:?}; own threads: {own:?}");
        });
    }
}
