//! The clock of a ping-pong, and its properties.

use std::time::Instant;

use common::stats;

/// Readings for the costs, in groups whose median counts, so that interrupted groups are ignored. All take well under a millisecond.
const GROUPS: usize = 200;
const READINGS_OF_A_GROUP: usize = 100;

/// Largest share of a sample that the clock may add to it.
const SHARE: f64 = 0.02;

/// Uncertainty of a reading's cost, as a share of it: groups differ by a few percent.
const KNOWN_WITHIN: f64 = 0.1;

/// The resolution of the clock and the cost of a reading, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The step: the smallest difference between two times that it can show.
    pub step_s: f64,
    /// Time of a reading.
    pub cost_s: f64,
}

impl Clock {
    pub fn measure() -> Self {
        let (mut lengths, mut costs) = (Vec::new(), Vec::with_capacity(GROUPS));
        let mut readings = [Instant::now(); READINGS_OF_A_GROUP];
        for _ in 0..GROUPS {
            readings.iter_mut().for_each(|reading| *reading = Instant::now());
            lengths.extend(readings.windows(2).map(|pair| (pair[1] - pair[0]).as_nanos()));
            let whole = readings[READINGS_OF_A_GROUP - 1] - readings[0];
            costs.push(whole.as_secs_f64() / (READINGS_OF_A_GROUP - 1) as f64);
        }
        let cost_s = stats::median(&stats::sorted(costs)).unwrap_or(0.0);
        Self { step_s: step_ns(lengths) as f64 * 1e-9, cost_s }
    }

    /// The shortest time of a sample with this number of readings for which the clock adds at most 2%. The cost of the readings
    /// between the first and the last is subtracted, so only its uncertainty remains. The last step may be truncated.
    pub fn shortest_corrected_s(&self, readings: u32) -> f64 {
        (f64::from(readings - 1) * self.cost_s * KNOWN_WITHIN).max(self.step_s) / SHARE
    }

    /// The time of an action that is done once.
    pub fn time<E>(&self, act: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
        let start = Instant::now();
        act()?;
        Ok(self.between(start, Instant::now(), 1))
    }

    /// The time between two readings, minus the cost of the `readings` within it; not below 0.
    #[inline]
    pub fn between(&self, start: Instant, end: Instant, readings: u32) -> f64 {
        ((end - start).as_secs_f64() - f64::from(readings) * self.cost_s).max(0.0)
    }
}

/// The step of a clock, from its readings: the smallest difference between any two of them, or a reading itself.
fn step_ns(mut times: Vec<u128>) -> u128 {
    times.push(0);
    times.sort_unstable();
    times.dedup();
    times.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_step_is_the_smallest_difference_and_not_the_cost_of_a_reading() {
        assert_eq!(step_ns(vec![25, 26, 31, 25]), 1);
        assert_eq!(step_ns(vec![40, 80, 120, 40]), 40);
        assert_eq!(step_ns(vec![0, 0, 1000]), 1000);
        assert_eq!(step_ns(vec![]), 0);
        let clock = Clock::measure();
        assert!(clock.step_s > 0.0 && clock.cost_s > 0.0, "{clock:?}");
    }

    #[test]
    fn the_cost_of_readings_is_taken_off_and_no_time_is_below_0() {
        let clock = Clock { step_s: 1e-9, cost_s: 20e-9 };
        let start = Instant::now();
        let end = start + Duration::from_nanos(100);
        assert!((clock.between(start, end, 3) - 40e-9).abs() < 1e-15);
        assert_eq!(clock.between(start, end, 6), 0.0);
        assert!((clock.shortest_corrected_s(3) - 2e-7).abs() < 1e-12);
    }
}
