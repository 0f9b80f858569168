//! Whether a series kept its level.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::correlation::{normal_scores, slow_powers};
use super::interval::{MIN_ROUNDS, median_interval, parted};
use super::quantile::sorted;

/// Changes that are looked at, in series of at least twice as many values: from the first half to the second, from the middle
/// to both ends, there and back, and so on.
const CHANGES: usize = 10;

/// Share of series of independent values that are not marked, in long series; in short ones a few more are not.
const UNMARKED: f64 = 0.905;

/// Whether a series of times wandered: whether parts of it, such as its halves, or its middle and its ends, differ by more
/// than independent values have, of which a tenth is marked at most. Its figures are of its own run and of no other
/// time. A series of fewer than six values is never marked: nothing is known of it at all.
///
/// The power of the ten slowest cosines of the normal scores, the slower the weightier (Müller & Watson, "Testing Models of
/// Low-Frequency Variability", Econometrica 76 (2008), for the cosines; Kwiatkowski, Phillips, Schmidt & Shin, Journal of
/// Econometrics 54 (1992), for the question). Equal weights would see less of a level that changes once in a run, and weights
/// of 1/j^2, as theirs, less of one that returns. Independent values are the measure on purpose: a series that is so
/// correlated that its level wanders within the run is unsteady for whoever has only this run.
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

/// What the weighted power of the cosines of `n` independent values stays below, by chi squared with the same mean and
/// variance (Satterthwaite, "An Approximate Distribution of Estimates of Variance Components", Biometrics Bulletin 2 (1946)).
/// Powers of all n - 1 cosines add up to n, so that they have a Dirichlet distribution with all parameters 1/2.
fn limit(weights: &[f64], n: f64) -> f64 {
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let mean = sum * n / (n - 1.0);
    let variance = 2.0 * (n / (n - 1.0)).powi(2) * ((n - 1.0) * squares - sum * sum) / (n + 1.0);
    let freedom = 2.0 * mean * mean / variance;
    ChiSquared::new(freedom).map_or(f64::INFINITY, |chi| mean / freedom * chi.inverse_cdf(UNMARKED))
}

/// Whether the first and the second half of a series part: whether the 95% intervals of their medians, each half taken for
/// independent, have no point in common. No verdict is drawn from such a ratio. Fewer than twelve values
/// have no two halves of six, and do not part.
///
/// Ratios are not held to [`unsteady`]: little of what is slow in a machine is left in them, so that their intervals hold
/// 93% of windows of recorded runs as they are; it would mark more than three in ten of these, for two in a hundred
/// besides that are held or marked.
pub fn halves_part(series: &[f64]) -> bool {
    let (first, second) = series.split_at(series.len() / 2);
    let interval = |half: &[f64]| median_interval(&sorted(half.iter().copied()));
    interval(first).zip(interval(second)).is_some_and(|(first, second)| parted(first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that alternate around 1 by a tenth.
    fn steady(n: u32) -> Vec<f64> {
        (0..n).map(|i| 1.0 + 0.1 * f64::from(i * 7 % 5) - 0.2).collect()
    }

    #[test]
    fn a_series_that_keeps_its_level_is_not_marked() {
        assert!(!unsteady(&steady(40)));
        assert!(!unsteady(&[1.0; 40]));
        assert!(!unsteady(&[]));
    }

    #[test]
    fn halves_that_part_a_drift_and_a_passing_change_are_marked() {
        let with = |level: fn(usize) -> f64| -> Vec<f64> {
            steady(40).iter().enumerate().map(|(i, value)| value + level(i)).collect()
        };
        assert!(unsteady(&with(|i| if i < 20 { 0.0 } else { 0.2 })));
        assert!(unsteady(&with(|i| 0.01 * i as f64)));
        assert!(unsteady(&with(|i| if (10..30).contains(&i) { 0.2 } else { 0.0 })));
        assert!(!unsteady(&with(|i| if i == 20 { 1000.0 } else { 0.0 })), "one outlier is no change");
    }

    #[test]
    fn the_limit_of_long_series_is_that_of_chi_squared() {
        // Three cosines of equal weight: chi squared with three degrees of freedom is below 6.3684 in 90.5%.
        assert!((limit(&[1.0; 3], 1e9) - 6.3684).abs() < 1e-3);
        // Of short series less is left to chance, since the power of all cosines is known.
        assert!(limit(&[1.0; 3], 6.0) < 6.3684);
    }

    #[test]
    fn halves_part_where_their_intervals_do() {
        let with = |n: u32, step: f64| -> Vec<f64> {
            let level = |i: usize| if i < n as usize / 2 { 0.0 } else { step };
            steady(n).iter().enumerate().map(|(i, value)| value + level(i)).collect()
        };
        assert!(halves_part(&with(40, 0.25)) && !halves_part(&with(40, 0.05)));
        assert!(halves_part(&with(12, 0.5)) && !halves_part(&with(11, 0.5)), "five values have no interval");
        assert!(!halves_part(&[]));
    }

    #[test]
    fn fewer_than_six_values_are_never_marked() {
        assert!(!unsteady(&[1.0, 1.0, 1.0, 9.0, 9.0]));
    }
}
