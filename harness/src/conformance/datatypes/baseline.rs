//! The baseline: an older version of an MPI. What fails there in the same way is not a regression.

use std::cmp::Reverse;

use common::conformance::{Case, FaultKind};

use super::finding::{Finding, Hit};
use super::report::MpiReport;
use super::trial::{Outcome, TRIES, alone, evaluate_often, occurs_again};
use super::worker::{Worker, unless_stopped};
use crate::mpi::MpiError;

/// For each hit, whether it also fails in the same way with the baseline; `None` if the time was over before it was tried.
pub fn are_old(baseline: &mut Worker<'_>, hits: &[Hit]) -> Result<Vec<Option<bool>>, MpiError> {
    let outcomes = evaluate_often(baseline, hits)?;
    let is_late = baseline.is_late();
    let is_old = |(hit, outcome): (&Hit, Outcome)| match outcome {
        Outcome::Fails(old) => Some(old.kind.is_like(hit.kind)),
        Outcome::Right => (!is_late).then_some(false),
        Outcome::NotReached | Outcome::Untried => None,
    };
    Ok(hits.iter().zip(outcomes).map(is_old).collect())
}

/// Whether a hit always occurs with these cases before it, and never with the baseline: faults that depend on
/// uninitialised memory occur at times. `None` if the time was over.
pub fn is_always_new(
    worker: &mut Worker<'_>,
    processes: &[(usize, Vec<Case>)],
    hit: &Hit,
) -> Result<Option<bool>, MpiError> {
    let Some(mut baseline) = worker.baseline.take() else { return Ok(Some(true)) };
    baseline.deadline = worker.deadline;
    let mut is_new = Ok(Some(true));
    for _ in 0..TRIES {
        for (worker, expected) in [(&mut *baseline, false), (&mut *worker, true)] {
            if matches!(is_new, Ok(Some(true))) {
                is_new = occurs_again(worker, processes, hit).map(|again| Some(again? == expected));
            }
        }
    }
    worker.baseline = Some(baseline);
    is_new
}

/// Findings that occur each time, and never with a baseline. One that cannot be compared in time stays. Slow hangs come last.
pub fn lasting(
    worker: &mut Worker<'_>,
    mut findings: Vec<Finding>,
    report: &mut MpiReport,
) -> Result<Vec<Finding>, MpiError> {
    let mut lasting = Vec::new();
    findings.sort_by_key(|finding| (finding.hit.kind == FaultKind::Hang, Reverse(finding.cases.len())));
    for finding in findings {
        let mut is_new = Some(true);
        if !report.is_stopped && finding.is_reproduced {
            let alone = is_always_new(worker, &alone(&finding.hit), &finding.hit);
            is_new = unless_stopped(alone, &mut report.is_stopped)?.flatten();
        }
        match is_new {
            Some(false) => report.once.push(finding.hit),
            Some(true) | None => lasting.push(finding),
        }
    }
    Ok(lasting)
}

#[cfg(test)]
mod tests {
    use super::super::confirmation::tests::in_processes;
    use super::*;
    use crate::conformance::Conditions;

    #[test]
    fn a_fault_lasts_if_it_always_occurs_and_never_with_the_baseline() {
        let hit = Hit::fake("pack", FaultKind::WrongData, "byte");
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let lasts = |launches: [&str; 2]| {
            let targets = [0, 1].map(|i| in_processes(folders[i].path(), launches[i], &hit));
            let [mut worker, old] =
                targets.each_ref().map(|target| Worker::new(Conditions::on_host(target, 5.0), 2).unwrap());
            worker.baseline = Some(Box::new(old));
            let findings = vec![Finding::new(hit.clone())];
            !lasting(&mut worker, findings, &mut MpiReport::default()).unwrap().is_empty()
        };
        let tried = [["123", "-"], ["123", "3"], ["12", "-"], ["-", "-"]].map(lasts);
        assert_eq!(tried, [true, false, false, false]);
    }
}
