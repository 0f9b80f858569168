//! A case: its methods side by side, the fastest one, warnings and failures.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::columns::{Align, Column};
use super::names::{distinct, grouped, work, work_names};
use super::state;
use super::table::TableFormat;
use super::units;
use super::verdict::{Against, Claim, FASTER, UNSTEADY};
use crate::model::transport;
use crate::model::{Basis, Case, Figure, LOOP, LOOPS, OWN, Outcome, PairScope, Phase, Quantity, Record};
use crate::stats::launches::FEWEST;
use crate::stats::{self, MIN_ROUNDS};
use common::kinds::Kind;

/// Minimum fraction of disturbed blocks that is reported: fewer hardly affect medians.
const DISTURBED: f64 = 0.25;

/// A table shows the mean if it differs from the median by this fraction. In nine of ten of 60 launches
/// without a fault, next to other programs, it was less.
const MEAN_DIFFERS: f64 = 0.1;

/// The records of one case in one state of the machine, in their order.
#[derive(Clone)]
pub struct CaseView<'a> {
    form: &'static TableFormat,
    records: Vec<&'a Record>,
    /// Whether cases of several runs are shown together.
    is_of_several_runs: bool,
    /// The name of the state, if it is known.
    state: Option<String>,
    /// Launches of the case in any state.
    all_launches: usize,
    /// Whether these are the launches in the state that most launches of the case were in; of equal ones the fastest.
    is_most_common: bool,
    /// Whether cases on the same MPI are shown in several states.
    is_of_several_states: bool,
    /// Distinguishes it from other cases of its test, if there are any.
    pub distinguished_by: Option<String>,
}

impl<'a> CaseView<'a> {
    /// One view per case and state, in the order of the records.
    pub fn all(form: &'static TableFormat, records: &'a [Record]) -> Vec<Self> {
        let is_of_several_runs = records.windows(2).any(|two| two[0].case.run != two[1].case.run);
        let names = state::names(records);
        let view = |records: Vec<&'a Record>| Self {
            form,
            is_of_several_runs,
            state: names.get(&state::of_run(records[0])).cloned(),
            all_launches: 0,
            is_most_common: true,
            is_of_several_states: false,
            distinguished_by: None,
            records,
        };
        let mut cases: Vec<Self> =
            grouped(records, |record| (&record.case, record.state)).into_values().map(view).collect();
        for views in cases.chunk_by_mut(|a, b| a.first().case == b.first().case) {
            let all_launches = views.iter().map(|view| view.launches().0).sum();
            let most = views.iter().map(|view| view.launches().0).max();
            let common = views.iter().position(|view| Some(view.launches().0) == most);
            for (place, view) in views.iter_mut().enumerate() {
                (view.all_launches, view.is_most_common) = (all_launches, Some(place) == common);
            }
        }
        let mut states: HashMap<String, BTreeSet<Option<usize>>> = HashMap::new();
        for case in &cases {
            states.entry(case.side()).or_default().insert(case.first().state);
        }
        cases.iter_mut().for_each(|case| case.is_of_several_states = states[&case.side()].len() > 1);
        let all: Vec<&Case> = cases.iter().map(|case| &*case.first().case).collect();
        let names = work_names(&distinct(all.iter().copied()));
        let name = |case: &&Case| {
            let name = &names[&work(case)];
            let rest = name.strip_prefix(&case.test).map(str::trim_start);
            rest.filter(|rest| !rest.is_empty()).map(str::to_owned)
        };
        let rests: Vec<_> = all.iter().map(name).collect();
        cases.iter_mut().zip(rests).for_each(|(case, rest)| case.distinguished_by = rest);
        cases
    }

    /// Any of its records, for common properties.
    pub fn first(&self) -> &'a Record {
        self.records[0]
    }

    pub fn launches(&self) -> (usize, usize) {
        (self.records.iter().map(|record| record.launches).max().unwrap_or_default(), self.all_launches)
    }

    /// Whether the case has a state with more launches, and this one too few for an interval.
    pub fn has_too_few_launches(&self) -> bool {
        !self.is_most_common && self.launches().0 < FEWEST
    }

    /// The place, and the state of the machine.
    pub fn conditions(&self) -> String {
        [Some(self.place()), self.state.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// The name of the state, if it is known.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The MPI, and ranks, hosts, transport and cache mode; whether threads share cores; with more than two
    /// ranks, the thread level; with several runs, the run.
    pub fn place(&self) -> String {
        let first = self.first();
        let run = if self.is_of_several_runs { format!("{}: ", first.case.run) } else { String::new() };
        let shared = |(threads, cores)| format!("{threads} runnable threads on {cores} cores");
        let mut parts = vec![format!("{run}{}", first.case.mpi_label())];
        parts.extend(first.case.configuration().map(str::to_owned));
        parts.push(place(&first.case));
        parts.extend(first.oversubscribed().map(shared));
        // Two ranks that send one message at a time do not depend on the level, and no MPI is slower or faster because of it.
        let has_level = !matches!(first.case.experiment, Kind::PingPong | Kind::Engine);
        parts.extend(first.thread_level.clone().filter(|_| has_level));
        parts.join(", ")
    }

    /// The MPI; with several runs, the run.
    pub fn side_in_all_states(&self) -> String {
        let case = &self.first().case;
        let run = if self.is_of_several_runs { format!(" of {}", case.run) } else { String::new() };
        mpi(case) + &run
    }

    /// The state, if there are several.
    pub fn own_state(&self) -> Option<&str> {
        self.state().filter(|_| self.is_of_several_states)
    }

    /// The MPI; with several runs, the run; with several states, the state.
    pub fn side(&self) -> String {
        self.side_in_all_states() + &self.own_state().map_or_else(String::new, |state| format!(", {state}"))
    }

    /// The record of the headline phase of each method.
    pub fn methods(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.headlines().filter(|record| record.pair == PairScope::All)
    }

    fn headlines(&self) -> impl Iterator<Item = &'a Record> + '_ {
        self.records.iter().copied().filter(|record| record.phase == self.form.headline)
    }

    pub fn median(&self, method: &str, phase: Phase) -> Option<f64> {
        self.phase(method, phase).and_then(|record| record.median_s)
    }

    /// The record of a phase for all pairs.
    pub fn phase(&self, method: &str, phase: Phase) -> Option<&'a Record> {
        let of = |record: &&&Record| {
            record.method == method && record.phase == phase && record.pair == PairScope::All
        };
        self.records.iter().find(of).copied()
    }

    /// The values that distinguish it from other cases of its test, otherwise its set.
    pub fn set(&self) -> &str {
        self.distinguished_by.as_deref().unwrap_or(&self.first().case.set)
    }

    /// Test and set.
    pub fn name(&self) -> String {
        format!("{}  {}", self.first().case.test, self.set())
    }

    /// The fastest and the slowest pair, if there are several.
    fn pairs(&self, method: &str) -> Option<String> {
        let of = self.headlines().filter(|record| record.method == method && record.pair != PairScope::All);
        let medians = stats::sorted(of.filter_map(|record| record.median_s));
        let [first, .., last] = &medians[..] else { return None };
        Some(format!("{} to {}", units::seconds(*first), units::seconds(*last)))
    }

    /// The failures and their methods. Several methods may have the same failure, for example if no process started.
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

    /// Notes: failures, blocks that were left out, means.
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
                "the mean of {} is not a valid time: computing took longer than the transfer that includes it, because two clocks differ",
                no_times.join(", ")
            ));
        }
        if self.methods().any(|r| r.mixed_states) {
            notes.push("the machine changed its state in every round, so all blocks are used".to_owned());
        }
        let errors = self.methods().filter_map(|record| record.value(Quantity::ClockError));
        if let Some(error_s) = errors.reduce(f64::max) {
            notes.push(format!(
                "clocks differ, and were brought to one time: where times of two ranks are compared, they were off by {} at the end of the \
                 worst block, as far as messages can show",
                units::seconds(error_s)
            ));
        }
        let late = self.methods().filter_map(|record| record.value(Quantity::StartLate));
        if let Some(late_s) = late.reduce(f64::max) {
            notes.push(format!("the latest rank began {} after the agreed times", units::seconds(late_s)));
        }
        let unbound = self.methods().filter_map(|record| record.value(Quantity::UnboundRanks));
        if let Some(ranks) = unbound.reduce(f64::max).filter(|&ranks| ranks > 0.0) {
            notes.push(format!(
                "a core is reserved, but the MPI's threads are not bound to it in {ranks} ranks"
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
        of_each("blocks left out because the machine was in another state", &|r| {
            let (left, all) = (r.blocks_other_state, r.blocks + r.blocks_other_state);
            (left > 0).then(|| format!("{left} of {all}"))
        });
        let about =
            format!("mean, if it differs from the median by more than {}", units::percent(MEAN_DIFFERS));
        of_each(&about, &|r| {
            let (mean, median) = (r.mean_s?, r.median_s.filter(|_| measured(r))?);
            let tail = [("p99.9", r.p999_s), ("longest", r.max_s)];
            let tail =
                tail.into_iter().filter_map(|(name, time)| Some(format!("{name} {}", units::seconds(time?))));
            let tail = tail.collect::<Vec<_>>().join(", ");
            let differs = (mean - median).abs() > MEAN_DIFFERS * median.abs();
            differs.then(|| format!("{} ({tail})", units::seconds(mean)))
        });
        of_each(
            "the two estimates of the pack overhead disagree (docs/concepts.md#the-two-pack-overheads)",
            &|r| {
                let [ovh, pack] =
                    [Quantity::OverheadReference, Quantity::OverheadPack].map(|of| share(r, of).join(" "));
                let text = format!("{ovh} by the reference (ovh), {pack} by timed packing (pack%)");
                (measured(r) && overheads_disagree(r)?).then_some(text)
            },
        );
        of_each("no ovh, because most launches had too few rounds", &|r| {
            let reference = r.case.experiment.reference_of(&r.method)?;
            let is_there = self.methods().any(|of| of.method == reference && measured(of)) && measured(r);
            let is_of_kind = r.case.experiment == Kind::PingPong && r.launches > 1;
            let lacks = is_of_kind && is_there && r.value(Quantity::OverheadReference).is_none();
            lacks.then(|| format!("({} launches)", r.launches))
        });
        of_each("samples are means of a batch", &|r| (r.batch > 1).then(|| r.batch.to_string()));
        notes
    }

    /// The fastest array-to-array method, and its lead, by the rounds' ratios.
    pub fn fastest(&self) -> Claim<'a> {
        let array_to_array =
            |r: &&Record| (self.form.method)(&r.method).is_some_and(|method| method.array_to_array);
        let all: Vec<_> = self.methods().filter(array_to_array).filter(|record| measured(record)).collect();
        let Some(first) = all.iter().find_map(|record| record.fastest.as_deref()) else {
            let contiguous: Vec<&str> = self
                .methods()
                .filter(|record| measured(record))
                .map(|record| record.method.as_str())
                .collect();
            return match (all.is_empty(), contiguous.is_empty()) {
                (false, _) => Claim::undecided(Vec::new(), "no ratios recorded"),
                (true, false) => Claim::not_compared(format!("only {} was measured", contiguous.join(", "))),
                (true, true)
                    if self.methods().any(|record| record.value(Quantity::DeviceCopies).is_some()) =>
                {
                    Claim::not_compared("copies only are counted")
                }
                (true, true) => Claim::not_compared("nothing was measured"),
            };
        };
        let (mut others, mut means) = (Vec::new(), Vec::new());
        for record in all.iter().filter(|record| record.method != first) {
            means.extend(mean_over(record, first));
            match Against::from_record(record, record.figure(Quantity::TimeOverFastest)) {
                Some(against) => others.push(against),
                None => {
                    let why = format!("{} of {}", too_few(record), record.method);
                    return Claim::undecided(Vec::new(), &why);
                }
            }
        }
        others.sort_by(|a, b| a.value.total_cmp(&b.value));
        let Some(next) = others.first() else {
            return Claim::not_compared(format!("only {first} was measured"));
        };
        // A method that is shown to be slower than the next one does not matter.
        let near: Vec<_> = others.iter().filter(|other| other.low <= next.high).collect();
        let names = |of: &dyn Fn(&Against<'a>) -> bool| {
            let near = near.iter().filter(|other| of(other)).map(|other| other.name);
            std::iter::once(first).chain(near).collect::<Vec<_>>()
        };
        // A mean contradicts only the medians of the same two methods.
        let by_mean = means.into_iter().min_by(|a, b| a.high.total_cmp(&b.high)).and_then(|mean| {
            let median = others.iter().find(|other| other.name == mean.name)?;
            let claim = Claim::from_ratio(*median, first).unless_mean_differs(Some(mean), first);
            matches!(claim, Claim::MeanDiffers { .. }).then_some(claim)
        });
        if let Some(claim) = by_mean {
            return claim;
        }
        if near.iter().any(|other| other.unsteady) {
            return Claim::undecided(names(&|_| true), UNSTEADY);
        }
        match names(&|other| other.low <= FASTER) {
            close if close.len() == 1 => Claim::from_ratio(*next, first),
            close => Claim::undecided(close, ""),
        }
    }

    /// Whether a hand-written loop or the datatype is faster, for each measured loop; one claim if that depends on the loop.
    pub fn loops_or_ddt(&self) -> Vec<Claim<'a>> {
        let of = |name: &str| self.methods().find(|r| r.method == name && measured(r));
        // A user who brings a loop asks about no interpreted one.
        let is_asked = |name: &&str| of(name).is_some() && (*name != LOOP || of(OWN).is_none());
        let loops: Vec<&str> = LOOPS.into_iter().filter(is_asked).collect();
        let Some(ddt) = of("ddt").filter(|_| !loops.is_empty()) else {
            let is_compared = |name: &&str| *name == "ddt" || LOOPS.contains(name);
            let failed = self.failures().into_iter().map(|(outcome, methods)| {
                Claim::failed(methods.into_iter().filter(is_compared).collect(), outcome.label())
            });
            return failed.filter(|claim| !claim.candidates().is_empty()).take(1).collect();
        };
        let claim = |name| {
            let unknown = || {
                let why = if ddt.fastest.is_none() { "no ratios recorded" } else { too_few(ddt) };
                Claim::undecided(vec!["ddt", name], why)
            };
            let claim = Against::from_record(ddt, ddt.over(name)).map(|ratio| Claim::from_ratio(ratio, name));
            claim.map_or_else(unknown, |claim| claim.unless_mean_differs(mean_over(ddt, name), name))
        };
        Claim::of_loops(loops.into_iter().map(claim).collect())
    }
}

/// Its mean relative to that of another method.
fn mean_over<'a>(record: &'a Record, method: &str) -> Option<Against<'a>> {
    let is_it = |figure: &&Figure| figure.quantity == Quantity::MeanOver && figure.against == method;
    Against::from_record(record, record.figures.iter().find(is_it))
}

/// Why the ratios of a measured record have no interval.
pub fn too_few(record: &Record) -> &'static str {
    // With enough rounds, one launch lacks an interval only if other launches were in another state.
    if record.launches > 1 || record.blocks >= MIN_ROUNDS { "too few launches" } else { "too few rounds" }
}

/// Ranks, hosts, transport, cache mode and memory of a case.
pub fn place(case: &Case) -> String {
    let hosts = if case.hosts > 1 { format!(" on {} hosts", case.hosts) } else { String::new() };
    let ranks = if case.ranks == 1 { "1 rank".to_owned() } else { format!("{} ranks", case.ranks) };
    let parts = [ranks + &hosts, case.transport.clone(), case.conditions().text(), case.device.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The MPI, and its configuration of asynchronous progress.
fn mpi(case: &Case) -> String {
    let configuration = case.configuration().map(|name| format!(", {name}"));
    case.mpi_label() + configuration.as_deref().unwrap_or_default()
}

/// The basis of values, and of intervals if they are shown. `None` without records.
pub fn launches(records: &[Record], has_intervals: bool) -> Option<String> {
    let states = records.chunk_by(|a, b| a.case == b.case).map(|of_case| {
        let states = grouped(of_case, |record| record.state).into_values();
        let launches = states.filter_map(|of_state| of_state.iter().map(|record| record.launches).max());
        launches.collect::<Vec<_>>()
    });
    let states: Vec<Vec<usize>> = states.collect();
    let most = states.iter().map(|of_case| of_case.iter().sum::<usize>()).max()?;
    if most < 2 {
        return Some(
            "One launch of each method: intervals and verdicts are for this launch only; \
             more launches also measure the variation between them."
                .to_owned(),
        );
    }
    let has = |basis| records.iter().any(|record| record.basis == basis);
    let what = match (has(Basis::Launches), has(Basis::LaunchesT)) {
        (false, false) => "; an interval needs three",
        _ if !has_intervals => "",
        (true, false) => "; intervals show the spread between launches",
        (false, true) => "; intervals show the spread between launches (Student's t)",
        (true, true) => "; intervals show the spread between launches (Student's t with fewer than six)",
    };
    // Without intervals, the headings are enough.
    let several = has_intervals && states.iter().any(|of_case| of_case.len() > 1);
    let of_state = if several { " in one state of the machine" } else { "" };
    Some(format!("Values are medians over {most} launches per method{of_state}{what}."))
}

/// The warning about ranks that share cores.
pub const OVERSUBSCRIBED: &str = "Oversubscribed: with more runnable threads than cores, ranks wait for each other's turns on a core. Such times compare methods \
     on this machine with this thread level, and do not apply to others.";

/// Warnings that qualify the times: too few cores, or an unused network.
pub fn warnings(records: &[Record]) -> Vec<String> {
    let any = |is_so: fn(&Record) -> bool| records.iter().any(is_so);
    let oversubscribed = any(|record| record.oversubscribed().is_some()).then_some(OVERSUBSCRIBED);
    let not_crossed = any(|record| !transport::joins(record.case.hosts, &record.case.transport)).then_some(
        "No network: what some hosts sent to each other crossed no network interface or InfiniBand port of theirs. Such times \
         do not apply to a network.",
    );
    let others = oversubscribed.into_iter().chain(not_crossed).map(str::to_owned);
    Disturbance::from_records(records).text().into_iter().chain(others).collect()
}

/// The number of blocks disturbed by other programs. Ranks that share cores disturb each other, and do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Blocks in which a rank was without its core for too long.
    pub disturbed: usize,
    pub blocks: usize,
}

impl Disturbance {
    /// The disturbance of some records.
    pub fn from_records<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
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

    /// Whether so many blocks were disturbed that medians are affected.
    pub fn is_much(self) -> bool {
        self.disturbed as f64 > DISTURBED * self.blocks as f64
    }

    /// The warning about a busy machine, if many blocks were disturbed.
    pub fn text(self) -> Option<String> {
        let Self { disturbed, blocks } = self;
        let share = units::percent(disturbed as f64 / blocks as f64);
        let text =
            format!("Disturbed: in {share} of blocks a rank lost its core: times are too long and vary.");
        self.is_much().then_some(text)
    }
}

/// Whether a method has usable times.
pub fn measured(record: &Record) -> bool {
    record.median_s.is_some() && record.outcome.counts()
}

/// Low end, median and high end.
pub fn interval(record: &Record) -> Option<(f64, f64, f64)> {
    Some((record.median_low_s?, record.median_s?, record.median_high_s?))
}

/// A formatted value; empty if it is missing.
pub fn cell(value: Option<f64>, form: fn(f64) -> String) -> String {
    value.map_or_else(String::new, form)
}

/// Three cells: the median, the larger side of its interval, and the range of another run.
pub fn median(record: &Record) -> [String; 3] {
    let another = record.repeat_low_s.zip(record.repeat_high_s);
    let another = another.map(|(low, high)| format!("{} to {}", units::seconds(low), units::seconds(high)));
    [cell(record.median_s, units::seconds), half_width(record), another.unwrap_or_default()]
}

/// The column of the third cell.
pub const ANOTHER_RUN: Column<'static> = Column::new("another run", Align::Right, 2).rank(9);

/// The larger side of the median's interval, relative to the median.
fn half_width(record: &Record) -> String {
    let half = interval(record)
        .and_then(|(low, median, high)| (median > 0.0).then(|| (median - low).max(high - median) / median));
    cell(half, |half| format!("±{}", units::percent(half)))
}

/// Two cells: the fraction of packing and its interval.
pub fn packing(record: &Record) -> [String; 2] {
    match record.figure(Quantity::OverheadPack) {
        // MPI's packing cannot be timed.
        Some(Figure { value: Some(0.0), low: None, .. }) => [units::percent(0.0), String::new()],
        _ => share(record, Quantity::OverheadPack),
    }
}

/// Two cells: a fraction and its interval with as many decimals; empty if there is none.
pub fn share(record: &Record, quantity: Quantity) -> [String; 2] {
    let figure = |end, value| units::percent_figure(end, units::percent_decimals(value));
    cells(record, quantity, units::percent, figure)
}

/// A value, and its interval with the decimals of the value.
fn cells(
    record: &Record,
    quantity: Quantity,
    value: fn(f64) -> String,
    end: impl Fn(f64, f64) -> String,
) -> [String; 2] {
    let Some(figure) = record.figure(quantity) else { return Default::default() };
    let Some(of) = figure.value else { return Default::default() };
    let interval = figure.interval().map(|(low, high)| format!("[{}, {}]", end(low, of), end(high, of)));
    [value(of), interval.unwrap_or_default()]
}

/// Whether the intervals of the two estimates of the pack overhead are apart; `None` for a datatype, whose packing
/// cannot be timed.
fn overheads_disagree(record: &Record) -> Option<bool> {
    let of = |quantity| with_interval(record, quantity);
    let (by_reference, (_, by_packing)) =
        (of(Quantity::OverheadReference)?.1, of(Quantity::OverheadPack).filter(|(share, _)| *share > 0.0)?);
    Some(by_reference.0 > by_packing.1 || by_packing.0 > by_reference.1)
}

/// A figure with both ends of its interval; `None` without one.
fn with_interval(record: &Record, quantity: Quantity) -> Option<(f64, (f64, f64))> {
    let figure = record.figure(quantity)?;
    Some((figure.value?, figure.interval()?))
}

/// The larger side of an interval; `None` without one.
pub fn larger_side(figure: &Figure) -> Option<f64> {
    let (value, (low, high)) = (figure.value?, figure.interval()?);
    Some((value - low).max(high - value))
}

/// A fraction, and the larger side of its interval in percentage points, with as many decimals. The latter is
/// empty for old results without one.
pub fn share_and_half(record: &Record, quantity: Quantity) -> [String; 2] {
    let Some(figure) = record.figure(quantity) else { return Default::default() };
    let Some(share) = figure.value else { return Default::default() };
    let half = |half| format!("±{}", units::percent_figure(half, units::percent_decimals(share)));
    [units::percent(share), larger_side(figure).map_or_else(String::new, half)]
}

/// A ratio and its interval, two cells; empty if there is none.
pub fn ratio(record: &Record, quantity: Quantity) -> [String; 2] {
    cells(record, quantity, |value| format!("{value:.2}"), |end, _| format!("{end:.2}"))
}

/// Bytes per second.
pub fn rate(record: &Record) -> String {
    cell(record.value(Quantity::Bandwidth), units::rate)
}
/// Copies of a device's driver.
pub fn copies(record: &Record) -> String {
    // A mean over exchanges.
    cell(record.value(Quantity::DeviceCopies), |copies| ((copies * 1e3).round() / 1e3).to_string())
}

pub fn messages(record: &Record) -> String {
    cell(record.value(Quantity::Messages), |messages| messages.to_string())
}
