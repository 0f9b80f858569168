//! The difference between two sides, from one value per launch of each: Student's differences, for pairs or
//! groups, or for groups adjusted for covariates that were measured at the same time.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::adjusted::{Explained, Fit, SlopePrior};
use super::quantile::{mean, mean_and_variance, squares};

/// Minimum launches per side for a difference.
pub const FEWEST: usize = super::launches::FEWEST;

/// The difference of two locations, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub value: f64,
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// Whether it is adjusted for covariates.
    pub is_adjusted: bool,
    /// The part of its standard error that more values do not reduce.
    pub lasting: f64,
}

/// A difference, and the two locations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The second minus the first.
    pub difference: Difference,
    /// The locations if all covariates are 0.
    pub locations: [f64; 2],
}

/// Prior knowledge of the variation between groups, from other groups of the same kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenGroups {
    /// The standard deviation of groups of one side, besides what the variation within them implies.
    pub of_a_side: f64,
    /// The standard deviation of a side, besides what the variation between its groups implies.
    pub of_sides: f64,
    /// The number of degrees of freedom that this counts as.
    pub freedom: f64,
}

impl Difference {
    /// A value with its standard error and the error's degrees of freedom.
    pub const fn new(value: f64, error: f64, freedom: f64) -> Self {
        Self { value, error, freedom, is_adjusted: false, lasting: 0.0 }
    }

    /// For values that were measured in pairs, from their differences. `None` with fewer than [`FEWEST`], or if one is not finite.
    pub fn of_pairs(differences: &[f64]) -> Option<Self> {
        let count = differences.len();
        if count < FEWEST || differences.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let (value, variance) = mean_and_variance(differences)?;
        Some(Self::new(value, (variance / count as f64).sqrt(), count as f64 - 1.0))
    }

    /// A value whose variance has several parts, each with its degrees of freedom (Welch, Biometrika 34, 1947).
    pub(super) fn of_parts(value: f64, parts: &[(f64, f64)]) -> Self {
        let variance: f64 = parts.iter().map(|(part, _)| part).sum();
        let squares: f64 = parts.iter().map(|(part, freedom)| part.powi(2) / freedom).sum();
        // Without variation, the degrees of freedom do not matter.
        let freedom = if squares > 0.0 { variance.powi(2) / squares } else { 1.0 };
        Self::new(value, variance.sqrt(), freedom)
    }

    /// For two groups, the second minus the first, with all covariates at 0: an analysis of covariance (Fisher 1932) with
    /// common slopes and a variance of each group. `None` with fewer than [`FEWEST`] values in a group, or if a value or a covariate is not finite.
    pub fn of_explained(
        first: &[Explained],
        second: &[Explained],
        slopes: &[SlopePrior],
    ) -> Option<Compared> {
        if first.len().min(second.len()) < FEWEST {
            return None;
        }
        let fit = Fit::from_groups(&[first, second], slopes)?;
        let difference = Self { is_adjusted: !slopes.is_empty(), ..fit.difference() };
        Some(Compared { difference, locations: [fit.locations[0], fit.locations[1]] })
    }

    /// For two sides with several groups each, the second minus the first, if values within a group are more
    /// alike than others, and values of a side more than those of two. `None` with fewer than [`FEWEST`]
    /// values on a side, or if a value or a covariate is not finite.
    ///
    /// All values together give the slopes of the covariates. Each group has the mean of its adjusted values, and both sides have
    /// the same variance of these means. It is estimated from the means together with `between`, which is known beforehand and counts
    /// as so many degrees of freedom: a moderated variance (Smyth, Statistical Applications in Genetics and Molecular Biology 3,
    /// 2004). It is at least what `between` and the variation within groups imply, because a few means are alike by chance.
    pub fn of_nested(
        first: &[Vec<Explained>],
        second: &[Vec<Explained>],
        slopes: &[SlopePrior],
        between: BetweenGroups,
    ) -> Option<Compared> {
        let (of_first, of_second) = (first.concat(), second.concat());
        if of_first.len().min(of_second.len()) < FEWEST {
            return None;
        }
        let fit = Fit::from_groups(&[&of_first, &of_second], slopes)?;
        let left = |of: &Explained| {
            of.value - of.by.iter().zip(&fit.slopes).map(|(by, slope)| by * slope).sum::<f64>()
        };
        let groups: Vec<Vec<f64>> =
            first.iter().chain(second).map(|group| group.iter().map(left).collect()).collect();
        let means: Vec<f64> = groups.iter().map(|group| mean(group)).collect::<Option<_>>()?;
        let (sides, counts) = (means.split_at(first.len()), [first.len() as f64, second.len() as f64]);
        let implied = variance_within(&groups, fit.parameters)? + between.of_a_side.powi(2);
        let [a, b] = [mean(sides.0)?, mean(sides.1)?];
        let freedom = between.freedom + counts[0] + counts[1] - 2.0;
        let moderated = (between.freedom * implied + squares(sides.0) + squares(sides.1)) / freedom;
        let of_groups = moderated.max(implied) * (1.0 / counts[0] + 1.0 / counts[1]);
        let of_slopes = fit.variance_by_slopes(&fit.covariates_apart());
        let of_sides = 2.0 * between.of_sides.powi(2);
        let parts = [(of_groups, freedom), (of_slopes, fit.freedom), (of_sides, f64::INFINITY)];
        let difference = Self {
            is_adjusted: !slopes.is_empty(),
            lasting: of_sides.sqrt(),
            ..Self::of_parts(b - a, &parts)
        };
        Some(Compared { difference, locations: [a, b] })
    }

    /// The interval that misses the difference with probability `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha);
        (self.value - half, self.value + half)
    }

    pub fn half_width(&self, alpha: f64) -> f64 {
        self.student().map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - alpha / 2.0)) * self.error
    }

    /// Probability of a difference at least this large, of either sign, by chance only.
    pub fn p(&self) -> f64 {
        if self.value == 0.0 {
            return 1.0;
        }
        self.student().map_or(1.0, |t| 2.0 * t.cdf(-self.value.abs() / self.error))
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }
}

/// The variance of the means of groups, on average, that the variation within groups implies. `parameters` were estimated from all
/// values. Groups of one value each do not show how values vary within them, but their means vary with it.
fn variance_within(groups: &[Vec<f64>], parameters: f64) -> Option<f64> {
    let count = groups.iter().map(Vec::len).sum::<usize>() as f64;
    let freedom = count - groups.len() as f64 - parameters;
    let of_a_value = groups.iter().map(|group| squares(group)).sum::<f64>() / freedom;
    let share = mean(&groups.iter().map(|group| 1.0 / group.len() as f64).collect::<Vec<_>>())?;
    Some(if freedom > 0.0 { of_a_value * share } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::adjusted::{UNKNOWN, group};

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    fn unexplained(values: &[f64]) -> Vec<Explained> {
        values.iter().map(|&value| Explained { value, by: Vec::new() }).collect()
    }

    #[test]
    fn pairs_are_students() {
        let of = Difference::of_pairs(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((of.value, of.freedom), (2.0, 2.0));
        // t for 2 degrees of freedom at 95% is 4.30265, the standard error is 1 / sqrt(3).
        let (low, high) = of.interval(0.05);
        assert!(close(low, 2.0 - 2.48414) && close(high, 2.0 + 2.48414), "{low} {high}");
        // R: 2 * pt(-2 * sqrt(3), 2).
        assert!(close(of.p(), 0.07418), "{}", of.p());
        assert_eq!(Difference::of_pairs(&[1.0, 2.0]), None);
        assert_eq!(Difference::of_pairs(&[1.0, 2.0, f64::INFINITY]), None);
    }

    #[test]
    fn groups_that_nothing_explains_are_welchs() {
        let of = |first: &[f64], second: &[f64]| {
            Difference::of_explained(&unexplained(first), &unexplained(second), &[]).unwrap()
        };
        let Compared { difference, locations } = of(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 9.0]);
        assert_eq!(locations, [2.5, 5.0]);
        // R: t.test(c(2, 4, 9), c(1, 2, 3, 4)).
        let Difference { value, error, freedom, .. } = difference;
        assert!(
            close(value, 2.5) && close(value / error, 1.14708) && close(freedom, 2.38839),
            "{difference:?}"
        );
        // Constant values differ for certain, or not at all.
        let [same, other] = [1.0, 2.0].map(|value| of(&[1.0; 3], &[value; 3]).difference);
        assert_eq!((same.p(), other.p(), other.interval(0.05)), (1.0, 0.0, (1.0, 1.0)));
        let exact = group(&[(1.0, 0.0), (2.0, 1.0), (3.0, 2.0), (4.0, 3.0)]);
        let of_exact = Difference::of_explained(&exact, &exact, &[UNKNOWN]).unwrap().difference;
        assert!(of_exact.value.abs() < 1e-9, "{of_exact:?}");
        assert_eq!(Difference::of_explained(&exact[..2], &exact, &[UNKNOWN]), None);
    }

    #[test]
    fn groups_of_groups_are_compared_by_their_means_in_one_state() {
        let first = [
            group(&[(1.0, 0.0), (2.0, 1.0), (4.0, 2.0)]),
            group(&[(2.0, 1.0), (2.0, 1.0), (3.0, 2.0)]),
            group(&[(3.0, 2.0), (5.0, 4.0), (4.0, 3.0)]),
        ];
        let second = [
            group(&[(4.0, 2.0), (6.0, 3.0), (7.0, 4.0)]),
            group(&[(3.0, 1.0), (4.0, 2.0), (4.0, 3.0)]),
            group(&[(7.0, 4.0), (7.0, 5.0), (9.0, 6.0)]),
        ];
        let slope = [SlopePrior { expected: 0.8, deviation: 0.5 }];
        let between = BetweenGroups { of_a_side: 0.1, of_sides: 0.2, freedom: 4.0 };
        let of = |groups: usize| {
            Difference::of_nested(&first[..groups], &second[..groups], &slope, between).unwrap()
        };
        // Computed in Python from the normal equations: the slope is 1.11428, variation within groups and that between them beforehand
        // imply a variance of their means of 0.08769, and the moderated variance is 0.11712.
        let Compared { difference: three, locations } = of(3);
        assert!(close(three.value, 1.04445) && close(three.error, 0.42293), "{three:?}");
        assert!((three.freedom - 40.460).abs() < 1e-2 && three.is_adjusted, "{three:?}");
        assert!(close(locations[0], 0.90794) && close(locations[1], 1.95239), "{locations:?}");
        assert!(close(three.lasting, 0.2 * 2.0_f64.sqrt()), "{three:?}");
        // A single group of each side has an interval too, because of the prior.
        let one = of(1).difference;
        assert!(close(one.value, 0.84350) && close(one.error, 0.57425), "{one:?}");
        assert!((one.freedom - 12.834).abs() < 1e-2, "{one:?}");
        assert_eq!(Difference::of_nested(&[first[0][..2].to_vec()], &second, &slope, between), None);
    }

    #[test]
    fn groups_that_are_far_apart_have_a_wide_interval() {
        let side = |means: [f64; 3]| {
            means.map(|mean| unexplained(&[0, 1, 2, 3, 4, 5].map(|i| mean + 0.01 * f64::from(i))))
        };
        let between = BetweenGroups { of_a_side: 0.01, of_sides: 0.01, freedom: 4.0 };
        let half = |first: [f64; 3]| {
            let of = Difference::of_nested(&side(first), &side([0.0, 0.01, 0.02]), &[], between).unwrap();
            of.difference.half_width(0.001)
        };
        // A variance of the means of 1.5833e-4 is implied; with the squares of the means, 4e-4 and 0.0202, the moderated one is 1.2917e-4
        // and 2.6042e-3. So variances are 3.0556e-4 and 1.9361e-3, with 67.0 and 9.95 degrees of freedom (SciPy: t is 3.4417 and 4.5955).
        let (alike, apart) = (half([0.0, 0.01, 0.02]), half([0.0, 0.1, 0.2]));
        assert!(close(alike, 0.06016) && close(apart, 0.20221), "{alike} {apart}");
    }
}
