//! Dense matrix product.
//!
//! C = A B for square matrices of doubles, row by row of A and B, 2 n^3 operations. A thread has a block of rows of C.
//! All blocks are the same work: what differs between threads is the machine's doing.

use std::sync::{Mutex, PoisonError};

use super::{Compute, Kernel, noise, share_of};

pub(super) const KERNEL: Kernel = Kernel {
    name: "matrix",
    about: "product of dense square matrices; a thread has a block of rows",
    size_about: "rows of the matrices",
    default_size: 320,
    min_size: 1,
    memory_bytes: |size| size.checked_mul(size)?.checked_mul(3 * 8),
    make: |size, threads| Box::new(Matrix::new(size, threads)),
};

/// The product of two matrices; both stay the same, so that each step is the same work.
pub struct Matrix {
    size: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Rows of C, by thread. Locked by its thread alone, so never waited for.
    c: Vec<Mutex<Vec<f64>>>,
}

impl Matrix {
    /// Matrices of `size` rows for `threads` threads.
    ///
    /// # Panics
    /// If either is 0.
    pub fn new(size: usize, threads: usize) -> Self {
        assert!(size > 0 && threads > 0, "{size} rows for {threads} threads: neither may be 0");
        let random = |seed| noise(seed).take(size * size).collect();
        let rows = |thread| vec![0.0; share_of(size, thread, threads).len() * size];
        let c = (0..threads).map(|thread| Mutex::new(rows(thread))).collect();
        Self { size, a: random(1), b: random(2), c }
    }

    /// Does the share of `thread` as [`Compute::share`] does, and calls `between` after each few thousand operations, which take
    /// some microseconds: so that a computation can look after its messages as often as it likes.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn share_in_steps(&self, thread: usize, mut between: impl FnMut()) {
        /// Multiplications and additions between two calls.
        const STEP: usize = 8192;
        let mut c = self.c[thread].lock().unwrap_or_else(PoisonError::into_inner);
        c.fill(0.0);
        let terms = STEP.div_ceil(self.size);
        let rows = share_of(self.size, thread, self.threads());
        for (c, row) in c.chunks_exact_mut(self.size).zip(rows) {
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
    pub fn product(&self) -> Vec<f64> {
        let rows = |part: &Mutex<Vec<f64>>| part.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.c.iter().flat_map(rows).collect()
    }
}

impl Compute for Matrix {
    fn threads(&self) -> usize {
        self.c.len()
    }

    fn share(&self, thread: usize) {
        self.share_in_steps(thread, || {});
    }

    fn settle(&self) {}

    fn checksum(&self) -> f64 {
        self.product().iter().sum()
    }
}

// Not under Miri, which would take hours and has no unsafe code to see here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn steps_are_small_and_make_the_same_product() {
        let (whole, stepped) = (Matrix::new(150, 2), Matrix::new(150, 2));
        let mut steps = 0;
        for thread in 0..2 {
            whole.share(thread);
            stepped.share_in_steps(thread, || steps += 1);
        }
        assert_eq!(whole.product(), stepped.product());
        // Three calls a row: 150 terms of 150 operations each, 55 terms at a time.
        assert_eq!(steps, 3 * 150);
    }

    #[test]
    fn the_product_is_the_naive_one() {
        for (size, threads) in [(1, 1), (7, 2), (33, 4), (3, 5)] {
            let matrix = Matrix::new(size, threads);
            // Twice: a step must not add to the one before.
            (0..2).for_each(|_| (0..threads).for_each(|thread| matrix.share(thread)));
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
