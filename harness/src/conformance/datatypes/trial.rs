//! Operations on single layouts, tried in as few processes as possible: an end of a process costs only the trial that caused it.

use std::collections::BTreeSet;

use common::conformance::{Case, OPERATIONS, Operation};
use datatypes::{Construction, Layout};

use super::finding::Hit;
use super::worker::Worker;
use crate::mpi::MpiError;

/// One operation on a layout.
#[derive(Clone)]
pub struct Trial {
    pub layout: Layout,
    pub items: u32,
    pub at_end: bool,
    pub construction: Construction,
    pub operation: &'static Operation,
}

impl Trial {
    pub fn from_hit(hit: &Hit) -> Self {
        let Hit { items, at_end, construction, operation, .. } = *hit;
        Self { layout: hit.layout.clone(), items, at_end, construction, operation }
    }
}

/// The hit of each trial, if it fails.
pub struct Evaluated {
    pub results: Vec<Option<Hit>>,
    /// Whether each trial was begun before the time was over.
    pub is_tried: Vec<bool>,
    /// Trials that were not begun after too many ends of processes.
    pub not_reached: BTreeSet<usize>,
}

impl Evaluated {
    /// The results, if all were tried.
    pub fn whole(self) -> Option<Vec<Option<Hit>>> {
        self.is_tried.iter().all(|is_tried| *is_tried).then_some(self.results)
    }
}

/// Tries each. After an early end of a process a new one goes on, at most `restarts` times.
pub fn evaluate(worker: &mut Worker<'_>, trials: &[Trial], restarts: usize) -> Result<Evaluated, MpiError> {
    let mut is_tried = vec![true; trials.len()];
    let mut not_reached = BTreeSet::new();
    let mut results: Vec<Option<Hit>> = vec![None; trials.len()];
    for ranks in [1, 2] {
        let mut left: Vec<usize> =
            (0..trials.len()).filter(|&i| trials[i].operation.ranks == ranks).collect();
        let used: BTreeSet<usize> = left.iter().map(|&i| trials[i].operation.number()).collect();
        let operations: Vec<&'static Operation> = used.iter().map(|&number| &OPERATIONS[number]).collect();
        let mut ends = 0;
        while !left.is_empty() {
            let cases: Vec<Case> = left.iter().map(|&i| case(i, &trials[i], &operations)).collect();
            let Some(end) = worker.run(&operations, ranks, &cases)? else {
                return Err(MpiError::Interrupted);
            };
            for fault in &end.faults {
                let (number, trial) = (fault.case as usize, &trials[fault.case as usize]);
                let is_own = fault.operation == trial.operation.name
                    && fault.node.as_ref().is_none_or(|node| *node == trial.layout.to_text());
                if is_own && results[number].is_none() {
                    results[number] =
                        Hit::from_fault(fault, &trial.layout, &case(number, trial, &operations));
                }
            }
            if let Some(cut_at) = end.cut_at {
                let of_rest = left.iter().skip_while(|&&i| i as u64 != cut_at);
                of_rest.for_each(|&i| is_tried[i] = false);
            }
            let Some(ended) = end.ended else { break };
            let number = ended.case as usize;
            if let Some(kind) = ended.kind
                && ended.operation == trials[number].operation
            {
                let (trial, detail) = (&trials[number], ended.detail);
                let untried = Hit::untried(&case(number, trial, &operations), &trial.layout);
                results[number] = Some(Hit { operation: trial.operation, kind, detail, ..untried });
            }
            let place = left.iter().position(|&i| i == number).map_or(left.len(), |place| place + 1);
            left.drain(..place);
            ends += 1;
            if ends > restarts {
                not_reached.extend(left);
                break;
            }
        }
    }
    Ok(Evaluated { results, is_tried, not_reached })
}

/// The case of a trial: all other operations are left out.
fn case(number: usize, trial: &Trial, operations: &[&'static Operation]) -> Case {
    let is_other = |operation: &&&Operation| **operation != trial.operation && operation.number() > 0;
    Case {
        number: number as u64,
        layout: trial.layout.to_text(),
        items: trial.items,
        at_end: trial.at_end,
        construction: trial.construction,
        is_generated: false,
        skipped: operations.iter().filter(is_other).map(|operation| operation.name.to_owned()).collect(),
    }
}
