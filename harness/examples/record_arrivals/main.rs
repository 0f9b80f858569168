//! Computing as applications do it, step by step, by several threads: what communication is to be hidden behind, and
//! where the times come from at which threads hand over their part of a message.
//!
//! A kernel is one file here and one line in [`KERNELS`]. [`record`] times its threads.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

mod matrix;
mod molecular;
mod sparse;
mod team;

pub use matrix::Matrix;
pub use molecular::Molecular;
pub use sparse::Sparse;
pub use team::{WARM_UP_STEPS, record};

/// A computation in steps, each shared out between a fixed number of threads.
///
/// A step is [`share`](Compute::share) by every thread, at the same time, and then [`settle`](Compute::settle) by one
/// of them while the others wait.
pub trait Compute: Send + Sync {
    /// Number of threads that share a step.
    fn threads(&self) -> usize;

    /// Does the share of thread `thread` in the step. Once per thread and step.
    ///
    /// # Panics
    /// If there is no such thread.
    fn share(&self, thread: usize);

    /// Joins the shares and makes ready for the next step, which does about the same work. Once per step.
    fn settle(&self);

    /// A number that rests on what every thread has computed: who prints it has shown that no share was left out.
    fn checksum(&self) -> f64;
}

/// A row of [`KERNELS`].
pub struct Kernel {
    /// The name that is typed.
    pub name: &'static str,
    /// What is computed, and what a thread's share of it is.
    pub about: &'static str,
    /// What the size counts.
    pub size_about: &'static str,
    /// The size of which two threads have a step of a few milliseconds.
    pub default_size: usize,
    /// The smallest size that makes sense.
    pub min_size: usize,
    /// Memory for a size, about, in bytes; `None` for a size that cannot be had at all.
    pub memory_bytes: fn(size: u64) -> Option<u64>,
    /// Makes one of a size for a number of threads.
    ///
    /// # Panics
    /// If the size is below the smallest, or there is no thread.
    pub make: fn(size: usize, threads: usize) -> Box<dyn Compute>,
}

/// All kernels.
pub const KERNELS: [Kernel; 3] = [sparse::KERNEL, molecular::KERNEL, matrix::KERNEL];

/// The items of `count` that are thread `thread`'s, as even as can be.
fn share_of(count: usize, thread: usize, threads: usize) -> Range<usize> {
    count * thread / threads..count * (thread + 1) / threads
}

/// Numbers from -1 to 1 that look random, the same each time.
fn noise(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    std::iter::repeat_with(move || random.random_range(-1.0..=1.0))
}

// Not under Miri, which would take hours and has no unsafe code to see here.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_computes_the_same_with_any_number_of_threads() {
        for kernel in &KERNELS {
            let checksum = |threads: usize| {
                let compute = (kernel.make)(kernel.min_size.max(6), threads);
                assert_eq!(compute.threads(), threads);
                let times = record(&*compute, 5, &|| false);
                assert_eq!(times.len(), 5, "{}", kernel.name);
                assert!(times.iter().all(|step| step.len() == threads));
                compute.checksum()
            };
            let one = checksum(1);
            assert!(one != 0.0 && one.is_finite());
            for threads in [2, 3, 8] {
                let many = checksum(threads);
                assert!((many - one).abs() <= 1e-9 * one.abs(), "{}: {one} {many}", kernel.name);
            }
        }
    }

    #[test]
    fn a_recording_that_is_stopped_keeps_the_steps_that_were_made() {
        let compute = (sparse::KERNEL.make)(sparse::KERNEL.min_size, 2);
        assert_eq!(record(&*compute, usize::MAX, &|| true).len(), 1);
    }

    #[test]
    fn kernels_without_work_for_every_thread_still_work() {
        let matrix = Matrix::new(2, 4);
        record(&matrix, 2, &|| false);
        assert!(matrix.checksum().is_finite());
    }

    #[test]
    fn what_looks_random_lies_within_its_bounds_around_zero() {
        let numbers: Vec<f64> = noise(1).take(10_000).collect();
        assert!(numbers.iter().all(|number| number.abs() <= 1.0));
        assert!((numbers.iter().sum::<f64>() / 1e4).abs() < 0.03);
    }
}
