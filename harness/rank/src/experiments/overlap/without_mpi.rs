//! The computation before MPI is initialised, in the same process.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::computation::Computation;
use super::threads;
use crate::cli::Overlap;

/// The measurements before MPI was initialised.
pub struct WithoutMpi {
    /// Times of the computation, in seconds; empty if its size is still to be found.
    pub times_s: Vec<f64>,
    /// Threads of this process, by number.
    pub threads: BTreeSet<libc::pid_t>,
}

impl WithoutMpi {
    /// Runs the case's computation in a process without MPI. Ranks cannot agree on a time without MPI, so
    /// they begin at the next tick of the clock.
    pub fn measure(args: &Overlap) -> anyhow::Result<Self> {
        /// Times for an interval of the median.
        const TIMES: usize = 9;
        /// Above this time in seconds there are fewer, but as many as an interval needs.
        const LONG_S: f64 = 0.1;
        const FEW: usize = 6;
        let case = args.case()?;
        let order = case.setting.matrix_order.unwrap_or(1);
        let computation =
            Computation::new(case.setting.threads, usize::try_from(order)?, case.setting.rim_share())?;
        let mut times_s = Vec::new();
        if case.setting.matrix_order.is_some() && !args.calibrate {
            wait_for_tick();
            let first_s = computation.times().whole_s;
            let count = if first_s > LONG_S { FEW } else { TIMES };
            times_s.extend((0..count).map(|_| computation.times().whole_s));
        }
        Ok(Self { times_s, threads: threads::all() })
    }
}

/// Waits for the next full twentieth of a second of the clock that hosts share.
fn wait_for_tick() {
    const TICK: Duration = Duration::from_millis(50);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let passed = now.as_nanos() % TICK.as_nanos();
    std::thread::sleep(TICK - Duration::from_nanos(passed as u64));
}
