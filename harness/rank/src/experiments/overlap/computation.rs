//! The computation: each thread multiplies its own matrices, the same work each time.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use bytemuck::{Pod, Zeroable};
use rayon::ThreadPoolBuildError;

use super::matrix::Matrix;
use crate::checked::CallError;
use crate::checked::threads::Lent;
use crate::team::Team;

/// The matrices of the threads.
pub struct Computation {
    team: Team,
    /// In each matrix, the first rows belong to the interior, the others to the rim.
    matrices: Vec<Matrix>,
    pub has_rim: bool,
}

/// A part of the computation, as matrices number them: the part that needs no received data, and the part that does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ComputedPart {
    Interior,
    Rim,
}

/// How long a computation took.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Times {
    /// All of it, in seconds.
    pub whole_s: f64,
    /// The rim; 0 if there is none.
    pub rim_s: f64,
}

impl Computation {
    /// A computation on `threads` threads, with matrices of this number of rows; this share of them, from 0 to 1, is the rim.
    pub fn new(threads: usize, matrix_order: usize, rim_share: f64) -> Result<Self, ThreadPoolBuildError> {
        let of_rim = ((matrix_order as f64 * rim_share).round() as usize).min(matrix_order.saturating_sub(1));
        let computation = Self {
            team: Team::new(threads)?,
            matrices: (0..threads).map(|_| Matrix::new(matrix_order, matrix_order - of_rim)).collect(),
            has_rim: of_rim > 0,
        };
        // Page faults happen and threads wake up before anything is timed.
        computation.times();
        Ok(computation)
    }

    /// Computes the interior once; ends when the slowest thread has.
    pub fn run(&self) {
        self.compute(ComputedPart::Interior);
    }

    /// The same for the rim, if there is one.
    pub fn run_rim(&self) {
        if self.has_rim {
            self.compute(ComputedPart::Rim);
        }
    }

    fn compute(&self, part: ComputedPart) {
        self.team.run(|member| self.matrices[member.number].compute(part as usize));
    }

    /// Computes the interior as [`Computation::run`] does, while the first thread calls `poll` regularly
    /// until `poll` has nothing more to do.
    pub fn run_and_poll(
        &self,
        every: Duration,
        poll: &mut dyn FnMut() -> Result<bool, CallError>,
    ) -> Result<(), CallError> {
        let state = RefCell::new((poll, Instant::now(), Ok(false)));
        // SAFETY: only the first thread, which called this, uses the lent value.
        let lent = unsafe { Lent::new(&state) };
        self.team.run(|member| {
            let matrix = &self.matrices[member.number];
            if !member.is_first() {
                return matrix.compute(ComputedPart::Interior as usize);
            }
            matrix.compute_in_steps(ComputedPart::Interior as usize, || {
                let (poll, last, result) = &mut *lent.get().borrow_mut();
                if matches!(result, Ok(false)) && last.elapsed() >= every {
                    *result = poll();
                    *last = Instant::now();
                }
            });
        });
        let (_, _, result) = state.into_inner();
        result.map(drop)
    }

    /// How long all of it takes: the interior, and then the rim.
    pub fn times(&self) -> Times {
        let start = Instant::now();
        self.run();
        let interior = start.elapsed();
        self.run_rim();
        let whole = if self.has_rim { start.elapsed() } else { interior };
        Times { whole_s: whole.as_secs_f64(), rim_s: (whole - interior).as_secs_f64() }
    }

    /// A number that depends on the results of every thread.
    pub fn checksum(&self) -> f64 {
        self.matrices.iter().map(Matrix::checksum).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_computes_the_same_and_the_first_polls_until_all_is_done_or_fails() {
        let computation = Computation::new(2, 60, 0.0).unwrap();
        let before = computation.checksum();
        assert!(before != 0.0);
        let mut polls = 0;
        computation
            .run_and_poll(Duration::ZERO, &mut || {
                polls += 1;
                Ok(polls == 5)
            })
            .unwrap();
        assert_eq!((polls, computation.checksum()), (5, before));
        let wrong = || CallError::WrongData { call: "MPI_Test", detail: "nothing".to_owned() };
        assert_eq!(computation.run_and_poll(Duration::ZERO, &mut || Err(wrong())), Err(wrong()));
        let times = computation.times();
        assert!(times.whole_s > 0.0 && times.rim_s == 0.0);
    }

    #[test]
    fn interior_and_rim_together_compute_the_same_as_without_a_rim() {
        let [whole, rimmed] = [0.0, 0.1].map(|share| Computation::new(1, 60, share).unwrap());
        let is_rimmed = [&whole, &rimmed].map(|of| of.has_rim);
        assert_eq!((is_rimmed, rimmed.checksum()), ([false, true], whole.checksum()));
        let times = rimmed.times();
        assert!(times.rim_s > 0.0 && times.rim_s < times.whole_s, "{times:?}");
        assert!(!Computation::new(1, 3, 0.1).unwrap().has_rim, "not a row");
    }
}
