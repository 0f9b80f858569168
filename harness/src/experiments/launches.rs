//! Times and figures over launches, from those of each launch. The launch is the statistical unit, because variation between
//! processes shows only between launches. Launches in different states of the machine are never joined to one value.

pub(super) mod fastest;
mod intervals;
mod states;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use states::LaunchStates;

use crate::model::{Basis, Case, Figure, Outcome, PairScope, Phase, Quantity, Record};
use crate::stats;
use crate::stats::launches::{self, Drift};

/// The minimum number of launches for an interval over launches.
pub const FEWEST: usize = launches::FEWEST;

/// One record for each method, phase and pair of a case in each state of the machine that its launches met: cases in the order of
/// their first launch, their states from the fastest. A method has converged if the interval of its headline phase over launches is
/// within `precision` of the median, a fraction. `precision` is `None` if launches end by another rule.
///
/// A method that moved wrong bytes in any launch has one record, without times, and nothing is relative to it.
pub fn over_launches(records: &[Record], precision: Option<f64>) -> Vec<Record> {
    type Groups<'a> = IndexMap<(&'a str, Phase, PairScope), Vec<&'a Record>>;
    let wrong = with_wrong_data(records);
    let is_wrong = |case: &Arc<Case>, method: &str| wrong.contains(&(case, method));
    let states = LaunchStates::from_records(records);
    let mut cases: IndexMap<&Arc<Case>, BTreeMap<Option<usize>, Groups<'_>>> = IndexMap::new();
    for record in records {
        let is_wrong = is_wrong(&record.case, &record.method);
        if is_wrong && !is_headline(record) {
            continue;
        }
        let state = if is_wrong { states.most_common(record) } else { states.number(record) };
        let groups = cases.entry(&record.case).or_default().entry(state).or_default();
        groups.entry((&record.method, record.phase, record.pair)).or_default().push(record);
    }
    let all = cases.into_values().flatten();
    let (numbers, groups): (Vec<Option<usize>>, Vec<Vec<&Record>>) =
        all.flat_map(|(state, groups)| groups.into_values().map(move |group| (state, group))).unzip();
    let drift = drift(&groups);
    let of_state = |(state, group): (&Option<usize>, &Vec<&Record>)| joined(group, drift, *state, &states);
    let mut over: Vec<Record> = numbers.iter().zip(&groups).map(of_state).collect();
    fastest::choose(&mut over, &groups, &states);
    if !wrong.is_empty() {
        for record in &mut over {
            let case = &record.case;
            record.figures.retain(|figure| !is_wrong(case, &figure.against));
        }
    }
    if let Some(precision) = precision {
        set_outcomes(&mut over, precision);
    }
    over
}

/// The records of launches, each with the number and the latency of its state, as the records over launches.
pub fn in_states(records: &[Record]) -> Vec<Record> {
    let states = LaunchStates::from_records(records);
    let of = |record: &Record| {
        let state = states.number(record);
        Record { state, state_latency_s: states.latency_s(record, state), ..record.clone() }
    };
    records.iter().map(of).collect()
}

/// Those of the records over launches that are of the state most launches of the run were in; of another one
/// for cases without a launch in it.
pub fn most_common_state(over: &[Record]) -> Vec<Record> {
    let mut launches: HashMap<(&Arc<Case>, Option<usize>), usize> = HashMap::new();
    for record in over {
        let most = launches.entry((&record.case, record.state)).or_default();
        *most = record.launches.max(*most);
    }
    let mut of_run: BTreeMap<Option<usize>, usize> = BTreeMap::new();
    launches.iter().for_each(|((_, state), launches)| *of_run.entry(*state).or_default() += launches);
    let mut of_case: HashMap<&Arc<Case>, (usize, Option<usize>)> = HashMap::new();
    // From the last state, so that of equal ones the fastest is kept.
    for (&state, &launches_of_run) in of_run.iter().rev() {
        for record in over.iter().filter(|record| record.state == state) {
            let kept = of_case.entry(&record.case).or_insert((launches_of_run, state));
            *kept = if launches_of_run >= kept.0 { (launches_of_run, state) } else { *kept };
        }
    }
    over.iter().filter(|record| of_case[&record.case].1 == record.state).cloned().collect()
}

/// The methods that moved wrong bytes in a launch, with their cases. Their times in other launches are not
/// used either: the same code ran there, and may have been right by chance.
pub fn with_wrong_data(records: &[Record]) -> HashSet<(&Arc<Case>, &str)> {
    let wrong = records.iter().filter(|record| record.outcome.is_wrong());
    wrong.map(|record| (&record.case, record.method.as_str())).collect()
}

/// The drift of the machine from launch to launch, from the headline phases of all methods.
fn drift(groups: &[Vec<&Record>]) -> Drift {
    let headlines = groups.iter().filter(|group| group.first().is_some_and(|record| is_headline(record)));
    let series = |group: &Vec<&Record>| {
        let mut launches: Vec<&Record> = group.clone();
        launches.sort_by_key(|record| record.launch);
        launches.iter().filter_map(|record| record.median_s).collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = headlines.map(series).collect();
    Drift::from_series(all.iter().map(Vec::as_slice))
}

fn is_headline(record: &Record) -> bool {
    record.pair == PairScope::All && record.phase == record.case.experiment.headline()
}

/// Replaces outcomes that depend on an interval over launches, by the method's headline phase.
fn set_outcomes(over: &mut [Record], precision: f64) {
    let has_ended = |record: &&Record| record.basis != Basis::WithinLaunch && record.outcome.counts();
    let of = |record: &Record| (record.case.clone(), record.method.clone(), record.state);
    let outcomes: HashMap<_, Outcome> = over
        .iter()
        .filter(|record| is_headline(record))
        .filter(has_ended)
        .map(|record| (of(record), ended(record, precision)))
        .collect();
    for record in over.iter_mut().filter(|record| record.outcome.counts()) {
        if let Some(outcome) = outcomes.get(&of(record)) {
            record.outcome = outcome.clone();
        }
    }
}

/// The record over the launches of one method, phase and pair in one state; there is at least one. It uses
/// the launches with times, unless one moved wrong bytes.
fn joined(all: &[&Record], drift: Drift, state: Option<usize>, states: &LaunchStates<'_>) -> Record {
    if let Some(wrong) = all.iter().find(|record| record.outcome.is_wrong()) {
        return Record { launch: None, launches: all.len(), state, ..(*wrong).clone() };
    }
    let mut measured: Vec<&Record> = all.iter().copied().filter(|record| record.median_s.is_some()).collect();
    measured.sort_by_key(|record| record.launch);
    let of: &[&Record] = if measured.is_empty() { all } else { &measured };
    let first = of[0];
    // A failed launch is not hidden by successful ones.
    let is_invalid = |record: &Record| matches!(record.outcome, Outcome::Invalid { .. });
    let worst = all.iter().find(|record| record.median_s.is_none() || is_invalid(record));
    let shown = worst.copied().unwrap_or(of[of.len() - 1]);
    let mut record = Record {
        launch: None,
        launches: of.len(),
        state,
        outcome: shown.outcome.clone(),
        part: first.part.filter(|part| all.iter().all(|record| record.part == Some(*part))),
        ..first.clone()
    };
    // The only one of several launches that was in its state has no interval either.
    if states.has_several_launches(first) {
        over_several(&mut record, of, drift);
        record.state_latency_s = states.latency_s(first, state);
    }
    record
}

/// The outcome of several launches, whose interval is over launches.
fn ended(record: &Record, precision: f64) -> Outcome {
    let half = |median: f64| Some((median - record.median_low_s?).max(record.median_high_s? - median));
    match record.median_s.and_then(|median| Some(half(median)? <= precision * median)) {
        Some(true) => Outcome::Converged,
        _ => Outcome::LaunchLimit,
    }
}

/// Replaces values of the first launch by values of all launches. `of` is in the order of launches.
fn over_several(record: &mut Record, of: &[&Record], drift: Drift) {
    let each = |value: fn(&Record) -> Option<f64>| {
        of.iter().filter_map(|record| value(record)).collect::<Vec<f64>>()
    };
    let medians = each(|record| record.median_s);
    let location = launches::location(&medians);
    record.median_s = stats::median(&stats::sorted(medians.iter().copied()));
    (record.median_low_s, record.median_high_s) = location.interval.unzip();
    (record.repeat_low_s, record.repeat_high_s) = launches::repeat(&medians, drift).unzip();
    record.basis = location.basis;
    let median_of = |value: fn(&Record) -> Option<f64>| stats::median(&stats::sorted(each(value)));
    record.mean_s = stats::mean(&each(|record| record.mean_s));
    (record.mean_low_s, record.mean_high_s) = (None, None);
    record.min_s = each(|record| record.min_s).into_iter().reduce(f64::min);
    record.p90_s = median_of(|record| record.p90_s);
    record.p99_s = median_of(|record| record.p99_s);
    record.p999_s = median_of(|record| record.p999_s);
    record.max_s = each(|record| record.max_s).into_iter().reduce(f64::max);
    // Known only if most launches had undisturbed blocks.
    let is_known = 2 * each(|record| record.slow_time).len() > of.len();
    record.slow_samples = median_of(|record| record.slow_samples).filter(|_| is_known);
    record.slow_time = median_of(|record| record.slow_time).filter(|_| is_known);
    record.state_copy_bytes_per_s = median_of(|record| record.state_copy_bytes_per_s);
    let sum = |value: fn(&Record) -> usize| of.iter().map(|record| value(record)).sum();
    record.n = sum(|record| record.n);
    record.blocks = sum(|record| record.blocks);
    record.blocks_other_state = sum(|record| record.blocks_other_state);
    record.blocks_disturbed = sum(|record| record.blocks_disturbed);
    record.batch = of.iter().map(|record| record.batch).max().unwrap_or_default();
    record.mixed_states = of.iter().any(|record| record.mixed_states);
    // A trend within a launch is shown for that launch, and widens the interval over all launches.
    record.unsteady = launches::unsteady(&medians);
    record.figures.clear();
    // An estimate needs several rounds, and is known only if most launches had them.
    let is_known =
        |group: &Vec<&Figure>| group.iter().all(|figure| figure.low.is_none()) || 2 * group.len() > of.len();
    record.figures.extend(figures(of).iter().filter(|group| is_known(group)).map(|group| over(group)));
}

/// The figures of launches, grouped by quantity.
fn figures<'a>(of: &[&'a Record]) -> Vec<Vec<&'a Figure>> {
    let mut groups: Vec<Vec<&Figure>> = Vec::new();
    for figure in of.iter().flat_map(|record| &record.figures) {
        let is_same = |group: &&mut Vec<&Figure>| {
            // An equation of a model is shown next to its figure; a method is part of the figure's meaning.
            let by_model = matches!(figure.quantity, Quantity::GainModel | Quantity::GainDifference);
            let first = group[0];
            first.quantity == figure.quantity && (by_model || first.against == figure.against)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(figure),
            None => groups.push(vec![figure]),
        }
    }
    groups
}

fn over(group: &[&Figure]) -> Figure {
    let values: Vec<f64> = group.iter().filter_map(|figure| figure.value).collect();
    let interval = match group.iter().any(|figure| figure.low.is_some()) {
        true => intervals::interval(group[0].quantity, &values),
        // A figure without an interval within a launch, such as a number of messages, is not an estimate.
        false => None,
    };
    let median = |values: &mut dyn Iterator<Item = f64>| stats::median(&stats::sorted(values));
    // A rate is that of the median time.
    let is_rate = matches!(group[0].quantity, Quantity::Bandwidth | Quantity::PerceivedBandwidth);
    let value = match is_rate {
        true => median(&mut values.iter().map(|value| 1.0 / value)).map(|time| 1.0 / time),
        false => median(&mut values.iter().copied()),
    };
    Figure {
        value,
        low: interval.map(|interval| interval.0),
        high: interval.map(|interval| interval.1),
        // Only for quantities that have this mark in each launch.
        unsteady: group[0].unsteady.and_then(|_| launches::halves_differ(&values)),
        ..group[0].clone()
    }
}
