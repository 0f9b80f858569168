//! Dense matrix product.
//!
//! C = A B for square matrices of doubles, row by row of A and B, 2 n^3 operations. A thread has a block of rows of C.
//! All blocks are the same work: what differs between threads is the machine's doing.

use std::ops::Range;
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
    /// Blocks of rows of C: which, and their values. Locked by its thread alone, so never waited for.
    c: Vec<(Range<usize>, Mutex<Vec<f64>>)>,
}

impl Matrix {
    /// Matrices of `size` rows for `threads` threads.
    ///
    /// # Panics
    /// If either is 0.
    pub fn new(size: usize, threads: usize) -> Self {
        assert!(size > 0 && threads > 0, "{size} rows for {threads} threads: neither may be 0");
        Self::in_blocks(size, (0..threads).map(|thread| share_of(size, thread, threads)))
    }

    /// Matrices of `size` rows for one thread, which computes the first `rows` of them by [`Compute::share`] of 0, and the rest by
    /// that of 1.
    ///
    /// # Panics
    /// If there are no rows, or fewer than that.
    pub fn in_two(size: usize, rows: usize) -> Self {
        assert!(size > 0 && rows <= size, "{rows} of {size} rows");
        Self::in_blocks(size, [0..rows, rows..size].into_iter())
    }

    fn in_blocks(size: usize, blocks: impl Iterator<Item = Range<usize>>) -> Self {
        let random = |seed| noise(seed).take(size * size).collect();
        let c = blocks.map(|rows| (rows.clone(), Mutex::new(vec![0.0; rows.len() * size]))).collect();
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
        let (rows, c) = &self.c[thread];
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
    pub fn product(&self) -> Vec<f64> {
        let rows =
            |(_, part): &(_, Mutex<Vec<f64>>)| part.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
    fn rows_in_two_parts_are_the_rows_of_the_whole() {
        let (whole, parted, first) = (Matrix::new(20, 1), Matrix::in_two(20, 18), Matrix::in_two(20, 20));
        whole.share(0);
        parted.share(0);
        assert!(parted.product()[18 * 20..].iter().all(|&c| c == 0.0));
        parted.share(1);
        first.share(0);
        assert_eq!((parted.product(), first.product()), (whole.product(), whole.product()));
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
