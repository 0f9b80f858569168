//! The fastest method of a case over several launches: chosen once, by all of them, and each launch's ratio taken to it.
//!
//! Each launch has a fastest of its own. What others took beyond that is no sample of anything: it rests on the launches in
//! which that one happened to be first.

use std::collections::HashMap;

use crate::model::{Case, Figure, PairScope, Quantity, Record};
use crate::stats::{self, launches};

/// A method that an application could use, over all launches and in each.
struct RankedMethod<'a> {
    place: usize,
    name: &'a str,
    median_s: f64,
    launches: &'a [&'a Record],
}

/// Names the fastest in the headline records of several launches, and gives each other its ratio to it. `groups` are the
/// records of the launches that `over` are made of.
pub(super) fn choose(over: &mut [Record], groups: &[Vec<&Record>]) {
    let mut cases: HashMap<(&Case, PairScope), Vec<usize>> = HashMap::new();
    let is_ranked = |group: &[&Record]| group.iter().any(|record| record.fastest.is_some());
    for (i, group) in groups.iter().enumerate().filter(|(_, group)| is_ranked(group)) {
        cases.entry((&group[0].case, group[0].pair)).or_default().push(i);
    }
    for places in cases.into_values().filter(|places| places.iter().any(|&i| groups[i].len() > 1)) {
        let methods: Vec<RankedMethod<'_>> =
            places.iter().filter_map(|&i| ranked(i, &over[i], &groups[i])).collect();
        let Some(fastest) = fastest(&methods) else { continue };
        let name = fastest.name.to_owned();
        let ratios: Vec<(usize, Vec<f64>)> = places
            .iter()
            .map(|&i| (i, ratios(&groups[i], fastest)))
            .filter(|(i, _)| *i != fastest.place)
            .collect();
        for &i in &places {
            over[i].fastest = Some(name.clone());
            over[i].figures.retain(|figure| figure.quantity != Quantity::TimeOverFastest);
        }
        for (i, ratios) in ratios {
            over[i].figures.extend(figure(&ratios, &name));
        }
    }
}

fn ranked<'a>(place: usize, over: &Record, launches: &'a [&'a Record]) -> Option<RankedMethod<'a>> {
    let name = launches[0].method.as_str();
    let kind = over.case.experiment;
    let can = kind.method(name).is_ok_and(|method| method.array_to_array) && over.outcome.counts();
    Some(RankedMethod { place, name, median_s: over.median_s?, launches }).filter(|_| can)
}

/// That which none beats by the median of its ratios: looked for from the one with the smallest median on.
fn fastest<'a, 'b>(all: &'b [RankedMethod<'a>]) -> Option<&'b RankedMethod<'a>> {
    let mut first = all.iter().min_by(|a, b| a.median_s.total_cmp(&b.median_s))?;
    for _ in 0..all.len() {
        let others = all.iter().filter(|one| one.place != first.place);
        let medians =
            others.filter_map(|one| Some((one, stats::median(&stats::sorted(ratios(one.launches, first)))?)));
        match medians.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((faster, ratio)) if ratio < 1.0 => first = faster,
            _ => break,
        }
    }
    Some(first)
}

/// A method's time over that of another, launch by launch: by the rounds' own ratios where these are on record one way or the
/// other, as they are with the hand-written loops, else by the medians of the launch.
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

fn figure(ratios: &[f64], fastest: &str) -> Option<Figure> {
    let value = stats::median(&stats::sorted(ratios.iter().copied()))?;
    let interval = launches::location(ratios).interval;
    let figure = Figure::plain(Quantity::TimeOverFastest, value).against(fastest);
    let (low, high) = interval.unzip();
    Some(Figure { low, high, unsteady: launches::halves_part(ratios), ..figure })
}

#[cfg(test)]
mod tests {
    use super::super::over_launches;
    use super::*;
    use crate::experiments::Kind;
    use crate::model::Outcome;

    /// Two methods over six launches, of which `ddt` is the faster in the first and in one more.
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
        assert_eq!(ratio.interval(), Some((0.5, 1.5)), "two launches went the other way");
        assert_eq!(of("manual").figure(Quantity::TimeOverFastest), None);
    }

    #[test]
    fn what_is_on_record_of_the_rounds_counts() {
        let mut records = records();
        for record in records.iter_mut().filter(|record| record.method == "ddt") {
            record.figures.push(Figure::with_interval(Quantity::TimeOver, 1.4, (1.3, 1.5)).against("manual"));
        }
        let over = over_launches(&records, None);
        let of_ddt = &over[1];
        let value = |quantity| of_ddt.figure(quantity).unwrap().value;
        assert_eq!(value(Quantity::TimeOverFastest), value(Quantity::TimeOver), "one ratio, told twice");
    }
}
