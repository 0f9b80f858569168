//! Results of several launches: the location of a quantity, and the range of further launches.

use serde::{Deserialize, Serialize};

use super::interval::{MIN_ROUNDS, median_interval};
use super::quantile::{mean_and_variance, median, sorted};
use super::steady;
use super::student::quantile;
use crate::model::Basis;

/// Minimum launches for an interval.
pub const FEWEST: usize = 3;

const LEVEL: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocationInterval {
    /// Both ends; `None` below [`FEWEST`] launches.
    pub interval: Option<(f64, f64)>,
    pub basis: Basis,
}

/// The 95% interval of the location of a quantity with one value per launch. From six launches on it is that
/// of order statistics, without assumptions about the distribution; from three to five it is Student's
/// interval of the logarithms (of the values themselves, if one of them is not above 0).
pub fn location(values: &[f64]) -> LocationInterval {
    if let Some(interval) = median_interval(&sorted(values.iter().copied())) {
        return LocationInterval { interval: Some(interval), basis: Basis::Launches };
    }
    let interval = student(values, |n| 1.0 / n);
    let basis = if interval.is_some() { Basis::LaunchesT } else { Basis::WithinLaunch };
    LocationInterval { interval, basis }
}

/// Whether a time drifted from launch to launch, by the definition of [`steady::unsteady`] for blocks: without drift,
/// at most a tenth of series are marked. `values` are in the order of their launches; `None` with fewer than six.
pub fn unsteady(values: &[f64]) -> Option<bool> {
    (values.len() >= MIN_ROUNDS).then(|| steady::unsteady(values))
}

/// Whether the intervals of the first and the second half of a ratio's launches are disjoint. Then there is
/// no verdict. `None` if a half has no interval.
pub fn halves_differ(values: &[f64]) -> Option<bool> {
    steady::halves_differ_by(values, |half| location(half).interval)
}

/// How much more alike launches of a run are if they are closer in time, because the machine drifts. The
/// drift is common to all measured quantities, so many series together show it when one series of few
/// launches cannot. Values are in units of a series' own variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Half the mean square difference of neighbours, without the part from the slope.
    noise: f64,
    /// The increase of that with each launch in between.
    per_launch: f64,
}

impl Default for Drift {
    /// No drift: launches are independent.
    fn default() -> Self {
        Self { noise: 1.0, per_launch: 0.0 }
    }
}

/// Pause before the next run, as a share of a run's length, for [`repeat`]. A longer pause makes the range wider.
const PAUSE: f64 = 0.25;

impl Drift {
    /// From series of launches in their order, one for each measured quantity: a line through the semivariogram of all
    /// of them together (Matheron 1963). Series with fewer than [`FEWEST`] launches, or without variation, are ignored.
    pub fn from_series<'a>(series: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let mut by_lag: Vec<(f64, f64)> = Vec::new();
        for series in series {
            let scaled: Vec<f64> = series.iter().map(|value| value.ln()).collect();
            let variance = mean_and_variance(&scaled).map_or(0.0, |(_, variance)| variance);
            if series.len() < FEWEST || !(variance > 0.0 && variance.is_finite()) {
                continue;
            }
            for (i, a) in scaled.iter().enumerate() {
                let later = scaled.iter().enumerate().skip(i + 1);
                by_lag.extend(later.map(|(j, b)| ((j - i) as f64, (b - a).powi(2) / 2.0 / variance)));
            }
        }
        let middle = |of: fn(&(f64, f64)) -> f64| by_lag.iter().map(of).sum::<f64>() / by_lag.len() as f64;
        let (lag, half_square) = (middle(|point| point.0), middle(|point| point.1));
        let spread: f64 = by_lag.iter().map(|point| (point.0 - lag).powi(2)).sum();
        let shared: f64 = by_lag.iter().map(|point| (point.0 - lag) * (point.1 - half_square)).sum();
        // A line needs at least two lags.
        if spread <= 0.0 || by_lag.is_empty() {
            return Self::default();
        }
        // A negative slope, with closer launches less alike, is not drift; and some noise is always present.
        let per_launch = (shared / spread).max(0.0);
        Self { noise: (half_square - per_launch * lag).max(0.05), per_launch }
    }

    /// The variance of the difference between the means of this run and of another with the same number of
    /// launches, `n`, which begins [`PAUSE`] of a run's length after the end of this one.
    fn between_runs(&self, n: f64) -> f64 {
        let lags_within = (n * n - 1.0) / (3.0 * n);
        2.0 * self.noise / n + 2.0 * self.per_launch * ((1.0 + PAUSE) * n - lags_within)
    }
}

/// The range in which the median of another run with as many launches, soon after this one, would be in 95% of cases.
/// It is Student's prediction interval of logarithms for a mean of as many new values, including the machine's drift in
/// the meantime, and widened by the variation between runs ([`of_other_runs`]); see docs/evidence/statistics.md.
pub fn repeat(values: &[f64], drift: Drift) -> Option<(f64, f64)> {
    student(values, |n| drift.between_runs(n)).map(of_other_runs)
}

/// Launches of one kind that form two groups, such as those of a library that is slow in one start of four.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowGroup {
    /// Launches in the slower group.
    pub launches: usize,
    /// All launches.
    pub of: usize,
    /// How many times as long they take as the others: the ratio of the medians.
    pub times: f64,
}

impl SlowGroup {
    /// From the times of launches: the widest gap that cannot be scatter ([`super::levels`]), with at least a
    /// fifth of the launches, and two, on either side. `None` without one.
    pub fn from_times(times: &[f64]) -> Option<Self> {
        let all = sorted(times.iter().copied());
        let least = all.len().div_ceil(5).max(2);
        let starts = super::levels(&all).into_iter().map(|start| all.partition_point(|time| *time < start));
        let gap = |at: usize| all[at] / all[at - 1];
        let at = starts
            .filter(|&at| least <= at && at + least <= all.len())
            .max_by(|&a, &b| gap(a).total_cmp(&gap(b)))?;
        let (others, slow) = all.split_at(at);
        Some(Self { launches: slow.len(), of: all.len(), times: median(slow)? / median(others)? })
    }
}

/// Factor by which times and ratios of two methods may differ between runs in one state of the machine, in
/// addition to the variation between launches of one run. With it, intervals of six launches include another
/// run up to 12 minutes later or earlier in 98% of 330 times, and in 92% of 220 ratios; without it in 86% and
/// 71% (docs/evidence/statistics.md, "Short runs").
const BETWEEN_RUNS: f64 = 1.01;

/// The interval of a time or of a ratio of two methods for other runs, from that of the launches of one run.
pub fn of_other_runs((low, high): (f64, f64)) -> (f64, f64) {
    let below = |end: f64| if end > 0.0 { end / BETWEEN_RUNS } else { end * BETWEEN_RUNS };
    (below(low), -below(-high))
}

/// Student's interval around the mean, with the variance given as a multiple of the variance of one value.
/// Values are compared by their logarithms if all of them are above 0.
fn student(values: &[f64], variance: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let n = values.len();
    if n < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let is_logarithmic = values.iter().all(|&value| value > 0.0);
    let from = |end: f64| if is_logarithmic { end.exp() } else { end };
    let to = |&value: &f64| if is_logarithmic { value.ln() } else { value };
    let scaled: Vec<f64> = values.iter().map(to).collect();
    let (middle, of_one) = mean_and_variance(&scaled)?;
    let half = quantile(LEVEL, (n - 1) as f64)? * (of_one * variance(n as f64)).sqrt();
    // If all values are equal, rounding may leave the median slightly outside.
    let median = median(&sorted(values.iter().copied()))?;
    Some((from(middle - half).min(median), from(middle + half).max(median)))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn launches_that_form_a_second_group_are_counted() {
        let of = |slow: usize, times: f64| {
            let time = |i: usize| (1.0 + 0.002 * ((7 * i) % 10) as f64) * if i < slow { times } else { 1.0 };
            SlowGroup::from_times(&(0..30).map(time).collect::<Vec<_>>())
        };
        let found = of(7, 3.0).unwrap();
        assert!(found.launches == 7 && found.of == 30 && (found.times - 3.0).abs() < 0.03, "{found:?}");
        assert_eq!(of(24, 2.0).unwrap().launches, 24, "six others are a fifth");
        assert_eq!((of(5, 3.0), of(0, 1.0)), (None, None), "fewer than a fifth");
        assert_eq!(SlowGroup::from_times(&[1.0, 1.0, 3.0]), None, "one launch is not a group");
        assert_eq!(SlowGroup::from_times(&[]), None);
    }

    #[test]
    fn the_basis_follows_from_the_number_of_launches() {
        let of = |n: usize| location(&(0..n).map(|i| 1.0 + i as f64).collect::<Vec<_>>());
        assert_eq!((of(2).interval, of(2).basis), (None, Basis::WithinLaunch));
        assert_eq!((of(3).basis, of(5).basis), (Basis::LaunchesT, Basis::LaunchesT));
        assert_eq!((of(6).interval, of(6).basis), (Some((1.0, 6.0)), Basis::Launches));
        let rising = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
        assert_eq!((unsteady(&rising[..5]), unsteady(&rising)), (None, Some(true)));
        assert_eq!(unsteady(&[1.2, 1.0, 1.5, 1.1, 1.4, 1.3]), Some(false));
        let halves = |second: f64| halves_differ(&[1.0, 1.01, 1.02, second, second + 0.01, second + 0.02]);
        assert_eq!((halves(1.02), halves(1.2)), (Some(false), Some(true)));
        assert_eq!(halves_differ(&[1.0, 1.0, 1.0, 2.0, 2.0]), None, "two launches have no interval");
        assert_eq!(repeat(&[1.0, 1.1], Drift::default()), None);
    }

    #[test]
    fn students_interval_is_that_of_logarithms_and_holds_equal_values() {
        // Logarithms -1, 0, 1: s = 1, and 4.303 / sqrt(3) is 2.484.
        let e = std::f64::consts::E;
        let (low, high) = location(&[1.0 / e, 1.0, e]).interval.unwrap();
        for (low, high) in [(low.ln(), high.ln()), location(&[-1.0, 0.0, 1.0]).interval.unwrap()] {
            assert!((low + 2.484).abs() < 1e-3 && (high - 2.484).abs() < 1e-3, "{low} {high}");
        }
        // The exponential of this value's logarithm is slightly smaller.
        let values = [3.600_143_827_497_959e-8; 3];
        for (low, high) in [location(&values).interval.unwrap(), repeat(&values, Drift::default()).unwrap()] {
            assert!(low <= values[0] && values[0] <= high, "{low} {high}");
        }
        let (low, high) = of_other_runs((-2.0, -1.0));
        assert!(low < -2.0 && high > -1.0, "wider, whatever the sign: {low} {high}");
        assert_eq!(of_other_runs((1.01, 2.0)), (1.0, 2.02));
    }

    #[test]
    fn another_run_is_in_the_interval_as_often_as_claimed() {
        // Launches are normal and do not drift; another run is the mean of as many. With 4000 trials, the share varies by a
        // third of a percent. The additional variation between runs is small compared with launches that vary by 10%.
        let mut random = Pcg64::seed_from_u64(11);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        for n in [3, 6] {
            let mut run = || (0..n).map(|_| (0.1 * normal()).exp()).collect::<Vec<f64>>();
            let mut holds = || {
                let (low, high) = repeat(&run(), Drift::default()).unwrap();
                let mean = run().iter().map(|value| value.ln()).sum::<f64>() / n as f64;
                low <= mean.exp() && mean.exp() <= high
            };
            let share = (0..4000).filter(|_| holds()).count() as f64 / 4000.0;
            assert!((0.935..0.965).contains(&share), "{n} launches: {share}");
        }
    }

    #[test]
    fn drift_is_seen_by_many_series_together_and_by_none_without_a_line() {
        let mut random = Pcg64::seed_from_u64(1);
        let mut mean_of_runs = |step: f64| {
            let mut run = || {
                let steps = [(); 5].map(|()| step * (random.random::<f64>() - 0.5));
                let mut series = || {
                    let mut level = 0.0;
                    steps.map(|step| {
                        level += step;
                        (level + 0.1 * random.random::<f64>()).exp()
                    })
                };
                let all: Vec<[f64; 5]> = (0..40).map(|_| series()).collect();
                Drift::from_series(all.iter().map(<[f64; 5]>::as_slice)).between_runs(5.0)
            };
            (0..50).map(|_| run()).sum::<f64>() / 50.0
        };
        let (still, drifting) = (mean_of_runs(0.0), mean_of_runs(0.2));
        // Independent launches: 2 / n, and slightly more because chance can look like drift.
        assert!((0.4..0.8).contains(&still), "{still}");
        assert!(drifting > 2.0 * still, "{drifting} {still}");
        assert_eq!(Drift::from_series([]), Drift::default());
        let none = [&[1.0, 2.0][..], &[1.0, 1.0, 1.0], &[1.0, f64::NAN, 2.0]];
        assert_eq!(Drift::from_series(none), Drift::default());
        // The first and the last are alike, but neighbours are not.
        assert_eq!(Drift::from_series([&[1.0, 2.0, 1.0][..]]).per_launch, 0.0);
    }
}
