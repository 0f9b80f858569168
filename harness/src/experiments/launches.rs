//! Times and figures over launches, from those of each launch. The launch is the statistical unit, because variation between
//! processes shows only between launches. Launches in different states of the machine are never joined to one value.

pub(super) mod fastest;
mod intervals;
mod states;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use states::States;

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
    let states = States::from_records(records);
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
    let states = States::from_records(records);
    let of = |record: &Record| {
        let state = states.number(record);
        Record { state, state_latency_s: states.latency_s(record, state), ..record.clone() }
    };
    records.iter().map(of).collect()
}

/// Those of the records over launches that are of the state most launches of the run were in; of another one for cases without a
/// launch in it.
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

/// The methods that moved wrong bytes in a launch, with their cases. Their times in other launches are not used either: the same
/// code ran there, and may have been right by chance.
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

/// The record over the launches of one method, phase and pair in one state; there is at least one. It uses the launches with
/// times, unless one moved wrong bytes.
fn joined(all: &[&Record], drift: Drift, state: Option<usize>, states: &States<'_>) -> Record {
    if let Some(wrong) = all.iter().find(|record| record.outcome.is_wrong()) {
        return Record { launch: None, launches: all.len(), state, ..(*wrong).clone() };
    }
    let mut measured: Vec<&Record> = all.iter().copied().filter(|record| record.median_s.is_some()).collect();
    measured.sort_by_key(|record| record.launch);
    let of: &[&Record] = if measured.is_empty() { all } else { &measured };
    let first = of[0];
    // A failed launch is not hidden by successful ones.
    let worst = all.iter().find(|record| record.median_s.is_none() || record.outcome.is_doubtful());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::Kind;
    const PRECISION: Option<f64> = Some(0.025);

    fn record(launch: usize, median_s: f64) -> Record {
        let gain = Figure::with_interval(Quantity::TimeOver, 2.0 * median_s, (0.1, 9.0)).against("manual");
        Record {
            method: "ddt".to_owned(),
            launch: Some(launch),
            launches: 1,
            n: 10,
            median_s: Some(median_s),
            median_low_s: Some(0.9 * median_s),
            median_high_s: Some(1.1 * median_s),
            figures: vec![gain],
            ..Record::default()
        }
    }

    #[test]
    fn a_single_launch_is_not_changed() {
        let over = over_launches(&[record(0, 1.0)], PRECISION);
        let expected = Record { launch: None, ..record(0, 1.0) };
        assert_eq!((over.as_slice(), over[0].basis), (&[expected][..], Basis::WithinLaunch));
    }

    #[test]
    fn a_rate_over_launches_is_that_of_the_median_time() {
        let of_launch = |(launch, time)| Record {
            figures: vec![Figure::plain(Quantity::Bandwidth, 1e6 / time)],
            ..record(launch, time)
        };
        let records: Vec<_> = [0.5, 1.5].into_iter().enumerate().map(of_launch).collect();
        let over = &over_launches(&records, PRECISION)[0];
        let rate = over.value(Quantity::Bandwidth).unwrap();
        assert!(over.median_s == Some(1.0) && (rate - 1e6).abs() < 1e-3, "{rate}");
    }

    #[test]
    fn the_median_over_launches_does_not_depend_on_intervals_within_them() {
        let medians = [1.0, 1.2, 1.1, 1.3, 1.15, 1.05, 5.0];
        let records: Vec<_> =
            medians.iter().enumerate().map(|(launch, median)| record(launch, *median)).collect();
        let over = &over_launches(&records, PRECISION)[0];
        assert_eq!((over.median_s, over.launches, over.n), (Some(1.15), 7, 70));
        assert_eq!(
            (over.median_low_s, over.median_high_s, over.basis),
            (Some(1.0), Some(5.0), Basis::Launches)
        );
        let ratio = over.over("manual").unwrap();
        assert_eq!((ratio.value, ratio.interval()), (Some(2.3), Some((2.0 / 1.01, 10.0 * 1.01))));
    }

    #[test]
    fn the_range_of_another_run_is_students_prediction_interval() {
        // Logarithms 0, a, 0: s = a / sqrt(3). Neighbours differ more than the first and the last, so that nothing drifts; the
        // halved squares of all three differences are s^2 in the mean. Two means of three then differ by 2 s^2 / 3.
        let a = 0.3_f64;
        let mut records: Vec<_> =
            [1.0, a.exp(), 1.0].into_iter().enumerate().map(|(i, m)| record(i, m)).collect();
        for record in &mut records {
            record.phase = Kind::default().headline();
        }
        let over = &over_launches(&records, PRECISION)[0];
        let (low, high) = (over.repeat_low_s.unwrap(), over.repeat_high_s.unwrap());
        let half = 4.302_653 * a * 2.0_f64.sqrt() / 3.0;
        let half = half + 1.01_f64.ln();
        assert!((low.ln() - (a / 3.0 - half)).abs() < 1e-5, "{low}");
        assert!((high.ln() - (a / 3.0 + half)).abs() < 1e-5, "{high}");
        let few = &over_launches(&records[..2], PRECISION)[0];
        assert_eq!(
            (few.repeat_low_s, few.repeat_high_s),
            (None, None),
            "two launches do not predict another run"
        );
        let one = &over_launches(&records[..1], PRECISION)[0];
        assert_eq!((one.repeat_low_s, one.repeat_high_s), (None, None));
    }

    #[test]
    fn an_estimate_of_few_launches_is_not_one_of_all() {
        let of = |with: usize| {
            let record = |launch: usize| {
                let record = record(launch, 1.0 + 0.1 * launch as f64);
                if launch < with { record } else { Record { figures: Vec::new(), ..record } }
            };
            over_launches(&(0..8).map(record).collect::<Vec<_>>(), PRECISION).remove(0).figures.len()
        };
        assert_eq!([2, 4, 5, 8].map(of), [0, 0, 1, 1]);
    }

    #[test]
    fn two_launches_have_a_median_and_no_interval() {
        let over = &over_launches(&[record(0, 1.0), record(1, 2.0)], PRECISION)[0];
        assert_eq!((over.median_s, over.median_low_s, over.basis), (Some(1.5), None, Basis::WithinLaunch));
        assert_eq!(over.over("manual").unwrap().interval(), None);
    }

    #[test]
    fn launches_have_converged_if_the_interval_over_them_is_narrow() {
        let outcome = |medians: [f64; 3], precision| {
            let headline = |(launch, median_s): (usize, f64)| {
                let mut record = record(launch, median_s);
                record.phase = Kind::default().headline();
                record.outcome = Outcome::TimeLimit;
                let packing = Record { phase: Phase::Pack, ..record.clone() };
                [record, packing]
            };
            let records: Vec<_> = medians.into_iter().enumerate().flat_map(headline).collect();
            let over = over_launches(&records, precision);
            assert_eq!(over[0].outcome, over[1].outcome, "all phases have the outcome of the method");
            over[0].outcome.clone()
        };
        assert_eq!(outcome([1.0, 1.001, 0.999], PRECISION), Outcome::Converged);
        assert_eq!(outcome([1.0, 1.1, 0.9], PRECISION), Outcome::LaunchLimit);
        assert_eq!(outcome([1.0, 1.1, 0.9], Some(0.5)), Outcome::Converged);
        assert_eq!(outcome([1.0, 1.001, 0.999], None), Outcome::TimeLimit, "another rule");
    }

    #[test]
    fn runs_that_were_joined_are_not_mixed() {
        let of_run = |run: &str, median_s| {
            let mut record = record(0, median_s);
            record.case_mut().run = run.to_owned();
            record
        };
        let over = over_launches(&[of_run("a", 1.0), of_run("b", 2.0)], PRECISION);
        let medians: Vec<_> = over.iter().map(|record| (record.case.run.as_str(), record.median_s)).collect();
        assert_eq!(medians, [("a", Some(1.0)), ("b", Some(2.0))]);
    }

    #[test]
    fn a_method_that_moved_wrong_bytes_in_one_launch_has_no_times_and_nothing_is_relative_to_it() {
        let headline = Kind::default().headline();
        let record = |method: &str, launch: usize, phase, median_s| Record {
            method: method.to_owned(),
            phase,
            mean_s: Some(median_s),
            fastest: (phase == headline).then(|| "manual".to_owned()),
            ..record(launch, median_s)
        };
        let overhead =
            Figure::with_interval(Quantity::OverheadReference, 0.5, (0.4, 0.6)).against("reference");
        let mut records: Vec<Record> = (0..4)
            .flat_map(|launch| {
                let mut ddt = record("ddt", launch, headline, 2.0);
                ddt.figures.push(overhead.clone());
                [
                    record("manual", launch, Phase::Pack, 0.5),
                    record("manual", launch, headline, 1.0),
                    ddt,
                    record("engine", launch, headline, 3.0),
                ]
            })
            .collect();
        // Manual was wrong in the third launch, which has only the outcome.
        let outcome = Outcome::WrongData { detail: "byte 8".to_owned() };
        let empty = Record { n: 0, median_s: None, fastest: None, figures: Vec::new(), ..records[9].clone() };
        records[9] = Record { outcome: outcome.clone(), ..empty };
        records.remove(8);
        let over = over_launches(&records, PRECISION);
        let methods: Vec<_> = over.iter().map(|record| (&*record.method, record.median_s)).collect();
        assert_eq!(methods, [("manual", None), ("ddt", Some(2.0)), ("engine", Some(3.0))]);
        assert_eq!((&over[0].outcome, over[0].n, &over[0].figures[..]), (&outcome, 0, &[][..]));
        assert!(over.iter().all(|record| record.fastest.as_deref() != Some("manual")), "{over:?}");
        let against = |record: &Record| {
            record.figures.iter().map(|figure| (figure.quantity, figure.against.clone())).collect::<Vec<_>>()
        };
        assert_eq!(against(&over[1]), [(Quantity::OverheadReference, "reference".to_owned())]);
        let to_ddt = |quantity| (quantity, "ddt".to_owned());
        assert_eq!(against(&over[2]), [to_ddt(Quantity::TimeOverFastest), to_ddt(Quantity::MeanOver)]);
    }

    #[test]
    fn the_tail_is_that_of_the_launches() {
        let of = |launch: usize, slow_time: f64| Record {
            p999_s: Some(2.0 + launch as f64),
            max_s: Some(9.0 - launch as f64),
            slow_samples: Some(0.001 * launch as f64),
            slow_time: Some(slow_time),
            ..record(launch, 1.0)
        };
        // A single disturbed launch does not make a tail.
        let over = &over_launches(&[of(0, 0.0), of(1, 0.01), of(2, 0.9)], PRECISION)[0];
        assert_eq!((over.p999_s, over.max_s), (Some(3.0), Some(9.0)));
        assert_eq!((over.slow_samples, over.slow_time), (Some(0.001), Some(0.01)));
        // All blocks of the second and the third were disturbed.
        let unknown = |launch| Record { slow_time: None, slow_samples: None, ..of(launch, 0.0) };
        let over = &over_launches(&[of(0, 0.9), unknown(1), unknown(2)], PRECISION)[0];
        assert_eq!((over.slow_samples, over.slow_time), (None, None));
    }

    #[test]
    fn a_launch_that_failed_is_not_hidden() {
        let failed = Record {
            median_s: None,
            outcome: Outcome::Crashed { detail: "signal 11".to_owned() },
            ..record(1, 1.0)
        };
        let over = &over_launches(&[record(0, 1.0), failed], PRECISION)[0];
        assert_eq!((over.median_s, over.launches), (Some(1.0), 1));
        assert_eq!((over.outcome.label(), over.outcome.detail()), ("crashed", Some("signal 11")));
    }
}
