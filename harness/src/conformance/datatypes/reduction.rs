//! From hits to findings: one hit of each operation and kind is shrunk, and all hits of the same class are left out; then the next.
//!
//! A shrinker only accepts layouts with the same operation and kind of fault, and without features that the hit lacks, so that it does not
//! slide from one fault into another.

use std::collections::BTreeSet;
use std::time::Instant;

use common::conformance::{Case, FaultKind, OPERATIONS, Operation};
use datatypes::{Construction, Layout};

use super::finding::{Confirmation, Finding, Hit};
use super::worker::Worker;
use crate::mpi::MpiError;

/// Candidates of a hit that one process tries.
const MOST_CANDIDATES: usize = 150;

/// Rounds of shrinking: each takes a process, and for hangs the limit of silence.
const MOST_ROUNDS: usize = 60;
const MOST_ROUNDS_OF_HANGS: usize = 5;

/// How often a new process goes on after a crash while the candidates of other faults are tried.
const MOST_RESTARTS: usize = 3;
/// The same while other operations are tried on a shrunk layout. After a crash many fail, and shrinking each takes more processes.
const MOST_RESTARTS_OF_OTHERS: usize = 1;
const MOST_RESTARTS_AFTER_CRASH: usize = 20;

/// Layouts of each operation and kind that are shrunk; more hits are kept as they are.
const MOST_WAVES: usize = 12;

/// One operation on a layout.
#[derive(Clone)]
struct Trial {
    layout: Layout,
    items: u32,
    at_end: bool,
    construction: Construction,
    operation: &'static Operation,
}

impl Trial {
    fn of(hit: &Hit) -> Self {
        let Hit { items, at_end, construction, operation, .. } = *hit;
        Self { layout: hit.layout.clone(), items, at_end, construction, operation }
    }
}

/// Findings, and whether the user has stopped.
#[derive(Debug, Default)]
pub struct Reduced {
    pub findings: Vec<Finding>,
    pub is_stopped: bool,
}

/// Shrinks hits that `earlier` findings do not explain. Those that are left when the time is over, or when the user stops, become
/// findings as they are.
///
/// # Errors
/// If no process begins.
pub fn reduce(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    mut left: Vec<Hit>,
    earlier: &[Finding],
    deadline: Instant,
) -> Result<Reduced, MpiError> {
    left.retain(|hit| !earlier.iter().any(|finding| explains(finding, hit)));
    left.sort_by_key(Hit::size);
    let mut reduced = Reduced::default();
    for _ in 0..MOST_WAVES {
        if left.is_empty() || Instant::now() >= deadline {
            break;
        }
        match wave(worker, operations, &mut left, &mut reduced.findings, deadline) {
            Err(MpiError::Interrupted) => {
                reduced.is_stopped = true;
                break;
            }
            ended => ended?,
        }
    }
    reduced.findings.extend(one_of_each(&left).into_iter().map(|hit| {
        let is_like = |other: &&Hit| other.operation == hit.operation && other.kind == hit.kind;
        let hits = left.iter().filter(is_like).count();
        Finding { hits, ..finding(hit, Vec::new(), true) }
    }));
    Ok(reduced)
}

/// Shrinks one hit of each operation and kind, and takes those that it explains from the list.
fn wave(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    left: &mut Vec<Hit>,
    found: &mut Vec<Finding>,
    deadline: Instant,
) -> Result<(), MpiError> {
    let chosen = one_of_each(left);
    let trials: Vec<_> = chosen.iter().map(Trial::of).collect();
    let Some(repeated) = evaluate(worker, &trials, usize::MAX)?.whole() else { return Ok(()) };
    let (mut reproduced, mut others) = (Vec::new(), Vec::new());
    for (hit, repeated) in chosen.into_iter().zip(repeated) {
        match repeated {
            Some(again) if again.kind == hit.kind => reproduced.push(Hit { case: hit.case, ..again }),
            _ => others.push(hit),
        }
    }
    let (mut together, alone): (Vec<Hit>, Vec<Hit>) =
        reproduced.into_iter().partition(|hit| !hit.kind.ends_process());
    let mut all: Vec<&mut Hit> = together.iter_mut().collect();
    shrink(worker, &mut all, MOST_ROUNDS, MOST_RESTARTS, deadline)?;
    together.sort_by_key(Hit::size);
    for hit in together {
        add(worker, operations, hit, left, found)?;
    }
    // Each round takes a process, so that none is shrunk that the findings before it explain.
    for mut hit in alone {
        if !found.iter().any(|finding| explains(finding, &hit)) {
            let rounds = if hit.kind == FaultKind::Hang { MOST_ROUNDS_OF_HANGS } else { MOST_ROUNDS };
            shrink(worker, &mut [&mut hit], rounds, 0, deadline)?;
        }
        add(worker, operations, hit, left, found)?;
    }
    // These depend on what happened in the process before; others of their kind may not.
    for hit in others {
        left.retain(|other| !is_same(other, &hit));
        if !left.iter().any(|other| other.operation == hit.operation && other.kind == hit.kind) {
            found.push(finding(hit, Vec::new(), false));
        }
    }
    for finding in found.iter_mut() {
        let before = left.len();
        left.retain(|hit| !explains(finding, hit));
        finding.hits += before - left.len();
    }
    Ok(())
}

/// A hit that is tried again.
#[derive(Debug)]
pub enum Again {
    /// It occurs, perhaps in another way.
    Occurs(Hit),
    /// The result is right.
    Right,
    /// The time was over.
    Untried,
}

/// Tries hits again.
///
/// # Errors
/// If no process begins.
pub fn again(worker: &mut Worker<'_>, hits: &[&Hit]) -> Result<Vec<Again>, MpiError> {
    let trials: Vec<_> = hits.iter().map(|hit| Trial::of(hit)).collect();
    let evaluated = evaluate(worker, &trials, usize::MAX)?;
    let results = evaluated.results.into_iter().zip(evaluated.is_tried);
    Ok(results
        .map(|(result, is_tried)| match result {
            Some(hit) => Again::Occurs(hit),
            None if is_tried => Again::Right,
            None => Again::Untried,
        })
        .collect())
}

pub fn finding(hit: Hit, others: Vec<(&'static Operation, FaultKind)>, is_reproduced: bool) -> Finding {
    let confirmation = Confirmation::default();
    Finding { hit, others, similar: Vec::new(), hits: 0, is_reproduced, is_known: false, confirmation }
}

pub fn explains(finding: &Finding, hit: &Hit) -> bool {
    finding.is_reproduced
        && finding.faults().any(|fault| fault == (hit.operation, hit.kind))
        && hit.is_like(&finding.hit)
}

/// Joins findings that probably have one cause. The simplest represents the others, or a known one.
pub fn join(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (!finding.is_known, finding.hit.size()));
    let mut joined: Vec<Finding> = Vec::new();
    for mut finding in findings {
        let Some(same) = joined.iter_mut().find(|other| other.is_similar(&finding)) else {
            joined.push(finding);
            continue;
        };
        same.hits += finding.hits;
        let similar = std::mem::take(&mut finding.similar);
        same.similar.push(finding);
        same.similar.extend(similar);
    }
    joined
}

/// Adds a shrunk hit to the findings, unless one of them explains it.
fn add(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    hit: Hit,
    left: &mut Vec<Hit>,
    found: &mut Vec<Finding>,
) -> Result<(), MpiError> {
    // Its layout may be in a class other than that of the shrunk one.
    left.retain(|other| (other.case, other.operation) != (hit.case, hit.operation));
    if !found.iter().any(|finding| explains(finding, &hit)) {
        let others = failing_operations(worker, operations, &hit)?;
        found.push(finding(hit, others, true));
    }
    Ok(())
}

fn is_same(hit: &Hit, other: &Hit) -> bool {
    hit.case == other.case && hit.operation == other.operation && hit.layout == other.layout
}

/// The first hit of each operation and kind. Several operations that fail in the same way on the same case probably have one cause,
/// so that one of them is enough.
pub fn one_of_each(hits: &[Hit]) -> Vec<Hit> {
    let (mut operations, mut cases) = (BTreeSet::new(), BTreeSet::new());
    let mut chosen = Vec::new();
    for hit in hits {
        let (operation, case) = ((hit.operation.number(), hit.kind), (hit.case, hit.kind));
        if !operations.contains(&operation) && cases.insert(case) {
            operations.insert(operation);
            chosen.push(hit.clone());
        }
    }
    chosen
}

/// Replaces each hit by the simplest one with the same fault: one step of all hits in each process, until none can be made simpler.
fn shrink(
    worker: &mut Worker<'_>,
    hits: &mut [&mut Hit],
    rounds: usize,
    restarts: usize,
    deadline: Instant,
) -> Result<(), MpiError> {
    let mut is_final = vec![false; hits.len()];
    for _ in 0..rounds {
        let mut trials = Vec::new();
        let mut ranges = Vec::new();
        for (hit, is_final) in hits.iter().zip(&is_final) {
            let start = trials.len();
            if !is_final {
                trials.extend(simpler(hit));
            }
            ranges.push(start..trials.len());
        }
        if trials.is_empty() || Instant::now() >= deadline {
            break;
        }
        let Some(mut results) = evaluate(worker, &trials, restarts)?.whole() else { break };
        for ((hit, range), is_final) in hits.iter_mut().zip(ranges).zip(&mut is_final) {
            let next = results[range]
                .iter_mut()
                .find(|next| next.as_ref().is_some_and(|next| next.kind == hit.kind));
            match next.and_then(Option::take) {
                Some(next) => **hit = Hit { case: hit.case, ..next },
                None => *is_final = true,
            }
        }
    }
    Ok(())
}

/// Simpler trials than a hit, the simplest first.
fn simpler(hit: &Hit) -> Vec<Trial> {
    let trial = Trial::of(hit);
    let items = [1, 2, hit.items / 2, hit.items.saturating_sub(1)];
    let fewer = items.into_iter().filter(|items| (1..hit.items).contains(items));
    let fewer = fewer.map(|items| Trial { items, ..trial.clone() });
    let usual = Trial { construction: Construction::Usual, ..trial.clone() };
    let fewer = (!hit.construction.is_usual()).then_some(usual).into_iter().chain(fewer);
    let layouts = hit.layout.simpler().into_iter().take(MOST_CANDIDATES);
    fewer.chain(layouts.map(|layout| Trial { layout, ..trial.clone() })).collect()
}

/// Other operations that fail with a layout.
fn failing_operations(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    hit: &Hit,
) -> Result<Vec<(&'static Operation, FaultKind)>, MpiError> {
    let others = operations.iter().filter(|operation| **operation != hit.operation);
    let trials: Vec<Trial> = others.map(|operation| Trial { operation, ..Trial::of(hit) }).collect();
    let restarts =
        if hit.kind == FaultKind::Crash { MOST_RESTARTS_AFTER_CRASH } else { MOST_RESTARTS_OF_OTHERS };
    let results = evaluate(worker, &trials, restarts)?;
    Ok(results.results.into_iter().flatten().map(|hit| (hit.operation, hit.kind)).collect())
}

/// The hit of each trial, if it fails.
struct Evaluated {
    results: Vec<Option<Hit>>,
    /// Whether each trial was begun before the time was over.
    is_tried: Vec<bool>,
}

impl Evaluated {
    /// The results, if all were tried.
    fn whole(self) -> Option<Vec<Option<Hit>>> {
        self.is_tried.iter().all(|is_tried| *is_tried).then_some(self.results)
    }
}

/// Tries each. After an early end of a process a new one goes on, at most `restarts` times.
fn evaluate(worker: &mut Worker<'_>, trials: &[Trial], restarts: usize) -> Result<Evaluated, MpiError> {
    let mut is_tried = vec![true; trials.len()];
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
                    results[number] = Hit::of(fault, &trial.layout, &case(number, trial, &operations));
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
            ends += 1;
            if ends > restarts {
                break;
            }
            let place = left.iter().position(|&i| i == number).map_or(left.len(), |place| place + 1);
            left.drain(..place);
        }
    }
    Ok(Evaluated { results, is_tried })
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

#[cfg(test)]
mod tests {
    use common::conformance::Fault;

    use super::*;

    fn found(operation: &str, layout: &str) -> Finding {
        let fault = Fault::new(0, operation, FaultKind::Crash, String::new());
        let case = Case::of(0, layout.to_owned(), 1, true);
        let hit = Hit::of(&fault, &layout.parse().unwrap(), &case).unwrap();
        Finding { hits: 2, ..finding(hit, Vec::new(), true) }
    }

    #[test]
    fn an_operation_is_not_left_out_because_the_case_of_its_first_hit_is_taken() {
        let hits = [("pack", 1), ("send", 1), ("send", 2), ("pack", 2), ("unpack", 2)];
        let hit = |(operation, case)| Hit { case, ..found(operation, "byte").hit };
        let chosen = one_of_each(&hits.map(hit));
        let chosen: Vec<_> = chosen.iter().map(|hit| (hit.operation.name, hit.case)).collect();
        assert_eq!(chosen, [("pack", 1), ("send", 2)]);
    }

    #[test]
    fn a_finding_is_joined_with_a_more_general_one_and_with_other_operations() {
        let special = found("pack", "vector(2, 1, -1, int16)");
        let general = found("pack", "vector(2, 1, -1, byte)");
        let of_send = found("send", "vector(2, 1, -1, byte)");
        let other = found("send", "subarray([4], [2], [1], c, byte)");
        let joined = join(vec![special, other, of_send, general]);
        let names: Vec<(&str, usize, usize)> = joined
            .iter()
            .map(|finding| (finding.hit.operation.name, finding.hits, finding.other_operations().len()))
            .collect();
        assert_eq!(names, [("send", 6, 1), ("send", 2, 0)]);
    }

    #[test]
    fn findings_are_joined_by_the_part_of_an_mpi_and_by_places() {
        let of = |operation: &str, kind, detail: &str, layout: &str| {
            let fault = Fault::new(0, operation, kind, detail.to_owned());
            let case = Case::of(0, layout.to_owned(), 1, true);
            finding(Hit::of(&fault, &layout.parse().unwrap(), &case).unwrap(), Vec::new(), true)
        };
        use FaultKind::{Crash, WrongData, WrongValue};
        let in_front = "hindexed([2, 2], [-7, 5], float)";
        let pairs = [
            (
                of("gather", Crash, "", "struct([2], [-3], [byte])"),
                of("alltoall", WrongData, "", in_front),
                true,
            ),
            (of("gather", Crash, "", "struct([2], [0], [byte])"), of("gather", Crash, "", in_front), false),
            (
                of("gather", Crash, "", "struct([2], [-3], [byte])"),
                of("file_view", Crash, "", in_front),
                false,
            ),
            (
                of("partitioned", WrongData, "", in_front),
                of("partitioned", Crash, "", "resized(0, 6, byte)"),
                true,
            ),
            (
                of("bounds", WrongValue, "MPI_Type_size gives", in_front),
                of("bounds", WrongValue, "MPI_Type_get_extent gives", in_front),
                false,
            ),
            (
                of("equivalent", WrongValue, "as byte: MPI_Type_get_extent gives", "byte"),
                of("bounds", WrongValue, "MPI_Type_get_extent gives", in_front),
                true,
            ),
        ];
        for (one, other, are_similar) in pairs {
            assert_eq!(one.is_similar(&other), are_similar, "{:?} {:?}", one.hit, other.hit);
        }
    }
}
