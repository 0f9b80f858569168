//! Quantiles and the mean.

/// The samples in rising order.
pub fn sorted(samples: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_unstable_by(f64::total_cmp);
    samples
}

/// The `p` quantile of sorted samples, interpolated linearly between the two nearest; `None` without samples.
///
/// Type 7 of Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996):
/// the default of R, NumPy and Julia, so that values computed from `samples.csv` agree with the summary.
///
/// # Panics
/// If `p` is not between 0 and 1.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&p), "a quantile's p is within 0 to 1, not {p}");
    let place = sorted.len().checked_sub(1)? as f64 * p;
    let low = place.floor() as usize;
    let high = place.ceil() as usize;
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}

/// The same for a quantile near 1; `None` unless there are enough samples for one to be above it on average: the 99th
/// percentile needs 100 samples, the 99.9th 1,000. With fewer it would only be the largest sample under another name.
pub fn upper_quantile(sorted: &[f64], p: f64) -> Option<f64> {
    /// 10 samples have one above the 90th percentile, even if 1 - 0.9 is rounded down.
    const ROUNDING: f64 = 1e-9;
    quantile(sorted, p).filter(|_| sorted.len() as f64 * (1.0 - p) >= 1.0 - ROUNDING)
}

/// A sample is slow from this multiple of the median on. Machines that change their state make times up to
/// 2.4 times as long, and these are compared elsewhere; a longer sample had to wait for something.
const SLOW: f64 = 3.0;

/// Slow samples as shares: of all samples, and of the total time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowSamples {
    /// Their number, as a share of all samples.
    pub samples: f64,
    /// Their sum, as a share of the sum of all samples.
    pub time: f64,
}

impl SlowSamples {
    /// The slow samples among sorted samples; `None` without samples, or if one is not a time: differences of two clocks can be negative.
    pub fn from_sorted(sorted: &[f64]) -> Option<Self> {
        let limit = SLOW * median(sorted)?;
        let total: f64 = sorted.iter().sum();
        let slow = &sorted[sorted.partition_point(|&sample| sample <= limit)..];
        let is_time = sorted[0] >= 0.0 && total > 0.0;
        // The sum of no values is -0, which must not be printed.
        let time = (0.0 + slow.iter().sum::<f64>()) / total;
        is_time.then(|| Self { samples: slow.len() as f64 / sorted.len() as f64, time })
    }

    /// How many times as long as other samples a slow one takes on average; `None` without slow ones.
    pub fn times_as_long(self) -> Option<f64> {
        let odds = |share: f64| share / (1.0 - share);
        Some(odds(self.time) / odds(self.samples)).filter(|times| times.is_finite())
    }
}

/// The median of sorted samples; `None` without samples.
pub fn median(sorted: &[f64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// The mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The mean, and the variance with n - 1 degrees of freedom (0 for a single sample). `None` without samples.
pub fn mean_and_variance(samples: &[f64]) -> Option<(f64, f64)> {
    Some((mean(samples)?, squares(samples) / (samples.len() as f64 - 1.0).max(1.0)))
}

/// The sum of the squared deviations from the mean.
pub(super) fn squares(samples: &[f64]) -> f64 {
    let mean = mean(samples).unwrap_or_default();
    samples.iter().map(|sample| (sample - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_r_and_missing_if_no_sample_is_beyond() {
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-9;
        let samples = sorted([7.0, 1.0, 3.0, 2.0]);
        // R: quantile(c(1, 2, 3, 7), 0.9) is 5.8, and quantile(1:1000, 0.999) is 999.001.
        for (p, expected) in [(0.0, 1.0), (0.5, 2.5), (1.0, 7.0), (0.9, 5.8)] {
            assert!(near(quantile(&samples, p), expected), "{p}");
        }
        let of = |n: u32, p| upper_quantile(&sorted((1..=n).map(f64::from)), p);
        assert_eq!((of(9, 0.9), of(99, 0.99), of(999, 0.999), of(0, 0.9)), (None, None, None, None));
        assert!(near(of(10, 0.9), 9.1) && near(of(100, 0.99), 99.01) && near(of(1000, 0.999), 999.001));
    }

    #[test]
    fn one_sample_of_200_that_waits_takes_half_of_the_time() {
        let late = sorted((0..200).map(|i| if i == 77 { 199.0 } else { 1.0 }));
        let slow = SlowSamples::from_sorted(&late).unwrap();
        assert_eq!(slow, SlowSamples { samples: 0.005, time: 0.5 });
        assert!((slow.times_as_long().unwrap() - 199.0).abs() < 1e-9);
        // Two states of a machine are not slow samples.
        let states = sorted((0..100).map(|i| if i < 60 { 1.0 } else { 2.4 }));
        assert_eq!(SlowSamples::from_sorted(&states), Some(SlowSamples { samples: 0.0, time: 0.0 }));
        assert_eq!(SlowSamples { samples: 0.0, time: 0.0 }.times_as_long(), None);
        assert_eq!([&[][..], &[-1.0, 2.0, 3.0], &[0.0]].map(SlowSamples::from_sorted), [None; 3]);
    }

    #[test]
    fn one_sample_has_statistics_and_none_has_not() {
        assert_eq!((quantile(&[4.0], 0.99), median(&[4.0])), (Some(4.0), Some(4.0)));
        assert_eq!((quantile(&[], 0.5), median(&[]), mean(&[])), (None, None, None));
        assert_eq!((mean_and_variance(&[4.0]), mean_and_variance(&[])), (Some((4.0, 0.0)), None));
        assert_eq!(
            (mean(&[1.0, 2.0, 6.0]), mean_and_variance(&[1.0, 2.0, 6.0])),
            (Some(3.0), Some((3.0, 7.0)))
        );
    }
}
