//! What disturbs a process while it measures: a hypervisor that takes its core, another process that gets it, pages that
//! have to be found.

use ddtbench::event::Disturbance;

use super::job::Job;
use crate::checked::CallError;

/// The counters of this process and its machine at one time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    steal_s: f64,
    switches: u64,
    faults: u64,
}

impl Counters {
    /// As they are now.
    pub fn now() -> Self {
        // SAFETY: plain numbers, for which all zeros are a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer lives through the call, which fills it; it fails only for another constant.
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
        let count = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
        Self {
            steal_s: std::fs::read_to_string("/proc/stat").map_or(0.0, |text| steal_s(&text)),
            switches: count(usage.ru_nivcsw),
            faults: count(usage.ru_minflt) + count(usage.ru_majflt),
        }
    }

    /// What has come since then, of the rank that was disturbed most in each respect; collective. Steal is that of the whole
    /// machine; what a rank writes and compares around its times counts with them.
    pub fn since(self, job: &Job<'_>) -> Result<Disturbance, CallError> {
        let now = Self::now();
        let mine = [
            now.steal_s - self.steal_s,
            now.switches.saturating_sub(self.switches) as f64,
            now.faults.saturating_sub(self.faults) as f64,
        ];
        let worst = job.world.minima(&mine.map(|count| -count))?;
        Ok(Disturbance {
            steal_s: (-worst[0]).max(0.0),
            switches: -worst[1] as u64,
            faults: -worst[2] as u64,
        })
    }
}

/// Time that the hypervisor has kept the cores from this machine: the eighth number of the first line of `/proc/stat`, in
/// ticks (proc(5)). A machine without a hypervisor has none.
fn steal_s(stat: &str) -> f64 {
    // SAFETY: asks for a constant of the system.
    let ticks_per_s = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let ticks = stat.lines().next().and_then(|line| line.split_whitespace().nth(8)?.parse::<f64>().ok());
    if ticks_per_s > 0 { ticks.unwrap_or(0.0) / ticks_per_s as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_time_of_all_cores() {
        let text = "cpu  273268 0 14690 90138 2272 0 100 314 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(steal_s(text) * steal_s("cpu 0 0 0 0 0 0 0 1 0 0").recip(), 314.0);
        assert_eq!((steal_s(""), steal_s("cpu 1 2 3")), (0.0, 0.0));
    }

    #[test]
    fn touching_new_memory_is_counted() {
        let before = Counters::now();
        let pages = std::hint::black_box(vec![1_u8; 8 << 20]);
        assert!(Counters::now().faults > before.faults, "{} bytes", pages.len());
    }
}
