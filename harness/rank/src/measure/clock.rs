//! The one clock of a ping-pong, and what is known of it.

use std::time::Instant;

use ddtbench::stats;

/// Readings that the resolution rests on, in groups of which the median counts for the cost: a group that was
/// interrupted does not. All take well under a millisecond.
const GROUPS: usize = 200;
const READINGS_OF_A_GROUP: usize = 100;

/// What the clock can tell apart, and what asking it costs, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Smallest step seen between two readings.
    pub resolution_s: f64,
    /// Time of a reading.
    pub cost_s: f64,
}

impl Clock {
    /// Measures the clock.
    pub fn measure() -> Self {
        let (mut resolution_s, mut costs) = (f64::INFINITY, Vec::with_capacity(GROUPS));
        let mut readings = [Instant::now(); READINGS_OF_A_GROUP];
        for _ in 0..GROUPS {
            readings.iter_mut().for_each(|reading| *reading = Instant::now());
            let steps = readings.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
            resolution_s = steps.filter(|&step| step > 0.0).fold(resolution_s, f64::min);
            let whole = readings[READINGS_OF_A_GROUP - 1] - readings[0];
            costs.push(whole.as_secs_f64() / (READINGS_OF_A_GROUP - 1) as f64);
        }
        let cost_s = stats::median(&stats::sorted(costs)).unwrap_or(0.0);
        Self { resolution_s, cost_s }
    }

    /// The shortest time that a sample with so many readings may have, so that the clock adds at most 2% to it: what
    /// lies between the first reading and the last costs one reading less than there are, and the last step may be
    /// cut off.
    pub fn shortest_sample_s(&self, readings: u32) -> f64 {
        const SHARE: f64 = 0.02;
        (f64::from(readings - 1) * self.cost_s).max(self.resolution_s) / SHARE
    }
}
