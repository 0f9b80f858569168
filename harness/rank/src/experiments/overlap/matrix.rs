//! Dense matrix product in two parts: C = A B for square matrices of doubles, row by row of A and B, 2 n^3 operations.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The product of two matrices. Both stay the same, so the work is the same each time.
pub struct Matrix {
    size: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Two blocks of rows of C: their row numbers, and their values. Each is locked by only one thread, so there is never a wait.
    c: [(Range<usize>, Mutex<Vec<f64>>); 2],
}

impl Matrix {
    /// Matrices with `size` rows, at least one. Part 0 has the first `rows` of them, part 1 the remainder.
    pub fn new(size: usize, rows: usize) -> Self {
        let random = |seed| {
            let mut random = Pcg64::seed_from_u64(seed);
            std::iter::repeat_with(|| random.random_range(-1.0..=1.0)).take(size * size).collect()
        };
        let c = [0..rows, rows..size].map(|rows| (rows.clone(), Mutex::new(vec![0.0; rows.len() * size])));
        Self { size, a: random(1), b: random(2), c }
    }

    /// Computes the rows of a part.
    pub fn compute(&self, part: usize) {
        self.compute_in_steps(part, || {});
    }

    /// The same, with a call of `between` after every few thousand operations, which take several
    /// microseconds, so that a computation can check its messages as often as needed.
    pub fn compute_in_steps(&self, part: usize, mut between: impl FnMut()) {
        /// Multiplications and additions between two calls.
        const STEP: usize = 8192;
        let (rows, c) = &self.c[part];
        let mut c = c.lock().unwrap_or_else(PoisonError::into_inner);
        c.fill(0.0);
        let terms = STEP.div_ceil(self.size);
        for (c, row) in c.chunks_exact_mut(self.size).zip(rows.clone()) {
            let a = &self.a[row * self.size..][..self.size];
            for (a, b) in a.chunks(terms).zip(self.b.chunks(terms * self.size)) {
                for (&a, b) in a.iter().zip(b.chunks_exact(self.size)) {
                    c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
                }
                between();
            }
        }
    }

    /// C, row by row.
    fn product(&self) -> Vec<f64> {
        let rows =
            |(_, part): &(_, Mutex<Vec<f64>>)| part.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.c.iter().flat_map(rows).collect()
    }

    /// A number that depends on all of C.
    pub fn checksum(&self) -> f64 {
        self.product().iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_small_and_make_the_same_product() {
        let (whole, stepped) = (Matrix::new(150, 75), Matrix::new(150, 75));
        let mut steps = 0;
        for part in 0..2 {
            whole.compute(part);
            stepped.compute_in_steps(part, || steps += 1);
        }
        assert_eq!(whole.product(), stepped.product());
        // Three calls a row: 150 terms of 150 operations each, 55 terms at a time.
        assert_eq!(steps, 3 * 150);
    }

    #[test]
    fn the_product_is_the_naive_one() {
        for (size, rows) in [(1, 1), (7, 3), (20, 18), (20, 20)] {
            let matrix = Matrix::new(size, rows);
            matrix.compute(0);
            assert!(matrix.product()[rows * size..].iter().all(|&c| c == 0.0), "the other part is not begun");
            // Twice: a step must not add to the one before.
            (0..2).for_each(|_| (0..2).for_each(|part| matrix.compute(part)));
            let product = matrix.product();
            for row in 0..size {
                for column in 0..size {
                    let term = |k| matrix.a[row * size + k] * matrix.b[k * size + column];
                    let expected: f64 = (0..size).map(term).sum();
                    assert!((product[row * size + column] - expected).abs() < 1e-12, "{size} {row} {column}");
                }
            }
        }
    }
}
