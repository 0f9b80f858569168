//! Times of a case's methods relative to each other over several launches: to the hand-written loops, and to the fastest method,
//! which is chosen once for all launches. Every verdict on two methods uses these figures.
//!
//! Each launch has its own fastest method. Ratios to that one would not be samples of the same quantity,
//! because it depends on which method happened to be first.

use std::collections::HashMap;

use super::intervals;
use super::states::LaunchStates;
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

/// Chooses the fastest method in the headline records of several launches, and adds the ratio of each other
/// method to it and to each loop. `groups` are the records of the launches in `over`.
pub(super) fn choose(over: &mut [Record], groups: &[Vec<&Record>], states: &LaunchStates<'_>) {
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

/// The method to which every other has a ratio of at least 1. The search begins with the smallest median,
/// which another method may beat if they were measured in different rounds.
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

/// A method's time relative to another's, launch by launch: from the rounds' ratios if these are recorded in
/// either direction, as they are for the hand-written loops, otherwise from the medians of the launch.
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
