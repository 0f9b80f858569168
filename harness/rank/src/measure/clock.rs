//! The one clock of a ping-pong, and what is known of it.

use std::time::Instant;

/// Readings that the figures rest on; enough to see the smallest step, few enough to take well under a millisecond.
const READINGS: usize = 20_000;

/// What the clock can tell apart, and what asking it costs, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Smallest step seen between two readings.
    pub resolution_s: f64,
    /// Mean time of a reading.
    pub cost_s: f64,
}

impl Clock {
    /// Measures the clock.
    pub fn measure() -> Self {
        let readings: Vec<Instant> = (0..READINGS).map(|_| Instant::now()).collect();
        let steps = readings.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64());
        let resolution_s = steps.filter(|&step| step > 0.0).fold(f64::INFINITY, f64::min);
        let cost_s = (readings[READINGS - 1] - readings[0]).as_secs_f64() / (READINGS - 1) as f64;
        Self { resolution_s, cost_s }
    }

    /// The shortest time that one sample may have, so that the clock adds at most 2% to it: the four readings of
    /// a repetition cost four times `cost_s`, and the last step may be cut off at both ends.
    pub fn shortest_sample_s(&self) -> f64 {
        const SHARE: f64 = 0.02;
        (4.0 * self.cost_s).max(2.0 * self.resolution_s) / SHARE
    }
}
