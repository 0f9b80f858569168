//! All processes of a started command, wherever they went: for ending every one of them.
//!
//! Launchers put their helpers and ranks into process groups and sessions of their own, and a helper that dies
//! leaves its ranks to process 1. So a process counts as ours if it descends from the command, or if it carries
//! the variable [`MARKER`] with our value, which every descendant inherits.

use std::collections::HashMap;
use std::fs;

/// The variable that marks the processes of one command.
pub(super) const MARKER: &str = "DDTBENCH_LAUNCH";

/// Processes that still run: descendants of `root` (itself included), and those marked with `value`.
pub(super) fn members(root: Option<u32>, value: &str) -> Vec<u32> {
    let marker = format!("{MARKER}={value}").into_bytes();
    let mut parents = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Some((parent, state)) = fs::read(entry.path().join("stat")).ok().as_deref().and_then(parse_stat)
        else {
            continue;
        };
        // A zombie has ended; only its parent can make it vanish.
        if !matches!(state, b'Z' | b'X') {
            parents.insert(pid, parent);
        }
    }
    let marked = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|variables| variables.split(|&byte| byte == 0).any(|variable| variable == marker))
    };
    let descends = |pid: u32| {
        let mut line =
            std::iter::successors(Some(pid), |pid| parents.get(pid).copied()).take(parents.len() + 1);
        root.is_some_and(|root| line.any(|ancestor| ancestor == root))
    };
    parents
        .keys()
        .copied()
        .filter(|&pid| pid != std::process::id() && (descends(pid) || marked(pid)))
        .collect()
}

/// Parent and state of `/proc/PID/stat`, whose second field, a name in brackets, may hold anything.
fn parse_stat(stat: &[u8]) -> Option<(u32, u8)> {
    let after = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after..]).ok()?.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// Sends a signal to each process; one that has just ended is no error.
pub(super) fn signal(pids: &[u32], signal: i32) {
    for &pid in pids {
        if let Ok(pid) = i32::try_from(pid) {
            // SAFETY: `kill` takes two numbers and touches no memory of ours.
            unsafe { libc::kill(pid, signal) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks() {
        assert_eq!(parse_stat(b"12 (a) b (c) S 7 12 12"), Some((7, b'S')));
        assert_eq!(parse_stat(b""), None);
    }
}
