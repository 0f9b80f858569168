//! Which findings have one cause: variants of known ones, and those that are joined.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::time::Instant;

use common::conformance::{FaultKind, Operation};

use super::campaign::{Campaign, Coverage, Range};
use super::confirmation::confirm;
use super::finding::{Evidence, Finding, Hit};
use super::reduction::explains;
use super::trial::{evaluate, occurs_alone, whole};
use super::worker::Worker;
use crate::mpi::MpiError;

/// Marks variants of known findings: their layouts also fail with the known operation, and the new operation
/// is right with the known layouts, so that it is not the operation that has changed.
pub fn mark_variants(worker: &mut Worker<'_>, findings: &mut [Finding]) -> Result<(), MpiError> {
    let known: Vec<Finding> = findings.iter().filter(|finding| finding.is_known).cloned().collect();
    for new in findings.iter_mut().filter(|finding| !finding.is_known && finding.hit.place().is_some()) {
        if crashes_at_several_places(&known, new.hit.operation) {
            (new.is_known, new.others) = (true, Vec::new());
        }
    }
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

/// Marks new findings that the list may lack by chance: one type shows them, and no other of this range or their program does not, or they
/// occur after other cases only, and their program has not shown them.
pub fn mark_uncertain(worker: &mut Worker<'_>, found: &mut [Finding], range: &Range) -> Result<(), MpiError> {
    let known = found.iter().filter(|found| found.is_known);
    let known: Vec<_> = known.flat_map(|known| iter::once(known).chain(&known.similar)).cloned().collect();
    for new in found.iter_mut().filter(|found| !found.is_known) {
        // Shrinking may have taken the time to try a hit by itself, or to run its program. A hang would take too long now.
        let is_hang = new.hit.kind == FaultKind::Hang;
        if new.hit.is_unfinished && new.confirmation.shown().is_none() && !is_hang {
            worker.deadline = range.deadline;
            new.is_reproduced &= occurs_alone(worker, &new.hit)? != Some(false);
        }
        let matters = !new.is_reproduced || new.is_single();
        if matters && matches!(new.confirmation.evidence, Evidence::Unfinished(_)) && !is_hang {
            new.confirmation = confirm(worker, &new.hit, range.deadline)?;
        }
        new.is_uncertain = !new.is_reproduced && new.confirmation.shown().is_none();
        if new.is_uncertain || !new.is_single() {
            continue;
        }
        let all: Vec<Finding> = iter::once(&*new).chain(&new.similar).cloned().collect();
        let operations = all.iter().map(|own| (own.hit.operation.number(), own.hit.operation));
        let operations: Vec<_> = operations.collect::<BTreeMap<_, _>>().into_values().collect();
        let mut campaign = Campaign::default();
        campaign.run(worker, &operations, range, &known)?;
        if campaign.is_stopped {
            return Err(MpiError::Interrupted);
        }
        for hit in campaign.hits {
            let again = Finding { is_reproduced: new.is_reproduced, ..Finding::new(hit) };
            let is_known = known.iter().any(|known| known.is_cause_of(&again));
            if all.iter().any(|own| explains(own, &again.hit) || own.is_cause_of(&again) && !is_known) {
                new.cases.extend(again.cases);
            }
        }
        let is_over = range.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let was_tried = !is_over && is_tried(&campaign.coverage, new.hit.operation, range.cases);
        let is_refuted = matches!(new.confirmation.evidence, Evidence::NotShown(_));
        new.is_uncertain = new.is_single() && (was_tried || is_refuted);
    }
    Ok(())
}

/// Whether an operation was tried on most of the cases: after crashes it is left out.
fn is_tried(coverage: &Coverage, operation: &Operation, cases: u64) -> bool {
    coverage.left_out.get(operation.name).is_none_or(|left_out| left_out * 2 < cases)
}

/// Whether the function of an operation is known to crash at several places: damaged memory ends it anywhere, with any layout.
fn crashes_at_several_places(known: &[Finding], operation: &Operation) -> bool {
    let listed = known.iter().flat_map(|finding| iter::once(finding).chain(&finding.similar));
    let is_own = |of: &Operation| of == operation || of.call.is_some() && of.call == operation.call;
    let own = listed.filter(|finding| is_own(finding.hit.operation));
    own.filter_map(|finding| finding.hit.place()).collect::<BTreeSet<_>>().len() > 1
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
            let is_again = explains(known, &finding.hit)
                || !finding.is_reproduced && known.is_cause_by_layout_of(finding);
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
        let by_part = || joined.iter().position(|other| other.is_probably_same(&finding));
        let by_change = || joined.iter().position(|other| has_baseline && other.is_of_one_change(&finding));
        let Some(same) = by_cause.or_else(by_part).or_else(by_change) else {
            joined.push(finding);
            continue;
        };
        let same = &mut joined[same];
        same.cases.append(&mut finding.cases);
        let similar = std::mem::take(&mut finding.similar);
        same.similar.push(finding);
        same.similar.extend(similar);
    }
    let fixed = right.iter().zip(is_fixed).filter(|(_, is_fixed)| *is_fixed);
    (joined, fixed.map(|(known, _)| known.hit.clone()).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use common::conformance::{FIRST_FIXED, Fault, FaultKind};

    use super::super::confirmation::tests::in_batch;
    use super::super::finding::Confirmation;
    use super::super::reduction::tests::found;
    use super::*;
    use crate::conformance::Conditions;

    #[test]
    fn a_finding_that_no_other_type_shows_is_uncertain() {
        let folder = tempfile::tempdir().unwrap();
        let Hit { operation, kind, .. } = found("pack", "byte").hit;
        let fault = serde_json::to_string(&Fault::new(405, operation, kind, String::new())).unwrap();
        let with = |evidence, cases: &[u64]| {
            let confirmation = Confirmation { evidence, ..Confirmation::default() };
            Finding { cases: cases.iter().copied().collect(), confirmation, ..found("pack", "byte") }
        };
        let end = Cell::new(None);
        let of = |cases: &[u64]| with(Evidence::Shown(String::new()), cases);
        let is_uncertain = |new: Finding, commands: &str| {
            let target = in_batch(folder.path(), commands);
            let mut worker = Worker::new(Conditions::on_host(&target, 5.0), 2).unwrap();
            let range = Range { first: 400, cases: 10, deadline: end.get(), ..Range::default() };
            let mut findings = [new];
            mark_uncertain(&mut worker, &mut findings, &range).unwrap();
            findings[0].is_uncertain
        };
        let (done, again) = (":", format!("echo '{fault}' > {}", Fault::file(0)));
        assert!(is_uncertain(of(&[3]), done) && !is_uncertain(of(&[3]), &again));
        // Each fixed type is tried at both ends of the memory.
        let [one, two] = [[4, 5], [5, 6]].map(|cases| of(&cases.map(|case| FIRST_FIXED + case)));
        assert!(is_uncertain(one, done) && !is_uncertain(two, done) && !is_uncertain(of(&[3, 4]), done));
        // It does not occur by itself, and its program, which was not run before, does not show it.
        let hit = Hit { case: 405, is_unfinished: true, ..of(&[3]).hit };
        let untried = Finding { hit, ..with(Evidence::Unfinished(String::new()), &[3, 4]) };
        assert!(is_uncertain(untried.clone(), done) && !is_uncertain(untried, &again));
        let late = |evidence| Finding { is_reproduced: false, ..with(evidence, &[3, 4]) };
        assert!(!is_uncertain(late(Evidence::Shown(String::new())), done));
        assert!(is_uncertain(late(Evidence::Untried), done));
        end.set(Some(Instant::now()));
        let untried = is_uncertain(with(Evidence::Untried, &[3]), done);
        assert!(!untried && is_uncertain(with(Evidence::NotShown(String::new()), &[3]), done));
        let left_out = |cases| Coverage { left_out: [("pack", cases)].into(), ..Coverage::default() };
        assert!(is_tried(&left_out(4), operation, 10) && !is_tried(&left_out(5), operation, 10));
    }

    #[test]
    fn a_function_that_crashes_at_two_places_crashes_with_any_layout() {
        let at = |place| {
            let crash = found("pack", "byte");
            Finding { hit: Hit { detail: format!("exit code 11: in {place}"), ..crash.hit }, ..crash }
        };
        let crashes = |places: [_; 2], operation| {
            crashes_at_several_places(&places.map(at), Operation::find(operation).unwrap())
        };
        assert!(
            crashes(["a", "b"], "pack") && crashes(["a", "b"], "pack_items") && !crashes(["a", "a"], "pack")
        );
        assert!(!crashes(["a", "b"], "send"));
        // Any operation may crash there.
        let put = |place| Finding {
            hit: Hit { operation: found("put", "byte").hit.operation, ..at(place).hit },
            ..at(place)
        };
        assert_eq!(["a", "b"].map(|place| join(vec![at("a"), put(place)], &[], false).0.len()), [1, 2]);
    }

    #[test]
    fn a_finding_is_joined_with_a_more_general_one_and_with_other_operations() {
        let special = found("pack", "vector(2, 1, -1, int16)");
        let general = found("pack", "vector(2, 1, -1, byte)");
        let of_send = found("send", "vector(2, 1, -1, byte)");
        let other = found("send", "contiguous(0, byte)");
        let mut all = vec![special, other, of_send, general];
        all.iter_mut().zip(0..).for_each(|(finding, case)| finding.cases = BTreeSet::from([case]));
        let (joined, _) = join(all, &[], false);
        let names: Vec<_> = joined
            .iter()
            .map(|finding| {
                (finding.hit.operation.name, finding.cases.len(), finding.other_operations().len())
            })
            .collect();
        assert_eq!(names, [("send", 1, 0), ("send", 3, 1)]);
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
        let findings = all.map(|(operation, layout)| found(operation, layout));
        let numbers = |has_baseline| join(findings.to_vec(), &[], has_baseline).0.len();
        assert_eq!([false, true].map(numbers), [6, 3]);
        // So are new ones of a small part of an MPI, of one message with three constructors, or of one function.
        let of = |(is_known, operations, layouts): (bool, [&str; 2], [&str; 2])| {
            let [mut one, other] = [0, 1].map(|i| found(operations[i], layouts[i]));
            one.is_known = is_known;
            join(vec![one, other], &[], false).0.len()
        };
        let (two, deep) = ([all[2].1, all[3].1], ["resized(0, 9, resized(0, 9, resized(0, 9, byte)))"; 2]);
        let [small, other, unlike] = [["accumulate"; 2], ["gather"; 2], ["pack_behind", "get"]];
        let pairs = [(false, small, two), (true, small, two), (false, other, two), (false, unlike, deep)];
        assert_eq!(pairs.map(of), [1, 2, 2, 1]);
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
        let [grid, call] = ["neighbor_alltoall_torus", "neighbor_alltoall"].map(|of| (of, Crash, "", behind));
        assert!(explain(call, grid)[1] && !explain(grid, call)[1], "a call is known on all topologies");
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
        // Offsets of more than 32 bits, whatever the operation on a window is.
        let far = ["hindexed_block(1, [0, 4294967312], int8)", "hvector(2, 1, 4294967292, int32)"];
        assert_eq!(explain(("put", Hang, "", far[0]), ("accumulate", Hang, "", far[1])), [true; 2]);
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
