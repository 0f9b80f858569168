//! Times of a case's methods relative to each other over several launches: to the hand-written loops, and to the fastest method,
//! which is chosen once for all launches. Every verdict on two methods uses these figures.
//!
//! Each launch has its own fastest method. Ratios to that one would not be samples of the same quantity, because it depends on
//! which method happened to be first.

use std::collections::HashMap;

use super::intervals;
use super::states::States;
use crate::model::{Case, Figure, LOOPS, PairScope, Quantity, Record};
use crate::stats::{self, launches};

struct RankedMethod<'a> {
    place: usize,
    name: &'a str,
    /// Whether an application could use it, and its times are valid.
    can_win: bool,
    median_s: f64,
    launches: &'a [&'a Record],
}

/// Chooses the fastest method in the headline records of several launches, and adds the ratio of each other method to it and to
/// each loop. `groups` are the records of the launches in `over`.
pub(super) fn choose(over: &mut [Record], groups: &[Vec<&Record>], states: &States<'_>) {
    let mut cases: HashMap<(&Case, PairScope, Option<usize>), Vec<usize>> = HashMap::new();
    let is_ranked = |group: &[&Record]| group.iter().any(|record| record.fastest.is_some());
    for (i, group) in groups.iter().enumerate().filter(|(_, group)| is_ranked(group)) {
        cases.entry((&group[0].case, group[0].pair, over[i].state)).or_default().push(i);
    }
    for places in cases.into_values().filter(|places| states.has_several_launches(groups[places[0]][0])) {
        let methods: Vec<RankedMethod<'_>> =
            places.iter().filter_map(|&i| ranked(i, &over[i], &groups[i])).collect();
        let median_ratio = |one: &RankedMethod<'_>, first: &RankedMethod<'_>| {
            stats::median(&stats::sorted(ratios(one.launches, first)))
        };
        let usable: Vec<_> = methods.iter().filter(|one| one.can_win).collect();
        let fastest = search(&usable, |one| Some(one.median_s), median_ratio);
        let figures: Vec<_> =
            methods.iter().map(|method| (method.place, figures(method, &methods, fastest))).collect();
        let name = fastest.map(|fastest| fastest.name.to_owned());
        for &i in &places {
            over[i].fastest = name.clone();
            let is_other =
                |figure: &Figure| !matches!(figure.quantity, Quantity::TimeOver | Quantity::TimeOverFastest);
            over[i].figures.retain(is_other);
        }
        for (i, figures) in figures {
            over[i].figures.extend(figures);
        }
    }
}

fn ranked<'a>(place: usize, over: &Record, launches: &'a [&'a Record]) -> Option<RankedMethod<'a>> {
    let name = launches[0].method.as_str();
    let is_whole = over.case.experiment.method(name).is_ok_and(|method| method.array_to_array);
    Some(RankedMethod {
        place,
        name,
        can_win: is_whole && over.outcome.counts(),
        median_s: over.median_s?,
        launches,
    })
}

/// The time of a method relative to each loop and to the fastest, for medians and means.
fn figures<'a>(
    method: &RankedMethod<'a>,
    all: &[RankedMethod<'a>],
    fastest: Option<&RankedMethod<'a>>,
) -> Vec<Figure> {
    let is_fastest = |other: &RankedMethod<'_>| fastest.is_some_and(|fastest| fastest.place == other.place);
    let of = |other: &RankedMethod<'_>| {
        let (is_loop, is_fastest) = (LOOPS.contains(&other.name), is_fastest(other));
        let times = || ratios(method.launches, other);
        let over_loop = is_loop.then(|| figure(Quantity::TimeOver, times(), other.name));
        let over_fastest = is_fastest.then(|| figure(Quantity::TimeOverFastest, times(), other.name));
        let means = || mean_ratios(method.launches, other);
        let mean = (is_loop || is_fastest).then(|| figure(Quantity::MeanOver, means(), other.name));
        [over_loop, over_fastest, mean].into_iter().flatten().flatten()
    };
    all.iter().filter(|other| other.place != method.place).flat_map(of).collect()
}

/// The method to which every other has a ratio of at least 1. The search begins with the smallest median, which another method may beat
/// if they were measured in different rounds.
pub(in crate::experiments) fn search<'b, T>(
    all: &[&'b T],
    median: impl Fn(&T) -> Option<f64>,
    ratio: impl Fn(&T, &T) -> Option<f64>,
) -> Option<&'b T> {
    let least = |of: &dyn Fn(&T) -> Option<f64>| {
        let values = all.iter().filter_map(|one| Some((*one, of(one)?)));
        values.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let (mut first, _) = least(&median)?;
    for _ in 0..all.len() {
        match least(&|one| ratio(one, first)) {
            Some((faster, ratio)) if ratio < 1.0 => first = faster,
            _ => break,
        }
    }
    Some(first)
}

/// A method's time relative to another's, launch by launch: from the rounds' ratios if these are recorded in either direction, as
/// they are for the hand-written loops, otherwise from the medians of the launch.
fn ratios(launches: &[&Record], other: &RankedMethod<'_>) -> Vec<f64> {
    let ratio = |record: &&Record| {
        if let Some(recorded) = record.over(other.name).and_then(|figure| figure.value) {
            return Some(recorded);
        }
        let same = other.launches.iter().find(|one| one.launch == record.launch)?;
        if let Some(recorded) = same.over(&record.method).and_then(|figure| figure.value) {
            return Some(1.0 / recorded);
        }
        Some(record.median_s? / same.median_s.filter(|&median| median > 0.0)?)
    };
    launches.iter().filter_map(ratio).collect()
}

/// The mean of a method relative to that of another, launch by launch.
fn mean_ratios(launches: &[&Record], other: &RankedMethod<'_>) -> Vec<f64> {
    let mean = |record: &Record| record.mean_s.filter(|&mean| mean > 0.0);
    let ratio = |record: &&Record| {
        let same = other.launches.iter().find(|one| one.launch == record.launch)?;
        Some(mean(record)? / mean(same)?)
    };
    launches.iter().filter_map(ratio).collect()
}

/// The figure of a ratio over launches.
fn figure(quantity: Quantity, ratios: Vec<f64>, other: &str) -> Option<Figure> {
    let value = stats::median(&stats::sorted(ratios.iter().copied()))?;
    let (low, high) = intervals::interval(quantity, &ratios).unzip();
    let figure = Figure::plain(quantity, value).against(other);
    Some(Figure { low, high, unsteady: launches::halves_differ(&ratios), ..figure })
}

#[cfg(test)]
mod tests {
    use super::super::over_launches;
    use super::*;
    use crate::experiments::Kind;
    use crate::model::Outcome;

    /// Two methods over six launches; `ddt` is faster in the first and in one more.
    fn records() -> Vec<Record> {
        let times = [("manual", [2.0, 1.0, 1.0, 1.0, 2.0, 1.0]), ("ddt", [1.0, 1.5, 1.5, 1.5, 1.6, 1.5])];
        let record = |method: &str, launch: usize, median_s: f64| {
            let fastest = if times[0].1[launch] < times[1].1[launch] { "manual" } else { "ddt" };
            let over = (method != fastest).then(|| {
                let ratio = 1.1 + 0.01 * launch as f64;
                Figure::with_interval(Quantity::TimeOverFastest, ratio, (1.0, 2.0)).against(fastest)
            });
            Record {
                method: method.to_owned(),
                launch: Some(launch),
                phase: Kind::PingPong.headline(),
                median_s: Some(median_s),
                outcome: Outcome::TimeLimit,
                fastest: Some(fastest.to_owned()),
                figures: over.into_iter().collect(),
                ..Record::default()
            }
        };
        let of_method = |(method, times): (&'static str, [f64; 6])| {
            times.into_iter().enumerate().map(move |(launch, time)| (method, launch, time))
        };
        times
            .into_iter()
            .flat_map(of_method)
            .map(|(method, launch, time)| record(method, launch, time))
            .collect()
    }

    #[test]
    fn all_launches_choose_the_fastest_and_all_have_a_ratio_to_it() {
        let over = over_launches(&records(), None);
        assert!(over.iter().all(|record| record.fastest.as_deref() == Some("manual")));
        let of = |method: &str| over.iter().find(|record| record.method == method).unwrap();
        let ratio = of("ddt").figure(Quantity::TimeOverFastest).unwrap();
        assert_eq!((ratio.value, ratio.against.as_str()), (Some(1.5), "manual"));
        assert_eq!(ratio.interval(), Some((0.5 / 1.01, 1.5 * 1.01)), "two launches have the opposite result");
        assert_eq!(of("manual").figure(Quantity::TimeOverFastest), None);
    }

    #[test]
    fn recorded_ratios_of_rounds_are_used_and_otherwise_those_of_medians() {
        let mut records = records();
        let over = over_launches(&records, None);
        let [fastest, of_loop] =
            [Quantity::TimeOverFastest, Quantity::TimeOver].map(|of| over[1].figure(of).unwrap());
        assert_eq!(
            (fastest.value, fastest.interval(), &fastest.against),
            (of_loop.value, of_loop.interval(), &of_loop.against)
        );
        for record in records.iter_mut().filter(|record| record.method == "ddt") {
            record.figures.push(Figure::with_interval(Quantity::TimeOver, 1.4, (1.3, 1.5)).against("manual"));
        }
        let over = over_launches(&records, None);
        let of_ddt = &over[1];
        let value = |quantity| of_ddt.figure(quantity).unwrap().value;
        assert_eq!(value(Quantity::TimeOverFastest), value(Quantity::TimeOver), "the same ratio twice");
    }

    #[test]
    fn means_are_divided_within_each_launch() {
        let mut records = records();
        for record in &mut records {
            let late = if record.method == "manual" { 8.0 } else { 1.0 };
            record.mean_s = record.median_s.map(|median| late * median);
        }
        let over = over_launches(&records, None);
        let mean = over[1].figure(Quantity::MeanOver).unwrap();
        assert_eq!((mean.value, mean.against.as_str()), (Some(1.5 / 8.0), "manual"));
        assert_eq!(mean.interval(), Some((0.5 / 8.0 / 1.01, 1.5 / 8.0 * 1.01)));
        // A single launch has no interval for it.
        records.retain(|record| record.launch == Some(0));
        assert!(
            over_launches(&records, None).iter().all(|record| record.figure(Quantity::MeanOver).is_none())
        );
    }
}
