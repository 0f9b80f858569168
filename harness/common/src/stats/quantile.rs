//! Quantiles and the mean.

/// The samples in rising order.
pub fn sorted(samples: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_unstable_by(f64::total_cmp);
    samples
}

/// The `p` quantile of sorted samples, linear between the two nearest; `None` without samples.
///
/// Type 7 of Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996): the
/// default of R, NumPy and Julia, so that figures made from `samples.csv` agree with the summary.
///
/// # Panics
/// If `p` is not within 0 to 1.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&p), "a quantile's p is within 0 to 1, not {p}");
    let place = sorted.len().checked_sub(1)? as f64 * p;
    let low = place.floor() as usize;
    let high = place.ceil() as usize;
    Some(sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64))
}

/// The median of sorted samples; `None` without samples.
pub fn median(sorted: &[f64]) -> Option<f64> {
    quantile(sorted, 0.5)
}

/// The mean; `None` without samples.
pub fn mean(samples: &[f64]) -> Option<f64> {
    (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
}

/// The mean, and the variance with one degree of freedom less than there are samples; 0 of a single one. `None` without samples.
pub fn mean_and_variance(samples: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(samples)?;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    Some((mean, squares / (samples.len() as f64 - 1.0).max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_r_and_numpy() {
        let samples = sorted([7.0, 1.0, 3.0, 2.0]);
        assert_eq!(quantile(&samples, 0.0), Some(1.0));
        assert_eq!(quantile(&samples, 0.5), Some(2.5));
        assert_eq!(quantile(&samples, 1.0), Some(7.0));
        // R: quantile(c(1, 2, 3, 7), 0.9) is 5.8.
        assert!((quantile(&samples, 0.9).unwrap() - 5.8).abs() < 1e-12);
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
