//! Operations on single layouts, tried in as few processes as possible: an end of a process costs only the trial that caused it.

use common::conformance::{Case, Fault, OPERATIONS, Operation};

use super::baseline::are_old;
use super::finding::Hit;
use super::worker::Worker;
use crate::mpi::MpiError;

/// Faults that depend on uninitialised memory occur at times.
pub const TRIES: usize = 3;

/// The outcome of a trial, which is a hit with another layout, operation or process.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It fails, perhaps in another way.
    Fails(Hit),
    /// The result is right.
    Right,
    /// It was not begun after too many ends of processes.
    NotReached,
    /// The time was over.
    Untried,
}

impl Outcome {
    /// The hit, if it fails.
    pub fn hit(self) -> Option<Hit> {
        if let Self::Fails(hit) = self { Some(hit) } else { None }
    }
}

/// The hits of trials that fail; `None` if the time was over before all were tried.
pub fn whole(outcomes: Vec<Outcome>) -> Option<Vec<Option<Hit>>> {
    let is_whole = !outcomes.iter().any(|outcome| matches!(outcome, Outcome::Untried));
    is_whole.then(|| outcomes.into_iter().map(Outcome::hit).collect())
}

/// Tries each operation on its layout. Those that fail in the same way with the baseline count as right.
/// After an early end of a process a new one goes on, at most `restarts` times.
pub fn evaluate(worker: &mut Worker<'_>, trials: &[Hit], restarts: usize) -> Result<Vec<Outcome>, MpiError> {
    let mut outcomes = evaluate_alone(worker, trials, restarts)?;
    let deadline = worker.deadline;
    if let Some(baseline) = &mut worker.baseline {
        baseline.deadline = deadline;
        let failing: Vec<usize> =
            (0..trials.len()).filter(|&i| matches!(outcomes[i], Outcome::Fails(_))).collect();
        let hits: Vec<Hit> = failing.iter().filter_map(|&i| outcomes[i].clone().hit()).collect();
        for (i, is_old) in failing.into_iter().zip(are_old(baseline, &hits)?) {
            match is_old {
                Some(false) => {}
                Some(true) => outcomes[i] = Outcome::Right,
                None => outcomes[i] = Outcome::Untried,
            }
        }
    }
    Ok(outcomes)
}

/// The same without a baseline.
pub fn evaluate_alone(
    worker: &mut Worker<'_>,
    trials: &[Hit],
    restarts: usize,
) -> Result<Vec<Outcome>, MpiError> {
    let mut outcomes = vec![Outcome::Right; trials.len()];
    for ranks in [1, 2] {
        let mut left: Vec<usize> =
            (0..trials.len()).filter(|&i| trials[i].operation.ranks == ranks).collect();
        let is_used = |of: &&Operation| left.iter().any(|&i| trials[i].operation == *of);
        let operations: Vec<&'static Operation> = OPERATIONS.iter().filter(is_used).collect();
        let mut ends = 0;
        while !left.is_empty() {
            let cases: Vec<Case> =
                left.iter().map(|&i| case_of_trial(i as u64, &trials[i], &operations)).collect();
            let end = worker.run(&operations, ranks, &cases)?;
            for fault in &end.faults {
                let (number, trial) = (fault.case as usize, &trials[fault.case as usize]);
                let is_own = fault.operation == trial.operation
                    && fault.node.as_ref().is_none_or(|node| *node == trial.layout);
                if is_own && !matches!(outcomes[number], Outcome::Fails(_)) {
                    let case = case_of_trial(fault.case, trial, &operations);
                    outcomes[number] = Outcome::Fails(Hit::from_fault(fault, &case));
                }
            }
            if let Some(cut_at) = end.cut_at {
                for &i in left.iter().skip_while(|&&i| i as u64 != cut_at) {
                    if matches!(outcomes[i], Outcome::Right) {
                        outcomes[i] = Outcome::Untried;
                    }
                }
            }
            let Some((case, ..)) = end.ended else { break };
            let place = left.iter().position(|&i| i as u64 == case).map_or(left.len(), |place| place + 1);
            left.drain(..place);
            ends += 1;
            if ends > restarts {
                left.into_iter().for_each(|i| outcomes[i] = Outcome::NotReached);
                break;
            }
        }
    }
    Ok(outcomes)
}

/// The same, several times for those that are right or fail in another way, unless the time is over.
pub fn evaluate_often(worker: &mut Worker<'_>, trials: &[Hit]) -> Result<Vec<Outcome>, MpiError> {
    let mut outcomes = evaluate_alone(worker, trials, usize::MAX)?;
    for _ in 1..TRIES {
        let may_fail = |i: &usize| match &outcomes[*i] {
            Outcome::Fails(hit) => !hit.kind.is_like(trials[*i].kind),
            outcome => matches!(outcome, Outcome::Right),
        };
        let left: Vec<usize> = (0..trials.len()).filter(may_fail).collect();
        let again: Vec<Hit> = left.iter().map(|&i| trials[i].clone()).collect();
        let again = evaluate_alone(worker, &again, usize::MAX)?;
        let failed = left.into_iter().zip(again).filter(|(_, of)| matches!(of, Outcome::Fails(_)));
        failed.for_each(|(i, outcome)| outcomes[i] = outcome);
    }
    Ok(outcomes)
}

/// Whether a hit occurs again in the same way with the same cases before it; `None` if the time was over.
/// Only its operation is tried: after another one that has damaged memory, any operation may fail.
pub fn occurs_again(
    worker: &mut Worker<'_>,
    processes: &[(usize, Vec<Case>)],
    hit: &Hit,
) -> Result<Option<bool>, MpiError> {
    let is_own = |case: &Case| case.number == hit.case && case.tries(hit.operation);
    for (_, cases) in processes.iter().filter(|(ranks, _)| *ranks == hit.operation.ranks) {
        let Some(place) = cases.iter().position(is_own) else { continue };
        let end = worker.run(&[hit.operation], hit.operation.ranks, &cases[..=place])?;
        let is_same = |fault: &Fault| {
            fault.operation == hit.operation && fault.case == hit.case && fault.kind.is_like(hit.kind)
        };
        if end.cut_at.is_some() {
            return Ok(None);
        }
        if end.faults.iter().any(is_same) {
            return Ok(Some(true));
        }
    }
    Ok(Some(false))
}

/// A process for a hit and nothing else, as [`occurs_again`] takes it: no other fault has damaged its memory.
pub fn alone(hit: &Hit) -> [(usize, Vec<Case>); 1] {
    [(hit.operation.ranks, vec![case_of_trial(hit.case, hit, &[])])]
}

/// Whether a hit occurs by itself, at least at times; `None` if the time was over.
pub fn occurs_alone(worker: &mut Worker<'_>, hit: &Hit) -> Result<Option<bool>, MpiError> {
    let mut occurs = Some(false);
    for _ in 0..TRIES {
        if occurs == Some(false) {
            occurs = occurs_again(worker, &alone(hit), hit)?;
        }
    }
    Ok(occurs)
}

/// The case of a trial: all other operations are left out.
pub fn case_of_trial(number: u64, trial: &Hit, operations: &[&'static Operation]) -> Case {
    let is_other = |other: &&Operation| *other != trial.operation && other.number() > 0;
    let skipped = operations.iter().copied().filter(is_other).collect();
    let case = Case::with_layout(number, trial.layout.clone(), trial.items, trial.at_end);
    Case { origin: trial.case, construction: trial.construction, is_generated: false, skipped, ..case }
}

#[cfg(test)]
mod tests {
    use common::conformance::FaultKind;

    use super::super::confirmation::tests::in_processes;
    use super::*;
    use crate::conformance::Conditions;

    #[test]
    fn a_trial_has_the_data_of_its_first_case() {
        let hit = Hit { case: 17, ..Hit::fake("send", FaultKind::Crash, "byte") };
        let case = case_of_trial(3, &hit, &[hit.operation]);
        assert_eq!((case.number, case.origin), (3, 17));
        let fault = Fault::new(3, hit.operation, hit.kind, String::new());
        assert_eq!(Hit::from_fault(&fault, &case).case, 17);
    }

    #[test]
    fn a_fault_that_only_some_processes_have_is_tried_three_times() {
        let hit = Hit::fake("pack", FaultKind::WrongData, "byte");
        let occurs_in = |process: &str| {
            let folder = tempfile::tempdir().unwrap();
            let target = in_processes(folder.path(), process, &hit);
            let mut worker = Worker::new(Conditions::on_host(&target, 5.0), 2).unwrap();
            let outcomes = evaluate_often(&mut worker, std::slice::from_ref(&hit)).unwrap();
            let count = std::fs::read(folder.path().join("count")).unwrap().len();
            (matches!(outcomes[0], Outcome::Fails(_)), count)
        };
        assert_eq!(["1", "3", "4"].map(occurs_in), [(true, 1), (true, 3), (false, 3)]);
    }
}
