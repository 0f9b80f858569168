//! The cores of this machine; each has one or several hardware threads. The system numbers hardware threads, not cores.

use std::collections::BTreeMap;
use std::fs;

use crate::proc;

/// Cores that this process may use. Hardware threads of one core count once.
pub fn cores() -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    match by_core(&allowed()).len() {
        0 => threads,
        cores => threads.min(cores),
    }
}

/// These hardware threads, grouped by core; cores are in the order of their first hardware thread.
pub fn by_core(threads: &[usize]) -> Vec<Vec<usize>> {
    grouped(threads, core)
}

/// The core of a hardware thread, as the number of that core's first hardware thread (whether or not this
/// process may run there). If the system does not report it, the thread counts as its own core.
pub fn core(thread: usize) -> usize {
    let siblings =
        fs::read_to_string(format!("/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list"));
    siblings.ok().and_then(|siblings| first(&siblings)).unwrap_or(thread)
}

/// The first number of a list such as `0-1` or `3,67`.
fn first(list: &str) -> Option<usize> {
    list.trim().split([',', '-']).next()?.parse().ok()
}

fn grouped(threads: &[usize], core: impl Fn(usize) -> usize) -> Vec<Vec<usize>> {
    let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    threads.iter().for_each(|&thread| cores.entry(core(thread)).or_default().push(thread));
    cores.into_values().collect()
}

/// The hardware threads of this process; empty if they cannot be read.
fn allowed() -> Vec<usize> {
    let list = proc::value("/proc/self/status", "Cpus_allowed_list").unwrap_or_default();
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_threads_of_one_core_are_together() {
        // The numbering Linux uses for two sockets with two cores each and two hardware threads per core.
        let siblings = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"];
        let by_core = |threads: &[usize]| grouped(threads, |thread| first(siblings[thread]).unwrap());
        assert_eq!(by_core(&[0, 1, 4, 5, 7]), [vec![0, 4], vec![1, 5], vec![7]]);
        assert_eq!((first("2-3\n"), first(""), first("none")), (Some(2), None, None));
    }

    #[test]
    fn this_process_has_hardware_threads_and_no_more_cores_than_these() {
        let threads = std::thread::available_parallelism().unwrap().get();
        assert!(allowed().len() >= threads, "{:?} for {threads} threads", allowed());
        assert!((1..=threads).contains(&cores()));
    }
}
