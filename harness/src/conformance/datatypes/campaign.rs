//! A campaign: generated cases, tried in batches until their number or the time is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use common::conformance::{Case, FIRST_FIXED, FaultKind, Need, OPERATIONS, Operation};
use datatypes::unusual::{far_layout, long_layout, unusual_layout};
use datatypes::{Construction, Equivalent, Layout};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::finding::{Finding, Hit};
use super::properties::LONG_BYTES;
use super::worker::{Worker, unless_stopped};
use crate::mpi::MpiError;

/// Cases of a batch: few at first, while many processes crash, and more later, since starting a process takes up to a second.
const FIRST_BATCH: usize = 400;
const BATCH: usize = 2000;

/// After so many crashes, or one hang, of an operation on the same outermost constructor, these are left out:
/// otherwise they would take all the time.
const MOST_CRASHES: u32 = 2;

/// The same for an operation, or all its forms, on any constructor: each costs up to 1.5 s, which 50 cases take. A long
/// campaign can afford more.
const MOST_CRASHES_OF_OPERATION: u64 = 4;
const CASES_PER_CRASH: u64 = 1000;

/// After so many crashes of a case, its other operations are left out: they crash too.
const MOST_CRASHES_OF_CASE: u32 = 2;

/// Classes of cases that fail in the same way with any constructor: types without data, and messages that an MPI sends in fragments.
const WITHOUT_DATA: &str = "types without data";
const LONG: &str = "long messages";

/// Layouts with more runs stay as they are: their lists of blocks would take most of the time.
const MOST_RUNS_TO_REWRITE: usize = 2000;

/// The cases of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Range {
    /// Layouts with numbers of items, which come first.
    pub fixed: Vec<(Layout, u32)>,
    /// Makes the random cases; the same seed gives the same cases.
    pub seed: u64,
    /// The number of the first random case.
    pub first: u64,
    /// Random cases.
    pub cases: u64,
    /// When to stop.
    pub deadline: Option<Instant>,
}

impl Range {
    /// All cases in their order.
    fn cases(&self) -> impl Iterator<Item = Case> {
        // Each at both ends of the memory.
        let both = self.fixed.iter().flat_map(|fixed| [(fixed, false), (fixed, true)]);
        let fixed = both.zip(FIRST_FIXED..).map(|(((layout, items), at_end), number)| Case {
            // Without random ones all operations are tried on them.
            is_generated: self.cases > 0,
            ..Case::with_layout(number, layout.clone(), *items, at_end)
        });
        fixed.chain((self.first..self.first + self.cases).map(|number| case(self.seed, number)))
    }
}

/// How often something was tried.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases.
    pub cases: u64,
    /// Each operation, in the order of [`OPERATIONS`].
    pub operations: Vec<u64>,
    /// In how many cases operations were left out after crashes or a hang.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Time without shrinking.
    pub time: Duration,
}

/// The hits of a campaign.
#[derive(Debug, Default)]
pub struct Campaign {
    /// Operations with wrong results.
    pub hits: Vec<Hit>,
    /// The ranks and the cases of each process with a hit.
    pub processes: Vec<(usize, Vec<Case>)>,
    /// Counts of tried operations.
    pub coverage: Coverage,
    /// Random cases that were begun.
    pub reached: u64,
    /// Whether the user has stopped it.
    pub is_stopped: bool,
    /// How many each operation and its forms have had, by class.
    crashes: BTreeMap<(Family, &'static str), u32>,
    /// Classes of cases, and operations that are not tried on them, because a similar one hung.
    hanging: BTreeSet<(&'static str, &'static str)>,
}

/// The case with a number.
pub fn case(seed: u64, number: u64) -> Case {
    let mut random = Pcg64::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
    // Small ones find most.
    let constructors = [1, 1, 2, 2, 2, 3, 3, 4, 5, 8][random.random_range(0..10)];
    let (of, kind) = (random.random_range(0..u64::MAX), random.random_range(0..50));
    let layout = match kind {
        0 => far_layout(of),
        // Each takes as long as a hundred others.
        1 if random.random_bool(0.25) => long_layout(of),
        _ => unusual_layout(of, constructors),
    };
    let construction = match kind {
        2 => Construction::Large,
        3 => Construction::Duplicated,
        _ => Construction::Usual,
    };
    let items = match random.random_range(0..20u32) {
        0 => 0,
        1..=8 => 1,
        9..=14 => random.random_range(2..5),
        // A message that is a little larger than a fragment.
        _ => {
            let bytes = [1 << 10, 1 << 12, 1 << 13, 1 << 16][random.random_range(0..4)];
            let values = layout.runs().map(|run| run.count).sum::<u64>().max(1);
            (bytes / layout.size().max(1) + 1).min(20_000 / values + 1) as u32
        }
    };
    let at_end = random.random_bool(0.5);
    // An MPI may treat one of two types with the same type map wrongly.
    let way = Equivalent::ALL[random.random_range(0..Equivalent::ALL.len())];
    let is_short = layout.runs().count() <= MOST_RUNS_TO_REWRITE;
    let other = (is_short && random.random_bool(0.25)).then(|| way.rewritten(&layout)).flatten();
    let layout = other.unwrap_or(layout);
    Case { construction, ..Case::with_layout(number, layout, items, at_end) }
}

impl Campaign {
    /// Tries the operations on cases, without those of earlier `findings`.
    pub fn run(
        &mut self,
        worker: &mut Worker<'_>,
        operations: &[&'static Operation],
        range: &Range,
        findings: &[Finding],
    ) -> Result<(), MpiError> {
        let begun = Instant::now();
        self.coverage.operations.resize(OPERATIONS.len(), 0);
        let is_late = |deadline: Option<Instant>| deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut all = range.cases();
        let known = findings.iter().filter(|finding| finding.is_reproduced && finding.hit.layout.size() == 0);
        known.for_each(|finding| self.leave_out_similar(&finding.hit, operations));
        let batch = if range.first < BATCH as u64 { FIRST_BATCH } else { BATCH };
        while !is_late(range.deadline) && !self.is_stopped {
            let mut cases: Vec<_> = all.by_ref().take(batch).collect();
            if cases.is_empty() {
                break;
            }
            // Most hangs are of types without data, and each takes seconds.
            cases.sort_by_key(|case| (case.layout.size() == 0, case.layout.constructors()));
            for case in &mut cases {
                case.skipped = known_operations(findings, case);
                // One operation, and forms that are asked for by name, are tried on all.
                case.is_generated &= operations.len() > 1 && !operations.iter().all(|of| of.is_form);
            }
            self.reached += cases.iter().filter(|case| case.number < FIRST_FIXED).count() as u64;
            // Cases of which some operations were tried.
            let mut tried = BTreeSet::new();
            for ranks in [1, 2] {
                let is_tried = |case: &&Case| {
                    operations.iter().any(|operation| operation.ranks == ranks && case.tries(operation))
                };
                let of_ranks: Vec<_> = cases.iter().filter(is_tried).cloned().collect();
                // A batch may take all the time: half of it is for operations of two ranks.
                let is_shared = ranks == 1 && operations.iter().any(|operation| operation.ranks == 2);
                let half = |end: Instant| Instant::now() + end.saturating_duration_since(Instant::now()) / 2;
                worker.deadline = if is_shared { range.deadline.map(half) } else { range.deadline };
                let deadline = worker.deadline;
                if !of_ranks.is_empty() && !self.is_stopped {
                    let is_over = || is_late(deadline);
                    let done = self.run_batch(worker, operations, (ranks, &is_over), &of_ranks)?;
                    tried.extend(of_ranks[..done].iter().map(|case| case.number));
                }
            }
            self.coverage.cases += tried.len() as u64;
        }
        self.coverage.time += begun.elapsed();
        Ok(())
    }

    /// Tries one batch to its end, in as many processes as that takes, or until the time is over. Returns the number of tried cases.
    fn run_batch(
        &mut self,
        worker: &mut Worker<'_>,
        operations: &[&'static Operation],
        (ranks, is_over): (usize, &dyn Fn() -> bool),
        cases: &[Case],
    ) -> Result<usize, MpiError> {
        let mut left = cases.to_vec();
        let place_of = |number: u64| cases.iter().position(|case| case.number == number).unwrap_or(0);
        let (mut last, mut crashes) = (u64::MAX, 0);
        while !left.is_empty() && !is_over() {
            left.iter_mut().for_each(|case| self.leave_out(case));
            let end = worker.run(operations, ranks, &left);
            let Some(end) = unless_stopped(end, &mut self.is_stopped)? else {
                return Ok(place_of(left[0].number));
            };
            if !end.faults.is_empty() || end.ended.is_some() {
                self.processes.push((ranks, left.clone()));
            }
            end.done.iter().zip(&mut self.coverage.operations).for_each(|(done, sum)| *sum += done);
            for fault in &end.faults {
                self.hits.push(Hit::from_fault(fault, &cases[place_of(fault.case)]));
            }
            if let Some(number) = end.cut_at {
                return Ok(place_of(number));
            }
            let Some((number, operation, kind)) = end.ended else { return Ok(cases.len()) };
            let place = left.iter().position(|case| case.number == number).unwrap_or(left.len() - 1);
            left.drain(..place);
            let case = &mut left[0];
            let times = if kind == FaultKind::Crash { 1 } else { MOST_CRASHES };
            *self.crashes.entry((family(operation), class(&case.layout, case.items))).or_default() += times;
            self.leave_out_similar(&Hit { operation, kind, ..Hit::untried(case) }, operations);
            crashes = if case.number == last { crashes + 1 } else { 1 };
            last = case.number;
            // The next process goes on behind it; without the datatype nothing can be tried.
            let number = operation.number();
            if number == 0 || crashes == MOST_CRASHES_OF_CASE {
                left.remove(0);
            } else {
                case.skipped.extend(&OPERATIONS[1..=number]);
            }
        }
        Ok(left.first().map_or(cases.len(), |case| place_of(case.number)))
    }

    /// If nothing to be sent hangs, or a long message, it does in all operations of this part, and each costs
    /// seconds. Without the first operation, which makes the datatype, nothing could be tried. Operations only
    /// for types without data hang on most MPIs, and show nothing about others.
    fn leave_out_similar(&mut self, hit: &Hit, operations: &[&'static Operation]) {
        let class = class(&hit.layout, hit.items);
        let is_likely = [WITHOUT_DATA, LONG].contains(&class) && !hit.operation.needs(Need::WithoutData);
        if hit.kind == FaultKind::Hang && is_likely {
            let chapter = |of: &Operation| of.clause.split('.').next().map(str::to_owned);
            let is_similar =
                |other: &&&Operation| other.number() > 0 && chapter(other) == chapter(hit.operation);
            self.hanging.extend(operations.iter().filter(is_similar).map(|other| (class, other.name)));
        }
    }

    /// Leaves out operations that have crashed or hung too often.
    fn leave_out(&mut self, case: &mut Case) {
        let root = class(&case.layout, case.items);
        let most = MOST_CRASHES_OF_OPERATION + self.coverage.cases / CASES_PER_CRASH;
        let families = self.crashes.keys().map(|(family, _)| *family).filter(|family| {
            let of_family = self.crashes.iter().filter(|((other, _), _)| other == family);
            let sum: u64 = of_family.map(|(_, times)| u64::from(*times)).sum();
            let of_root = self.crashes.get(&(*family, root)).copied().unwrap_or_default();
            sum >= most || of_root >= MOST_CRASHES
        });
        let families: BTreeSet<Family> = families.collect();
        let is_of = |operation: &&Operation| {
            let hangs = |name| self.hanging.contains(&(root, name));
            let crash = [operation.section(), operation].map(|other| families.contains(&family(other)));
            crash.contains(&true) || hangs(operation.name) || hangs(operation.base().name)
        };
        for operation in OPERATIONS.iter().filter(is_of) {
            if !case.skipped.contains(&operation) {
                case.skipped.push(operation);
                *self.coverage.left_out.entry(operation.name).or_default() += 1;
            }
        }
    }
}

/// The name of an operation, and whether it is one of its forms, which often fail alike.
type Family = (&'static str, bool);

fn family(operation: &Operation) -> Family {
    (operation.section().name, operation.is_form)
}

/// The class of a case: the outermost constructor, unless it does not matter.
fn class(layout: &Layout, items: u32) -> &'static str {
    match layout.size() {
        0 => WITHOUT_DATA,
        bytes if bytes * u64::from(items) > LONG_BYTES => LONG,
        _ => layout.constructor().name(),
    }
}

/// Operations that are known to fail on a layout of this class.
fn known_operations(findings: &[Finding], case: &Case) -> Vec<&'static Operation> {
    let hit = Hit::untried(case);
    let is_likely = |finding: &&Finding| finding.is_reproduced && hit.is_like(&finding.hit);
    let likely: Vec<&Finding> = findings.iter().filter(is_likely).collect();
    let is_known = |operation: &&Operation| {
        let explains = |finding: &&Finding| {
            // Bounds are computed with each datatype, and wrong ones are used as they are; but it may crash.
            let is_left_out = |other: &&Operation| other.number() > 0 || finding.hit.kind.ends_process();
            let mut own = finding.operations().into_iter().filter(is_left_out);
            own.any(|other| [*operation, operation.base(), operation.section()].contains(&other))
        };
        likely.iter().any(explains)
    };
    OPERATIONS.iter().filter(is_known).collect()
}

impl Coverage {
    /// Adds another campaign.
    pub fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.time += other.time;
        self.operations.resize(OPERATIONS.len(), 0);
        self.operations.iter_mut().zip(&other.operations).for_each(|(sum, times)| *sum += times);
        for (operation, times) in &other.left_out {
            *self.left_out.entry(operation).or_default() += times;
        }
    }

    /// Cases per minute.
    pub fn cases_per_minute(&self) -> f64 {
        self.cases as f64 * 60.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// The names of all constructors of a layout.
pub fn constructors(layout: &Layout) -> BTreeSet<&'static str> {
    let of_children = layout.constructor().children().iter().flat_map(|child| constructors(child));
    of_children.chain([layout.constructor().name()]).collect()
}

#[cfg(test)]
mod tests {
    use common::conformance::Items;
    use common::conformance::items::{UNWRITTEN, packed_difference};
    use datatypes::{Equivalent, Reported, interpret};

    use super::*;

    #[test]
    fn a_seed_and_a_number_give_the_same_case() {
        assert_eq!(case(7, 41), case(7, 41));
        assert_ne!(case(7, 41), case(7, 42));
        assert_ne!(case(7, 41), case(8, 41));
    }

    #[test]
    fn after_a_hang_its_part_is_left_out_for_the_class_of_the_case() {
        let after = |operation, layout: &str, items| {
            let hit = Hit { items, ..Hit::fake(operation, FaultKind::Hang, layout) };
            let mut campaign = Campaign::default();
            campaign.leave_out_similar(&hit, &OPERATIONS.iter().collect::<Vec<_>>());
            campaign.hanging
        };
        let left_out = |layout, items| after("put", layout, items);
        let without_data = left_out("contiguous(0, byte)", 1);
        let has = |name| without_data.contains(&(WITHOUT_DATA, name));
        assert!(has("get_accumulate") && !has("send") && !has("bounds"));
        assert!(left_out("contiguous(1, byte)", 5000).contains(&(LONG, "get")));
        assert!(left_out("contiguous(1, byte)", 1).is_empty());
        assert!(after("nothing_broadcast", "contiguous(0, byte)", 1).is_empty());
    }

    /// The interpreter is another oracle, which works on whole arrays.
    #[test]
    fn an_mpi_that_answers_from_the_interpreter_has_no_fault() {
        let mut receivable = 0;
        for number in 0..4000 {
            let case = case(3, number);
            let (layout, text) = (case.layout.clone(), case.layout.to_text());
            let items = Items::from_layout(&layout, case.items);
            assert_eq!(Reported::from_layout(&layout).fault(&layout), None, "{text}");
            // Other descriptions of long lists take most of the time.
            let others = if items.values.len() <= 2000 { Equivalent::all_of(&layout) } else { Vec::new() };
            for (way, other) in others.into_iter().filter(|(way, _)| way.keeps_bounds()) {
                let of =
                    |layout: &Layout| (Reported::from_layout(layout), Items::from_layout(layout, 1).values);
                assert_eq!(of(&other), of(&layout), "{way:?} of {text}");
            }
            // The interpreter needs the memory between values and addresses, too.
            if items.image_bytes() < items.span_bytes() {
                continue;
            }
            let (origin, memory, count) = (-items.span.0, items.filled(number), u64::from(case.items));
            let packed = interpret::pack(&layout, count, &memory, origin).unwrap();
            assert_eq!(packed_difference(&items.gathered(&memory), &packed), None, "{text}");
            assert_eq!(packed.len(), items.bytes(), "{text}");
            if items.are_disjoint() {
                receivable += 1;
                let mut received = vec![UNWRITTEN; items.span_bytes()];
                interpret::unpack(&layout, count, &packed, &mut received, origin).unwrap();
                assert_eq!(items.difference(&items.scattered(&packed), &received), None, "{text}");
            }
        }
        assert!(receivable > 1500, "{receivable}");
    }

    #[test]
    fn cases_fit_into_the_memory_of_the_rank_program() {
        let mut values = 0;
        for number in 0..5000 {
            let case = case(1, number);
            let (layout, text) = (case.layout.clone(), case.layout.to_text());
            let count: u64 = layout.runs().map(|run| run.count).sum();
            assert!(count * u64::from(case.items) <= 4 << 19, "{text}");
            let items = Items::from_layout(&layout, case.items.min(2));
            assert!(items.image_bytes() <= 1 << 26, "{text}");
            values += items.values.len();
        }
        assert!(values > 5000);
    }
}
