//! What can be said of one case: its methods side by side, which is fastest, what went wrong.

use super::units;
use crate::experiment::Experiment;
use crate::record::{Phase, Record};
use crate::stats;

/// The pair of records that are of all pairs together.
const ALL_PAIRS: &str = "all";

/// The records of one case, in the order in which they came.
pub struct CaseView<'a> {
    records: Vec<&'a Record>,
}

impl<'a> CaseView<'a> {
    /// One view per case, in the order of the records.
    pub fn all(records: &'a [Record]) -> Vec<Self> {
        let mut cases: Vec<Self> = Vec::new();
        for record in records {
            match cases.iter_mut().find(|case| key(case.first()) == key(record)) {
                Some(case) => case.records.push(record),
                None => cases.push(Self { records: vec![record] }),
            }
        }
        cases
    }

    /// Any of its records, for what they share.
    pub fn first(&self) -> &'a Record {
        self.records[0]
    }

    /// The `round_trip` line of each method.
    pub fn methods(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.round_trips().filter(|record| record.pair == ALL_PAIRS)
    }

    fn round_trips(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.records.iter().copied().filter(|record| Experiment::of_whole(record.phase).is_some())
    }

    /// The kind of experiment that the case is of.
    pub fn experiment(&self) -> Experiment {
        self.records.iter().find_map(|record| Experiment::of_whole(record.phase)).unwrap_or_default()
    }

    /// A phase's median.
    pub fn median(&self, method: &str, phase: Phase) -> Option<f64> {
        let of =
            |record: &&&Record| record.method == method && record.phase == phase && record.pair == ALL_PAIRS;
        self.records.iter().find(of).and_then(|record| record.median_s)
    }

    /// Test and set.
    pub fn name(&self) -> String {
        format!("{}  {}", self.first().test, self.first().set)
    }

    /// The fastest and the slowest pair, where there are several.
    fn pairs(&self, method: &str) -> Option<String> {
        let of = self.round_trips().filter(|record| record.method == method && record.pair != ALL_PAIRS);
        let medians = stats::sorted(of.filter_map(|record| record.median_s));
        let [first, .., last] = &medians[..] else { return None };
        Some(format!("{} to {}", units::seconds(*first), units::seconds(*last)))
    }

    /// What went wrong, and for which methods: one cause, as that the process did not even start, may be several's.
    fn failures(&self) -> Vec<(&'a str, &'a str, Vec<&'a str>)> {
        let mut failures: Vec<(&str, &str, Vec<&str>)> = Vec::new();
        for record in self.methods() {
            let Some(detail) = record.detail.as_deref() else { continue };
            match failures.iter_mut().find(|failure| failure.0 == record.outcome && failure.1 == detail) {
                Some(failure) => failure.2.push(&record.method),
                None => failures.push((&record.outcome, detail, vec![&record.method])),
            }
        }
        failures
    }

    /// What went wrong, what was left out, what is a mean of several.
    pub fn notes(&self) -> Vec<String> {
        let failures = self.failures();
        let failed = failures
            .iter()
            .map(|(outcome, detail, methods)| format!("{} {outcome}: {detail}", methods.join(", ")));
        let mut notes: Vec<String> = failed.collect();
        if self.methods().any(|r| r.mixed_states) {
            notes.push("the machine never kept one state for a round: figures are of all blocks".to_owned());
        }
        let mut of_each = |about: &str, figure: &dyn Fn(&Record) -> Option<String>| {
            let each = self.methods().filter_map(|r| Some(format!("{} {}", r.method, figure(r)?)));
            let each: Vec<_> = each.collect();
            if !each.is_empty() {
                notes.push(format!("{about}: {}", each.join(", ")));
            }
        };
        of_each("round trips of the fastest and the slowest pair", &|r| self.pairs(&r.method));
        of_each("blocks left out, the machine was in another state", &|r| {
            let (left, all) = (r.blocks_other_state, r.blocks + r.blocks_other_state);
            (left > 0).then(|| format!("{left} of {all}"))
        });
        of_each("samples are means of a batch", &|r| (r.batch > 1).then(|| r.batch.to_string()));
        notes
    }

    /// Which method is fastest, and by how much over the next.
    pub fn fastest(&self) -> String {
        let complete =
            |r: &&Record| self.experiment().method(&r.method).is_ok_and(|method| method.is_complete);
        let candidates: Vec<_> = self.methods().filter(complete).filter(|record| measured(record)).collect();
        let with_interval = |r: &&'a Record| Some((r.method.as_str(), interval(r)?));
        let mut all: Vec<_> = candidates.iter().filter_map(with_interval).collect();
        if let Some(without) = candidates.iter().find(|record| interval(record).is_none()) {
            return format!("not known: too few blocks of {}", without.method);
        }
        all.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let [(first, a), rest @ ..] = &all[..] else { return "nothing was measured".to_owned() };
        // The next by its median; another may reach further down.
        let close: Vec<_> = rest.iter().filter(|(_, b)| b.0 <= a.2).map(|(name, _)| *name).collect();
        match rest.first() {
            None => format!("{first} alone was measured"),
            Some((next, b)) if close.is_empty() => format!("{first}, {:.2}x {next}", b.1 / a.1),
            Some(_) => format!("one of {first}, {}", close.join(", ")),
        }
    }

    /// Whether the application's loops or the datatype win.
    pub fn manual_or_ddt(&self) -> String {
        let of = |name: &str| self.methods().find(|r| r.method == name && measured(r)).and_then(interval);
        match (of("manual"), of("ddt")) {
            (Some(manual), Some(ddt)) if ddt.2 < manual.0 => format!("ddt, {:.2}x manual", manual.1 / ddt.1),
            (Some(manual), Some(ddt)) if manual.2 < ddt.0 => format!("manual, {:.2}x ddt", ddt.1 / manual.1),
            (Some(_), Some(_)) => "no difference shown".to_owned(),
            _ => String::new(),
        }
    }
}

fn key(r: &Record) -> (&str, &str, &str, &str, usize, &str) {
    (&r.test, &r.set, &r.params, &r.mpi, r.ranks, &r.cache)
}

pub fn place(r: &Record) -> String {
    let shared = |(threads, cores): (usize, usize)| format!(", {threads} runnable threads on {cores} cores");
    let shared = r.oversubscribed().map(shared).unwrap_or_default();
    format!("{}, {} ranks, {}{shared}", r.mpi, r.ranks, r.cache)
}

/// What is to be said where some times were taken on too few cores.
pub fn oversubscribed(records: &[Record]) -> Option<&'static str> {
    records.iter().any(|record| record.oversubscribed().is_some()).then_some(
        "Oversubscribed: where there are more runnable threads than cores, ranks wait for each other's turns on a core. Such \
         times compare methods on this machine at best, and say little of others.",
    )
}

/// Whether the times of a method can be used.
pub fn measured(record: &Record) -> bool {
    record.median_s.is_some() && matches!(record.outcome.as_str(), "converged" | "time limit" | "run limit")
}

/// Low end, median and high end.
pub fn interval(record: &Record) -> Option<(f64, f64, f64)> {
    Some((record.median_low_s?, record.median_s?, record.median_high_s?))
}

/// The larger side of the median's interval, as a share of it.
pub fn half_width(record: &Record) -> String {
    let half = interval(record)
        .and_then(|(low, median, high)| (median > 0.0).then(|| (median - low).max(high - median) / median));
    half.map_or_else(String::new, |half| format!("±{}", units::percent(half)))
}

/// The interval of an overhead, with as many decimals as that is shown with.
pub fn overhead_interval(record: &Record, overhead: f64) -> String {
    let figure = |end| units::percent_figure(end, units::percent_decimals(overhead));
    match (record.overhead_reference_low, record.overhead_reference_high) {
        (Some(low), Some(high)) => format!("[{}, {}]", figure(low), figure(high)),
        _ => String::new(),
    }
}
