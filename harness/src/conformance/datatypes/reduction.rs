//! From hits to findings: one hit of each operation and kind is shrunk, and all hits of the same class are left out; then the next.
//!
//! A shrinker only accepts layouts with the same operation and kind of fault, and without features that the
//! hit lacks, so that it does not slide from one fault into another.

use std::collections::BTreeSet;
use std::iter;
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
    earlier: &[Finding],
    deadline: Instant,
) -> Result<Reduced, MpiError> {
    let Campaign { hits: mut left, processes, .. } = campaign;
    left.retain(|hit| !earlier.iter().any(|finding| explains(finding, hit)));
    left.sort_by_key(Hit::size);
    let all = left.clone();
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
    if !reduced.is_stopped {
        let whole = with_other_operations(worker, operations, rest);
        found = unless_stopped(whole, &mut reduced.is_stopped)?.unwrap_or(found);
    }
    reduced.findings.extend(found.into_iter().map(|finding| {
        let is_like =
            |other: &&Hit| other.operation == finding.hit.operation && other.kind == finding.hit.kind;
        Finding { hits: left.iter().filter(is_like).count(), ..finding }
    }));
    if worker.baseline.is_none() {
        list_unexplained(&mut reduced, &all);
    }
    Ok(reduced)
}

/// Lists hits that no finding explains with one of their operation or case, so that a later search knows them: shrunk ones may be of
/// another class.
fn list_unexplained(reduced: &mut Reduced, all: &[Hit]) {
    for hit in all {
        let is_listed = |finding: &Finding| is_same(&finding.hit, hit) || explains(finding, hit);
        let mut listed =
            reduced.findings.iter().flat_map(|finding| iter::once(finding).chain(&finding.similar));
        if listed.any(is_listed) || reduced.once.iter().any(|once| is_same(once, hit)) {
            continue;
        }
        let is_of_case = |other: &Hit| other.case == hit.case && other.kind == hit.kind;
        let is_one = |finding: &&mut Finding| finding.has_fault(hit) || is_of_case(&finding.hit);
        if let Some(finding) = reduced.findings.iter_mut().rev().find(is_one) {
            finding.similar.push(Finding { is_complete: false, ..Finding::new(hit.clone()) });
        }
    }
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
    let mut all: Vec<&mut Hit> = together.iter_mut().collect();
    // The rest is for other operations on the shrunk layouts, and for later waves.
    let now = Instant::now();
    let half = now + deadline.saturating_duration_since(now) / 2;
    shrink(worker, &mut all, &layouts, (MOST_ROUNDS, MOST_RESTARTS), half)?;
    together.sort_by_key(Hit::size);
    add(worker, operations, together, left, found)?;
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
            found.push(Finding { hits: 1, is_reproduced: false, is_complete: false, ..Finding::new(hit) });
        }
    }
    for finding in found.iter_mut() {
        let before = left.len();
        left.retain(|hit| !explains(finding, hit));
        finding.hits += before - left.len();
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
    finding.is_reproduced && (finding.crashes_as(hit) || is_variant())
}

/// Marks variants of known findings: their layouts also fail with the known operation, and the new operation
/// is right with the known layouts, so that it is not the operation that has changed.
pub fn mark_variants(worker: &mut Worker<'_>, findings: &mut [Finding]) -> Result<(), MpiError> {
    let known: Vec<Finding> = findings.iter().filter(|finding| finding.is_known).cloned().collect();
    let (mut trials, mut of) = (Vec::new(), Vec::new());
    for (number, new) in findings.iter().enumerate().filter(|(_, finding)| !finding.is_known) {
        if !known.iter().any(|known| known.is_cause_of(new)) {
            for known in known.iter().filter(|known| known.may_be_cause_of(new)) {
                trials.push(Hit { operation: new.hit.operation, ..known.hit.clone() });
                of.push((number, known.is_complete));
            }
        }
    }
    let Some(results) = whole(evaluate(worker, &trials, usize::MAX)?) else { return Ok(()) };
    for number in of.iter().map(|(number, _)| *number).collect::<BTreeSet<_>>() {
        let mut own = of.iter().zip(&results).filter(|((other, _), _)| *other == number);
        // An operation that is missing in an entry that is not complete may have been wrong.
        if own.all(|((_, is_complete), result)| result.is_none() || !is_complete) {
            findings[number].is_known = true;
            // Other operations may be wrong since today.
            findings[number].others.clear();
        }
    }
    Ok(())
}

/// Joins findings that probably have one cause. The simplest represents the others, or a known one. Known findings that were `right` when
/// they were tried again are fixed, unless they explain a finding: some occur at times. Returns those that are fixed, too.
pub fn join(mut findings: Vec<Finding>, right: &[Finding], has_baseline: bool) -> (Vec<Finding>, Vec<Hit>) {
    let mut is_fixed = vec![true; right.len()];
    // First, so that no new finding joins one that is known.
    for finding in findings.iter_mut().filter(|finding| !finding.is_known) {
        for (known, is_fixed) in right.iter().zip(&mut is_fixed) {
            // That a plain type is right refutes that the operation fails with all types.
            let is_plain = [&known.hit, &finding.hit].map(|hit| hit.layout.constructors() == 0);
            let is_again =
                explains(known, &finding.hit) || !finding.is_reproduced && known.is_cause_of(finding);
            if is_plain != [true, false] && is_again {
                (finding.is_known, *is_fixed) = (true, false);
                break;
            }
        }
    }
    findings.sort_by_key(|finding| (!finding.is_known, !finding.is_reproduced, finding.hit.size()));
    let mut joined: Vec<Finding> = Vec::new();
    for mut finding in findings {
        let by_cause = joined.iter().position(|other| other.is_cause_of(&finding));
        let by_change = || joined.iter().position(|other| has_baseline && other.is_of_one_change(&finding));
        let Some(same) = by_cause.or_else(by_change) else {
            joined.push(finding);
            continue;
        };
        let same = &mut joined[same];
        same.hits += finding.hits;
        let similar = std::mem::take(&mut finding.similar);
        same.similar.push(finding);
        same.similar.extend(similar);
    }
    let fixed = right.iter().zip(is_fixed).filter(|(_, is_fixed)| *is_fixed);
    (joined, fixed.map(|(known, _)| known.hit.clone()).collect())
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
    let new = hits.into_iter().filter(|hit| !found.iter().any(|finding| explains(finding, hit)));
    let new: Vec<_> = new.collect();
    for new in with_other_operations(worker, operations, new)? {
        if !found.iter().any(|finding| explains(finding, &new.hit)) {
            found.push(Finding { hits: 1, ..new });
        }
    }
    Ok(())
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
        let is_tried = |operation: &&&Operation| {
            **operation != hit.operation && (!operation.is_form || operation.base() == hit.operation.base())
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
mod tests {
    use super::*;

    fn found(operation: &str, layout: &str) -> Finding {
        Finding { hits: 2, ..Finding::new(Hit::fake(operation, FaultKind::Crash, layout)) }
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
    fn a_list_has_hits_of_another_class_than_what_they_were_shrunk_to() {
        let hit = |operation, layout, case| Hit { case, ..found(operation, layout).hit };
        let explained = hit("pack", "contiguous(2, vector(2, 1, 3, byte))", 1);
        let unlike = hit("pack", "resized(0, -2, byte)", 2);
        let of_case = hit("send", "struct([1, 0], [0, 0], [byte, byte])", 0);
        let once = hit("pack", "resized(0, 2, byte)", 3);
        let all = [explained, unlike.clone(), unlike, of_case, once.clone()];
        let findings = vec![found("pack", "vector(2, 1, 3, byte)")];
        let mut reduced = Reduced { findings, once: vec![once], ..Reduced::default() };
        list_unexplained(&mut reduced, &all);
        let listed: Vec<u64> = reduced.findings[0].similar.iter().map(|similar| similar.hit.case).collect();
        assert_eq!(listed, [2, 0]);
    }

    #[test]
    fn a_finding_is_joined_with_a_more_general_one_and_with_other_operations() {
        let special = found("pack", "vector(2, 1, -1, int16)");
        let general = found("pack", "vector(2, 1, -1, byte)");
        let of_send = found("send", "vector(2, 1, -1, byte)");
        let other = found("send", "contiguous(0, byte)");
        let (joined, _) = join(vec![special, other, of_send, general], &[], false);
        let names: Vec<(&str, usize, usize)> = joined
            .iter()
            .map(|finding| (finding.hit.operation.name, finding.hits, finding.other_operations().len()))
            .collect();
        assert_eq!(names, [("send", 2, 0), ("send", 6, 1)]);
    }

    #[test]
    fn since_a_baseline_findings_of_one_function_or_constructor_are_one() {
        let all = [
            ("pack", "struct([0, 1], [0, 0], [byte, byte])"),
            ("get", "hvector(2, 1, 9, struct([1, 1], [0, 0], [double, char]))"),
            ("gather", "resized(0, -2, byte)"),
            ("gather_sent", "indexed_block(1, [1], byte)"),
            ("life_cycle", "resized(0, -2, byte)"),
            ("life_cycle", "indexed_block(1, [1], byte)"),
        ];
        let all = all.map(|(operation, layout)| found(operation, layout));
        let numbers = |has_baseline| join(all.to_vec(), &[], has_baseline).0.len();
        assert_eq!([false, true].map(numbers), [6, 3]);
    }

    /// Whether a finding explains another one, if both are new, and if it is known.
    fn explain(one: (&str, FaultKind, &str, &str), other: (&str, FaultKind, &str, &str)) -> [bool; 2] {
        let of = |(operation, kind, detail, layout): (&str, FaultKind, &str, &str)| {
            let others = vec![(Operation::find("alltoall").unwrap(), FaultKind::WrongData)];
            let hit = Hit { detail: detail.to_owned(), ..Hit::fake(operation, kind, layout) };
            Finding { others, ..Finding::new(hit) }
        };
        let (new, other) = (of(one), of(other));
        let known = Finding { is_known: true, ..new.clone() };
        [new.is_cause_of(&other), known.is_cause_of(&other)]
    }

    #[test]
    fn a_known_finding_explains_only_operations_that_fail_with_its_layout() {
        use FaultKind::{Crash, Hang, WrongData};
        let (behind, in_front) = ("indexed_block(1, [1], byte)", "hindexed([2, 2], [-7, 5], float)");
        let known = ("gather", Crash, "", behind);
        for (operation, kind, layout, expected) in [
            // Its own operation, and another one that is listed.
            ("gather", WrongData, in_front, [true, true]),
            ("alltoall", Crash, in_front, [true, true]),
            // The same part of the MPI: of the same cause if both are new, but a regression if that was right.
            ("scatter", Crash, in_front, [true, false]),
            ("scatter", Crash, behind, [true, false]),
            // Other types, another way to fail, another part of the MPI.
            ("gather", Crash, "vector(2, 1, 3, byte)", [false, false]),
            ("gather", Hang, in_front, [false, false]),
            ("file_view", Crash, behind, [false, false]),
        ] {
            let found = explain(known, (operation, kind, "", layout));
            assert_eq!(found, expected, "{operation} {kind} {layout}");
        }
        // A plainer message, which only has a property that is often incidental.
        let has_more = ("gather", Crash, "", "struct([2, 0, 1], [-16, 0, -9], [double, byte, byte])");
        let plainer = ("gather", Crash, "", "struct([1, 1], [0, 0], [byte, byte])");
        assert_eq!(explain(has_more, plainer), [false; 2]);
        let assertion = "exit code 1: a.c:7: Assertion";
        let (place, other) = ("exit code 11: in libmpi.so+0x1f0", "exit code 11: in libmpi.so+0x2f0");
        let transposed = "hvector(5, 1, 8, vector(5, 1, 5, double))";
        for (known, new, expected) in [
            // The same place of a crash in the same part of the MPI, or the same assertion.
            (("gather", Crash, place, behind), ("scatter", Crash, place, "byte"), true),
            (("gather", Crash, place, behind), ("scatter", Crash, other, "byte"), false),
            (("gather", Crash, place, behind), ("pack", Crash, place, "byte"), false),
            (("gather", Crash, assertion, behind), ("pack", Crash, assertion, "byte"), true),
            // An operation that fails with any message, or with any that is scattered.
            (("gather", Crash, "", "int32"), ("gather", Crash, "", in_front), true),
            (("gather", Crash, "", "vector(2, 1, 3, byte)"), ("gather", Crash, "", transposed), true),
        ] {
            assert_eq!(explain(known, new), [expected; 2], "{known:?} {new:?}");
        }
        // A damaged heap is of one cause in a run, but a new operation that damages it may be a regression.
        let heap = "exit code 255: in a damaged heap";
        for (operation, expected) in [("gather", [true, true]), ("scatter", [true, false])] {
            assert_eq!(explain(("gather", Crash, heap, behind), (operation, Crash, heap, "byte")), expected);
        }
        // A fault that only occurs after others joins one of its part, whatever its type is.
        let late = Finding { is_reproduced: false, ..found("scatter", "vector(2, 1, 3, byte)") };
        let [same, other] = ["gather", "pack"].map(|name| Finding { is_known: true, ..found(name, behind) });
        assert!(same.is_cause_of(&late) && !other.is_cause_of(&late));
        // Layouts that are not shrunk may have properties that the fault does not need.
        let nested = "struct([1, 0], [0, 16], [double_complex, byte])";
        let (known, new) = (found("gather", nested), found("gather", "indexed([1, 0], [1, 0], byte)"));
        for (is_unfinished, expected) in [(false, false), (true, true)] {
            let hit = Hit { is_unfinished, ..known.hit.clone() };
            assert_eq!(Finding { hit, ..known.clone() }.is_cause_of(&new), expected);
        }
        // Two types of one operation that are not shrunk do not show different causes. A known one does not explain a new one so.
        let [own, other] = ["resized(0, -2, byte)", "vector(2, 1, 3, byte)"].map(|layout| {
            let Finding { hit, .. } = found("gather", layout);
            Finding::new(Hit { is_unfinished: true, kind: WrongData, ..hit })
        });
        assert!(own.is_cause_of(&other) && !Finding { is_known: true, ..own }.is_cause_of(&other));
        // One that is not shrunk cannot need what it lacks.
        let unfinished =
            Hit { is_unfinished: true, ..found("gather", "hindexed([2, 2], [7, 20], float)").hit };
        assert!(!found("gather", "resized(0, -2, byte)").is_cause_of(&Finding::new(unfinished)));
        // Its layout needs more than that of the other finding.
        let needs_more = ("gather", Crash, "", "resized(0, -2, byte)");
        assert_eq!(explain(needs_more, ("gather", Crash, "", behind)), [false, false]);
    }

    #[test]
    fn a_new_variant_does_not_join_others_to_its_known_cause() {
        let known = Finding { is_known: true, ..found("gather", "indexed_block(1, [1], byte)") };
        let variant = found("gather", "indexed_block(1, [2], byte)");
        let regression = found("scatter", "indexed_block(1, [2], byte)");
        let hurried = Finding { is_complete: false, ..known.clone() };
        assert!(!hurried.is_cause_of(&regression), "scatter was not tried, and may have been right");
        let (joined, _) = join(vec![regression, variant, known], &[], false);
        let of = |finding: &Finding| (finding.hit.operation.name, finding.is_known, finding.similar.len());
        assert_eq!(joined.iter().map(of).collect::<Vec<_>>(), [("gather", true, 1), ("scatter", false, 0)]);
    }

    #[test]
    fn a_variant_fails_with_the_known_operation_of_the_same_part_too() {
        let known = Finding { is_known: true, ..found("gather", "indexed_block(1, [1], byte)") };
        let fails_with = |operation, layout, other| {
            let others = vec![(Operation::find(other).unwrap(), FaultKind::WrongData)];
            Finding { others, ..found(operation, layout) }
        };
        let behind = "hindexed([1, 2], [9, 5], float)";
        for (operation, layout, other, expected) in [
            ("scatter", behind, "gather", true),
            ("scatter", behind, "alltoall", false),
            ("scatter", "vector(2, 1, 3, byte)", "gather", false),
            ("pack", behind, "gather", false),
        ] {
            let new = fails_with(operation, layout, other);
            assert!(!known.is_cause_of(&new));
            assert_eq!(known.may_be_cause_of(&new), expected, "{operation} {layout} {other}");
        }
        let known = Finding { is_known: true, ..found("pack", "indexed_block(1, [1], byte)") };
        assert!(known.may_be_cause_of(&fails_with("scatter", behind, "pack")));
        let known = Finding { is_known: true, ..found("bounds", "indexed_block(1, [1], byte)") };
        assert!(known.may_be_cause_of(&fails_with("file_view", behind, "bounds")));
    }

    #[test]
    fn a_known_finding_that_is_right_at_times_is_not_new_and_not_fixed_when_it_is_found_again() {
        let known = |operation, layout| Finding { is_known: true, ..found(operation, layout) };
        let right = [known("gather", "indexed_block(1, [1], byte)"), known("send", "resized(0, 0, byte)")];
        // Such a one is often not reproduced.
        let again = Finding { is_reproduced: false, ..found("gather", "indexed_block(1, [2], byte)") };
        let found = vec![again, found("scatter", "byte")];
        let (joined, fixed) = join(found, &right, false);
        let of = |finding: &Finding| (finding.hit.operation.name, finding.is_known);
        assert_eq!(joined.iter().map(of).collect::<Vec<_>>(), [("gather", true), ("scatter", false)]);
        assert_eq!(fixed.iter().map(|hit| hit.operation.name).collect::<Vec<_>>(), ["send"]);
        // Plain messages are right again, so that they do not explain others.
        let (joined, fixed) =
            join(vec![self::found("gather", "vector(2, 1, -1, byte)")], &[known("gather", "int32")], false);
        assert!(!joined[0].is_known && fixed.len() == 1);
    }

    #[test]
    fn wrong_bounds_are_of_one_cause_if_one_function_is_wrong_for_types_with_a_common_property() {
        let of = |operation, detail, layout| (operation, FaultKind::WrongValue, detail, layout);
        let (extent, size) = ("MPI_Type_get_extent gives", "MPI_Type_size gives");
        let mixed = of("bounds", extent, "struct([1, 1, 1], [2, 1, 0], [int16, byte, byte])");
        for (other, expected) in [
            (of("bounds", extent, "hindexed_block(1, [12, 7, 0], int32)"), true),
            (of("bounds", size, "hindexed_block(1, [12, 7, 0], int32)"), false),
            (of("bounds", extent, "hvector(2, 1, 3, byte)"), false),
        ] {
            assert_eq!(explain(mixed, other)[0], expected, "{other:?}");
        }
    }
}
