//! Student's interval of a mean, for published rules that use it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::difference::Difference;
use super::quantile::mean_and_variance;
use super::ratio::Ratio;

/// The mean and the half width of its two-sided interval at `level`, such as 0.9; in the samples' unit.
/// `None` for fewer than two samples, a sample that is not finite, or a level that is not between 0 and 1.
///
/// Student, "The Probable Error of a Mean", Biometrika 6 (1908): t s / sqrt(n), s with n - 1 and t with n - 1 degrees
/// of freedom. It assumes independent samples of a normal distribution, which times of communication are not; our
/// results use [`blocks_interval`](super::blocks_interval). This function is for the rule of bench-pcomm (Gillis et
/// al., "Quantifying the Performance Benefits of Partitioned Communication in MPI", ICPP 2023): at level 0.9 the half
/// width must be at most 5% of the mean; otherwise all is measured again, at most 50 times. In bench-pcomm a negative
/// mean counts as precise; callers should compare with the absolute value.
pub fn student_interval(samples: &[f64], level: f64) -> Option<(f64, f64)> {
    let count = samples.len() as f64;
    if samples.len() < 2 || !(level > 0.0 && level < 1.0) || samples.iter().any(|sample| !sample.is_finite())
    {
        return None;
    }
    let (mean, variance) = mean_and_variance(samples)?;
    Some((mean, quantile(level, count - 1.0)? * (variance / count).sqrt()))
}

/// The ratio of the means of two samples that were not measured in pairs, with its 95% interval; `None` if a mean is
/// not above 0. The interval is that of the difference of the means' logarithms, and `None` for fewer than two samples
/// of either. Variances of the logarithms are those of the means divided by the squared means (the delta method);
/// degrees of freedom by Welch, "The Generalization of Student's Problem when Several Different Population Variances
/// are Involved", Biometrika 34 (1947). The assumptions are those of [`student_interval`].
pub fn mean_ratio(a: &[f64], b: &[f64]) -> Option<Ratio> {
    let ((mean_a, of_a), (mean_b, of_b)) = (mean_and_variance(a)?, mean_and_variance(b)?);
    let value = (mean_a > 0.0 && mean_b > 0.0).then(|| mean_a / mean_b).filter(|ratio| ratio.is_finite())?;
    let part = |mean: f64, variance: f64, n: usize| (variance / n as f64 / mean.powi(2), n as f64 - 1.0);
    let interval = (a.len() > 1 && b.len() > 1).then(|| {
        let parts = [part(mean_a, of_a, a.len()), part(mean_b, of_b, b.len())];
        let factor = Difference::of_parts(0.0, &parts).half_width(0.05).exp();
        (value / factor, value * factor)
    });
    Some(Ratio { value, interval, unsteady: false })
}

/// The quantile of Student's distribution with `freedom` degrees of freedom for a two-sided `level` around 0.
pub(super) fn quantile(level: f64, freedom: f64) -> Option<f64> {
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(f64::midpoint(1.0, level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        // Two-sided 90%: the table of bench-pcomm, which has three decimals.
        let freedoms = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100];
        let printed = [6.314, 2.920, 2.353, 2.132, 2.015, 1.895, 1.812, 1.753, 1.725, 1.697, 1.676, 1.660];
        for (freedom, printed) in freedoms.into_iter().zip(printed) {
            let found = quantile(0.9, f64::from(freedom)).unwrap();
            assert!((found - printed).abs() <= 5e-4, "{freedom}: {found} {printed}");
        }
        // From 1000 on bench-pcomm uses the normal distribution's 1.645; at 1000 the value is 1.6464.
        assert!((quantile(0.9, 1000.0).unwrap() - 1.6464).abs() < 5e-5);
        assert!((quantile(0.9, 1e6).unwrap() - 1.644_854).abs() < 5e-6);
        // Another level, from any textbook.
        assert!((quantile(0.95, 4.0).unwrap() - 2.776).abs() < 5e-4);
    }

    #[test]
    fn the_interval_is_that_of_a_worked_example_and_some_samples_have_none() {
        // Mean 3, s = sqrt(2.5), t = 2.1318 for 4 degrees of freedom.
        let (mean, half_width) = student_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.9).unwrap();
        assert_eq!(mean, 3.0);
        assert!((half_width - 2.131_847 * (2.5_f64 / 5.0).sqrt()).abs() < 1e-5, "{half_width}");
        assert_eq!(student_interval(&[2.0; 7], 0.9), Some((2.0, 0.0)));
        for samples in [&[][..], &[1.0], &[1.0, f64::NAN]] {
            assert_eq!(student_interval(samples, 0.9), None, "{samples:?}");
        }
        assert!(
            [0.0, 1.0, -0.5, f64::NAN].iter().all(|&level| student_interval(&[1.0, 2.0], level).is_none())
        );
    }

    #[test]
    fn the_ratio_of_means_is_that_of_a_worked_example() {
        // Means 3 and 1.5; variances of the means divided by the squared means are 2.5 / 5 / 9 and 0.625 / 5
        // / 2.25, both 1/18. For 8 degrees of freedom t is 2.306.
        let samples = [1.0, 2.0, 3.0, 4.0, 5.0];
        let ratio = mean_ratio(&samples, &samples.map(|sample| sample / 2.0)).unwrap();
        let factor = (2.306_f64 / 3.0).exp();
        let (low, high) = ratio.interval.unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12);
        assert!((low - 2.0 / factor).abs() < 1e-3 && (high - 2.0 * factor).abs() < 1e-3, "{ratio:?}");
        assert_eq!(mean_ratio(&[2.0; 3], &[1.0; 2]).unwrap().interval, Some((2.0, 2.0)));
        assert_eq!(mean_ratio(&[2.0], &[1.0; 2]).unwrap().interval, None);
        assert_eq!(mean_ratio(&[-2.0; 2], &[1.0; 2]), None);
        assert_eq!(mean_ratio(&[], &[1.0; 2]), None);
    }
}
