//! Whether a series kept its level.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::correlation::{normal_scores, slow_powers};
use super::interval::{MIN_ROUNDS, disjoint, median_interval};
use super::quantile::sorted;

/// Changes that are tested, in series with at least twice as many values: from the first half to the second,
/// from the middle to both ends, up and down again, and so on.
const CHANGES: usize = 10;

/// Share of long series of independent values that are not marked; for short series it is slightly higher.
const UNMARKED: f64 = 0.905;

/// Whether a series of times wandered: whether parts of it, such as its halves, or its middle and its ends, differ by
/// more than those of independent values (at most a tenth of such series are marked). The values of a marked series
/// apply to its own run only. A series of fewer than six values is never marked, because they show nothing about it.
///
/// The statistic is the power of the ten slowest cosines of the normal scores, with larger weights for slower
/// ones (Müller & Watson, "Testing Models of Low-Frequency Variability", Econometrica 76 (2008), for the
/// cosines; Kwiatkowski, Phillips, Schmidt & Shin, Journal of Econometrics 54 (1992), for the question).
/// Equal weights would detect fewer levels that change once in a run, and the latter's weights of 1/j^2 fewer
/// levels that return. The comparison is deliberately with independent values: if a series is so correlated
/// that its level wanders within the run, it is unsteady for anyone who has only this run.
pub fn unsteady(series: &[f64]) -> bool {
    if series.len() < MIN_ROUNDS {
        return false;
    }
    let weights: Vec<f64> = (1..=CHANGES.min(series.len() / 2)).map(|j| 1.0 / (j as f64).sqrt()).collect();
    let scores = normal_scores(series);
    let Some(powers) = slow_powers(&scores, weights.len()) else { return false };
    let power: f64 = powers.zip(&weights).map(|(power, weight)| power * weight).sum();
    power > limit(&weights, series.len() as f64)
}

/// Upper limit of the weighted power of the cosines of `n` independent values, from chi squared with the same mean and
/// variance (Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2
/// (1946)). The powers of all n - 1 cosines add up to n, so they have a Dirichlet distribution with all parameters 1/2.
fn limit(weights: &[f64], n: f64) -> f64 {
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let mean = sum * n / (n - 1.0);
    let variance = 2.0 * (n / (n - 1.0)).powi(2) * ((n - 1.0) * squares - sum * sum) / (n + 1.0);
    let freedom = 2.0 * mean * mean / variance;
    ChiSquared::new(freedom).map_or(f64::INFINITY, |chi| mean / freedom * chi.inverse_cdf(UNMARKED))
}

/// Whether the first and the second half of a series differ: whether the 95% intervals of their medians, with
/// the values of each half taken as independent, have no point in common. Such a ratio gets no verdict. With
/// fewer than twelve values there are not two halves of six, and the result is false.
///
/// [`unsteady`] is not applied to ratios. They contain little of the machine's slow changes, so their
/// intervals cover 93% of windows of recorded runs as they are; `unsteady` would mark more than 30% of these
/// windows, and raise the share that is covered or marked by only 2%.
pub fn halves_differ(series: &[f64]) -> bool {
    halves_differ_by(series, |half| median_interval(&sorted(half.iter().copied()))) == Some(true)
}

/// Whether these intervals of both halves are disjoint; `None` if a half has none.
pub(super) fn halves_differ_by(
    series: &[f64],
    interval: impl Fn(&[f64]) -> Option<(f64, f64)>,
) -> Option<bool> {
    let (first, second) = series.split_at(series.len() / 2);
    Some(disjoint(interval(first)?, interval(second)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that alternate around 1 by a tenth, and a level.
    fn with(n: usize, level: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..n).map(|i| 1.0 + 0.1 * (i * 7 % 5) as f64 - 0.2 + level(i)).collect()
    }

    #[test]
    fn halves_that_part_a_drift_and_a_passing_change_are_marked_and_nothing_else() {
        assert!(unsteady(&with(40, |i| if i < 20 { 0.0 } else { 0.2 })));
        assert!(unsteady(&with(40, |i| 0.01 * i as f64)));
        assert!(unsteady(&with(40, |i| if (10..30).contains(&i) { 0.2 } else { 0.0 })));
        let one_outlier = with(40, |i| if i == 20 { 1000.0 } else { 0.0 });
        for unmarked in [&one_outlier, &with(40, |_| 0.0)[..], &[1.0; 40], &[], &[1.0, 1.0, 1.0, 9.0, 9.0]] {
            assert!(!unsteady(unmarked), "{unmarked:?}");
        }
    }

    #[test]
    fn the_limit_of_long_series_is_that_of_chi_squared() {
        // Three cosines of equal weight: chi squared with three degrees of freedom is below 6.3684 in 90.5% of cases.
        assert!((limit(&[1.0; 3], 1e9) - 6.3684).abs() < 1e-3);
        // Short series vary less by chance, because the total power of the cosines is fixed.
        assert!(limit(&[1.0; 3], 6.0) < 6.3684);
    }

    #[test]
    fn halves_differ_if_their_intervals_do() {
        let of = |n: usize, step: f64| halves_differ(&with(n, |i| if i < n / 2 { 0.0 } else { step }));
        assert_eq!((of(40, 0.25), of(40, 0.05), of(12, 0.5)), (true, false, true));
        assert_eq!((of(11, 0.5), of(0, 0.0)), (false, false), "five values have no interval");
    }
}
