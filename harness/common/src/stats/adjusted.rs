//! Values of groups, adjusted for covariates that were measured with them: a regression in which each slope is known roughly beforehand.

use super::difference::Difference;

/// A value, and the covariates measured with it, which may explain part of it. All values have the same
/// number of covariates, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    pub value: f64,
    /// The covariates. The value depends on each of them linearly.
    pub by: Vec<f64>,
}

/// Prior knowledge of a covariate's slope. A covariate that hardly varies then adjusts by hardly anything,
/// whereas a slope that is estimated from its noise adjusts by any amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopePrior {
    pub expected: f64,
    /// The standard deviation of slopes from it.
    pub deviation: f64,
}

/// A regression: each group has its own mean, and all have the same slopes.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The mean of each group with all covariates at 0.
    pub locations: Vec<f64>,
    pub slopes: Vec<f64>,
    pub variance: f64,
    pub freedom: f64,
    /// The sum of the squared deviations of each group.
    squares: Vec<f64>,
    /// How many slopes were estimated from the values: a fraction for each covariate, because its prior counts too.
    pub parameters: f64,
    /// The number of values of each group, and the means of their covariates.
    groups: Vec<(f64, Vec<f64>)>,
    information: Vec<Vec<f64>>,
}

impl Fit {
    /// `None` if a group is empty, if something is not finite, or if there are too few values for an error.
    pub fn from_groups(groups: &[&[Explained]], priors: &[SlopePrior]) -> Option<Self> {
        let all = || groups.iter().enumerate().flat_map(|(i, group)| group.iter().map(move |of| (i, of)));
        let is_usable = |of: &Explained| {
            of.by.len() == priors.len() && of.by.iter().chain([&of.value]).all(|value| value.is_finite())
        };
        if groups.iter().any(|group| group.is_empty()) || !all().all(|(_, of)| is_usable(of)) {
            return None;
        }
        let middle = |group: &[Explained], of: &dyn Fn(&Explained) -> f64| {
            group.iter().map(of).sum::<f64>() / group.len() as f64
        };
        let means: Vec<f64> = groups.iter().map(|group| middle(group, &|of| of.value)).collect();
        let covariates = |group: &&[Explained]| {
            let means = (0..priors.len()).map(|i| middle(group, &|of| of.by[i]));
            (group.len() as f64, means.collect::<Vec<_>>())
        };
        let of_groups: Vec<(f64, Vec<f64>)> = groups.iter().map(covariates).collect();
        // Values and covariates, minus the means of their groups.
        let within: Vec<(usize, f64, Vec<f64>)> =
            all().map(|(i, of)| (i, of.value - means[i], less(&of.by, &of_groups[i].1))).collect();
        let squares = |slopes: &[f64]| {
            let mut squares = vec![0.0; groups.len()];
            within.iter().for_each(|(i, value, by)| squares[*i] += (value - dot(slopes, by)).powi(2));
            squares
        };
        let freedom = (within.len() - groups.len()) as f64;
        let expected: Vec<f64> = priors.iter().map(|prior| prior.expected).collect();
        // A prior counts as a measured value does: in inverse proportion to its variance.
        let variance = squares(&expected).iter().sum::<f64>() / freedom;
        let weights: Vec<f64> = priors.iter().map(|prior| variance / prior.deviation.powi(2)).collect();
        let product = |i: usize, j: usize| within.iter().map(|(_, _, by)| by[i] * by[j]).sum::<f64>();
        let products: Vec<Vec<f64>> =
            (0..priors.len()).map(|i| (0..priors.len()).map(|j| product(i, j)).collect()).collect();
        let mut information = products.clone();
        weights.iter().enumerate().for_each(|(i, weight)| information[i][i] += weight);
        let of_values = |i: usize| within.iter().map(|(_, value, by)| value * by[i]).sum::<f64>();
        let target: Vec<f64> = (0..priors.len()).map(|i| of_values(i) + weights[i] * expected[i]).collect();
        let slopes = solve(&information, &target);
        let parameters: f64 = (0..priors.len()).map(|i| solve(&information, &products[i])[i]).sum();
        let (squares, freedom) = (squares(&slopes), freedom - parameters);
        let fit = Self {
            locations: means.iter().zip(&of_groups).map(|(mean, (_, by))| mean - dot(&slopes, by)).collect(),
            slopes,
            variance: squares.iter().sum::<f64>() / freedom,
            freedom,
            squares,
            parameters,
            groups: of_groups,
            information,
        };
        (fit.freedom > 0.0).then_some(fit)
    }

    /// The variance of the location of a group, in units of that of a value.
    pub fn share_of(&self, group: usize) -> f64 {
        let (size, means) = &self.groups[group];
        1.0 / size + self.share_by_slopes(means)
    }

    /// The second location minus the first. Each group has its own variance: a library that is slow in some
    /// launches only varies more than another one.
    pub fn difference(&self) -> Difference {
        let count: f64 = self.groups.iter().map(|(size, _)| size).sum();
        let of_group = |((size, _), squares): (&(f64, Vec<f64>), &f64)| {
            let freedom = size - 1.0 - self.parameters * size / count;
            (squares / freedom / size, freedom)
        };
        let of_groups = self.groups.iter().zip(&self.squares).map(of_group);
        let of_slopes = (self.variance_by_slopes(&self.covariates_apart()), self.freedom);
        let parts: Vec<(f64, f64)> = of_groups.chain([of_slopes]).collect();
        Difference::of_parts(self.locations[1] - self.locations[0], &parts)
    }

    /// The variance that the error of the slopes causes, between values whose covariates differ by so much.
    pub fn variance_by_slopes(&self, covariates: &[f64]) -> f64 {
        self.variance * self.share_by_slopes(covariates)
    }

    fn share_by_slopes(&self, covariates: &[f64]) -> f64 {
        dot(covariates, &solve(&self.information, covariates))
    }

    /// The difference of the groups' means of the covariates.
    pub fn covariates_apart(&self) -> Vec<f64> {
        less(&self.groups[1].1, &self.groups[0].1)
    }
}

/// The solution of linear equations with a positive definite matrix: one unknown after the other (Gauss and
/// Seidel). An unknown that nothing determines is 0.
fn solve(matrix: &[Vec<f64>], target: &[f64]) -> Vec<f64> {
    /// After these, two unknowns that are correlated by 0.95 are known to ten digits.
    const SWEEPS: usize = 250;
    let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * a.abs();
    let mut found = vec![0.0; target.len()];
    for _ in 0..SWEEPS {
        let before = found.clone();
        for i in 0..found.len() {
            let others = dot(&matrix[i], &found) - matrix[i][i] * found[i];
            found[i] = if matrix[i][i] > 0.0 { (target[i] - others) / matrix[i][i] } else { 0.0 };
        }
        if found.iter().zip(&before).all(is_same) {
            break;
        }
    }
    found
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn less(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// A slope without a prior.
#[cfg(test)]
pub(super) const UNKNOWN: SlopePrior = SlopePrior { expected: 0.0, deviation: 1e6 };

/// Values with one covariate each.
#[cfg(test)]
pub(super) fn group(values: &[(f64, f64)]) -> Vec<Explained> {
    values.iter().map(|&(value, by)| Explained { value, by: vec![by] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 2e-5
    }

    fn pair() -> [Vec<Explained>; 2] {
        let first = [(1.0, 0.0), (2.0, 1.0), (4.0, 2.0), (4.0, 3.0)];
        [group(&first), group(&[(3.0, 1.0), (4.0, 2.0), (4.0, 3.0), (7.0, 4.0)])]
    }

    #[test]
    fn without_knowledge_it_is_least_squares_and_a_prior_counts_as_values_do() {
        // From the normal equations of value = a + b group + c covariate: b and its standard error. NumPy:
        // degrees of freedom by Welch's formula with the error of the slope as a third part.
        let of_squares = [0.6, 0.55045, 5.85468, 1.15, 5.0];
        // Computed in Python from the normal equations with a mean per group, and one row more, that of the
        // slope, weighted by the standard deviation of the values if the slope is as expected.
        let (known, of_known) = ([0.5, 0.2], [1.07951, 0.66517, 5.72593, 0.67049, 5.73770]);
        // A small group that varies more is not as sure as the other: with a common variance the error would be 0.095.
        let first: Vec<_> = (0..12).map(|i| (1.0 + 0.01 * ((7 * i) % 5) as f64, (i % 3) as f64)).collect();
        let second: Vec<_> = (0..5).map(|i| (2.0 + 0.3 * ((5 * i) % 4) as f64, (i % 3) as f64)).collect();
        let unequal = [group(&first), group(&second)];
        for (groups, prior, expected) in [
            (pair(), UNKNOWN, &of_squares[..]),
            (pair(), SlopePrior { expected: known[0], deviation: known[1] }, &of_known),
            (unequal, SlopePrior { expected: 0.5, deviation: 0.4 }, &[1.35394, 0.18252, 3.83043]),
        ] {
            let of = Fit::from_groups(&[&groups[0], &groups[1]], &[prior]).unwrap();
            let Difference { value, error, freedom, .. } = of.difference();
            let found = [value, error, freedom, of.slopes[0], of.freedom];
            assert!(found.iter().zip(expected).all(|(&a, &b)| close(a, b)), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn a_covariate_that_hardly_varies_adjusts_by_hardly_anything() {
        // By least squares the slope is -14, and two states that differ by 1% adjust by 15%.
        let of = |middle: f64| {
            let step = |i: usize| ((5 * i) % 7) as f64;
            group(&(0..7).map(|i| (0.02 * step(i), middle - 0.0014 * step(i))).collect::<Vec<_>>())
        };
        let groups = [of(0.0), of(0.01)];
        let fit = |prior| Fit::from_groups(&[&groups[0], &groups[1]], &[prior]).unwrap();
        assert!(close(fit(UNKNOWN).slopes[0], -0.02 / 0.0014), "{:?}", fit(UNKNOWN));
        let difference = fit(SlopePrior { expected: -0.5, deviation: 0.5 }).difference().value;
        assert!((0.0..=0.015).contains(&difference), "{difference}");
    }

    #[test]
    fn redundant_covariates_change_nothing_and_too_few_or_infinite_values_have_no_fit() {
        let [first, second] = pair();
        let more = |group: &[Explained]| {
            let by = |of: &Explained| vec![of.by[0], 2.0 * of.by[0], 5.0];
            group.iter().map(|of| Explained { by: by(of), ..of.clone() }).collect::<Vec<_>>()
        };
        let of = Fit::from_groups(&[&more(&first), &more(&second)], &[UNKNOWN; 3]).unwrap();
        let Difference { value, error, .. } = of.difference();
        assert!(close(value, 0.6) && close(error, 0.55045) && close(of.freedom, 5.0), "{of:?}");
        let lacking = group(&[(1.0, f64::NAN), (2.0, 1.0), (4.0, 2.0)]);
        for (a, b) in [(&first[..], &[][..]), (&first[..1], &second[..1]), (&first, &lacking)] {
            assert!(Fit::from_groups(&[a, b], &[UNKNOWN]).is_none(), "{a:?} {b:?}");
        }
    }
}
