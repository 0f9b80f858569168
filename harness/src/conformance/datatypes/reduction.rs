//! From hits to findings: one hit of each operation and kind is shrunk, and all hits of the same class are left out; then the next.
//!
//! A shrinker only accepts layouts with the same operation and kind of fault, and without features that the
//! hit lacks, so that it does not slide from one fault into another.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

use common::conformance::{Case, FaultKind, Operation};
use datatypes::{Construction, Layout};

use super::baseline::is_always_new;
use super::campaign::Campaign;
use super::corpus::corpus;
use super::finding::{Finding, Hit};
use super::trial::{Outcome, evaluate, occurs_again, occurs_alone, whole};
use super::worker::{HURRY, Worker, unless_stopped};
use crate::mpi::MpiError;

/// Candidates of a hit that one process tries.
const MOST_CANDIDATES: usize = 150;

/// Rounds of shrinking: each takes a process, and for hangs a short limit of silence.
const MOST_ROUNDS: usize = 60;
const MOST_ROUNDS_OF_HANGS: usize = 20;

/// How often a new process goes on after a crash while the candidates of other faults are tried.
const MOST_RESTARTS: usize = 3;
/// The same while other operations are tried on a shrunk layout: many may fail, and shrinking each would take more processes.
const MOST_RESTARTS_OF_OTHERS: usize = 20;

/// Layouts of each operation and kind that are shrunk; more hits are kept as they are.
const MOST_WAVES: usize = 12;

/// Findings, and whether the user has stopped.
#[derive(Debug, Default)]
pub struct Reduced {
    pub findings: Vec<Finding>,
    /// Hits that do not occur again, neither by themselves nor with their operation on the cases before them.
    pub once: Vec<Hit>,
    pub is_stopped: bool,
}

/// Shrinks hits that `earlier` findings do not explain. Those that are left when the time is over, or when
/// the user stops, become findings as they are.
pub fn reduce(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    campaign: Campaign,
    earlier: &mut [Finding],
    deadline: Instant,
) -> Result<Reduced, MpiError> {
    let Campaign { hits: mut left, processes, .. } = campaign;
    left.retain(|hit| !has_taken(earlier, hit));
    left.sort_by_key(Hit::size);
    let (all, begun) = (left.clone(), Instant::now());
    let mut reduced = Reduced::default();
    for _ in 0..MOST_WAVES {
        if left.is_empty() || Instant::now() >= deadline {
            break;
        }
        let ended = wave(worker, operations, (&mut left, &processes), earlier, &mut reduced, deadline);
        if unless_stopped(ended, &mut reduced.is_stopped)?.is_none() {
            break;
        }
    }
    let mut rest = one_of_each(&left);
    if worker.baseline.is_some() && !reduced.is_stopped {
        // A hit that depends on the cases before it may do so with the baseline, too.
        let outcomes = evaluate(worker, &rest, usize::MAX);
        if let Some(outcomes) = unless_stopped(outcomes, &mut reduced.is_stopped)? {
            let mut are_right = outcomes.iter().map(|outcome| matches!(outcome, Outcome::Right));
            rest.retain(|_| are_right.next() == Some(false));
        }
    }
    let unfinished = rest.iter().map(|hit| Finding { is_complete: false, ..Finding::new(hit.clone()) });
    let mut found: Vec<Finding> = unfinished.collect();
    let is_listed = worker.baseline.is_none() && !operations.is_empty() && !reduced.is_stopped;
    let unlike = if is_listed { unexplained(&reduced, &found, &all) } else { Vec::new() };
    // Shrinking has often taken all the time. Another hit of the process may have damaged memory.
    let usual = worker.deadline;
    worker.deadline = usual.map(|usual| usual.max(Instant::now() + begun.elapsed() / 4));
    let again = unless_stopped(evaluate(worker, &unlike, usize::MAX), &mut reduced.is_stopped)?;
    let mut listed = Vec::new();
    for (hit, outcome) in unlike.into_iter().zip(again.unwrap_or_default()) {
        let is_again = outcome.hit().is_some_and(|again| again.kind.is_like(hit.kind))
            && unless_stopped(occurs_alone(worker, &hit), &mut reduced.is_stopped)? != Some(Some(false));
        listed.extend(is_again.then_some(hit));
    }
    worker.deadline = usual;
    if !reduced.is_stopped {
        let whole = with_other_operations(worker, operations, rest);
        found = unless_stopped(whole, &mut reduced.is_stopped)?.unwrap_or(found);
    }
    reduced.findings.extend(found.into_iter().map(|finding| {
        let is_like = |hit: &&Hit| hit.operation == finding.hit.operation && hit.kind == finding.hit.kind;
        Finding { cases: left.iter().filter(is_like).map(|hit| hit.case).collect(), ..finding }
    }));
    // Those that occur again are listed with one of their operation or case.
    for hit in listed {
        let is_of_case = |other: &Hit| other.case == hit.case && other.kind == hit.kind;
        let is_one = |of: &&mut Finding| of.is_reproduced && (of.has_fault(&hit) || is_of_case(&of.hit));
        if let Some(finding) = reduced.findings.iter_mut().rev().find(is_one) {
            finding.cases.insert(hit.case);
            finding.similar.push(Finding { is_complete: false, ..Finding::new(hit) });
        }
    }
    Ok(reduced)
}

/// One hit of each class that no finding explains: many are of another class than what they were shrunk to.
fn unexplained(reduced: &Reduced, found: &[Finding], all: &[Hit]) -> Vec<Hit> {
    let mut chosen: Vec<Finding> = Vec::new();
    for hit in all {
        let is_listed = |finding: &Finding| is_same(&finding.hit, hit) || explains(finding, hit);
        let is_once = reduced.once.iter().any(|once| is_same(once, hit));
        if !is_once && !reduced.findings.iter().chain(found).chain(&chosen).any(is_listed) {
            chosen.push(Finding::new(hit.clone()));
        }
    }
    chosen.into_iter().map(|finding| finding.hit).collect()
}

/// Shrinks one hit of each operation and kind, and takes those that it explains from the list.
fn wave(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    (left, processes): (&mut Vec<Hit>, &[(usize, Vec<Case>)]),
    earlier: &[Finding],
    reduced: &mut Reduced,
    deadline: Instant,
) -> Result<(), MpiError> {
    let found = &mut reduced.findings;
    let chosen = one_of_each(left);
    let Some(repeated) = whole(evaluate(worker, &chosen, usize::MAX)?) else { return Ok(()) };
    let (mut reproduced, mut others) = (Vec::new(), Vec::new());
    for (hit, repeated) in chosen.into_iter().zip(repeated) {
        match repeated {
            Some(again) if again.kind.is_like(hit.kind) => reproduced.push(again),
            _ => others.push(hit),
        }
    }
    let (mut together, alone): (Vec<Hit>, Vec<Hit>) =
        reproduced.into_iter().partition(|hit| !hit.kind.ends_process());
    let layouts = known_layouts(earlier.iter().chain(found.iter()));
    let originals = together.clone();
    let mut all: Vec<&mut Hit> = together.iter_mut().collect();
    // The rest is for other operations on the shrunk layouts, and for later waves.
    let now = Instant::now();
    let half = now + deadline.saturating_duration_since(now) / 2;
    shrink(worker, &mut all, &layouts, (MOST_ROUNDS, MOST_RESTARTS), half)?;
    // Another operation of these processes may have damaged memory.
    let mut occurs = |hit: &Hit| -> Result<bool, MpiError> {
        Ok(Instant::now() >= deadline || occurs_alone(worker, hit)? != Some(false))
    };
    let mut lasting = Vec::new();
    for (original, shrunk) in originals.into_iter().zip(together) {
        if occurs(&shrunk)? {
            lasting.push(shrunk);
        } else if occurs(&original)? {
            lasting.push(original);
        } else {
            others.push(original);
        }
    }
    lasting.sort_by_key(Hit::size);
    add(worker, operations, lasting, left, found)?;
    // Each round takes a process, so that none is shrunk that the findings before it explain.
    for mut hit in alone {
        let is_new = !found.iter().any(|finding| explains(finding, &hit));
        let layouts = known_layouts(earlier.iter().chain(found.iter()));
        // Another operation of the process may have damaged memory.
        if is_new && hit.kind == FaultKind::Crash && occurs_alone(worker, &hit)? == Some(false) {
            others.push(hit);
            continue;
        }
        if hit.kind != FaultKind::Hang {
            if is_new {
                shrink(worker, &mut [&mut hit], &layouts, (MOST_ROUNDS, 0), deadline)?;
            }
            add(worker, operations, vec![hit], left, found)?;
            continue;
        }
        if is_new {
            let mut short = hit.clone();
            let limits = (MOST_ROUNDS_OF_HANGS, 0);
            worker.hurried(HURRY, |worker| shrink(worker, &mut [&mut short], &layouts, limits, deadline))?;
            let again = evaluate(worker, &[short.clone()], 0)?.swap_remove(0).hit();
            hit = again.filter(|again| again.kind == hit.kind).map_or(hit, |_| short);
        }
        let before = found.len();
        worker.hurried(HURRY, |worker| add(worker, operations, vec![hit], left, found))?;
        // A slow operation may have counted as one that hangs.
        for Finding { others, is_complete, .. } in &mut found[before..] {
            *is_complete &= !others.iter().any(|(_, kind)| *kind == FaultKind::Hang);
            others.retain(|(_, kind)| *kind != FaultKind::Hang);
        }
    }
    // These depend on what happened in the process before; others of their kind may not.
    for hit in others {
        left.retain(|other| !is_same(other, &hit));
        if left.iter().any(|other| other.operation == hit.operation && other.kind == hit.kind) {
            continue;
        }
        if occurs_again(worker, processes, &hit)? == Some(false) {
            reduced.once.push(hit);
            continue;
        }
        if is_always_new(worker, processes, &hit)? == Some(true) {
            found.push(Finding { is_reproduced: false, is_complete: false, ..Finding::new(hit) });
        }
    }
    for finding in found.iter_mut() {
        let explained: Vec<_> = left.extract_if(.., |hit| explains(finding, hit)).collect();
        finding.cases.extend(explained.iter().map(|hit| hit.case));
    }
    Ok(())
}

/// The layouts of findings, then those of the corpus, in ascending order.
fn known_layouts<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<(Layout, u32)> {
    let mut all: Vec<_> = findings.map(|finding| (finding.hit.layout.clone(), finding.hit.items)).collect();
    all.extend(corpus());
    all.sort_by_key(|(layout, items)| (layout.constructors(), layout.to_text(), *items));
    all.dedup();
    all
}

pub fn explains(finding: &Finding, hit: &Hit) -> bool {
    let is_variant = || finding.has_fault(hit) && hit.is_like(&finding.hit);
    let is_similar = || finding.similar.iter().any(|of| of.hit.is_unfinished && explains(of, hit));
    finding.is_reproduced && (finding.crashes_as(hit) || is_variant() || is_similar())
}

/// Adds shrunk hits to the findings, without those that the others explain.
fn add(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    hits: Vec<Hit>,
    left: &mut Vec<Hit>,
    found: &mut Vec<Finding>,
) -> Result<(), MpiError> {
    // A layout may be in a class other than that of the shrunk one.
    left.retain(|other| !hits.iter().any(|hit| (other.case, other.operation) == (hit.case, hit.operation)));
    let mut new = hits;
    new.retain(|hit| !has_taken(found, hit));
    for new in with_other_operations(worker, operations, new)? {
        if !has_taken(found, &new.hit) {
            found.push(new);
        }
    }
    Ok(())
}

/// Adds the case of a hit to the finding that explains it, if there is one.
fn has_taken(found: &mut [Finding], hit: &Hit) -> bool {
    found.iter_mut().find(|of| explains(of, hit)).map(|of| of.cases.insert(hit.case)).is_some()
}

fn is_same(hit: &Hit, other: &Hit) -> bool {
    hit.case == other.case && hit.operation == other.operation && hit.layout == other.layout
}

/// The first hit of each operation and kind. Several operations that fail in the same way on the same case
/// probably have one cause, so that one of them is enough.
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
    layouts: &[(Layout, u32)],
    (rounds, restarts): (usize, usize),
    deadline: Instant,
) -> Result<(), MpiError> {
    let mut is_final = vec![false; hits.len()];
    for round in 0..rounds {
        let mut trials = Vec::new();
        let mut ranges = Vec::new();
        for (hit, is_final) in hits.iter().zip(&is_final) {
            let start = trials.len();
            if !is_final {
                trials.extend(if round == 0 { shortcuts(hit, layouts) } else { Vec::new() });
                trials.extend(simpler(hit));
            }
            ranges.push(start..trials.len());
        }
        if trials.is_empty() || Instant::now() >= deadline {
            break;
        }
        let outcomes = evaluate(worker, &trials, restarts)?;
        let is_tried = |range: &Range<usize>| {
            !outcomes[range.clone()].iter().any(|outcome| matches!(outcome, Outcome::NotReached))
        };
        let are_tried: Vec<bool> = ranges.iter().map(is_tried).collect();
        let Some(mut results) = whole(outcomes) else { break };
        for (((hit, range), is_tried), is_final) in
            hits.iter_mut().zip(ranges).zip(are_tried).zip(&mut is_final)
        {
            let next = results[range]
                .iter_mut()
                .find(|next| next.as_ref().is_some_and(|next| next.kind == hit.kind));
            match next.and_then(Option::take) {
                Some(next) => **hit = next,
                None => {
                    hit.is_unfinished &= !is_tried;
                    *is_final = true;
                }
            }
        }
    }
    Ok(())
}

/// Trials of other layouts that have no feature that the hit lacks, the simplest first: those of earlier findings and of the corpus. Hits
/// with one cause get the same layout, and a process that is slow to start takes fewer rounds.
fn shortcuts(hit: &Hit, layouts: &[(Layout, u32)]) -> Vec<Hit> {
    let features = hit.layout.all_features();
    let size = |layout: &Layout| (layout.constructors(), layout.to_text().len());
    let is_simpler = |(layout, items): &&(Layout, u32)| {
        size(layout) < size(&hit.layout)
            && *items <= hit.items
            && (layout.size() == 0) == (hit.layout.size() == 0)
            && layout.all_features().is_subset(&features)
    };
    let trial =
        |(layout, items): &(Layout, u32)| Hit { layout: layout.clone(), items: *items, ..hit.clone() };
    layouts.iter().filter(is_simpler).map(trial).collect()
}

/// Simpler trials than a hit, the simplest first.
fn simpler(hit: &Hit) -> Vec<Hit> {
    let items = [1, 2, hit.items / 2, hit.items.saturating_sub(1)];
    let fewer = items.into_iter().filter(|items| (1..hit.items).contains(items));
    let fewer = fewer.map(|items| Hit { items, ..hit.clone() });
    let usual = Hit { construction: Construction::Usual, ..hit.clone() };
    let fewer = (!hit.construction.is_usual()).then_some(usual).into_iter().chain(fewer);
    let layouts = hit.layout.simpler().into_iter().take(MOST_CANDIDATES);
    fewer.chain(layouts.map(|layout| Hit { layout, ..hit.clone() })).collect()
}

/// Tries all operations on the layout of each hit.
fn with_other_operations(
    worker: &mut Worker<'_>,
    operations: &[&'static Operation],
    hits: Vec<Hit>,
) -> Result<Vec<Finding>, MpiError> {
    let (mut trials, mut of) = (Vec::new(), Vec::new());
    for (number, hit) in hits.iter().enumerate() {
        // Other forms of other operations would take most of the time.
        let is_tried = |other: &&&Operation| {
            **other != hit.operation && (!other.is_form || other.section() == hit.operation.section())
        };
        let others = operations.iter().filter(is_tried);
        trials.extend(others.map(|operation| Hit { operation, ..hit.clone() }));
        of.resize(trials.len(), number);
    }
    let outcomes = evaluate(worker, &trials, MOST_RESTARTS_OF_OTHERS * hits.len())?;
    let mut found: Vec<_> = hits.into_iter().map(Finding::new).collect();
    for (number, outcome) in of.into_iter().zip(outcomes) {
        found[number].is_complete &= !matches!(outcome, Outcome::NotReached | Outcome::Untried);
        found[number].others.extend(outcome.hit().map(|hit| (hit.operation, hit.kind)));
    }
    Ok(found)
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use common::conformance::{Batch, Fault};

    use super::super::confirmation::tests::in_batch;
    use super::*;
    use crate::conformance::Conditions;

    pub fn found(operation: &str, layout: &str) -> Finding {
        Finding::new(Hit::fake(operation, FaultKind::Crash, layout))
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
    fn a_hit_that_only_occurs_after_another_operation_is_no_finding() {
        let folder = tempfile::tempdir().unwrap();
        let kind = FaultKind::WrongData;
        let hits = [("pack", 0), ("send_to_self", 1)].map(|(operation, case)| Hit {
            case,
            kind,
            ..found(operation, "byte").hit
        });
        let fault =
            |hit: &Hit| serde_json::to_string(&Fault::new(hit.case, hit.operation, kind, String::new()));
        let reduced = |condition: &str| {
            let [one, other] = hits.each_ref().map(|hit| fault(hit).unwrap());
            let commands = format!("{condition} printf '%s\n' '{one}' '{other}' > {}", Fault::file(0));
            let target = in_batch(folder.path(), &commands);
            let mut worker = Worker::new(Conditions::on_host(&target, 5.0), 2).unwrap();
            let mut campaign = Campaign::default();
            campaign.hits.extend(hits.clone());
            let end = Instant::now() + Duration::from_secs(60);
            let reduced = reduce(&mut worker, &[], campaign, &mut [], end).unwrap();
            (reduced.findings.len(), reduced.once.len())
        };
        let both = format!("grep -q '\"pack\".*\"send_to_self\"' {} &&", Batch::FILE);
        assert_eq!([reduced(""), reduced(&both)], [(2, 0), (0, 2)]);
    }

    #[test]
    fn a_list_has_hits_of_another_class_than_what_they_were_shrunk_to() {
        let hit = |operation, layout, case| Hit { case, ..found(operation, layout).hit };
        let explained = hit("pack", "contiguous(2, vector(2, 1, 3, byte))", 1);
        let unlike = hit("pack", "resized(0, -2, byte)", 2);
        let of_case = hit("send", "struct([1, 0], [0, 0], [byte, byte])", 0);
        let once = hit("pack", "resized(0, 2, byte)", 3);
        let all = [explained, unlike.clone(), unlike, of_case, once.clone()];
        let findings = vec![found("pack", "vector(2, 1, 3, byte)")];
        let reduced = Reduced { findings, once: vec![once], ..Reduced::default() };
        let chosen: Vec<u64> = unexplained(&reduced, &[], &all).iter().map(|hit| hit.case).collect();
        assert_eq!(chosen, [2, 0]);
        let finding = &reduced.findings[0];
        let similar = vec![Finding::new(Hit { is_unfinished: true, ..all[1].clone() })];
        assert!(explains(&Finding { similar, ..finding.clone() }, &all[1]) && !explains(finding, &all[1]));
    }
}
