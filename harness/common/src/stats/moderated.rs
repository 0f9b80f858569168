//! Levels of many series with a few values each, such as the times of several MPIs in several tests: the
//! variance of each series is estimated together with those of all others.

use statrs::function::gamma::digamma;

use super::adjusted::{Explained, Fit, SlopePrior};
use super::difference::{Difference, FEWEST};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The level if all covariates are 0.
    pub value: f64,
    variance: f64,
    freedom: f64,
    /// The variance of the level, in units of that of a value.
    share: f64,
    is_adjusted: bool,
}

impl Level {
    /// `None` with fewer than [`FEWEST`] values, or too few for these slopes.
    pub fn from_values(values: &[Explained], slopes: &[SlopePrior]) -> Option<Self> {
        if values.len() < FEWEST {
            return None;
        }
        let fit = Fit::from_groups(&[values], slopes)?;
        Some(Self {
            value: fit.locations[0],
            variance: fit.variance,
            freedom: fit.freedom,
            share: fit.share_of(0),
            is_adjusted: !slopes.is_empty(),
        })
    }

    /// This level minus another one.
    pub fn minus(&self, other: &Self) -> Difference {
        let difference = Difference::of_parts(self.value - other.value, &[self.part(), other.part()]);
        Difference { is_adjusted: self.is_adjusted, ..difference }
    }

    /// This level as the difference from 0.
    pub fn minus_zero(&self) -> Difference {
        Difference { is_adjusted: self.is_adjusted, ..Difference::of_parts(self.value, &[self.part()]) }
    }

    /// Its variance and degrees of freedom.
    fn part(&self) -> (f64, f64) {
        (self.variance * self.share, self.freedom)
    }
}

/// Minimum series for that: fewer do not show how variances differ.
const FEWEST_SERIES: usize = 3;

/// Moderates the variances of levels: each is estimated from its own series, and from what the variances of all series have in common
/// (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004). The more alike variances are, the more that counts.
///
/// How much their logarithms differ, besides the chance of few values, is estimated with weights, because few
/// degrees of freedom show little (DerSimonian and Laird, Controlled Clinical Trials 7, 1986).
pub fn moderate(levels: &mut [&mut Level]) {
    let known: Vec<(f64, f64)> = levels
        .iter()
        .filter(|level| level.variance > 0.0)
        .map(|level| (level.variance, level.freedom))
        .collect();
    if known.len() < FEWEST_SERIES {
        return;
    }
    // The logarithm of a variance, without its bias, and its own variance by chance.
    let logarithms: Vec<(f64, f64)> = known
        .iter()
        .map(|(variance, freedom)| (variance.ln() - bias(*freedom), trigamma(freedom / 2.0)))
        .collect();
    let (middle, squares, weights, weights_squared) = weighted(&logarithms, 0.0);
    let between = (squares - (known.len() as f64 - 1.0)) / (weights - weights_squared / weights);
    let middle = if between > 0.0 { weighted(&logarithms, between).0 } else { middle };
    // No prior is known better than all of the values from which it is estimated.
    let all: f64 = known.iter().map(|(_, freedom)| freedom).sum();
    let of_prior = if between > 0.0 { (2.0 * inverse_trigamma(between)).min(all) } else { all };
    let prior = (middle + bias(of_prior)).exp();
    for level in levels {
        let freedom = of_prior + level.freedom;
        level.variance = (of_prior * prior + level.freedom * level.variance) / freedom;
        level.freedom = freedom;
    }
}

/// The weighted mean of values with these variances, to each of which `more` is added; the weighted sum of
/// their squared deviations; and the sums of weights and of their squares.
fn weighted(values: &[(f64, f64)], more: f64) -> (f64, f64, f64, f64) {
    let weight = |(_, variance): &(f64, f64)| 1.0 / (variance + more);
    let weights: f64 = values.iter().map(weight).sum();
    let middle = values.iter().map(|of| weight(of) * of.0).sum::<f64>() / weights;
    let squares = values.iter().map(|of| weight(of) * (of.0 - middle).powi(2)).sum();
    (middle, squares, weights, values.iter().map(|of| weight(of).powi(2)).sum())
}

/// How far the logarithm of an estimated variance is from that of the true one on average.
fn bias(freedom: f64) -> f64 {
    digamma(freedom / 2.0) - (freedom / 2.0).ln()
}

/// The second derivative of the logarithm of the gamma function, for a positive number.
fn trigamma(x: f64) -> f64 {
    /// From here on the series has ten digits.
    const FAR: f64 = 10.0;
    let steps = (FAR - x).ceil().max(0.0);
    let near: f64 = (0..steps as u32).map(|step| (x + f64::from(step)).powi(-2)).sum();
    let inverse = 1.0 / (x + steps);
    let square = inverse * inverse;
    let series = 1.0 / 6.0 - square * (1.0 / 30.0 - square * (1.0 / 42.0 - square / 30.0));
    near + inverse + square / 2.0 + square * inverse * series
}

/// The number with this second derivative, between 1e-6 and 1e6: by bisection of its logarithm.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64.ln(), 1e6_f64.ln());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::adjusted::group;

    #[test]
    fn the_more_variances_are_alike_the_more_all_of_them_count_for_each() {
        // Variances with their degrees of freedom, before and after. Computed in Python, with another series
        // for the digamma function and a sum of 50 terms for the trigamma function.
        let apart = [
            [0.0004, 2.0, 0.000_478_096_065, 2.955_275_238],
            [0.04, 2.0, 0.027_277_630_327, 2.955_275_238],
            [0.0009, 3.0, 0.000_837_591_637, 3.955_275_238],
            [0.0001, 4.0, 0.000_204_409_526, 4.955_275_238],
            [0.01, 2.5, 0.007_412_696_152, 3.455_275_238],
        ];
        // As many degrees of freedom as all values have.
        let alike = [
            [0.0004, 2.0, 0.000_456_592_758, 10.0],
            [0.0005, 2.0, 0.000_476_592_758, 10.0],
            [0.0003, 4.0, 0.000_413_827_298, 12.0],
        ];
        let too_few = [[0.1, 2.0, 0.1, 2.0], [0.2, 2.0, 0.2, 2.0]];
        for series in [&apart[..], &alike, &too_few] {
            let level = |&[variance, freedom, ..]: &[f64; 4]| Level {
                value: 1.0,
                variance,
                freedom,
                share: 0.25,
                is_adjusted: true,
            };
            let mut levels: Vec<Level> = series.iter().map(level).collect();
            moderate(&mut levels.iter_mut().collect::<Vec<_>>());
            for (level, [.., variance, freedom]) in levels.iter().zip(series) {
                let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
                assert!(near(level.variance, *variance) && near(level.freedom, *freedom), "{level:?}");
            }
        }
    }

    #[test]
    fn values_of_the_trigamma_function_are_those_of_tables() {
        let square = std::f64::consts::PI.powi(2);
        for (x, value) in [(0.5, square / 2.0), (1.0, square / 6.0), (2.0, square / 6.0 - 1.0)] {
            assert!((trigamma(x) - value).abs() < 1e-9 && (inverse_trigamma(value) - x).abs() < 1e-8, "{x}");
        }
    }

    #[test]
    fn series_with_their_own_slopes_are_compared_at_one_state() {
        let slope = SlopePrior { expected: 0.5, deviation: 0.4 };
        let of = |at_0: f64, slope_here: f64, by: [f64; 5], launches: usize| {
            let noise = [0.01, -0.02, 0.0, 0.02, -0.01];
            let value = |i: usize| (at_0 + slope_here * by[i] + noise[i], by[i]);
            Level::from_values(&group(&(0..launches).map(value).collect::<Vec<_>>()), &[slope])
        };
        let first = of(1.0, 0.9, [0.0, 0.16, 0.0, 0.16, 0.0], 5).unwrap();
        let difference = of(1.2, 0.2, [0.16, 0.16, 0.0, 0.16, 0.0], 5).unwrap().minus(&first);
        assert!((difference.value - 0.2).abs() < 0.03 && difference.error < 0.02, "{difference:?}");
        assert_eq!(first.minus_zero().value, first.value);
        assert_eq!(of(1.0, 0.5, [0.0; 5], 2), None, "two launches show nothing");
    }

    #[test]
    fn a_series_without_variation_has_an_error_after_its_variance_was_moderated() {
        let of = |noise: f64| {
            let value = |share: f64| Explained { value: noise * share, by: Vec::new() };
            Level::from_values(&[1.0, -1.0, 0.0, 0.0].map(value), &[]).unwrap()
        };
        let mut levels = [0.01, 0.02, 0.04, 0.0].map(of);
        assert_eq!(levels[3].minus_zero().error, 0.0);
        moderate(&mut levels.iter_mut().collect::<Vec<_>>());
        // A level is the mean of four values, all with the same degrees of freedom before.
        let [.., least, constant] = levels.map(|level| level.minus_zero());
        assert!(constant.error > 0.0 && constant.error < least.error, "{constant:?} {least:?}");
        assert_eq!(constant.error, (levels[3].variance / 4.0).sqrt());
    }
}
