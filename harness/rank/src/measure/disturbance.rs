//! Disturbances of a process while it measures: a hypervisor that takes its core, another process that gets it, page faults.

use std::time::Instant;

use common::model::event::Disturbance;

use super::job::Job;
use crate::checked::CallError;

/// Counters of this process and its machine since their start, and when they were read.
pub struct ProcessCounters {
    read_at: Instant,
    steal_s: f64,
    waited_s: f64,
    switches: u64,
    faults: u64,
}

pub fn counters() -> ProcessCounters {
    // SAFETY: plain numbers, for which all zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer lives through the call, which fills it; it fails only for another constant.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    ProcessCounters {
        read_at: Instant::now(),
        steal_s: steal_s(),
        waited_s: waited_s(),
        switches: count(usage.ru_nivcsw),
        faults: count(usage.ru_minflt) + count(usage.ru_majflt),
    }
}

/// The disturbance since these counters, with the maximum over ranks for each value; collective. Steal time
/// is that of the whole machine; a rank's writes and comparisons around its times count as well.
pub fn since(before: &ProcessCounters, job: &Job<'_>) -> Result<Disturbance, CallError> {
    let now = counters();
    let lasted_s = (now.read_at - before.read_at).as_secs_f64();
    let waited = (now.waited_s - before.waited_s) / lasted_s.max(f64::MIN_POSITIVE);
    let switches = now.switches.saturating_sub(before.switches) as f64;
    let faults = now.faults.saturating_sub(before.faults) as f64;
    let worst = job.world.maxima(&[now.steal_s - before.steal_s, waited, switches, faults])?;
    Ok(Disturbance {
        steal_s: worst[0].max(0.0),
        waited: worst[1].clamp(0.0, 1.0),
        switches: worst[2] as u64,
        faults: worst[3] as u64,
    })
}

/// Time for which this thread was runnable while another one had its core; 0 if the kernel does not count it.
fn waited_s() -> f64 {
    // Time on a core and time waiting for one, both in nanoseconds, and the number of time slices.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited_ns = text.split_whitespace().nth(1).and_then(|waited| waited.parse::<f64>().ok());
    waited_ns.unwrap_or(0.0) * 1e-9
}

/// Time for which the hypervisor gave this machine's cores to others; 0 without a hypervisor.
fn steal_s() -> f64 {
    /// Index of `steal` in `user nice system idle iowait irq softirq steal`, after the word `cpu`.
    const STEAL: usize = 8;
    let stats = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let of_all = stats.lines().next().and_then(|line| line.split_whitespace().nth(STEAL));
    let ticks = of_all.and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    // SAFETY: the call takes a constant, and changes nothing.
    ticks / unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_new_memory_is_counted() {
        let before = counters();
        let pages = std::hint::black_box(vec![1_u8; 8 << 20]);
        assert!(counters().faults > before.faults, "{} bytes", pages.len());
    }
}
