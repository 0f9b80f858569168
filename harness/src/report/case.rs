//! What can be said of one case: its methods side by side, which is fastest, what went wrong.

use super::units;
use super::verdict::{Against, Base};
use crate::experiment::Experiment;
use crate::methods::LOOPS;
use crate::record::{Phase, Record};
use crate::stats;

/// Share of disturbed blocks from which on a table says so: medians do not see fewer.
const DISTURBED: f64 = 0.25;

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
        // Ranks that share cores take them from each other: that is told of all such records, and is no disturbance.
        let with_cores = self.methods().filter(|record| record.oversubscribed().is_none());
        let (disturbed, all) = with_cores.fold((0, 0), |(disturbed, all), record| {
            (disturbed + record.blocks_disturbed, all + record.blocks)
        });
        if disturbed as f64 > DISTURBED * all as f64 {
            notes.push(format!(
                "a disturbed machine: in {disturbed} of {all} blocks the hypervisor kept a core of the machine, or another process took a \
                 rank's"
            ));
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

    /// Which method is fastest, and by how much over the next: by the rounds' own ratios.
    pub fn fastest(&self) -> String {
        let complete =
            |r: &&Record| self.experiment().method(&r.method).is_ok_and(|method| method.is_complete);
        let all: Vec<_> = self.methods().filter(complete).filter(|record| measured(record)).collect();
        let Some(first) = all.iter().find_map(|record| record.fastest.as_deref()) else {
            let why = if all.is_empty() { "nothing was measured" } else { "not known: no ratios on record" };
            return why.to_owned();
        };
        let mut rivals = Vec::new();
        for record in all.iter().filter(|record| record.method != first) {
            match Against::of(record, Base::Fastest) {
                Some(against) => rivals.push(against),
                None => return format!("not known: too few rounds of {}", record.method),
            }
        }
        rivals.sort_by(|a, b| a.value.total_cmp(&b.value));
        let Some(next) = rivals.first() else { return format!("{first} alone was measured") };
        // What is slower than the next for certain decides nothing, however it moves.
        let near: Vec<_> = rivals.iter().filter(|rival| rival.low <= next.high).collect();
        let names = |of: &dyn Fn(&Against<'_>) -> bool| {
            near.iter().filter(|rival| of(rival)).map(|rival| rival.name).collect::<Vec<_>>().join(", ")
        };
        if near.iter().any(|rival| rival.unsteady) {
            return format!("unsteady: one of {first}, {}", names(&|_| true));
        }
        match names(&|rival| rival.low <= 1.0) {
            close if close.is_empty() => format!("{first}, {} {}", next.text(), next.name),
            close => format!("one of {first}, {close}"),
        }
    }

    /// Whether the application's loops or the datatype win: a verdict on each of the loops.
    pub fn manual_or_ddt(&self) -> String {
        let of = |name: &str| self.methods().find(|r| r.method == name && measured(r));
        let Some(ddt) = of("ddt") else { return String::new() };
        let loops: Vec<_> =
            LOOPS.into_iter().zip(Base::LOOPS).filter(|(name, _)| of(name).is_some()).collect();
        let verdict = |(name, base): &(&str, Base)| match Against::of(ddt, *base) {
            None if ddt.fastest.is_none() => format!("ddt or {name}: not known, no ratios on record"),
            None => format!("ddt or {name}: not known, too few rounds"),
            Some(ratio) if ratio.unsteady => format!("ddt or {name}: unsteady"),
            Some(ratio) if ratio.high < 1.0 => format!("ddt, {} {name}", ratio.inverse().text()),
            Some(ratio) if ratio.low > 1.0 => format!("{name}, {} ddt", ratio.text()),
            Some(_) => format!("ddt or {name}: no difference shown"),
        };
        loops.iter().map(verdict).collect::<Vec<_>>().join("; ")
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

/// The overhead against the reference and its interval, two cells; empty without an interval.
pub fn overhead(record: &Record) -> [String; 2] {
    share(record.overhead_reference, record.overhead_reference_low, record.overhead_reference_high)
}

/// The share of packing and its interval, two cells; empty without an interval.
pub fn packing(record: &Record) -> [String; 2] {
    match (record.overhead_pack, record.overhead_pack_low) {
        // Nobody can see MPI pack.
        (Some(0.0), None) => [units::percent(0.0), String::new()],
        _ => share(record.overhead_pack, record.overhead_pack_low, record.overhead_pack_high),
    }
}

/// The speed-up and its interval.
pub fn speedup(record: &Record) -> [String; 2] {
    share(record.speedup, record.speedup_low, record.speedup_high)
}

/// A share and its interval, with as many decimals as the share is shown with; empty without an interval.
fn share(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> [String; 2] {
    let (Some(value), Some(low), Some(high)) = (value, low, high) else { return Default::default() };
    let figure = |end| units::percent_figure(end, units::percent_decimals(value));
    [units::percent(value), format!("[{}, {}]", figure(low), figure(high))]
}

/// The larger side of an interval; `None` without one.
pub fn larger_side(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> Option<f64> {
    let (value, low, high) = (value?, low?, high?);
    Some((value - low).max(high - value))
}

/// A share, and the larger side of its interval in percentage points, with as many decimals; the latter empty where results
/// recorded before have none.
pub fn share_and_half(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> [String; 2] {
    let Some(share) = value else { return Default::default() };
    let half = larger_side(value, low, high);
    let figure = |half| format!("±{}", units::percent_figure(half, units::percent_decimals(share)));
    [units::percent(share), half.map_or_else(String::new, figure)]
}

/// The gain and its interval, two cells; empty without an interval.
pub fn gain(record: &Record) -> [String; 2] {
    let (Some(value), Some(low), Some(high)) = (record.gain, record.gain_low, record.gain_high) else {
        return Default::default();
    };
    [format!("{value:.2}"), format!("[{low:.2}, {high:.2}]")]
}
