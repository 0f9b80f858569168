//! The correlation between consecutive blocks, and its effect on an interval.
//!
//! Medians of blocks are not independent samples: if something slows one block down, it slows the next as
//! well. The correlation is 0.35 to 0.67 on virtual machines, and some of it lasts for a hundred blocks. An
//! interval that assumes independence is then several times too narrow.

use std::f64::consts::{FRAC_2_PI, PI};

use statrs::distribution::{ContinuousCDF, Normal};

use super::quantile::{mean, median, sorted, squares};
use super::student;

/// Minimum number of values for an estimate of the correlation: the minimum for an interval of their median.
const FEWEST: usize = 6;

/// Maximum assumed correlation between consecutive blocks: above it, the series has no useful effective
/// length, and [`unsteady`](super::unsteady) has marked it.
const MOST_CORRELATION: f64 = 0.97;

/// Number of cosines for the long-run variance: fewer see slower changes, but the variance is then known less
/// well. Chosen by experiment (docs/evidence/statistics.md). The number does not grow with the series,
/// because real runs always have slower changes, which more cosines would miss.
const COSINES: usize = 4;

/// Additional factor for the width of an interval, because the power of so few cosines is uncertain. Student's quantile
/// for four cosines would be 1.42 times the normal one; the second estimate compensates for the rest.
const FOR_FEW_COSINES: f64 = 1.35;

/// Minimum number of independent values that a series is equivalent to: fewer would not even show their own variance.
const FEWEST_EQUIVALENT: f64 = 3.0;

/// The factor by which the interval of a median must be wider than for independent values, from values in the
/// order in which they were measured; at least 1.
///
/// A median errs like the mean of the signs of all deviations from it (Bahadur, "A Note on Quantiles in Large
/// Samples", Annals of Mathematical Statistics 37 (1966)), so the relevant quantity is the long-run variance
/// of these signs divided by their variance. It is estimated in two ways, and the larger estimate is used:
///
/// - **The slowest cosines.** The mean power of the first four cosines of the signs (Müller, "HAC Corrections for
///   Strongly Autocorrelated Time Series", Journal of Business & Economic Statistics 32 (2014); Lazarus, Lewis, Stock &
///   Watson, "HAR Inference: Recommendations for Practice", ibid. 36 (2018), who use 0.4 n^(2/3), 3 to 7 for 24 to 80).
///   It makes no assumptions about the correlation, and sees effects that last for a quarter of the series or longer.
/// - **One step.** The correlation of neighbouring normal scores, and the long-run variance of a series with that
///   correlation: signs of normal variables with correlation r have the correlation 2/pi asin r. In short series the
///   cosines cannot distinguish a correlation over a few blocks from none; this estimate can.
///
/// Both depend only on order and rank, so neither the distribution nor outliers matter.
pub fn inflation(series: &[f64]) -> f64 {
    if series.len() < FEWEST {
        return 1.0;
    }
    of_slow_cosines(&signs(series)).max(of_one_step(&normal_scores(series))).max(1.0)
}

/// From the mean power of the slowest cosines. In a short series these are a large part of all cosines, whose total power is fixed.
fn of_slow_cosines(signs: &[f64]) -> f64 {
    let Some(power) = slow_powers(signs, COSINES).map(|powers| powers.sum::<f64>()) else { return 1.0 };
    (power / COSINES as f64).sqrt() * FOR_FEW_COSINES * (1.0 - 1.5 / signs.len() as f64)
}

/// From the correlation of neighbours, without its bias of -(1 + 4 r) / n (Marriott & Pope, "Bias in the Estimation of
/// Autocorrelations", Biometrika 41 (1954)) and with 0.9/n more, chosen by experiment because too small a value is the worse error.
///
/// A short correlated series is equivalent to few independent values, m of n, and this has two effects: it varies less
/// around its own mean than around the true one, and Student's quantile has only m - 1 degrees of freedom (Zwiers & von
/// Storch, "Taking Serial Correlation into Account in Tests of the Mean", Journal of Climate 8 (1995)).
fn of_one_step(scores: &[f64]) -> f64 {
    let n = scores.len() as f64;
    let Some(r) = correlation(scores) else { return 1.0 };
    let r = (r + (1.9 + 4.0 * r) / n).clamp(0.0, MOST_CORRELATION);
    let known = known_inflation(r, scores.len());
    let worth = (n / known.powi(2)).max(FEWEST_EQUIVALENT);
    let student = |values: f64| student::quantile(0.95, values - 1.0).unwrap_or(f64::NAN);
    known * ((1.0 - 1.0 / n) / (1.0 - 1.0 / worth)).sqrt() * student(worth) / student(n)
}

/// The inflation of `n` normal values if neighbours have the correlation `r` and more distant values its powers.
pub fn known_inflation(r: f64, n: usize) -> f64 {
    let signs_correlate = |lag: usize| FRAC_2_PI * r.powi(lag as i32).asin();
    let weights = (1..n).map(|lag| 2.0 * (1.0 - lag as f64 / n as f64) * signs_correlate(lag));
    // After 500 steps, a correlation of 0.97 has fallen below 10^-6.
    (1.0 + weights.take(500).sum::<f64>()).max(0.0).sqrt()
}

/// The power of each of the `count` slowest cosines in units of the variance. If values are independent, each is 1 on
/// average, and is distributed nearly like the square of a normal variable. `None` if all values are equal.
pub(super) fn slow_powers(series: &[f64], count: usize) -> Option<impl Iterator<Item = f64>> {
    let (n, mean) = (series.len() as f64, mean(series)?);
    let variance = squares(series) / n;
    let power = move |j: usize| {
        // cos(step (t + 1/2)) for all t by recurrence: computing each cosine would take most of the time.
        let step = PI * j as f64 / n;
        let (mut before, mut now) = ((step / 2.0).cos(), (step / 2.0).cos());
        let twice = 2.0 * step.cos();
        let mut sum = 0.0;
        for value in series {
            sum += (value - mean) * now;
            (before, now) = (now, twice * now - before);
        }
        2.0 * sum * sum / n / variance
    };
    (variance > 0.0).then(|| (1..=count).map(power))
}

/// The correlation of each value with the next; `None` if all are equal.
fn correlation(series: &[f64]) -> Option<f64> {
    let (mean, squares) = (mean(series)?, squares(series));
    let products: f64 = series.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    (squares > 0.0).then(|| products / squares)
}

/// 1 for values above the median, -1 below it, 0 at it.
fn signs(series: &[f64]) -> Vec<f64> {
    let median = median(&sorted(series.iter().copied())).unwrap_or(f64::NAN);
    let sign = |value: &f64| f64::from(i8::from(*value > median) - i8::from(*value < median));
    series.iter().map(sign).collect()
}

/// The values of a normal distribution with the same ranks; equal values share the mean of their ranks.
pub(super) fn normal_scores(series: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_unstable_by(|&a, &b| series[a].total_cmp(&series[b]));
    let normal = Normal::standard();
    let mut scores = vec![0.0; series.len()];
    let mut below = 0;
    for equal in order.chunk_by(|&a, &b| series[a] == series[b]) {
        let rank = below as f64 + equal.len() as f64 / 2.0;
        let score = normal.inverse_cdf(rank / series.len() as f64);
        equal.iter().for_each(|&place| scores[place] = score);
        below += equal.len();
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recurrence_gives_the_cosines() {
        let series: Vec<f64> = (0..50).map(|i| f64::from((i * 7 + 3) % 11)).collect();
        let (n, mean) = (series.len() as f64, mean(&series).unwrap());
        let variance = squares(&series) / n;
        let direct = |j: usize| {
            let cosine = |t: usize| (PI * j as f64 * (t as f64 + 0.5) / n).cos();
            let sum: f64 = series.iter().enumerate().map(|(t, value)| (value - mean) * cosine(t)).sum();
            2.0 * sum * sum / n / variance
        };
        let powers: Vec<f64> = slow_powers(&series, 49).unwrap().collect();
        assert!((1..=9).all(|j| (powers[j - 1] - direct(j)).abs() < 1e-9));
        // All cosines together have the whole variance.
        assert!((powers.iter().sum::<f64>() - n).abs() < 1e-9);
    }

    #[test]
    fn scores_know_ranks_alone_and_equal_values_share_them() {
        let scores = normal_scores(&[5.0, 1.0, 1000.0, 5.0]);
        assert_eq!(scores[0], scores[3]);
        assert!(scores[0].abs() < 1e-12 && scores[1] < 0.0);
        assert!((scores[1] + scores[2]).abs() < 1e-9, "{scores:?}");
        assert_eq!(scores, normal_scores(&[5.0, -3.0, 6.0, 5.0]));
    }

    #[test]
    fn the_inflation_of_a_known_correlation_is_that_of_the_arcsine_law() {
        assert_eq!(known_inflation(0.0, 40), 1.0);
        // Two values: 1 + 2 (1/2) (2/pi) asin 1/2 = 4/3.
        assert!((known_inflation(0.5, 2) - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        // Three: 1 + 2 (2/3) (1/3) + 2 (1/3) (2/pi) asin 1/4.
        let of_three = 1.0 + 4.0 / 9.0 + 2.0 / 3.0 * FRAC_2_PI * 0.25_f64.asin();
        assert!((known_inflation(0.5, 3) - of_three.sqrt()).abs() < 1e-12);
        assert!(known_inflation(0.67, 40) > 1.8 && known_inflation(0.67, 40) < 1.95);
    }

    #[test]
    fn what_lasts_widens_and_what_changes_each_time_does_not() {
        let long: Vec<f64> = (0..40).map(|i| f64::from(i / 10 % 2)).collect();
        assert!(inflation(&long) > 2.0);
        let short: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        assert_eq!(inflation(&short), 1.0);
        assert_eq!(inflation(&[3.0; 40]), 1.0);
        assert_eq!(inflation(&[1.0, 1.0, 1.0, 2.0, 2.0]), 1.0, "too few values");
        assert!(inflation(&[f64::NAN; 10]) >= 1.0);
        let step: Vec<f64> = (0..12).map(|i| f64::from(i / 6)).collect();
        assert!(inflation(&step) < 10.0, "a series counts as at least three values");
    }
}
