//! The baseline: an older version of an MPI. What fails there in the same way is not a regression.

use super::finding::Hit;
use super::trial::{Outcome, evaluate_alone};
use super::worker::Worker;
use crate::mpi::MpiError;

/// Faults that depend on uninitialised memory occur at times.
pub const TRIES: usize = 3;

/// For each hit, whether it also fails in the same way with the baseline; `None` if the time was over before it was tried.
pub fn are_old(baseline: &mut Worker<'_>, hits: &[Hit]) -> Result<Vec<Option<bool>>, MpiError> {
    let mut are_old = vec![Some(false); hits.len()];
    for _ in 0..TRIES {
        let left: Vec<usize> = (0..hits.len()).filter(|&i| are_old[i] == Some(false)).collect();
        let trials: Vec<Hit> = left.iter().map(|&i| hits[i].clone()).collect();
        for (i, outcome) in left.into_iter().zip(evaluate_alone(baseline, &trials, usize::MAX)?) {
            are_old[i] = match outcome {
                Outcome::Fails(old) => Some(old.kind == hits[i].kind),
                Outcome::Right => Some(false),
                Outcome::NotReached | Outcome::Untried => None,
            };
        }
    }
    Ok(are_old)
}
