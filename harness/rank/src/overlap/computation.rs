//! The computation: on each thread products of matrices of its own, the same work each time.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use kernels::compute::{Compute, Matrix};
use rayon::ThreadPoolBuildError;

use crate::checked::CallError;
use crate::checked::threads::Lent;
use crate::team::Team;

/// What threads multiply.
pub struct Computation {
    team: Team,
    matrices: Vec<Matrix>,
}

impl Computation {
    /// Of `threads` threads, with matrices of so many rows.
    ///
    /// # Errors
    /// Threads that the system does not give.
    pub fn new(threads: usize, matrix_order: usize) -> Result<Self, ThreadPoolBuildError> {
        let computation = Self {
            team: Team::new(threads)?,
            matrices: (0..threads).map(|_| Matrix::new(matrix_order, 1)).collect(),
        };
        // Pages are found and threads awake before anything is timed.
        computation.run();
        Ok(computation)
    }

    /// Threads that compute.
    pub fn threads(&self) -> usize {
        self.matrices.len()
    }

    /// Computes once; ends when the slowest thread has.
    pub fn run(&self) {
        self.team.run(|member| self.matrices[member.number].share(0));
    }

    /// The same, and the first thread calls `look` every so often until that has nothing more to do.
    pub fn run_and_look(
        &self,
        every: Duration,
        look: &mut dyn FnMut() -> Result<bool, CallError>,
    ) -> Result<(), CallError> {
        let state = RefCell::new((look, Instant::now(), Ok(false)));
        // SAFETY: only the first thread, which called this, uses what is lent.
        let lent = unsafe { Lent::new(&state) };
        self.team.run(|member| {
            let matrix = &self.matrices[member.number];
            if !member.is_first() {
                return matrix.share(0);
            }
            matrix.share_in_steps(0, || {
                let (look, last, result) = &mut *lent.get().borrow_mut();
                if matches!(result, Ok(false)) && last.elapsed() >= every {
                    *result = look();
                    *last = Instant::now();
                }
            });
        });
        let (_, _, result) = state.into_inner();
        result.map(drop)
    }

    /// How long it takes, in seconds.
    pub fn time_s(&self) -> f64 {
        let start = Instant::now();
        self.run();
        start.elapsed().as_secs_f64()
    }

    /// A number that rests on what every thread has computed.
    pub fn checksum(&self) -> f64 {
        self.matrices.iter().map(Compute::checksum).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_computes_the_same_and_the_first_looks_until_all_is_done() {
        let computation = Computation::new(2, 60).unwrap();
        let before = computation.checksum();
        assert!(before != 0.0);
        let mut looks = 0;
        computation
            .run_and_look(Duration::ZERO, &mut || {
                looks += 1;
                Ok(looks == 5)
            })
            .unwrap();
        assert_eq!((looks, computation.checksum()), (5, before));
        assert!(computation.time_s() > 0.0 && computation.threads() == 2);
    }

    #[test]
    fn what_looking_finds_wrong_is_told() {
        let wrong = || CallError::WrongData { call: "MPI_Test", detail: "nothing".to_owned() };
        let result = Computation::new(1, 60).unwrap().run_and_look(Duration::ZERO, &mut || Err(wrong()));
        assert_eq!(result, Err(wrong()));
    }
}
