//! What can be said of one case: its methods side by side, which is fastest, what went wrong.

use serde::{Deserialize, Serialize};

use super::columns::{Align, Column};
use super::names::{grouped, work, work_names};
use super::table::TableFormat;
use super::units;
use super::verdict::{Against, Claim, FASTER};
use crate::model::transport;
use crate::model::{Basis, Case, Figure, LOOPS, Outcome, PairScope, Phase, Quantity, Record};
use crate::stats;
use common::kinds::Kind;

/// Share of disturbed blocks from which on it is reported: medians are hardly affected by fewer.
const DISTURBED: f64 = 0.25;

/// Share of the median by which a mean differs where a table shows it. Of 60 launches without a fault, which ran next to other programs,
/// it was less in nine of ten.
const MEAN_DIFFERS: f64 = 0.1;

/// The records of one case, in the order in which they came.
pub struct CaseView<'a> {
    form: &'static TableFormat,
    records: Vec<&'a Record>,
    /// Whether there are cases of several runs beside it.
    is_of_several_runs: bool,
    /// What tells it apart from other cases of its test, beside it.
    distinguished_by: Option<String>,
}

impl<'a> CaseView<'a> {
    /// One view per case, in the order of the records.
    pub fn all(form: &'static TableFormat, records: &'a [Record]) -> Vec<Self> {
        let is_of_several_runs = records.windows(2).any(|two| two[0].case.run != two[1].case.run);
        let grouped = grouped(records, |record| &record.case).into_values();
        let view = |records| Self { form, records, is_of_several_runs, distinguished_by: None };
        let mut cases: Vec<Self> = grouped.map(view).collect();
        let all: Vec<&Case> = cases.iter().map(|case| &*case.first().case).collect();
        let names = work_names(&all);
        let name = |case: &&Case| {
            let name = &names[&work(case)];
            let rest = name.strip_prefix(&case.test).map(str::trim_start);
            rest.filter(|rest| !rest.is_empty()).map(str::to_owned)
        };
        let rests: Vec<_> = all.iter().map(name).collect();
        cases.iter_mut().zip(rests).for_each(|(case, rest)| case.distinguished_by = rest);
        cases
    }

    /// Any of its records, for what they share.
    pub fn first(&self) -> &'a Record {
        self.records[0]
    }

    /// The MPI and the place, whether threads had to share cores, of what more than two ranks do the thread level, and where there are
    /// several runs, which.
    pub fn conditions(&self) -> String {
        let first = self.first();
        let run = if self.is_of_several_runs { format!("{}: ", first.case.run) } else { String::new() };
        let shared = |(threads, cores)| format!("{threads} runnable threads on {cores} cores");
        let mut parts = vec![format!("{run}{}", first.case.mpi_label())];
        parts.extend(first.case.configuration().map(str::to_owned));
        parts.push(place(&first.case));
        parts.extend(first.oversubscribed().map(shared));
        // Two ranks that send one message at a time need no level, and no MPI is slower or faster for it.
        let has_level = !matches!(first.case.experiment, Kind::PingPong | Kind::Engine);
        parts.extend(first.thread_level.clone().filter(|_| has_level));
        parts.join(", ")
    }

    /// The MPI, and where there are several runs, which.
    pub fn side(&self) -> String {
        let case = &self.first().case;
        match self.is_of_several_runs {
            true => format!("{} of {}", mpi(case), case.run),
            false => mpi(case),
        }
    }

    /// The record of the headline phase of each method.
    pub fn methods(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.headlines().filter(|record| record.pair == PairScope::All)
    }

    fn headlines(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.records.iter().copied().filter(|record| record.phase == self.form.headline)
    }

    /// A phase's median.
    pub fn median(&self, method: &str, phase: Phase) -> Option<f64> {
        self.phase(method, phase).and_then(|record| record.median_s)
    }

    /// The record of a phase, of all pairs.
    pub fn phase(&self, method: &str, phase: Phase) -> Option<&'a Record> {
        let of = |record: &&&Record| {
            record.method == method && record.phase == phase && record.pair == PairScope::All
        };
        self.records.iter().find(of).copied()
    }

    /// Whether there are other cases of its test beside it.
    pub fn is_one_of_several(&self) -> bool {
        self.distinguished_by.is_some()
    }

    /// What tells it apart from other cases of its test, which are beside it; else its set.
    pub fn set(&self) -> &str {
        self.distinguished_by.as_deref().unwrap_or(&self.first().case.set)
    }

    /// Test and set.
    pub fn name(&self) -> String {
        format!("{}  {}", self.first().case.test, self.set())
    }

    /// The fastest and the slowest pair, where there are several.
    fn pairs(&self, method: &str) -> Option<String> {
        let of = self.headlines().filter(|record| record.method == method && record.pair != PairScope::All);
        let medians = stats::sorted(of.filter_map(|record| record.median_s));
        let [first, .., last] = &medians[..] else { return None };
        Some(format!("{} to {}", units::seconds(*first), units::seconds(*last)))
    }

    /// What went wrong, and for which methods: one cause, as that the process did not even start, may be several's.
    pub fn failures(&self) -> Vec<(&'a Outcome, Vec<&'a str>)> {
        let mut failures: Vec<(&Outcome, Vec<&str>)> = Vec::new();
        for record in self.methods().filter(|record| record.outcome.detail().is_some()) {
            match failures.iter_mut().find(|failure| *failure.0 == record.outcome) {
                Some(failure) => failure.1.push(&record.method),
                None => failures.push((&record.outcome, vec![&record.method])),
            }
        }
        failures
    }

    /// What went wrong, what was left out, what is a mean of several.
    pub fn notes(&self) -> Vec<String> {
        let failures = self.failures();
        let failed = failures
            .iter()
            .map(|(outcome, methods)| format!("{} {}", methods.join(", "), outcome.with_reason()));
        let mut notes: Vec<String> = failed.collect();
        let no_times: Vec<&str> = self
            .methods()
            .filter(|record| !record.has_positive_mean())
            .map(|record| &*record.method)
            .collect();
        if !no_times.is_empty() {
            notes.push(format!(
                "the mean of {} is no time: computing took longer than the transfer with it, by two clocks",
                no_times.join(", ")
            ));
        }
        if self.methods().any(|r| r.mixed_states) {
            notes.push("the machine never kept one state for a round: figures are of all blocks".to_owned());
        }
        let errors = self.methods().filter_map(|record| record.value(Quantity::ClockError));
        if let Some(error_s) = errors.reduce(f64::max) {
            notes.push(format!(
                "clocks differ, and were brought to one time: where times of two ranks are compared, they were off by {} at the end of the \
                 worst block, as far as messages tell",
                units::seconds(error_s)
            ));
        }
        let late = self.methods().filter_map(|record| record.value(Quantity::StartLate));
        if let Some(late_s) = late.reduce(f64::max) {
            notes.push(format!(
                "the latest rank began {} after the times that were agreed on",
                units::seconds(late_s)
            ));
        }
        let unbound = self.methods().filter_map(|record| record.value(Quantity::UnboundRanks));
        if let Some(ranks) = unbound.reduce(f64::max).filter(|&ranks| ranks > 0.0) {
            notes.push(format!(
                "a core is left free, and the MPI's threads are not bound to it: not bound in {ranks} ranks"
            ));
        }
        notes.extend(super::state::note(self));
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
        let about =
            format!("mean where it differs from the median by more than {}", units::percent(MEAN_DIFFERS));
        of_each(&about, &|r| {
            let (mean, median) = (r.mean_s?, r.median_s.filter(|_| measured(r))?);
            let tail = [("p99.9", r.p999_s), ("longest", r.max_s)];
            let tail =
                tail.into_iter().filter_map(|(name, time)| Some(format!("{name} {}", units::seconds(time?))));
            let tail = tail.collect::<Vec<_>>().join(", ");
            let differs = (mean - median).abs() > MEAN_DIFFERS * median.abs();
            differs.then(|| format!("{} ({tail})", units::seconds(mean)))
        });
        of_each("samples are means of a batch", &|r| (r.batch > 1).then(|| r.batch.to_string()));
        notes
    }

    /// Which method is fastest from arrays to arrays, and by how much over the next: by the rounds' own ratios.
    pub fn fastest(&self) -> Claim<'a> {
        let unknown = |why| Claim::Unknown { names: Vec::new(), why };
        let array_to_array =
            |r: &&Record| (self.form.method)(&r.method).is_some_and(|method| method.array_to_array);
        let all: Vec<_> = self.methods().filter(array_to_array).filter(|record| measured(record)).collect();
        let Some(first) = all.iter().find_map(|record| record.fastest.as_deref()) else {
            let why = if all.is_empty() { "nothing was measured" } else { "not known: no ratios on record" };
            return unknown(why.to_owned());
        };
        let (mut others, mut means) = (Vec::new(), Vec::new());
        for record in all.iter().filter(|record| record.method != first) {
            means.extend(mean_over(record, first));
            match Against::of(record, record.figure(Quantity::TimeOverFastest)) {
                Some(against) => others.push(against),
                None => return unknown(format!("not known: {} of {}", too_few(record), record.method)),
            }
        }
        others.sort_by(|a, b| a.value.total_cmp(&b.value));
        let Some(next) = others.first() else {
            return unknown(format!("{first} alone was measured"));
        };
        // What is slower than the next for certain decides nothing, however it moves.
        let near: Vec<_> = others.iter().filter(|other| other.low <= next.high).collect();
        let names = |of: &dyn Fn(&Against<'a>) -> bool| {
            let near = near.iter().filter(|other| of(other)).map(|other| other.name);
            std::iter::once(first).chain(near).collect::<Vec<_>>()
        };
        let in_states = near.iter().find_map(|other| {
            let record = all.iter().find(|record| record.method == other.name)?;
            let claim =
                Claim::of_record(record, record.figure(Quantity::TimeOverFastest), first, |ratio| ratio)?;
            let is_next = other.name == next.name;
            Some(claim).filter(|claim| {
                matches!(claim, Claim::InStates(_))
                    && (claim.winner().is_none() || (is_next && near.len() == 1))
            })
        });
        // The one with the smallest mean.
        let mean = means.into_iter().min_by(|a, b| a.high.total_cmp(&b.high));
        if let Some(claim) = in_states {
            return claim.unless_mean_differs(mean, first);
        }
        if near.iter().any(|other| other.unsteady) {
            return Claim::Unsteady(names(&|_| true));
        }
        let claim = match names(&|other| other.low <= FASTER) {
            close if close.len() == 1 => Claim::of(*next, first),
            close => Claim::NoDifference(close),
        };
        claim.unless_mean_differs(mean, first)
    }

    /// Whether a loop of the application or the datatype wins, for each of the loops that were measured; one claim if that depends on
    /// the loop.
    pub fn loops_or_ddt(&self) -> Vec<Claim<'a>> {
        let of = |name: &str| self.methods().find(|r| r.method == name && measured(r));
        let Some(ddt) = of("ddt") else { return Vec::new() };
        let loops = LOOPS.into_iter().filter(|name| of(name).is_some());
        let claim = |name| {
            let unknown = || {
                let why = if ddt.fastest.is_none() { "no ratios on record" } else { too_few(ddt) };
                Claim::Unknown { names: vec!["ddt", name], why: why.to_owned() }
            };
            let claim = Claim::of_record(ddt, ddt.over(name), name, |ratio| ratio);
            claim.map_or_else(unknown, |claim| claim.unless_mean_differs(mean_over(ddt, name), name))
        };
        Claim::of_loops(loops.map(claim).collect())
    }
}

/// Its mean relative to that of another method.
fn mean_over<'a>(record: &'a Record, method: &str) -> Option<Against<'a>> {
    let is_it = |figure: &&Figure| figure.quantity == Quantity::MeanOver && figure.against == method;
    Against::of(record, record.figures.iter().find(is_it))
}

/// Why a record that was measured has ratios without an interval.
pub fn too_few(record: &Record) -> &'static str {
    if record.launches > 1 { "too few launches" } else { "too few rounds" }
}

/// Ranks, hosts, transport and cache mode of a case.
pub fn place(case: &Case) -> String {
    let hosts = if case.hosts > 1 { format!(" on {} hosts", case.hosts) } else { String::new() };
    let parts =
        [format!("{} ranks{hosts}", case.ranks), case.transport.clone(), case.cache.name().to_owned()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The MPI, and what is to bring its communication forward.
fn mpi(case: &Case) -> String {
    let configuration = case.configuration().map(|name| format!(", {name}"));
    case.mpi_label() + configuration.as_deref().unwrap_or_default()
}

/// What intervals rest on; `None` where there is no record.
pub fn launches(records: &[Record]) -> Option<String> {
    let most = records.iter().map(|record| record.launches).max()?;
    if most < 2 {
        return Some(
            "One launch of each method: intervals and verdicts are within this launch, and another one can lie outside; \
             --launches 6 measures that."
                .to_owned(),
        );
    }
    let bases: Vec<Basis> =
        records.iter().filter(|record| record.launches == most).map(|record| record.basis).collect();
    let what = match bases.iter().find(|basis| **basis != Basis::WithinLaunch) {
        Some(Basis::Launches) => "intervals are those of launches",
        Some(_) => "intervals are those of launches, by Student's t distribution",
        None => "too few for an interval, which takes three",
    };
    Some(format!("{most} launches of each method: times and ratios are medians over them, {what}."))
}

/// What keeps times from saying what they seem to say: too few cores, or a network that was not used.
pub fn warnings(records: &[Record]) -> Vec<String> {
    let any = |is_so: fn(&Record) -> bool| records.iter().any(is_so);
    let oversubscribed = any(|record| record.oversubscribed().is_some()).then_some(
        "Oversubscribed: with more runnable threads than cores, ranks wait for each other's turns on a core. Such times compare methods \
         on this machine and at this thread level at best, and say little of others.",
    );
    let not_crossed = any(|record| !transport::joins(record.case.hosts, &record.case.transport)).then_some(
        "No network: what some hosts sent to each other crossed no network interface or InfiniBand port of theirs. Such times \
         say nothing of a network.",
    );
    let others = oversubscribed.into_iter().chain(not_crossed).map(str::to_owned);
    Disturbance::of(records).text().into_iter().chain(others).collect()
}

/// How many blocks were disturbed by other programs. Ranks that share cores take them from each other, and do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Blocks in which a rank was without its core for too long.
    pub disturbed: usize,
    /// All blocks.
    pub blocks: usize,
}

impl Disturbance {
    /// That of some records.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut all = Self::default();
        records.into_iter().for_each(|record| all.add(record));
        all
    }

    /// Counts the blocks of another record.
    pub fn add(&mut self, record: &Record) {
        if record.oversubscribed().is_none() {
            self.disturbed += record.blocks_disturbed;
            self.blocks += record.blocks;
        }
    }

    /// The warning that the machine was busy, if many blocks were disturbed.
    pub fn text(self) -> Option<String> {
        let Self { disturbed, blocks } = self;
        (disturbed as f64 > DISTURBED * blocks as f64).then(|| {
            format!(
                "Disturbed: in {} of the blocks a rank was without its core for more than a tenth of the time, because the hypervisor \
                 or another process had it. Times are too long, and vary more than on a quiet machine.",
                units::percent(disturbed as f64 / blocks as f64)
            )
        })
    }
}

/// Whether the times of a method can be used.
pub fn measured(record: &Record) -> bool {
    record.median_s.is_some() && record.outcome.counts()
}

/// Low end, median and high end.
pub fn interval(record: &Record) -> Option<(f64, f64, f64)> {
    Some((record.median_low_s?, record.median_s?, record.median_high_s?))
}

/// A value in some form; empty where it is missing.
pub fn cell(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or_else(String::new, form)
}

/// The median, the larger side of its interval, and what another run soon afterwards would show: three cells.
pub fn median(record: &Record) -> [String; 3] {
    let another = record.repeat_low_s.zip(record.repeat_high_s);
    let another = another.map(|(low, high)| format!("{} to {}", units::seconds(low), units::seconds(high)));
    [cell(record.median_s, units::seconds), half_width(record), another.unwrap_or_default()]
}

/// The column of that.
pub const ANOTHER_RUN: Column<'static> = Column::new("another run", Align::Right, 2).rank(9);

/// The larger side of the median's interval, as a share of it.
fn half_width(record: &Record) -> String {
    let half = interval(record)
        .and_then(|(low, median, high)| (median > 0.0).then(|| (median - low).max(high - median) / median));
    cell(half, |half| format!("±{}", units::percent(half)))
}

/// The share of packing and its interval, two cells; empty without an interval.
pub fn packing(record: &Record) -> [String; 2] {
    match record.figure(Quantity::OverheadPack) {
        // Nobody can see MPI pack.
        Some(Figure { value: Some(0.0), low: None, .. }) => [units::percent(0.0), String::new()],
        _ => share(record, Quantity::OverheadPack),
    }
}

/// A share and its interval, with as many decimals as the share is shown with; empty without an interval.
pub fn share(record: &Record, quantity: Quantity) -> [String; 2] {
    let Some((value, (low, high))) = with_interval(record, quantity) else { return Default::default() };
    let figure = |end| units::percent_figure(end, units::percent_decimals(value));
    [units::percent(value), format!("[{}, {}]", figure(low), figure(high))]
}

/// A figure and both ends of its interval; `None` without one.
fn with_interval(record: &Record, quantity: Quantity) -> Option<(f64, (f64, f64))> {
    let figure = record.figure(quantity)?;
    Some((figure.value?, figure.interval()?))
}

/// The larger side of an interval; `None` without one.
pub fn larger_side(figure: &Figure) -> Option<f64> {
    let (value, (low, high)) = (figure.value?, figure.interval()?);
    Some((value - low).max(high - value))
}

/// A share, and the larger side of its interval in percentage points, with as many decimals; the latter empty where results
/// recorded before have none.
pub fn share_and_half(record: &Record, quantity: Quantity) -> [String; 2] {
    let Some(figure) = record.figure(quantity) else { return Default::default() };
    let Some(share) = figure.value else { return Default::default() };
    let half = |half| format!("±{}", units::percent_figure(half, units::percent_decimals(share)));
    [units::percent(share), larger_side(figure).map_or_else(String::new, half)]
}

/// A ratio and its interval, two cells; empty without an interval.
pub fn ratio(record: &Record, quantity: Quantity) -> [String; 2] {
    let Some((value, (low, high))) = with_interval(record, quantity) else { return Default::default() };
    [format!("{value:.2}"), format!("[{low:.2}, {high:.2}]")]
}

/// Bytes per second.
pub fn rate(record: &Record) -> String {
    cell(record.value(Quantity::Bandwidth), units::rate)
}

/// Messages of a repetition.
pub fn messages(record: &Record) -> String {
    cell(record.value(Quantity::Messages), |messages| messages.to_string())
}
