//! The difference between two sides, from one value per launch of each: Student's differences, for pairs or groups, or
//! for groups adjusted for covariates that were measured at the same time.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use super::quantile::{mean, mean_and_variance};

/// Minimum launches per side for a difference.
pub const FEWEST: usize = super::launches::FEWEST;

/// The difference of two locations, with its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its value.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
    /// Whether it is adjusted for covariates.
    pub is_adjusted: bool,
    /// Whether the two sides respond differently to the covariates, so that the difference depends on them.
    pub depends: bool,
}

/// A difference, and the two locations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The second minus the first.
    pub difference: Difference,
    /// The locations if all covariates are 0.
    pub locations: [f64; 2],
}

/// A value, and the covariates measured with it, which may explain part of it. All values have the same number of
/// covariates, in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The value.
    pub value: f64,
    /// The covariates. The value may depend on each of them linearly, with an unknown slope.
    pub by: Vec<f64>,
}

/// One variable for several groups of values: the mean of each group, and the deviations of the values from it.
#[derive(Clone, Debug)]
struct Grouped {
    within: Vec<f64>,
    means: Vec<f64>,
}

impl Difference {
    /// A value with its standard error and the error's degrees of freedom.
    pub const fn new(value: f64, error: f64, freedom: f64) -> Self {
        Self { value, error, freedom, is_adjusted: false, depends: false }
    }

    /// For values that were measured in pairs, from their differences.
    pub fn of_pairs(differences: &[f64]) -> Option<Self> {
        let (value, error) = location(differences)?;
        Some(Self::new(value, error, differences.len() as f64 - 1.0))
    }

    /// For two groups, the second minus the first (Welch, Biometrika 34, 1947): their variances may differ.
    pub fn of_groups(first: &[f64], second: &[f64]) -> Option<Self> {
        let ((a, of_a), (b, of_b)) = (location(first)?, location(second)?);
        Some(Self::welch((a, of_a, first.len()), (b, of_b, second.len())))
    }

    /// The second mean minus the first; each mean is given with its standard error and the number of its values.
    pub(super) fn welch((a, of_a, first): (f64, f64, usize), (b, of_b, second): (f64, f64, usize)) -> Self {
        let variance = of_a.powi(2) + of_b.powi(2);
        let part = |error: f64, n: usize| error.powi(4) / (n as f64 - 1.0);
        let parts = part(of_a, first) + part(of_b, second);
        // Without variation, the degrees of freedom do not matter.
        let freedom = if parts > 0.0 { variance.powi(2) / parts } else { 1.0 };
        Self::new(b - a, variance.sqrt(), freedom)
    }

    /// For two groups, the second minus the first, with all covariates at 0: an analysis of covariance (Fisher 1932) with
    /// common slopes. If slopes are shown to differ, each group has its own. Without covariates it is [`Self::of_groups`].
    /// `None` with fewer than [`FEWEST`] values in a group, or if a value or a covariate is not finite.
    pub fn of_explained(first: &[Explained], second: &[Explained]) -> Option<Compared> {
        /// The share of cases in which groups of the same kind get separate slopes; this costs precision but not
        /// correctness. Sides that respond differently to the machine's state are far beyond it.
        const LEVEL: f64 = 0.001;
        if first.len().min(second.len()) < FEWEST {
            return None;
        }
        let (value, slopes) = Grouped::explained(&[first, second])?;
        let [of_first, of_second] = [Location::of(first)?, Location::of(second)?];
        if slopes.is_empty() {
            return Some(Location::between(of_first, of_second));
        }
        let freedom = value.freedom(slopes.len()).filter(|freedom| *freedom > 0)? as f64;
        let own = of_first.squares + of_second.squares;
        let of_own = of_first.freedom + of_second.freedom;
        let gained = (value.squares() - own).max(0.0) / (freedom - of_own);
        let statistic = gained * of_own / own;
        // With too few values, or without anything left to explain, slopes are assumed to be equal.
        let of_chance = FisherSnedecor::new(freedom - of_own, of_own).ok().filter(|_| statistic.is_finite());
        let chance = of_chance.map_or(1.0, |f| 1.0 - f.cdf(statistic));
        if chance < LEVEL {
            return Some(Location::between(of_first, of_second));
        }
        let between = |grouped: &Grouped| grouped.means[1] - grouped.means[0];
        let of_means = 1.0 / first.len() as f64 + 1.0 / second.len() as f64;
        let error = (value.squares() / freedom * (of_means + leverage(&slopes, between))).sqrt();
        let difference = Self { is_adjusted: true, ..Self::new(between(&value), error, freedom) };
        Some(Compared { difference, locations: [value.means[0], value.means[1]] })
    }

    /// For two sides with several groups each, the second minus the first, if values within a group are more alike than
    /// others. The groups' means are compared as in [`Self::of_groups`]. Covariates are adjusted for with common slopes,
    /// estimated within groups, and the error of these slopes is added. `None` with fewer than [`FEWEST`] groups on a side,
    /// or if a value or a covariate is not finite; not adjusted if there are too few values to estimate slopes.
    ///
    /// The variance of a side's means is at least what the variation within groups causes: a few means can be alike by
    /// chance. Degrees of freedom are those of the means, or those of the values within groups if these are fewer.
    pub fn of_nested(first: &[Vec<Explained>], second: &[Vec<Explained>]) -> Option<Compared> {
        let groups: Vec<&[Explained]> = first.iter().chain(second).map(Vec::as_slice).collect();
        let (value, slopes) = Grouped::explained(&groups)?;
        let between = |grouped: &Grouped| {
            let (a, b) = grouped.means.split_at(first.len());
            mean(b).zip(mean(a)).map_or(f64::NAN, |(b, a)| b - a)
        };
        let (of_first, of_second) = value.means.split_at(first.len());
        let within = value.freedom(slopes.len()).filter(|freedom| *freedom > 0).map(|freedom| freedom as f64);
        let variance = within.map_or(0.0, |freedom| value.squares() / freedom);
        let least = |groups: &[Vec<Explained>]| {
            let of_means: f64 = groups.iter().map(|group| variance / group.len() as f64).sum();
            of_means.sqrt() / groups.len() as f64
        };
        let ((a, of_a), (b, of_b)) = (location(of_first)?, location(of_second)?);
        let means =
            Self::welch((a, of_a.max(least(first)), first.len()), (b, of_b.max(least(second)), second.len()));
        let error = means.error.hypot((variance * leverage(&slopes, between)).sqrt());
        let freedom = within.map_or(means.freedom, |within| within.min(means.freedom));
        let difference = Self { error, freedom, is_adjusted: !slopes.is_empty(), ..means };
        Some(Compared { difference, locations: [a, b] })
    }

    /// The interval that misses the difference with probability `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha);
        (self.value - half, self.value + half)
    }

    /// Half of its width.
    pub fn half_width(&self, alpha: f64) -> f64 {
        self.student().map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - alpha / 2.0)) * self.error
    }

    /// Probability of a difference at least this large, of either sign, by chance only.
    pub fn p(&self) -> f64 {
        self.p_beyond(0.0)
    }

    /// Probability of a difference at least this large, of either sign, by chance if the true one were at most `threshold`.
    pub fn p_beyond(&self, threshold: f64) -> f64 {
        let beyond = self.value.abs() - threshold;
        if beyond <= 0.0 {
            return 1.0;
        }
        if self.error == 0.0 {
            return 0.0;
        }
        self.student().map_or(1.0, |t| 2.0 * t.cdf(-beyond / self.error))
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }
}

/// The location of a group with all covariates at 0, by the group's own slopes.
#[derive(Clone, Copy, Debug)]
struct Location {
    value: f64,
    /// Its standard error.
    error: f64,
    freedom: f64,
    /// The residual sum of squares.
    squares: f64,
    is_adjusted: bool,
}

impl Location {
    /// `None` if a value is not finite.
    fn of(group: &[Explained]) -> Option<Self> {
        let (value, slopes) = Grouped::explained(&[group])?;
        let freedom = value.freedom(slopes.len()).unwrap_or(0) as f64;
        let of_mean = 1.0 / group.len() as f64 + leverage(&slopes, |figure| figure.means[0]);
        let error = (value.squares() / freedom * of_mean).sqrt();
        let is_adjusted = !slopes.is_empty();
        Some(Self { value: value.means[0], error, freedom, squares: value.squares(), is_adjusted })
    }

    /// Welch's difference (Biometrika 34, 1947): the groups' variances may differ.
    fn between(first: Self, second: Self) -> Compared {
        let variance = first.error.powi(2) + second.error.powi(2);
        let parts: f64 = [first, second].iter().map(|of| of.error.powi(4) / of.freedom).sum();
        // Without variation, the degrees of freedom do not matter.
        let freedom = if parts > 0.0 { variance.powi(2) / parts } else { 1.0 };
        let is_adjusted = first.is_adjusted;
        let difference = Difference::new(second.value - first.value, variance.sqrt(), freedom);
        let difference = Difference { is_adjusted, depends: is_adjusted, ..difference };
        Compared { difference, locations: [first.value, second.value] }
    }
}

impl Grouped {
    /// `None` if a group is empty or a value is not finite.
    fn of(groups: &[&[Explained]], value: &dyn Fn(&Explained) -> f64) -> Option<Self> {
        let (mut within, mut means) = (Vec::new(), Vec::new());
        for group in groups {
            let values: Vec<f64> = group.iter().map(value).collect();
            let mean = mean(&values).filter(|mean| mean.is_finite())?;
            within.extend(values.iter().map(|value| value - mean));
            means.push(mean);
        }
        Some(Self { within, means })
    }

    /// The values without the part explained by covariates, and the covariates, each made orthogonal to those before
    /// it. Redundant covariates are left out; all are left out if there are too few values to estimate slopes.
    fn explained(groups: &[&[Explained]]) -> Option<(Self, Vec<Self>)> {
        /// A covariate is redundant if at most this share of its variance does not follow from the others.
        const NOTHING_NEW: f64 = 1e-6;
        let count = groups.first()?.first()?.by.len();
        let mut value = Self::of(groups, &|explained| explained.value)?;
        let mut known: Vec<Self> = Vec::new();
        if value.freedom(count).is_none_or(|freedom| freedom == 0) {
            return Some((value, known));
        }
        for i in 0..count {
            let mut figure = Self::of(groups, &|explained| explained.by[i])?;
            let before = figure.squares();
            known.iter().for_each(|known| figure.take_off(known));
            if figure.squares() > NOTHING_NEW * before {
                value.take_off(&figure);
                known.push(figure);
            }
        }
        Some((value, known))
    }

    /// Degrees of freedom of the residuals within groups, with this number of slopes.
    fn freedom(&self, slopes: usize) -> Option<usize> {
        self.within.len().checked_sub(self.means.len() + slopes)
    }

    fn times(&self, other: &Self) -> f64 {
        self.within.iter().zip(&other.within).map(|(a, b)| a * b).sum()
    }

    fn squares(&self) -> f64 {
        self.times(self)
    }

    /// Subtracts the part that follows from another variable.
    fn take_off(&mut self, other: &Self) {
        let slope = self.times(other) / other.squares();
        let take_off = |values: &mut [f64], others: &[f64]| {
            values.iter_mut().zip(others).for_each(|(value, other)| *value -= slope * other);
        };
        take_off(&mut self.within, &other.within);
        take_off(&mut self.means, &other.means);
    }
}

/// The contribution of the slopes' own error to that of a difference, as a multiple of the variance within groups.
fn leverage(slopes: &[Grouped], between: impl Fn(&Grouped) -> f64) -> f64 {
    slopes.iter().map(|figure| between(figure).powi(2) / figure.squares()).sum()
}

/// Mean and standard error; `None` with fewer than [`FEWEST`] values, or if one is not finite.
fn location(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (mean, variance) = mean_and_variance(values)?;
    Some((mean, (variance / values.len() as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn pairs_are_students() {
        let of = Difference::of_pairs(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((of.value, of.freedom), (2.0, 2.0));
        // t for 2 degrees of freedom at 95% is 4.30265, the standard error is 1 / sqrt(3).
        let (low, high) = of.interval(0.05);
        assert!(close(low, 2.0 - 2.48414) && close(high, 2.0 + 2.48414), "{low} {high}");
        // R: 2 * pt(-2 * sqrt(3), 2), and 2 * pt(-1.5 * sqrt(3), 2).
        assert!(close(of.p(), 0.07418), "{}", of.p());
        assert!(close(of.p_beyond(0.5), 0.12169), "{}", of.p_beyond(0.5));
        assert_eq!(of.p_beyond(2.0), 1.0, "any value within the threshold is likely");
        assert_eq!(Difference::of_pairs(&[1.0, 2.0]), None);
        assert_eq!(Difference::of_pairs(&[1.0, 2.0, f64::INFINITY]), None);
    }

    #[test]
    fn groups_are_welchs() {
        let of = Difference::of_groups(&[1.0, 2.0, 3.0, 4.0], &[2.0, 4.0, 9.0]).unwrap();
        // R: t.test(c(2, 4, 9), c(1, 2, 3, 4)).
        assert!(close(of.value, 2.5) && close(of.value / of.error, 1.14708), "{of:?}");
        assert!(close(of.freedom, 2.38839), "{of:?}");
    }

    fn explained(values: &[(f64, &[f64])]) -> Vec<Explained> {
        values.iter().map(|(value, by)| Explained { value: *value, by: by.to_vec() }).collect()
    }

    #[test]
    fn what_explains_both_groups_is_taken_off() {
        let first = explained(&[(1.0, &[0.0]), (2.0, &[1.0]), (4.0, &[2.0]), (4.0, &[3.0])]);
        let second = explained(&[(3.0, &[1.0]), (4.0, &[2.0]), (4.0, &[3.0]), (7.0, &[4.0])]);
        let Compared { difference: of, locations } = Difference::of_explained(&first, &second).unwrap();
        assert!(close(locations[1] - locations[0], of.value), "{locations:?}");
        // From the normal equations of value = a + b group + c covariate: b and its standard error.
        assert!(close(of.value, 0.6) && of.freedom == 5.0 && of.is_adjusted, "{of:?}");
        assert!(close(of.error, 0.55045), "{of:?}");
        // A second covariate that is twice the first, and a constant one, are redundant.
        let more = |group: &[Explained]| {
            let by = |of: &Explained| vec![of.by[0], 2.0 * of.by[0], 5.0];
            group.iter().map(|of| Explained { by: by(of), ..of.clone() }).collect::<Vec<_>>()
        };
        let again = Difference::of_explained(&more(&first), &more(&second)).unwrap().difference;
        assert!(close(again.value, of.value) && close(again.error, of.error) && again.freedom == 5.0);
    }

    #[test]
    fn groups_that_nothing_explains_are_welchs() {
        let group = |values: &[f64]| {
            values.iter().map(|&value| Explained { value, by: Vec::new() }).collect::<Vec<_>>()
        };
        let (first, second) = ([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 9.0]);
        let of = Difference::of_explained(&group(&first), &group(&second)).unwrap();
        assert_eq!(of.locations, [2.5, 5.0]);
        let plain = Difference::of_groups(&first, &second).unwrap();
        assert!(
            close(of.difference.error, plain.error) && close(of.difference.freedom, plain.freedom),
            "{of:?}"
        );
        let exact = explained(&[(1.0, &[0.0]), (2.0, &[1.0]), (3.0, &[2.0]), (4.0, &[3.0])]);
        assert_eq!(Difference::of_explained(&exact, &exact).map(|of| of.difference.value), Some(0.0));
        let few = explained(&[(1.0, &[0.0, 1.0]), (2.0, &[1.0, 5.0]), (4.0, &[2.0, 2.0])]);
        assert!(Difference::of_explained(&few, &few).is_some_and(|of| of.difference.freedom == 2.0));
        let lacking = explained(&[(1.0, &[f64::NAN]), (2.0, &[1.0]), (4.0, &[2.0])]);
        assert_eq!(Difference::of_explained(&lacking, &lacking), None);
    }

    #[test]
    fn groups_that_follow_a_figure_differently_are_compared_where_it_is_0() {
        // The first group doubles between state 0 and state 1, the second does not respond: twice as much in one state, equal in the
        // other.
        let states = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let group = |at: &dyn Fn(f64) -> f64| {
            let noise = |i: usize| 0.01 * ((5 * i) % 3) as f64;
            let of = |(i, &state): (usize, &f64)| Explained { value: at(state) + noise(i), by: vec![state] };
            states.iter().enumerate().map(of).collect::<Vec<_>>()
        };
        let (first, second) = (group(&|state| state), group(&|_| 1.0));
        let of = Difference::of_explained(&first, &second).unwrap().difference;
        assert!(of.depends && close(of.value, 1.0) && of.error < 0.01, "{of:?}");
        let alike = Difference::of_explained(&first, &group(&|state| state + 1.0)).unwrap().difference;
        assert!(!alike.depends && close(alike.value, 1.0), "{alike:?}");
    }

    #[test]
    fn groups_of_groups_are_compared_by_their_means_in_one_state() {
        let side = |groups: [&[(f64, f64)]; 3]| {
            groups.map(|group| {
                group.iter().map(|&(value, by)| Explained { value, by: vec![by] }).collect::<Vec<_>>()
            })
        };
        let first = side([
            &[(1.0, 0.0), (2.0, 1.0), (4.0, 2.0)],
            &[(2.0, 1.0), (2.0, 1.0), (3.0, 2.0)],
            &[(3.0, 2.0), (5.0, 4.0), (4.0, 3.0)],
        ]);
        let second = side([
            &[(4.0, 2.0), (6.0, 3.0), (7.0, 4.0)],
            &[(3.0, 1.0), (4.0, 2.0), (4.0, 3.0)],
            &[(7.0, 4.0), (7.0, 5.0), (9.0, 6.0)],
        ]);
        let of = Difference::of_nested(&first, &second).unwrap().difference;
        // Computed in NumPy: the slope within groups is 1.09375. With it, the first side's means vary less than the variation
        // within groups implies (a variance of 0.02381 compared with 0.02599), and the second side's more (0.07628).
        assert!(close(of.value, 1.07639) && close(of.error, 0.39412), "{of:?}");
        assert!(close(of.freedom, 3.22108) && of.is_adjusted, "{of:?}");
        // Groups of one value each are the same as no grouping.
        let single = |values: [f64; 3]| values.map(|value| vec![Explained { value, by: vec![value] }]);
        let of =
            Difference::of_nested(&single([1.0, 2.0, 4.0]), &single([2.0, 4.0, 9.0])).unwrap().difference;
        assert_eq!(of, Difference::of_groups(&[1.0, 2.0, 4.0], &[2.0, 4.0, 9.0]).unwrap());
        assert_eq!(Difference::of_nested(&first[..2], &second), None);
    }

    #[test]
    fn what_does_not_vary_differs_for_certain_or_not_at_all() {
        assert_eq!(Difference::of_groups(&[1.0; 3], &[1.0; 3]).unwrap().p(), 1.0);
        let apart = Difference::of_groups(&[1.0; 3], &[2.0; 3]).unwrap();
        assert_eq!((apart.p(), apart.interval(0.05)), (0.0, (1.0, 1.0)));
    }
}
