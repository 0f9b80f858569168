//! Values of groups, adjusted for covariates that were measured with them: a regression in which each slope is known roughly beforehand,
//! and in which values from a disturbed machine count less if they are far off.

use super::quantile::{median, sorted};

/// A value, and the covariates measured with it, which may explain part of it. All values have the same number of
/// covariates, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    pub value: f64,
    /// The covariates. The value depends on each of them linearly.
    pub by: Vec<f64>,
    /// Whether the machine was seen to be disturbed while it was measured. An unusual value from a quiet machine is a result.
    pub is_disturbed: bool,
}

impl Explained {
    /// A value from a quiet machine.
    pub const fn new(value: f64, by: Vec<f64>) -> Self {
        Self { value, by, is_disturbed: false }
    }
}

/// Prior knowledge of a covariate's slope. A covariate that hardly varies then adjusts by hardly anything,
/// whereas a slope that is estimated from its noise adjusts by any amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlopePrior {
    /// The slope to expect.
    pub expected: f64,
    /// The standard deviation of slopes from it.
    pub deviation: f64,
    /// The smallest and the largest slope that is possible.
    pub range: (f64, f64),
}

/// Values from a disturbed machine that are further away from their expected value than this many standard deviations count as if they
/// were there: Huber, "Robust Regression", Annals of Statistics 1 (1973). Disturbed launches take up to twice as long, whereas others
/// differ by 1 to 3%.
const FAR: f64 = 2.5;

/// Minimum values in all groups together for that. With fewer, values in two modes would look precise if each group met one of them: of
/// five values each, three tenths of which are 25% larger, 0.9% differ at a level of 0.01%, and without this rule 0.08%; of 13 it is 0.02%.
const FEWEST_FOR_FAR: usize = 24;

/// The factor from a median absolute deviation to the standard deviation of a normal distribution.
const OF_NORMAL: f64 = 1.4826;

/// Deviations with those of disturbed values at the limit, and the number of values that are not beyond it. The limit is from all
/// deviations and the number of them that are free; few have none.
pub(super) fn limited(deviations: &[f64], is_disturbed: &[bool], freedom: f64) -> (Vec<f64>, f64) {
    let limit = limit(deviations, freedom);
    let beyond = |(of, is_disturbed): (&f64, &bool)| *is_disturbed && of.abs() > limit;
    let each = || deviations.iter().zip(is_disturbed);
    let limited = each().map(|of| if beyond(of) { of.0.clamp(-limit, limit) } else { *of.0 });
    (limited.collect(), each().filter(|of| !beyond(*of)).count() as f64)
}

fn limit(deviations: &[f64], freedom: f64) -> f64 {
    let sizes = sorted(deviations.iter().map(|of| of.abs()));
    let scale = (sizes.len() as f64 / freedom).sqrt() * OF_NORMAL;
    let limit = median(&sizes).map(|middle| FAR * scale * middle).filter(|limit| *limit > 0.0);
    limit.filter(|_| sizes.len() >= FEWEST_FOR_FAR).unwrap_or(f64::INFINITY)
}

/// A regression: each group has its own mean, and all have the same slopes.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The mean of each group with all covariates at 0.
    pub locations: Vec<f64>,
    /// The slopes of the covariates.
    pub slopes: Vec<f64>,
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// The sum of the squared deviations, of which those of disturbed values are at the limit at most.
    squares: f64,
    /// The same of each group.
    squares_of_groups: Vec<f64>,
    /// The factor of a variance because values are at the limit.
    widening: f64,
    /// How many slopes were estimated from the values: a fraction for each covariate, because its prior counts too.
    pub parameters: f64,
    /// The number of values of each group, and the means of their covariates.
    groups: Vec<(f64, Vec<f64>)>,
    information: Vec<Vec<f64>>,
}

impl Fit {
    /// `None` if a group is empty, if something is not finite, or if there are too few values for an error.
    pub fn of(groups: &[&[Explained]], priors: &[SlopePrior]) -> Option<Self> {
        /// Each step changes less than the one before; most fits settle within ten.
        const STEPS: usize = 50;
        let design = Design::of(groups, priors)?;
        let (mut values, mut variance) = (design.values.clone(), design.variance_as_expected());
        let mut fit = None;
        for _ in 0..STEPS {
            let (now, next) = design.step(&values, variance)?;
            let settled = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9;
            let of_residuals = now.squares / design.freedom(now.parameters);
            let has_settled =
                values.iter().zip(&next).all(settled) && (of_residuals - variance).abs() <= 1e-6 * variance;
            (values, variance, fit) = (next, of_residuals, Some(now));
            if has_settled {
                break;
            }
        }
        fit
    }

    /// The variance of the location of a group.
    pub fn variance_of(&self, group: usize) -> f64 {
        let (size, means) = &self.groups[group];
        self.variance / size + self.variance_by_slopes(means)
    }

    /// The second location minus the first, with its variance and degrees of freedom. Each group has its own variance (Welch,
    /// Biometrika 34, 1947): a library that is slow in some launches only varies more than another one.
    pub fn difference(&self) -> (f64, f64, f64) {
        let [(_, a), (_, b)] = &self.groups[..] else { return (f64::NAN, f64::NAN, f64::NAN) };
        let count: f64 = self.groups.iter().map(|(size, _)| size).sum();
        // Values at the limit show nothing about the variance.
        let share = self.freedom / (count - self.groups.len() as f64 - self.parameters);
        let of_group = |((size, _), squares): (&(f64, Vec<f64>), &f64)| {
            let freedom = size - 1.0 - self.parameters * size / count;
            (squares / freedom * self.widening / size, share * freedom)
        };
        let of_groups = self.groups.iter().zip(&self.squares_of_groups).map(of_group);
        let parts = of_groups.chain([(self.variance_by_slopes(&less(b, a)), self.freedom)]);
        let (mut variance, mut squares) = (0.0, 0.0);
        for (part, freedom) in parts {
            variance += part;
            squares += part.powi(2) / freedom;
        }
        // Without variation, the degrees of freedom do not matter.
        let freedom = if squares > 0.0 { variance.powi(2) / squares } else { 1.0 };
        (self.locations[1] - self.locations[0], variance, freedom)
    }

    /// The variance that the error of the slopes causes, between values whose covariates differ by so much.
    pub fn variance_by_slopes(&self, covariates: &[f64]) -> f64 {
        let free = vec![ANY; covariates.len()];
        self.variance * dot(covariates, &solve(&self.information, covariates, &free))
    }

    /// The difference of the groups' means of the covariates.
    pub fn covariates_apart(&self) -> Vec<f64> {
        less(&self.groups[1].1, &self.groups[0].1)
    }
}

/// The parts that stay the same in all steps of a fit.
struct Design<'a> {
    priors: &'a [SlopePrior],
    values: Vec<f64>,
    is_disturbed: Vec<bool>,
    group: Vec<usize>,
    /// The number of values of each group, and the means of their covariates.
    groups: Vec<(f64, Vec<f64>)>,
    /// The covariates of each value, minus those means.
    within: Vec<Vec<f64>>,
    /// The sums of the products of two covariates.
    products: Vec<Vec<f64>>,
}

impl<'a> Design<'a> {
    fn of(groups: &[&[Explained]], priors: &'a [SlopePrior]) -> Option<Self> {
        let all = || groups.iter().enumerate().flat_map(|(i, group)| group.iter().map(move |of| (i, of)));
        let is_usable = |of: &Explained| {
            of.by.len() == priors.len() && of.by.iter().chain([&of.value]).all(|value| value.is_finite())
        };
        if groups.iter().any(|group| group.is_empty()) || !all().all(|(_, of)| is_usable(of)) {
            return None;
        }
        let of_group = |group: &&[Explained]| {
            let size = group.len() as f64;
            let middle = |i: usize| group.iter().map(|of| of.by[i]).sum::<f64>() / size;
            (size, (0..priors.len()).map(middle).collect::<Vec<_>>())
        };
        let of_groups: Vec<(f64, Vec<f64>)> = groups.iter().map(of_group).collect();
        let within: Vec<Vec<f64>> = all().map(|(i, of)| less(&of.by, &of_groups[i].1)).collect();
        let product = |i: usize, j: usize| within.iter().map(|by| by[i] * by[j]).sum::<f64>();
        let products =
            (0..priors.len()).map(|i| (0..priors.len()).map(|j| product(i, j)).collect()).collect();
        Some(Self {
            priors,
            values: all().map(|(_, of)| of.value).collect(),
            is_disturbed: all().map(|(_, of)| of.is_disturbed).collect(),
            group: all().map(|(i, _)| i).collect(),
            groups: of_groups,
            within,
            products,
        })
    }

    /// The degrees of freedom of deviations from a fit with so many parameters besides the means.
    fn freedom(&self, parameters: f64) -> f64 {
        (self.values.len() - self.groups.len()) as f64 - parameters
    }

    fn means(&self, values: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.groups.len()];
        values.iter().zip(&self.group).for_each(|(value, &group)| sums[group] += value);
        sums.iter().zip(&self.groups).map(|(sum, (size, _))| sum / size).collect()
    }

    /// The variance of the values if all slopes are as expected.
    fn variance_as_expected(&self) -> f64 {
        let expected: Vec<f64> = self.priors.iter().map(|prior| prior.expected).collect();
        let means = self.means(&self.values);
        let deviation = |i: usize| self.values[i] - means[self.group[i]] - dot(&expected, &self.within[i]);
        (0..self.values.len()).map(|i| deviation(i).powi(2)).sum::<f64>() / self.freedom(0.0)
    }

    /// A fit of values, given roughly the variance of one; and the values with those that are far off at the limit.
    fn step(&self, values: &[f64], variance: f64) -> Option<(Fit, Vec<f64>)> {
        let count = self.values.len() as f64;
        let means = self.means(values);
        // A prior counts as a measured value does: in inverse proportion to its variance.
        let weights: Vec<f64> = self.priors.iter().map(|prior| variance / prior.deviation.powi(2)).collect();
        let mut information = self.products.clone();
        weights.iter().enumerate().for_each(|(i, weight)| information[i][i] += weight);
        let of_values = |i: usize| {
            let each = values.iter().zip(&self.group).zip(&self.within);
            each.map(|((value, &group), by)| (value - means[group]) * by[i]).sum::<f64>()
        };
        let target: Vec<f64> =
            (0..weights.len()).map(|i| of_values(i) + weights[i] * self.priors[i].expected).collect();
        let ranges: Vec<(f64, f64)> = self.priors.iter().map(|prior| prior.range).collect();
        let slopes = solve(&information, &target, &ranges);
        let free = vec![ANY; weights.len()];
        let parameters: f64 =
            (0..weights.len()).map(|i| solve(&information, &self.products[i], &free)[i]).sum();
        let freedom = self.freedom(parameters);
        let fitted: Vec<f64> =
            self.group.iter().zip(&self.within).map(|(&i, by)| means[i] + dot(&slopes, by)).collect();
        let deviations = less(&self.values, &fitted);
        let (limited, near) = limited(&deviations, &self.is_disturbed, freedom);
        let next: Vec<f64> = fitted.iter().zip(&limited).map(|(fitted, of)| fitted + of).collect();
        let mut squares_of_groups = vec![0.0; self.groups.len()];
        self.group.iter().zip(&limited).for_each(|(&group, of)| squares_of_groups[group] += of * of);
        let squares = dot(&limited, &limited);
        let widening = widening(near / count, (count - freedom) / count);
        let at_0 = self.means(&next);
        let locations =
            at_0.iter().zip(&self.groups).map(|(mean, (_, by))| mean - dot(&slopes, by)).collect();
        let fit = Fit {
            locations,
            slopes,
            variance: squares / freedom * widening,
            freedom: near - (count - freedom),
            squares,
            squares_of_groups,
            widening,
            parameters,
            groups: self.groups.clone(),
            information,
        };
        (fit.freedom > 0.0).then_some((fit, next))
    }
}

/// The factor of a variance if only this `share` of the values is not far off, and `parameters` are estimated for each value: Huber's
/// correction.
pub(super) fn widening(share: f64, parameters: f64) -> f64 {
    ((1.0 + parameters * (1.0 - share) / share) / share).powi(2)
}

/// A slope without limits.
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The solution of linear equations with a positive definite matrix, within ranges: one unknown after the other (Gauss and Seidel). An
/// unknown that nothing determines is the nearest to 0.
fn solve(matrix: &[Vec<f64>], target: &[f64], ranges: &[(f64, f64)]) -> Vec<f64> {
    /// After these, two unknowns that are correlated by 0.95 are known to ten digits.
    const SWEEPS: usize = 250;
    let is_same = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * a.abs();
    let mut found = vec![0.0; target.len()];
    for _ in 0..SWEEPS {
        let before = found.clone();
        for i in 0..found.len() {
            let others = dot(&matrix[i], &found) - matrix[i][i] * found[i];
            let free = if matrix[i][i] > 0.0 { (target[i] - others) / matrix[i][i] } else { 0.0 };
            found[i] = free.clamp(ranges[i].0, ranges[i].1);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 2e-5
    }

    /// A slope without a prior.
    const UNKNOWN: SlopePrior = SlopePrior { expected: 0.0, deviation: 1e6, range: ANY };

    fn group(values: &[(f64, f64)]) -> Vec<Explained> {
        values.iter().map(|&(value, by)| Explained::new(value, vec![by])).collect()
    }

    fn pair() -> [Vec<Explained>; 2] {
        let first = [(1.0, 0.0), (2.0, 1.0), (4.0, 2.0), (4.0, 3.0)];
        [group(&first), group(&[(3.0, 1.0), (4.0, 2.0), (4.0, 3.0), (7.0, 4.0)])]
    }

    fn fit(groups: &[Vec<Explained>; 2], prior: SlopePrior) -> Fit {
        Fit::of(&[&groups[0], &groups[1]], &[prior]).unwrap()
    }

    #[test]
    fn without_knowledge_it_is_least_squares() {
        let of = fit(&pair(), UNKNOWN);
        let (value, variance, freedom) = of.difference();
        // From the normal equations of value = a + b group + c covariate: b and its standard error; both groups vary alike.
        assert!(close(value, 0.6) && close(variance.sqrt(), 0.55045) && close(of.freedom, 5.0), "{of:?}");
        // Computed with NumPy, by Welch's formula with the error of the slope as a third part.
        assert!(close(freedom, 5.85468), "{freedom}");
        assert!(close(of.slopes[0], 1.15) && close(of.locations[0], 1.025), "{of:?}");
    }

    #[test]
    fn a_prior_counts_as_values_do() {
        // Computed with SciPy: least squares with one row more, that of the slope, weighted by the standard deviation of the residuals.
        let known = SlopePrior { expected: 0.5, deviation: 0.2, range: (0.0, 1.0) };
        let of = fit(&pair(), known);
        let (value, variance, freedom) = of.difference();
        assert!(
            close(value, 1.02770) && close(variance.sqrt(), 0.64118) && close(freedom, 5.72675),
            "{of:?}"
        );
        assert!(close(of.slopes[0], 0.72230) && close(of.freedom, 5.65800), "{of:?}");
        let least = fit(&pair(), SlopePrior { range: (0.8, 1.0), ..known });
        assert_eq!(least.slopes, [0.8], "no slope is outside of its range");
    }

    #[test]
    fn a_small_group_that_varies_more_is_not_as_sure_as_the_other() {
        // Computed with NumPy. With a common variance the error would be 0.095.
        let first: Vec<_> = (0..12).map(|i| (1.0 + 0.01 * ((7 * i) % 5) as f64, (i % 3) as f64)).collect();
        let second: Vec<_> = (0..5).map(|i| (2.0 + 0.3 * ((5 * i) % 4) as f64, (i % 3) as f64)).collect();
        let known = SlopePrior { expected: 0.5, deviation: 0.4, range: (0.0, 1.0) };
        let (value, variance, freedom) = fit(&[group(&first), group(&second)], known).difference();
        assert!(close(value, 1.34541) && close(variance.sqrt(), 0.18191), "{value} {variance}");
        assert!((freedom - 3.7578).abs() < 1e-3, "{freedom}");
    }

    #[test]
    fn a_covariate_that_hardly_varies_adjusts_by_hardly_anything() {
        // By least squares the slope is -14, and two states that differ by 1% adjust by 15%.
        let of = |middle: f64| {
            let noise = |i: usize| 0.02 * ((5 * i) % 7) as f64;
            let values: Vec<_> = (0..7).map(|i| (noise(i), middle - 0.0014 * ((5 * i) % 7) as f64)).collect();
            group(&values)
        };
        let groups = [of(0.0), of(0.01)];
        let known = SlopePrior { expected: -0.5, deviation: 0.5, range: (-1.5, 0.0) };
        assert!(close(fit(&groups, UNKNOWN).slopes[0], -0.02 / 0.0014), "{:?}", fit(&groups, UNKNOWN));
        let difference = fit(&groups, known).difference().0;
        assert!((0.0..=0.015).contains(&difference), "{difference}");
    }

    #[test]
    fn disturbed_values_that_are_far_off_count_less_and_others_do_not() {
        let of = |base: f64, far: &[(usize, f64)]| {
            let disturbance = |i: usize| far.iter().find(|(at, _)| *at == i).map(|(_, by)| *by);
            let value = |i: usize| {
                let by = ((3 * i) % 4) as f64;
                let value = base + 0.01 * ((7 * i) % 5) as f64 + 0.3 * by + disturbance(i).unwrap_or(0.0);
                Explained { is_disturbed: disturbance(i).is_some(), ..Explained::new(value, vec![by]) }
            };
            (0..13).map(value).collect::<Vec<_>>()
        };
        let groups = [of(1.0, &[(4, 0.5)]), of(1.05, &[(2, 0.6), (9, 0.7)])];
        let known = SlopePrior { expected: 0.5, deviation: 0.4, range: (0.0, 1.0) };
        let (fit, plain) =
            (fit(&groups, known), fit(&[groups[0][..9].to_vec(), groups[1][..9].to_vec()], known));
        let (value, variance, _) = fit.difference();
        // Computed with NumPy. Without the limit it would be 0.11154 with an error of 0.08125 and 23 degrees of freedom.
        assert!(close(value, 0.05432) && close(variance.sqrt(), 0.01264), "{fit:?}");
        assert!(close(fit.slopes[0], 0.30041) && (fit.freedom - 20.0).abs() < 1e-3, "{fit:?}");
        assert!(plain.difference().1.sqrt() > 0.08, "few values all count alike");
        let quiet = groups.map(|group| {
            group.into_iter().map(|of| Explained { is_disturbed: false, ..of }).collect::<Vec<_>>()
        });
        let (value, variance, _) = self::fit(&quiet, known).difference();
        assert!(close(value, 0.11154) && (variance.sqrt() - 0.0812).abs() < 1e-3, "{value} {variance}");
    }

    #[test]
    fn redundant_and_constant_covariates_change_nothing() {
        let more = |group: &Vec<Explained>| {
            let by = |of: &Explained| vec![of.by[0], 2.0 * of.by[0], 5.0];
            group.iter().map(|of| Explained { by: by(of), ..of.clone() }).collect::<Vec<_>>()
        };
        let [first, second] = pair().each_ref().map(more);
        let of = Fit::of(&[&first, &second], &[UNKNOWN; 3]).unwrap();
        let (value, variance, _) = of.difference();
        assert!(close(value, 0.6) && close(variance.sqrt(), 0.55045) && close(of.freedom, 5.0), "{of:?}");
    }

    #[test]
    fn too_few_or_infinite_values_have_no_fit() {
        let [first, second] = pair();
        assert!(Fit::of(&[&first, &[]], &[UNKNOWN]).is_none(), "an empty group");
        assert!(Fit::of(&[&first[..1], &second[..1]], &[UNKNOWN]).is_none(), "too few");
        let lacking = group(&[(1.0, f64::NAN), (2.0, 1.0), (4.0, 2.0)]);
        assert!(Fit::of(&[&first, &lacking], &[UNKNOWN]).is_none());
    }
}
