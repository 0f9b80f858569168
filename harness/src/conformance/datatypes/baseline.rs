//! The baseline: an older version of an MPI. What fails there in the same way is not a regression.

use super::finding::Hit;
use super::trial::{Outcome, evaluate_alone};
use super::worker::Worker;
use crate::mpi::MpiError;

/// Some faults depend on what is in memory by chance.
const TRIES: usize = 3;

/// For each hit, whether it also fails in the same way with the baseline. One that was not tried because the time was over does not.
///
/// # Errors
/// If no process begins.
pub fn are_old(baseline: &mut Worker<'_>, hits: &[Hit]) -> Result<Vec<bool>, MpiError> {
    let mut are_old = vec![false; hits.len()];
    for _ in 0..TRIES {
        let left: Vec<usize> = (0..hits.len()).filter(|&i| !are_old[i]).collect();
        let trials: Vec<Hit> = left.iter().map(|&i| hits[i].clone()).collect();
        for (i, outcome) in left.into_iter().zip(evaluate_alone(baseline, &trials, usize::MAX)?) {
            are_old[i] = matches!(outcome, Outcome::Fails(old) if old.kind == hits[i].kind);
        }
    }
    Ok(are_old)
}
