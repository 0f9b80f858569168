//! The rule of bench-pcomm, the benchmark of Gillis et al., "Quantifying the Performance Benefits of
//! Partitioned Communication in MPI" (ICPP 2023), with its numbers.
//!
//! There are two differences. In bench-pcomm a negative mean counts as precise, because the interval is compared with the mean and
//! not with its absolute value; here a mean must be above 0 to be accepted. In bench-pcomm the interval is pooled from the
//! receiver's times and the sender's computing, as if they were independent; here it is that of each repetition's difference.

use crate::stats::student_interval;

/// Repetitions of an attempt that count.
pub const SAMPLES: usize = 150;
/// Repetitions before those.
pub const WARMUP: u32 = 1;
/// Maximum attempts, after which the last one is reported as it is.
pub const ATTEMPTS: usize = 50;
/// The level of Student's interval of the mean.
pub const LEVEL: f64 = 0.9;
/// Half width of the interval at which an attempt is accepted, as a share of the mean.
pub const PRECISION: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It is precise enough.
    Accepted,
    /// All is measured again.
    Again,
    /// There were enough attempts, and the last one is reported although it is not precise enough.
    GivenUp,
}

/// The result of the last of `attempts`, which had these `samples`.
pub fn attempt_outcome(samples: &[f64], attempts: usize) -> AttemptOutcome {
    let is_precise = |(mean, half): (f64, f64)| mean > 0.0 && half <= PRECISION * mean;
    match student_interval(samples, LEVEL) {
        Some(interval) if is_precise(interval) => AttemptOutcome::Accepted,
        _ if attempts >= ATTEMPTS => AttemptOutcome::GivenUp,
        _ => AttemptOutcome::Again,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many samples as in an attempt, at two values around a mean.
    fn around(mean: f64, distance: f64) -> Vec<f64> {
        (0..SAMPLES).map(|i| if i % 2 == 0 { mean - distance } else { mean + distance }).collect()
    }
    #[test]
    fn an_attempt_is_accepted_from_five_percent_on_and_the_fiftieth_is_the_last() {
        use AttemptOutcome::{Accepted, Again, GivenUp};
        // The half width is 1.655 / sqrt(149) of the distance: 0.1356 of it.
        let cases =
            [(1.0, 0.36, Accepted, Accepted), (1.0, 0.38, Again, GivenUp), (1.0, 0.9, Again, GivenUp)];
        // A mean that is not a time.
        let no_times = [(-13e-6, 0.0, Again, GivenUp), (0.0, 0.0, Again, GivenUp)];
        for (mean, distance, before, last) in cases.into_iter().chain(no_times) {
            let samples = around(mean, distance);
            assert_eq!([1, 49, 50].map(|attempt| attempt_outcome(&samples, attempt)), [before, before, last]);
        }
        assert_eq!((attempt_outcome(&[], 1), attempt_outcome(&[1.0], 50)), (Again, GivenUp));
    }
}
