//! The ratios for verdicts: of each method to the hand-written loops and to the fastest of its case; and
//! whether a method's times drifted.

use std::collections::BTreeMap;

use common::summary::{Rounds, View, medians, paired, ratio};

use crate::experiments::Kind;
use crate::experiments::launches::fastest::search;
use crate::model::conditions::Rule;
use crate::model::{Figure, LOOPS, Outcome, PairScope, Quantity, Record};
use crate::stats::{self, Ratio};

/// The figure of a ratio with an interval, relative to a method.
pub fn figure(quantity: Quantity, ratio: Option<Ratio>, against: &str) -> Option<Figure> {
    let (ratio, interval) = ratio.and_then(|ratio| Some((ratio, ratio.interval?)))?;
    let figure = Figure::with_interval(quantity, ratio.value, interval).against(against);
    Some(Figure { unsteady: Some(ratio.unsteady), ..figure })
}

/// The figure of 1 - ratio, for a ratio with an interval.
pub fn rest(quantity: Quantity, ratio: Option<Ratio>) -> Option<Figure> {
    let ratio = ratio?;
    let (low, high) = ratio.interval?;
    Some(Figure::with_interval(quantity, 1.0 - ratio.value, (1.0 - high, 1.0 - low)))
}

/// Adds the ratios to the records of the headline phase.
pub(super) fn add(records: &mut [Record], views: &[View<'_>], scopes: &[PairScope], kind: Kind) {
    for &scope in scopes {
        // A method that is measured in separate processes shares no round with the others.
        let measured = views
            .iter()
            .filter(|view| view.method.outcome.is_measured() && !kind.in_own_processes(&view.method.method));
        let all: Vec<Headline<'_>> = measured.map(|view| Headline::new(view, scope, kind)).collect();
        let find = |name: &str| all.iter().find(|headline| headline.name == name);
        let fastest = fastest(&all, kind);
        let of_scope = |record: &&mut Record| {
            record.phase == kind.headline() && record.pair == scope && record.median_s.is_some()
        };
        for record in records.iter_mut().filter(of_scope) {
            let Some(mine) = find(&record.method) else { continue };
            let over = |quantity, other: Option<&Headline<'_>>| {
                let other = other.filter(|other| other.name != mine.name)?;
                figure(quantity, mine.over(other), other.name)
            };
            record.add(LOOPS.into_iter().filter_map(|name| over(Quantity::TimeOver, find(name))));
            record.add(over(Quantity::TimeOverFastest, fastest));
            record.fastest = fastest.map(|fastest| fastest.name.to_owned());
            record.unsteady = mine.unsteady();
        }
    }
}

struct Headline<'a> {
    name: &'a str,
    /// Whether no failed check invalidates its times.
    is_valid: bool,
    rule: Rule,
    rounds: Rounds,
    medians: BTreeMap<usize, f64>,
}

impl<'a> Headline<'a> {
    fn new(view: &View<'a>, scope: PairScope, kind: Kind) -> Self {
        let rounds = view.rounds(kind.headline(), scope);
        Self {
            name: &view.method.method,
            is_valid: !matches!(view.method.outcome, Outcome::Invalid { .. }),
            rule: view.rule,
            medians: medians(&rounds),
            rounds,
        }
    }

    /// The ratio of its times to another's.
    fn over(&self, other: &Self) -> Option<Ratio> {
        match self.rule {
            Rule::Interval => paired(&self.medians, &other.medians).filter(|ratio| ratio.interval.is_some()),
            Rule::Pcomm => ratio(&self.rounds, &other.rounds, self.rule),
        }
    }

    /// Whether its times drifted; `None` with too few rounds.
    fn unsteady(&self) -> Option<bool> {
        let series: Vec<f64> = self.medians.values().copied().collect();
        (series.len() >= stats::MIN_ROUNDS).then(|| stats::unsteady(&series))
    }

    fn median(&self) -> Option<f64> {
        stats::median(&stats::sorted(self.medians.values().copied()))
    }
}

/// The best method that an application could use: none is faster by the median of its ratios.
fn fastest<'a, 'b>(all: &'b [Headline<'a>], kind: Kind) -> Option<&'b Headline<'a>> {
    let array_to_array = |name: &str| kind.method(name).is_ok_and(|method| method.array_to_array);
    let usable: Vec<_> = all.iter().filter(|one| one.is_valid && array_to_array(one.name)).collect();
    search(&usable, Headline::median, |one, first| Some(one.over(first)?.value))
}
