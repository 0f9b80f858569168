//! Where the engine stands: its ratios over all tests and MPIs, and where it is not first.

use std::collections::{BTreeMap, BTreeSet};

use super::methods::{ENGINE, MANUAL, MANUAL_TUNED, MPI_PACK};
use super::{grid, is_order};
use crate::model::conditions::Cache;
use crate::model::{Figure, Phase, Record};
use crate::stats;

/// One test with one set of values, one cache mode and one phase: what is counted once.
pub type Contest<'a> = (&'a str, &'a str, &'a str, Cache, &'static str);

/// The contest of a record.
pub fn contest(record: &Record) -> Contest<'_> {
    let case = &record.case;
    (&case.test, &case.set, &case.params, case.cache, record.phase.name())
}

/// How the engine did in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContestResult {
    /// Faster than every other method: all intervals lie above 1.
    First,
    /// Neither, or not to be told since the halves of the run part.
    Level,
    /// Slower than one of them: its interval lies below 1.
    Behind,
}

/// Whether the engine is compared with a record's method: it is to be faster than loops and `MPI_Pack`, not than a plain copy.
fn is_compared(record: &Record) -> bool {
    [MANUAL, MANUAL_TUNED, MPI_PACK].contains(&&*record.method)
}

/// Whether the halves of a ratio part: no verdict is drawn from it.
fn moved(record: &Record) -> bool {
    over(record).is_some_and(|over| over.unsteady == Some(true))
}

/// Its time over the engine's.
fn over(record: &Record) -> Option<&Figure> {
    record.over(ENGINE)
}

/// Both ends of that ratio's interval.
fn interval(record: &Record) -> Option<(f64, f64)> {
    over(record)?.interval()
}

/// Its time over the engine's; `None` where there are too few rounds.
fn ratio(record: &Record) -> Option<f64> {
    over(record)?.value
}

fn is_contest(record: &Record) -> bool {
    matches!(record.phase, Phase::Pack | Phase::Unpack)
}

/// The result of each contest that has ratios, in the order of the records.
pub fn contest_results<'a>(
    records: impl IntoIterator<Item = &'a Record>,
) -> Vec<(Contest<'a>, ContestResult)> {
    let mut results: Vec<(Contest<'a>, ContestResult)> = Vec::new();
    let mut places = BTreeMap::new();
    for record in records.into_iter().filter(|record| is_contest(record) && is_compared(record)) {
        let result = match interval(record) {
            None if ratio(record).is_none() => continue,
            _ if moved(record) => ContestResult::Level,
            Some((low, _)) if low > 1.0 => ContestResult::First,
            Some((_, high)) if high < 1.0 => ContestResult::Behind,
            _ => ContestResult::Level,
        };
        let place = *places.entry(contest(record)).or_insert(results.len());
        match results.get_mut(place) {
            None => results.push((contest(record), result)),
            Some((_, known)) if result == ContestResult::Behind || *known == ContestResult::First => {
                *known = result
            }
            Some(_) => {}
        }
    }
    results
}

/// How many contests the engine loses to a method whose time is less than `below` of its own.
pub fn lost(records: &[&Record], below: f64) -> usize {
    let records = records.iter().filter(|record| is_contest(record) && is_compared(record));
    let is_lost = |record: &&&Record| {
        interval(record).is_some_and(|(_, high)| high < 1.0)
            && ratio(record).is_some_and(|ratio| ratio < below)
            && !moved(record)
    };
    records.filter(is_lost).map(|record| contest(record)).collect::<BTreeSet<_>>().len()
}

/// Records of methods that are faster than the engine, the fastest by its ratio first.
pub fn faster(records: &[Record]) -> Vec<&Record> {
    let is_faster = |record: &&Record| interval(record).is_some_and(|(_, high)| high < 1.0) && !moved(record);
    let mut faster: Vec<_> =
        records.iter().filter(|r| is_contest(r) && is_compared(r)).filter(is_faster).collect();
    faster.sort_by(|a, b| ratio(a).partial_cmp(&ratio(b)).unwrap_or(std::cmp::Ordering::Equal));
    faster
}

/// Which cases a mean is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseSelection {
    /// Of each test the last set, which is its largest or the user's; without the grid.
    LastSets,
    /// All sets of all tests; without the grid.
    Tests,
    /// The synthetic grid alone.
    Grid,
}

impl CaseSelection {
    /// All selections, in the order in which the table has them.
    pub const ALL: [Self; 3] = [Self::LastSets, Self::Tests, Self::Grid];

    /// The records of the selected cases.
    pub fn of(self, records: &[Record]) -> Vec<&Record> {
        let in_grid = |record: &&Record| record.case.set == grid::SET;
        if self == Self::Grid {
            return records.iter().filter(in_grid).collect();
        }
        let tests = || records.iter().filter(|record| !in_grid(record));
        if self == Self::Tests {
            return tests().collect();
        }
        let last: BTreeMap<&str, String> =
            tests().map(|record| (record.case.test.as_str(), values(record))).collect();
        tests().filter(|record| last[record.case.test.as_str()] == values(record)).collect()
    }
}

/// Whose time is over the engine's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedMethod {
    /// `MPI_Pack` and `MPI_Unpack` of one MPI.
    Mpi(String),
    /// The fastest of the MPIs in each contest.
    BestMpi,
    /// The application's loop, beside any MPI.
    Manual,
    /// The tuned loop, beside any MPI.
    ManualTuned,
}

/// The values of a record's case, its order of bytes left out.
fn values(record: &Record) -> String {
    let values = record
        .case
        .params
        .split(' ')
        .filter(|pair| pair.split_once('=').is_none_or(|(name, value)| !is_order(name, value)));
    values.collect::<Vec<_>>().join(" ")
}

/// The methods that the engine is compared with in these records.
pub fn compared_methods(records: &[Record]) -> Vec<ComparedMethod> {
    let mut mpis: Vec<String> = Vec::new();
    for mpi in records.iter().map(|record| record.case.mpi_label()) {
        if !mpis.contains(&mpi) {
            mpis.push(mpi);
        }
    }
    let has_several = mpis.len() > 1;
    let mut methods: Vec<ComparedMethod> = mpis.into_iter().map(ComparedMethod::Mpi).collect();
    if has_several {
        methods.push(ComparedMethod::BestMpi);
    }
    methods.push(ComparedMethod::Manual);
    if records.iter().any(|record| record.method == MANUAL_TUNED) {
        methods.push(ComparedMethod::ManualTuned);
    }
    methods
}

/// Which of their phases a mean is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseSelection {
    /// Packing and unpacking, in all cache modes.
    All,
    /// One phase in one cache mode.
    One(Cache, Phase),
    /// What is made: datatypes against the compiled program.
    Create,
}

impl PhaseSelection {
    fn has(self, record: &Record) -> bool {
        match self {
            Self::All => is_contest(record),
            Self::One(cache, phase) => record.case.cache == cache && record.phase == phase,
            Self::Create => record.phase == Phase::Create,
        }
    }
}

/// A geometric mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean of the contests' ratios.
    pub value: f64,
    /// Its 95% interval, from those of the ratios.
    pub interval: (f64, f64),
    /// Over how many contests.
    pub contests: usize,
}

/// A ratio with both ends of its interval.
type WithInterval = (f64, (f64, f64));

/// The geometric mean of a method's ratios; `None` without any.
///
/// Of several MPIs the one with the smallest ratio stands for the best, which is by chance somewhat too small.
pub fn mean(records: &[&Record], compared: &ComparedMethod, phases: PhaseSelection) -> Option<Mean> {
    let method = match compared {
        ComparedMethod::Manual => MANUAL,
        ComparedMethod::ManualTuned => MANUAL_TUNED,
        ComparedMethod::Mpi(_) | ComparedMethod::BestMpi => MPI_PACK,
    };
    let counts = |record: &&&Record| {
        let is_of_mpi = !matches!(compared, ComparedMethod::Mpi(mpi) if *mpi != record.case.mpi_label());
        record.method == method && phases.has(record) && is_of_mpi
    };
    let with_interval = |record: &Record| Some((ratio(record)?, interval(record)?));
    let mut ratios: BTreeMap<Contest<'_>, Vec<WithInterval>> = BTreeMap::new();
    for record in records.iter().filter(counts) {
        ratios.entry(contest(record)).or_default().extend(with_interval(record));
    }
    let of_contest = |ratios: &Vec<WithInterval>| match compared {
        // The loop is the same beside each MPI.
        ComparedMethod::Manual | ComparedMethod::ManualTuned => stats::geometric_mean(ratios.iter().copied()),
        _ => ratios.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)),
    };
    let ratios: Vec<_> = ratios.values().filter_map(of_contest).collect();
    let (value, interval) = stats::geometric_mean(ratios.iter().copied())?;
    Some(Mean { value, interval, contests: ratios.len() })
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::{records, result};
    use super::*;

    /// Beside two MPIs: `a` where the engine is first, `b` where one MPI is faster, `c` where the loop is as fast.
    fn table() -> Vec<Record> {
        let cases = [
            result("a", "mpich", 2e-6, 4e-6),
            result("a", "openmpi", 2e-6, 3e-6),
            result("b", "mpich", 2e-6, 1.5e-6),
            result("b", "openmpi", 2e-6, 0.5e-6),
            result("c", "mpich", 1e-6, 2e-6),
            result("c", "openmpi", 1.5e-6, 2e-6),
        ];
        cases.iter().flat_map(records).collect()
    }

    #[test]
    fn one_faster_method_beside_any_mpi_puts_the_engine_behind() {
        let records = table();
        let results = contest_results(&records);
        let of = |test: &str, phase: &str| {
            let found = results.iter().find(|(contest, _)| contest.0 == test && contest.4 == phase);
            found.unwrap().1
        };
        assert_eq!(results.len(), 6, "three tests, packed and unpacked");
        for phase in ["pack", "unpack"] {
            assert_eq!(of("a", phase), ContestResult::First);
            assert_eq!(of("b", phase), ContestResult::Behind);
            assert_eq!(of("c", phase), ContestResult::Level);
        }
        let faster: Vec<_> =
            faster(&records).iter().map(|r| (&r.case.test[..], &r.case.mpi[..], &r.method[..])).collect();
        assert_eq!(faster, [("b", "openmpi", "mpi_pack"); 2], "neither memcpy nor the bound is compared");
    }

    #[test]
    fn no_verdict_is_drawn_from_a_ratio_that_moved() {
        let mut records = table();
        let figures = records.iter_mut().flat_map(|record| &mut record.figures);
        figures.for_each(|figure| figure.unsteady = Some(true));
        assert!(contest_results(&records).iter().all(|(_, result)| *result == ContestResult::Level));
        assert!(faster(&records).is_empty());
        assert_eq!(lost(&records.iter().collect::<Vec<_>>(), 1.0), 0);
    }

    #[test]
    fn the_best_mpi_is_that_of_each_contest() {
        let records = table();
        let all: Vec<_> = records.iter().collect();
        let mean = |compared: &ComparedMethod| {
            mean(&all, compared, PhaseSelection::One(Cache::Warm, Phase::Pack)).unwrap()
        };
        let near = |mean: Mean, expected: f64| {
            let ends = [mean.value, mean.interval.0, mean.interval.1];
            let is_near = ends.iter().all(|value| (value - expected).abs() < 1e-9);
            assert!(is_near && mean.contests == 3, "{mean:?}, not {expected}");
        };
        assert_eq!(compared_methods(&records).len(), 4);
        near(mean(&ComparedMethod::Mpi("mpich".to_owned())), (4.0_f64 * 1.5 * 2.0).cbrt());
        near(mean(&ComparedMethod::Mpi("openmpi".to_owned())), (3.0_f64 * 0.5 * 2.0).cbrt());
        near(mean(&ComparedMethod::BestMpi), (3.0_f64 * 0.5 * 2.0).cbrt());
        near(mean(&ComparedMethod::Manual), (2.0 * 2.0 * 1.5_f64.sqrt()).cbrt());
        assert_eq!(
            super::mean(&all, &ComparedMethod::Manual, PhaseSelection::One(Cache::Cold, Phase::Pack)),
            None
        );
        assert_eq!(
            super::mean(&all, &ComparedMethod::BestMpi, PhaseSelection::All).unwrap().contests,
            6,
            "packed and unpacked"
        );
        assert_eq!(super::mean(&all, &ComparedMethod::BestMpi, PhaseSelection::Create).unwrap().contests, 3);
    }

    #[test]
    fn the_last_set_of_a_test_counts_with_all_its_orders() {
        let mut records = table();
        let mut larger = table();
        larger.retain(|record| record.case.test == "a");
        larger.iter_mut().for_each(|record| record.case_mut().params = "count=2000".to_owned());
        let mut of_grid = table();
        of_grid.iter_mut().for_each(|record| record.case_mut().set = grid::SET.to_owned());
        let (one, grid) = (records.len(), of_grid.len());
        records.extend(larger);
        records.extend(of_grid);
        let last = CaseSelection::LastSets.of(&records);
        assert_eq!(last.len(), one);
        assert!(last.iter().all(|record| record.case.test != "a" || record.case.params == "count=2000"));
        assert_eq!(CaseSelection::Tests.of(&records).len(), one + one / 3);
        assert_eq!(CaseSelection::Grid.of(&records).len(), grid);
    }
}
