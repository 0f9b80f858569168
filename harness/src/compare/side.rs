//! The sides of a comparison: the result of each launch of each method, and the state of the machine, as logarithms.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;
use serde::Serialize;

use crate::experiments::Kind;
use crate::model::conditions::{Cache, Conditions, MemoryKind};
use crate::model::{CUSTOM, Case, PairScope, Phase, Quantity, Record, mpi_label};
use crate::report::case::{Disturbance, place};
use crate::stats::launches::SlowGroup;
use crate::stats::{self, mean, median, sorted};

/// A method of a case, on any side.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Subject {
    pub experiment: Kind,
    pub test: String,
    pub set: String,
    pub params: String,
    pub ranks: usize,
    pub cache: Cache,
    pub memory: MemoryKind,
    pub method: String,
}

impl Ord for Subject {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Subject {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Subject {
    /// Its place among others: sets that are numbers, such as sizes, ascend.
    fn place(&self) -> impl Ord + '_ {
        let (set, conditions) = (self.set.parse::<u64>().ok(), (self.ranks, self.cache, self.memory));
        (self.experiment, &self.test, set, &self.set, &self.params, conditions, &self.method)
    }

    fn from_case(case: &Case, method: &str) -> Self {
        Self {
            experiment: case.experiment,
            test: case.test.clone(),
            set: case.set.clone(),
            params: case.params.clone(),
            ranks: case.ranks,
            cache: case.cache,
            memory: case.memory,
            method: method.to_owned(),
        }
    }

    /// The cache mode and the memory.
    pub fn conditions(&self) -> Conditions {
        Conditions { cache: self.cache, memory: self.memory }
    }

    /// A case on any side, without a method.
    pub fn of_case(case: &Case) -> Self {
        Self::from_case(case, "")
    }

    /// Distinguishes the cases of a test: the set's name, or for values without a named set the values.
    pub fn sizes(&self) -> &str {
        if self.set.is_empty() || self.set == CUSTOM { &self.params } else { &self.set }
    }

    fn is_of_case(&self, case: &Self) -> bool {
        let facts = |subject: &Self| (subject.experiment, subject.ranks, subject.conditions());
        facts(self) == facts(case)
            && [&self.test, &self.set, &self.params] == [&case.test, &case.set, &case.params]
    }

    /// The same for all of some cases: the values of all cases of a test if one of them has no named set.
    pub(super) fn sizes_alike<'a>(subjects: &[&'a Self]) -> Vec<&'a str> {
        let is_unnamed = |subject: &Self| subject.sizes() == subject.params;
        let of = |subject: &&'a Self| {
            let mut alike = subjects.iter().filter(|other| other.test == subject.test);
            if alike.any(|other| is_unnamed(other)) { &*subject.params } else { subject.sizes() }
        };
        subjects.iter().map(of).collect()
    }

    /// Another method of the same case.
    pub fn with(&self, method: &str) -> Self {
        Self { method: method.to_owned(), ..self.clone() }
    }
}

/// The statistical unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonUnit {
    /// A launch. Interleaved launches have a neighbour on the other side.
    #[default]
    Launch,
    /// A run, with the mean over its launches: between runs at different times, everything that drifts has drifted.
    Run,
}

/// Launches of a method in which the machine was seen to be disturbed, and which take unusually long, are left out, unless they are
/// more than this share: a slower group of a fifth is a result, also on a busy machine, where most launches are disturbed.
const MOST_LEFT_OUT: f64 = 0.2;

/// Minimum launches of a side for that. With fewer, values in two modes would look precise if each side met one of them.
const FEWEST_FOR_THAT: usize = 12;

/// Run and launch of a value.
pub type LaunchId = (String, usize);

/// The machine next to a value. No MPI influences it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineThen {
    /// Logarithms of the core-to-core latency and of the speed of a core's copies within its cache. Times follow both. The time of our
    /// own packing would explain as much, but depends on the MPI: it is up to 22% shorter after the messages of one MPI than after
    /// another's, because different parts of the arrays are in the cache.
    pub measures: [Option<f64>; 2],
    /// Whether a rank often lost its core.
    pub is_disturbed: bool,
}

/// A side of a comparison: the times of all methods of all cases.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Its name in reports: the MPI, or the folder of its runs.
    pub name: String,
    /// Its MPIs with their versions.
    pub mpi: String,
    /// Ranks, hosts, transport and cache, of all of its cases.
    pub place: String,
    /// The statistical unit.
    pub unit: ComparisonUnit,
    /// How many of its blocks were disturbed.
    pub disturbance: Disturbance,
    /// Whether ranks shared cores.
    pub oversubscribed: bool,
    /// Its cases in the order of the records.
    cases: IndexSet<Subject>,
    subjects: BTreeMap<Subject, SubjectValues>,
}

/// The values of a subject on one side.
#[derive(Clone, Debug, Default)]
pub struct SubjectValues {
    /// Logarithms of seconds.
    pub times: BTreeMap<LaunchId, f64>,
    /// Logarithms of the means.
    pub means: BTreeMap<LaunchId, f64>,
    pub machine: BTreeMap<LaunchId, MachineThen>,
    /// Further launches, which are left out because they take unusually long, and the machine was disturbed.
    pub disturbed: usize,
    /// The outcome of the first launch without usable times, if there is one.
    pub failure: Option<&'static str>,
    pub bytes: u64,
    /// Copies of a device's driver for one message in each launch, if they were counted.
    pub copies: Vec<f64>,
    /// Times of the phases except the headline phase, a value per launch in seconds.
    pub phases: BTreeMap<Phase, BTreeMap<LaunchId, f64>>,
}

impl SubjectValues {
    /// The median of its copies, in thousandths: those of a halo are a mean over exchanges.
    pub(super) fn copies(&self) -> Option<f64> {
        median(&sorted(self.copies.iter().map(|copies| (copies * 1e3).round() / 1e3)))
    }

    /// The launches that take clearly longer than the others, if these are a fifth or more.
    pub(super) fn slow_group(&self) -> Option<SlowGroup> {
        SlowGroup::from_times(&self.times.values().map(|time| time.exp()).collect::<Vec<_>>())
    }
}

impl Side {
    /// The side `name`, from the records of all its launches.
    pub fn from_records<'a>(
        name: &str,
        records: impl IntoIterator<Item = &'a Record>,
        unit: ComparisonUnit,
    ) -> Self {
        let mut launches: BTreeMap<Subject, SubjectValues> = BTreeMap::new();
        let (mut places, mut mpis): (BTreeSet<String>, BTreeSet<String>) = Default::default();
        let mut wrong: Vec<Subject> = Vec::new();
        let (mut disturbance, mut oversubscribed) = (Disturbance::default(), false);
        let mut cases = IndexSet::new();
        for record in records {
            cases.insert(Subject::of_case(&record.case));
            if record.outcome.is_wrong() {
                wrong.extend(
                    [record.method.clone(), packing(&record.method)]
                        .map(|name| Subject::from_case(&record.case, &name)),
                );
            }
            let Some(launch) = record.launch.filter(|_| record.pair == PairScope::All) else { continue };
            let usable = record.outcome.counts();
            let median_s = record.median_s.filter(|median| usable && *median > 0.0);
            let number = (record.case.run.clone(), launch);
            if !is_headline(record) {
                let subject = launches.entry(Subject::from_case(&record.case, &record.method)).or_default();
                let phase = subject.phases.entry(record.phase).or_default();
                phase.extend(median_s.map(|median| (number.clone(), median)));
                if record.phase != Phase::Pack {
                    continue;
                }
            }
            if is_headline(record) {
                disturbance.add(record);
                oversubscribed |= record.oversubscribed().is_some();
            }
            let name = if is_headline(record) { record.method.clone() } else { packing(&record.method) };
            let values = launches.entry(Subject::from_case(&record.case, &name)).or_default();
            places.insert(place(&record.case));
            mpis.insert(mpi(&record.case));
            values.bytes = record.bytes;
            let copies = record.value(Quantity::DeviceCopies).filter(|_| usable);
            values.copies.extend(copies);
            match median_s {
                Some(median) => {
                    // Between hosts, this latency is that of the MPI's own messages. A launch in two states has a latency of neither.
                    let is_of_one = record.case.hosts == 1 && !record.mixed_states;
                    let latency_s = record.state_latency_s.filter(|_| is_of_one);
                    let measures = [latency_s, record.state_copy_bytes_per_s];
                    let measures = measures.map(|value| value.filter(|value| *value > 0.0).map(f64::ln));
                    let is_disturbed = Disturbance::from_records([record]).is_much();
                    values.machine.insert(number.clone(), MachineThen { measures, is_disturbed });
                    let mean = record.mean_s.filter(|mean| *mean > 0.0);
                    values.means.extend(mean.map(|mean| (number.clone(), mean.ln())));
                    values.times.insert(number, median.ln());
                }
                None if copies.is_some() => {}
                None => {
                    values.failure.get_or_insert(record.outcome.label());
                }
            }
        }
        // A method that moved wrong bytes once has no times.
        for subject in wrong {
            if let Some(values) = launches.get_mut(&subject) {
                *values = SubjectValues {
                    failure: values.failure,
                    bytes: values.bytes,
                    ..SubjectValues::default()
                };
            }
        }
        let [place, mpi] = [places, mpis].map(|of| of.into_iter().collect::<Vec<_>>().join("; "));
        Self {
            name: name.to_owned(),
            mpi,
            place,
            unit,
            disturbance,
            oversubscribed,
            cases,
            subjects: launches,
        }
    }

    /// The launches of the MPI with this label in tables.
    pub fn of_mpi(records: &[Record], label: &str) -> Self {
        Self::from_records(
            label,
            records.iter().filter(|record| record.case.mpi_label() == *label),
            ComparisonUnit::Launch,
        )
    }

    /// A side for each MPI, in the order of the records.
    pub fn of_mpis(records: &[Record]) -> Vec<Self> {
        Record::mpis(records).iter().map(|label| Self::of_mpi(records, label)).collect()
    }

    /// All cases, in the order of the records.
    pub fn cases(&self) -> impl Iterator<Item = &Subject> {
        self.cases.iter()
    }

    /// Those in which a method has times, or has failed.
    pub(super) fn cases_with_results(&self) -> impl Iterator<Item = &Subject> {
        let has_results = |values: &SubjectValues| !values.times.is_empty() || values.failure.is_some();
        let has_results = move |subject: &Subject| self.values(subject).is_some_and(has_results);
        self.cases.iter().filter(move |case| self.methods_of(case).any(has_results))
    }

    /// Launches of all cases together, of the method of each that has most.
    pub(super) fn launches(&self) -> usize {
        self.cases().map(|case| self.launches_of(case)).sum()
    }

    /// Whether a case has enough launches for an interval.
    pub(super) fn has_intervals(&self) -> bool {
        self.cases().any(|case| self.launches_of(case) >= stats::launches::FEWEST)
    }

    fn launches_of(&self, case: &Subject) -> usize {
        let values = self.methods_of(case).filter_map(|subject| self.values(subject));
        values.map(|values| values.times.len()).max().unwrap_or(0)
    }

    /// All methods of all cases.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.keys().filter(|subject| !subject.method.ends_with(PACKING))
    }

    pub(super) fn methods_of<'a>(&'a self, case: &'a Subject) -> impl Iterator<Item = &'a Subject> {
        // Subjects are ordered by their method last.
        let from_case = self.subjects.range(case.with("")..).map(|(subject, _)| subject);
        from_case
            .take_while(|subject| subject.is_of_case(case))
            .filter(|subject| !subject.method.ends_with(PACKING))
    }

    pub fn values(&self, subject: &Subject) -> Option<&SubjectValues> {
        self.subjects.get(subject)
    }

    /// The same side with those launches only that `is_in` picks by the number of ranks and the logarithm of
    /// the latency, without those that take unusually long because the machine was disturbed.
    pub(super) fn restricted(&self, is_in: &dyn Fn(usize, Option<f64>) -> bool) -> Self {
        let of_subject = |(subject, values): (&Subject, &SubjectValues)| {
            let is_in = |machine: &MachineThen| is_in(subject.ranks, machine.measures[0]);
            let here: BTreeMap<&LaunchId, &MachineThen> =
                values.machine.iter().filter(|(_, machine)| is_in(machine)).collect();
            let time = |launch: &LaunchId| values.times.get(launch).copied();
            let limit = unusual(here.keys().filter_map(|launch| time(launch)));
            let is_long = |launch: &LaunchId| time(launch).is_some_and(|time| time > limit);
            let long = here.iter().filter(|(launch, machine)| machine.is_disturbed && is_long(launch));
            let long: BTreeSet<&LaunchId> = long.map(|(launch, _)| *launch).collect();
            let are_few = long.len() as f64 <= MOST_LEFT_OUT * here.len() as f64;
            let left_out = if are_few && here.len() >= FEWEST_FOR_THAT { long } else { BTreeSet::new() };
            let counts = |launch: &LaunchId| here.contains_key(launch) && !left_out.contains(launch);
            fn only<T: Clone>(
                all: &BTreeMap<LaunchId, T>,
                counts: &dyn Fn(&LaunchId) -> bool,
            ) -> BTreeMap<LaunchId, T> {
                let launches = all.iter().filter(|(launch, _)| counts(launch));
                launches.map(|(launch, value)| (launch.clone(), value.clone())).collect()
            }
            let values = SubjectValues {
                times: only(&values.times, &counts),
                means: only(&values.means, &counts),
                machine: only(&values.machine, &counts),
                disturbed: left_out.len(),
                copies: values.copies.clone(),
                phases: values.phases.iter().map(|(phase, of)| (*phase, only(of, &counts))).collect(),
                ..*values
            };
            (subject.clone(), values)
        };
        let subjects = self.subjects.iter().map(of_subject).collect();
        Self { subjects, ..self.clone() }
    }

    /// The subject's time relative to that of another method of the case, in the same launches: logarithms.
    pub fn over(&self, subject: &Subject, other: &str) -> BTreeMap<LaunchId, f64> {
        let (Some(values), Some(others)) = (self.values(subject), self.values(&subject.with(other))) else {
            return BTreeMap::new();
        };
        let both =
            values.times.iter().filter_map(|(number, time)| Some((number, time - others.times.get(number)?)));
        both.map(|(number, ratio)| (number.clone(), ratio)).collect()
    }

    /// Values per statistical unit: for runs, the mean over the launches of each.
    pub(super) fn by_unit(&self, values: &BTreeMap<LaunchId, f64>) -> Vec<f64> {
        if self.unit == ComparisonUnit::Launch {
            return values.values().copied().collect();
        }
        by_run(values.iter().map(|(number, value)| (number, *value)))
            .iter()
            .filter_map(|run| mean(run))
            .collect()
    }
}

/// The logarithm of a time from which on it is unusual: beyond the median by more than launches of one state differ.
fn unusual(times: impl Iterator<Item = f64>) -> f64 {
    /// 2.5 standard deviations of a normal distribution, from the median absolute deviation.
    const DEVIATIONS: f64 = 2.5 * 1.4826;
    /// A logarithm. Times of undisturbed launches often differ by less.
    const LEAST: f64 = 0.05;
    let times = sorted(times);
    let Some(middle) = median(&times) else { return f64::INFINITY };
    let deviation = median(&sorted(times.iter().map(|time| (time - middle).abs()))).unwrap_or_default();
    middle + (DEVIATIONS * deviation).max(LEAST)
}

pub(super) fn by_run<'a, T>(values: impl IntoIterator<Item = (&'a LaunchId, T)>) -> Vec<Vec<T>> {
    let mut runs: BTreeMap<&str, Vec<T>> = BTreeMap::new();
    for ((run, _), value) in values {
        runs.entry(run).or_default().push(value);
    }
    runs.into_values().collect()
}

/// The suffix of a method's packing, which is compared like a method.
const PACKING: &str = " (only packing)";

pub(super) fn packing(method: &str) -> String {
    format!("{method}{PACKING}")
}

/// An MPI with its version, unless its name has it already: `mpich-4.3.2` is `mpich 4.3.2`.
fn mpi(case: &Case) -> String {
    let Case { mpi, mpi_version: version, mpi_variant, .. } = case;
    let name = mpi.strip_suffix(&format!("-{version}")).unwrap_or(mpi);
    format!("{} {version}", mpi_label(name, mpi_variant)).trim_end().to_owned()
}

fn is_headline(record: &Record) -> bool {
    record.case.experiment.headline() == record.phase
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::record;
    use crate::model::Outcome;

    #[test]
    fn a_launch_is_a_value_and_a_run_is_the_mean_of_its_own() {
        let e = std::f64::consts::E;
        let records = [record("a", 0, "ddt", 1.0), record("a", 1, "ddt", e * e), record("b", 0, "ddt", e)];
        let times = |unit| {
            let side = Side::from_records("x", &records, unit);
            let subject = side.subjects().next().unwrap().clone();
            side.by_unit(&side.values(&subject).unwrap().times)
        };
        assert_eq!(times(ComparisonUnit::Launch), [0.0, 2.0, 1.0]);
        assert_eq!(times(ComparisonUnit::Run), [1.0, 1.0]);
    }

    #[test]
    fn cases_of_a_test_are_named_alike() {
        let of = |set: &str, params: &str| {
            let mut record = record("a", 0, "ddt", 1.0);
            (record.case_mut().set, record.case_mut().params) = (set.to_owned(), params.to_owned());
            Subject::of_case(&record.case)
        };
        let named = of("8", "bytes=8");
        assert_eq!(Subject::sizes_alike(&[&named, &of("1024", "bytes=1024")]), ["8", "1024"]);
        let given = of(CUSTOM, "bytes=65536");
        assert_eq!(Subject::sizes_alike(&[&named, &given]), ["bytes=8", "bytes=65536"]);
    }

    #[test]
    fn ratios_are_of_the_same_launch_and_failures_are_kept() {
        let failed = Record {
            median_s: None,
            outcome: Outcome::Crashed { detail: String::new() },
            ..record("a", 1, "ddt", 1.0)
        };
        let records = [
            record("a", 0, "ddt", 2.0),
            failed,
            record("a", 0, "manual", 1.0),
            record("a", 1, "manual", 1.0),
        ];
        let side = Side::from_records("x", &records, ComparisonUnit::Launch);
        let subject = side.subjects().find(|subject| subject.method == "ddt").unwrap();
        let ratios = side.over(subject, "manual");
        assert_eq!(ratios.values().copied().collect::<Vec<_>>(), [2.0_f64.ln()]);
        assert_eq!(side.values(subject).unwrap().failure, Some("crashed"));
        assert!(side.over(subject, "engine").is_empty());
    }
}
