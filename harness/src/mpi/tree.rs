//! Finds all processes of a started command, in order to end them.
//!
//! Launchers put helpers and ranks into their own process groups and sessions, and the ranks of a dead helper
//! become children of process 1. So a process counts as ours if it descends from the command, or if it has
//! the variable [`MARKER`] with our value, which every descendant inherits.

use std::collections::HashMap;
use std::ffi::OsStr;

use procfs::process::{Process, all_processes};

/// The variable that marks the processes of one command.
pub(super) const MARKER: &str = "DDTBENCH_LAUNCH";

/// Running processes: descendants of `root` (including itself), and those marked with `value`.
pub(super) fn members(root: Option<i32>, value: &str) -> Vec<i32> {
    let stats = all_processes().into_iter().flatten().flatten().filter_map(|process| process.stat().ok());
    // A zombie has ended; only its parent can remove it.
    let running = stats.filter(|stat| !matches!(stat.state, 'Z' | 'X'));
    let parents: HashMap<i32, i32> = running.map(|stat| (stat.pid, stat.ppid)).collect();
    let marked = |pid: i32| {
        let variables = Process::new(pid).and_then(|process| process.environ());
        variables.is_ok_and(|all| all.get(OsStr::new(MARKER)).is_some_and(|marker| marker == value))
    };
    let descends = |pid: i32| {
        let mut line =
            std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(parents.len() + 1);
        root.is_some_and(|root| line.any(|ancestor| ancestor == root))
    };
    parents
        .keys()
        .copied()
        .filter(|&pid| pid != std::process::id().cast_signed() && (descends(pid) || marked(pid)))
        .collect()
}

/// Sends a signal to each process. If one has just ended, that is not an error.
pub(super) fn signal(pids: &[i32], signal: i32) {
    for &pid in pids {
        // SAFETY: `kill` takes two numbers and touches no memory of ours.
        unsafe { libc::kill(pid, signal) };
    }
}
