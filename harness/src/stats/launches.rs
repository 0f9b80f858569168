//! What several launches say: the location of a quantity, and where further launches would be.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::interval::median_interval;
use super::quantile::{mean, sorted};
use crate::model::Basis;

/// Launches from which on they have an interval.
pub const FEWEST: usize = 3;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// An interval, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// Both ends; `None` below [`FEWEST`] launches.
    pub interval: Option<(f64, f64)>,
    /// What it is made of.
    pub basis: Basis,
}

/// The 95% interval of the location of a quantity that has one value a launch. From six launches on it is that of order
/// statistics, and assumes no distribution; from three to five it is Student's of the logarithms (of the values themselves,
/// where one of them is not above 0).
pub fn location(values: &[f64]) -> Location {
    if let Some(interval) = median_interval(&sorted(values.iter().copied())) {
        return Location { interval: Some(interval), basis: Basis::Launches };
    }
    let interval = student(values, |n| 1.0 / n);
    let basis = if interval.is_some() { Basis::LaunchesT } else { Basis::WithinLaunch };
    Location { interval, basis }
}

/// Where the median of another run of as many launches would be in 95% of cases, if its launches were further ones of this
/// run: Student's prediction interval of logarithms, for a mean of as many new values. What a machine does from one run to
/// the next is not in it, see docs/statistics.md, "Over launches".
pub fn repeat(values: &[f64]) -> Option<(f64, f64)> {
    // This run's mean and the other's vary alike.
    student(values, |n| 2.0 / n)
}

/// Student's interval around the mean with so many times the variance of one value.
fn student(values: &[f64], variance: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let n = values.len();
    if n < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let of_logarithms = values.iter().all(|&value| value > 0.0);
    let scaled: Vec<f64> =
        values.iter().map(|&value| if of_logarithms { value.ln() } else { value }).collect();
    let middle = mean(&scaled)?;
    let squares: f64 = scaled.iter().map(|value| (value - middle).powi(2)).sum();
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?.inverse_cdf(0.5 + LEVEL / 2.0);
    let half = t * (squares / (n - 1) as f64 * variance(n as f64)).sqrt();
    let end = |end: f64| if of_logarithms { end.exp() } else { end };
    Some((end(middle - half), end(middle + half)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_basis_follows_from_the_number_of_launches() {
        let of = |n: usize| location(&(0..n).map(|i| 1.0 + i as f64).collect::<Vec<_>>());
        assert_eq!((of(2).interval, of(2).basis), (None, Basis::WithinLaunch));
        assert_eq!((of(3).basis, of(5).basis), (Basis::LaunchesT, Basis::LaunchesT));
        assert_eq!((of(6).interval, of(6).basis), (Some((1.0, 6.0)), Basis::Launches));
    }

    #[test]
    fn students_interval_is_that_of_logarithms() {
        // Logarithms -1, 0, 1: s = 1, and 4.303 / sqrt(3) is 2.484.
        let e = std::f64::consts::E;
        let (low, high) = location(&[1.0 / e, 1.0, e]).interval.unwrap();
        assert!((low.ln() + 2.484).abs() < 1e-3 && (high.ln() - 2.484).abs() < 1e-3, "{low} {high}");
        let (low, high) = location(&[-1.0, 0.0, 1.0]).interval.unwrap();
        assert!((low + 2.484).abs() < 1e-3 && (high - 2.484).abs() < 1e-3, "{low} {high}");
    }

    #[test]
    fn the_median_of_further_launches_is_further_off_than_this_runs_location() {
        let values = [1.0, 1.1, 1.05, 1.2];
        let (location, repeat) = (location(&values).interval.unwrap(), repeat(&values).unwrap());
        assert!(repeat.0 < location.0 && location.1 < repeat.1);
        assert_eq!(super::repeat(&values[..2]), None);
    }
}
