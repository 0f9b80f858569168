//! How far two sides are apart, from one value per launch of each: Student's differences, of pairs or of groups.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::quantile::mean;

/// Launches of a side from which on there is a difference.
pub const FEWEST: usize = super::launches::FEWEST;

/// The difference of two locations, with what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its value.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl Difference {
    /// Of values that were taken in pairs, from their differences.
    pub fn of_pairs(differences: &[f64]) -> Option<Self> {
        let (value, error) = location(differences)?;
        Some(Self { value, error, freedom: differences.len() as f64 - 1.0 })
    }

    /// Of two groups, the second less the first (Welch, Biometrika 34, 1947): they need not vary alike.
    pub fn of_groups(first: &[f64], second: &[f64]) -> Option<Self> {
        let ((a, of_a), (b, of_b)) = (location(first)?, location(second)?);
        let variance = of_a.powi(2) + of_b.powi(2);
        let part = |error: f64, n: usize| error.powi(4) / (n as f64 - 1.0);
        let parts = part(of_a, first.len()) + part(of_b, second.len());
        // Where nothing varies at all, any number of degrees will do.
        let freedom = if parts > 0.0 { variance.powi(2) / parts } else { 1.0 };
        Some(Self { value: b - a, error: variance.sqrt(), freedom })
    }

    /// The interval that misses the difference in a share of `alpha`.
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha);
        (self.value - half, self.value + half)
    }

    /// Half of its width.
    pub fn half_width(&self, alpha: f64) -> f64 {
        self.student().map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - alpha / 2.0)) * self.error
    }

    /// How often chance alone would show so large a difference, or a larger one, of either sign.
    pub fn p(&self) -> f64 {
        if self.error == 0.0 {
            return if self.value == 0.0 { 1.0 } else { 0.0 };
        }
        let beyond = |t: StudentsT| 2.0 * t.cdf(-(self.value / self.error).abs());
        self.student().map_or(1.0, beyond)
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }
}

/// Mean and standard error; `None` for fewer than [`FEWEST`], or a value that is not finite.
fn location(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < FEWEST || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let (n, mean) = (values.len() as f64, mean(values)?);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (squares / (n - 1.0) / n).sqrt()))
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
        // t of 2 degrees at 95% is 4.30265, the standard error 1 / sqrt(3).
        let (low, high) = of.interval(0.05);
        assert!(close(low, 2.0 - 2.48414) && close(high, 2.0 + 2.48414), "{low} {high}");
        // R: 2 * pt(-2 * sqrt(3), 2).
        assert!(close(of.p(), 0.07418), "{}", of.p());
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

    #[test]
    fn what_does_not_vary_differs_for_certain_or_not_at_all() {
        assert_eq!(Difference::of_groups(&[1.0; 3], &[1.0; 3]).unwrap().p(), 1.0);
        let apart = Difference::of_groups(&[1.0; 3], &[2.0; 3]).unwrap();
        assert_eq!((apart.p(), apart.interval(0.05)), (0.0, (1.0, 1.0)));
    }
}
