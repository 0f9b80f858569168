//! The rule of bench-pcomm, the benchmark of Gillis et al., "Quantifying the Performance Benefits of Partitioned
//! Communication in MPI" (ICPP 2023), with its numbers.
//!
//! Two things differ. There a negative mean passes for precise, since its interval is compared with it and not with its
//! absolute value; here no mean that is not above 0 is accepted. And the interval there is pooled from the receiver's
//! times and the sender's computing, as if they were independent; here it is that of each repetition's difference.

use crate::stats::student_interval;

/// Repetitions that count in an attempt.
pub const SAMPLES: usize = 150;
/// Repetitions before them.
pub const WARMUP: u32 = 1;
/// Attempts at most, after which the last one is reported as it is.
pub const ATTEMPTS: usize = 50;
/// The level of Student's interval of the mean.
pub const LEVEL: f64 = 0.9;
/// Half width of the interval at which an attempt is accepted, as a share of the mean.
pub const PRECISION: f64 = 0.05;

/// What becomes of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// It is precise enough.
    Accepted,
    /// All is measured again.
    Again,
    /// There were enough attempts, and this one is reported without being precise.
    GivenUp,
}

/// What becomes of the last of some `attempts`, which had these `samples`.
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

    /// As many samples as an attempt has, in two places around a mean.
    fn around(mean: f64, distance: f64) -> Vec<f64> {
        (0..SAMPLES).map(|i| if i % 2 == 0 { mean - distance } else { mean + distance }).collect()
    }

    #[test]
    fn an_attempt_is_accepted_from_five_percent_on() {
        // The half width is 1.655 / sqrt(149) of the distance: 0.1356 of it.
        assert_eq!(attempt_outcome(&around(1.0, 0.36), 1), AttemptOutcome::Accepted);
        assert_eq!(attempt_outcome(&around(1.0, 0.38), 1), AttemptOutcome::Again);
    }

    #[test]
    fn the_fiftieth_attempt_is_the_last_whatever_it_is() {
        assert_eq!(attempt_outcome(&around(1.0, 0.9), 49), AttemptOutcome::Again);
        assert_eq!(attempt_outcome(&around(1.0, 0.9), 50), AttemptOutcome::GivenUp);
        assert_eq!(attempt_outcome(&around(1.0, 0.1), 50), AttemptOutcome::Accepted);
    }

    #[test]
    fn a_mean_that_is_no_time_is_never_accepted() {
        for mean in [-13e-6, 0.0] {
            assert_eq!(attempt_outcome(&around(mean, 0.0), 1), AttemptOutcome::Again, "{mean}");
            assert_eq!(attempt_outcome(&around(mean, 0.0), 50), AttemptOutcome::GivenUp, "{mean}");
        }
    }

    #[test]
    fn no_samples_are_no_attempt() {
        assert_eq!(attempt_outcome(&[], 1), AttemptOutcome::Again);
        assert_eq!(attempt_outcome(&[1.0], 50), AttemptOutcome::GivenUp);
    }
}
