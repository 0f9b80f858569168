//! What disturbs a process while it measures: a hypervisor that takes its core, another process that gets it, pages that
//! have to be found.

use common::model::event::Disturbance;

use super::job::Job;
use crate::checked::CallError;

/// The counters of this process and its machine, since both began.
pub fn counters() -> Disturbance {
    // SAFETY: plain numbers, for which all zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer lives through the call, which fills it; it fails only for another constant.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    Disturbance {
        steal_s: steal_s(),
        switches: count(usage.ru_nivcsw),
        faults: count(usage.ru_minflt) + count(usage.ru_majflt),
    }
}

/// What has come since these, of the rank that was disturbed most in each respect; collective. Steal is that of the whole machine; what
/// a rank writes and compares around its times counts with them.
pub fn since(before: Disturbance, job: &Job<'_>) -> Result<Disturbance, CallError> {
    let now = counters();
    let switches = now.switches.saturating_sub(before.switches) as f64;
    let faults = now.faults.saturating_sub(before.faults) as f64;
    let worst = job.world.maxima(&[now.steal_s - before.steal_s, switches, faults])?;
    Ok(Disturbance { steal_s: worst[0].max(0.0), switches: worst[1] as u64, faults: worst[2] as u64 })
}

/// Time that the hypervisor has kept the cores from this machine; 0 without a hypervisor.
fn steal_s() -> f64 {
    /// Of `user nice system idle iowait irq softirq steal`, behind the word `cpu`.
    const STEAL: usize = 8;
    let stats = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let of_all = stats.lines().next().and_then(|line| line.split_whitespace().nth(STEAL));
    let ticks = of_all.and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    // SAFETY: takes a constant, and changes nothing.
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
