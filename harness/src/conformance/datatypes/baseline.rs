//! The baseline: an older version of an MPI. What fails there in the same way is not a regression.

use common::conformance::Case;

use super::finding::Hit;
use super::trial::{Outcome, evaluate_alone, occurs_again};
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

/// Whether a hit always occurs with the same cases before it, and never with the baseline: faults that depend on uninitialised memory
/// occur at times. One that cannot be compared in time is not new.
pub fn is_always_new(
    worker: &mut Worker<'_>,
    processes: &[(usize, Vec<Case>)],
    hit: &Hit,
) -> Result<bool, MpiError> {
    let Some(mut baseline) = worker.baseline.take() else { return Ok(true) };
    let mut is_new = Ok(true);
    for _ in 0..TRIES {
        let of = |worker: &mut Worker<'_>| occurs_again(worker, processes, hit);
        is_new = of(&mut baseline).and_then(|old| Ok(old == Some(false) && of(worker)? == Some(true)));
        if !matches!(is_new, Ok(true)) {
            break;
        }
    }
    worker.baseline = Some(baseline);
    is_new
}
