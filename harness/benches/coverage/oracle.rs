//! The best mark there could be, for a bound of what any can do.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A test that knows how the values of a series are correlated, but neither their level nor their deviation.
pub struct Oracle {
    /// The lower triangle of the covariance's root (Cholesky), row by row.
    root: Vec<Vec<f64>>,
    /// What the root makes of a series of ones.
    ones: Vec<f64>,
}

impl Oracle {
    /// For `n` normal values with this covariance at each lag.
    pub fn new(n: usize, covariance: impl Fn(i32) -> f64) -> Self {
        let mut root: Vec<Vec<f64>> = Vec::new();
        for i in 0..n {
            let mut row = Vec::new();
            for j in 0..=i {
                let above = if i == j { &row } else { &root[j] };
                let rest = covariance((i - j) as i32) - dot(&row[..j], &above[..j]);
                row.push(if i == j { rest.sqrt() } else { rest / root[j][j] });
            }
            root.push(row);
        }
        let ones = solve(&root, &vec![1.0; n]);
        Self { root, ones }
    }

    /// The logarithm of how much more probable a series is than if its values were independent, and its interval not to hold the
    /// true level: of all marks that let as many independent series pass, one by this misses fewest (Neyman & Pearson).
    pub fn suspicion(&self, series: &[f64], (low, high): (f64, f64)) -> f64 {
        let freedom = series.len() as f64 - 1.0;
        let mean = series.iter().sum::<f64>() / series.len() as f64;
        let independent: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
        let white = solve(&self.root, series);
        let information = dot(&self.ones, &self.ones);
        let level = dot(&self.ones, &white) / information;
        let known: f64 = white.iter().zip(&self.ones).map(|(value, one)| (value - level * one).powi(2)).sum();
        let deviation = (known / freedom / information).sqrt();
        let of_level = StudentsT::new(level, deviation, freedom).expect("deviations are above 0");
        let missed = of_level.cdf(low) + of_level.sf(high);
        freedom / 2.0 * (independent / known).ln() + missed.max(f64::MIN_POSITIVE).ln()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The x of root x = `series`.
fn solve(root: &[Vec<f64>], series: &[f64]) -> Vec<f64> {
    let mut solution: Vec<f64> = Vec::new();
    for (row, value) in root.iter().zip(series) {
        let next = (value - dot(&row[..solution.len()], &solution)) / row[solution.len()];
        solution.push(next);
    }
    solution
}
