//! The ratios that verdicts rest on: of each method to the hand-written loops and to the fastest of its case, and
//! whether a method's own times kept their level.

use std::collections::BTreeMap;

use super::{Scope, View};
use crate::event::Outcome;
use crate::experiment::Experiment;
use crate::methods::LOOPS;
use crate::partitioned::mechanisms::is_by_launches;
use crate::plan::Rule;
use crate::record::Record;
use crate::stats::{self, Ratio};

/// Samples by the number of their round.
pub(super) type Rounds = BTreeMap<usize, Vec<f64>>;

/// A ratio as a record has it: value, both ends of its interval, whether it is unsteady.
pub(super) type Figures = (Option<f64>, Option<f64>, Option<f64>, Option<bool>);

/// The ratio a / b of two methods' times: over the rounds that have both, or under bench-pcomm's rule, whose attempts are no
/// rounds, of the means of what counts. Nothing is concluded without an interval: `None` where there is none.
pub(super) fn ratio(a: &Rounds, b: &Rounds, rule: Rule) -> Option<Ratio> {
    let ratio = match rule {
        Rule::Interval => paired(&medians(a), &medians(b)),
        Rule::Pcomm => {
            let all = |rounds: &Rounds| rounds.values().flatten().copied().collect::<Vec<_>>();
            stats::mean_ratio(&all(a), &all(b))
        }
    };
    ratio.filter(|ratio| ratio.interval.is_some())
}

/// What a record says of a ratio.
pub(super) fn figures(ratio: Option<Ratio>) -> Figures {
    let Some((ratio, (low, high))) = ratio.and_then(|ratio| Some((ratio, ratio.interval?))) else {
        return (None, None, None, None);
    };
    (Some(ratio.value), Some(low), Some(high), Some(ratio.unsteady))
}

/// Adds the ratios to the records of the headline phase.
pub(super) fn add(records: &mut [Record], views: &[View<'_>], scopes: &[Scope<'_>], experiment: Experiment) {
    for &scope in scopes {
        // What is measured in launches of its own shares no round with the others.
        let measured = views
            .iter()
            .filter(|view| view.method.outcome.is_measured() && !is_by_launches(&view.method.method));
        let wholes: Vec<Whole<'_>> = measured.map(|view| Whole::new(view, scope, experiment)).collect();
        let find = |name: &str| wholes.iter().find(|whole| whole.name == name);
        let fastest = fastest(&wholes, experiment);
        let of_scope = |record: &&mut Record| {
            record.phase == experiment.whole() && record.pair == scope.label() && record.median_s.is_some()
        };
        for record in records.iter_mut().filter(of_scope) {
            let Some(mine) = find(&record.method) else { continue };
            let over = |other: Option<&Whole<'_>>| {
                figures(other.filter(|other| other.name != mine.name).and_then(|other| mine.over(other)))
            };
            let [manual, tuned] = LOOPS.map(|name| over(find(name)));
            let first = over(fastest);
            record.over_manual = manual.0;
            record.over_manual_low = manual.1;
            record.over_manual_high = manual.2;
            record.over_manual_unsteady = manual.3;
            record.over_manual_tuned = tuned.0;
            record.over_manual_tuned_low = tuned.1;
            record.over_manual_tuned_high = tuned.2;
            record.over_manual_tuned_unsteady = tuned.3;
            record.fastest = fastest.map(|fastest| fastest.name.to_owned());
            record.over_fastest = first.0;
            record.over_fastest_low = first.1;
            record.over_fastest_high = first.2;
            record.over_fastest_unsteady = first.3;
            record.unsteady = mine.unsteady();
        }
    }
}

/// A method's headline times.
struct Whole<'a> {
    name: &'a str,
    /// Whether no failed probe speaks against its times.
    is_valid: bool,
    rule: Rule,
    rounds: Rounds,
    medians: BTreeMap<usize, f64>,
}

impl<'a> Whole<'a> {
    fn new(view: &View<'a>, scope: Scope<'_>, experiment: Experiment) -> Self {
        let rounds = view.rounds(experiment.whole(), scope);
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

    /// Whether its times wandered; `None` where too few rounds tell.
    fn unsteady(&self) -> Option<bool> {
        let series: Vec<f64> = self.medians.values().copied().collect();
        (series.len() >= stats::MIN_ROUNDS).then(|| stats::unsteady(&series))
    }

    /// The median over its rounds.
    fn median(&self) -> Option<f64> {
        stats::median(&stats::sorted(self.medians.values().copied()))
    }
}

/// Of the methods that an application could use, that which none beats by the median of its ratios. It is looked for from
/// the one with the smallest median on, which another may beat where they were not measured in the same rounds.
fn fastest<'a, 'b>(wholes: &'b [Whole<'a>], experiment: Experiment) -> Option<&'b Whole<'a>> {
    let is_complete = |name: &str| experiment.method(name).is_ok_and(|method| method.is_complete);
    let all: Vec<_> = wholes.iter().filter(|whole| whole.is_valid && is_complete(whole.name)).collect();
    let with_median = all.iter().filter_map(|whole| Some((*whole, whole.median()?)));
    let (mut first, _) = with_median.min_by(|a, b| a.1.total_cmp(&b.1))?;
    for _ in 0..all.len() {
        let ratios = all.iter().filter_map(|whole| Some((*whole, whole.over(first)?.value)));
        match ratios.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((faster, ratio)) if ratio < 1.0 => first = faster,
            _ => break,
        }
    }
    Some(first)
}

/// The median of each round.
fn medians(rounds: &Rounds) -> BTreeMap<usize, f64> {
    let median = |samples: &[f64]| stats::median(&stats::sorted(samples.iter().copied()));
    rounds.iter().filter_map(|(&round, samples)| Some((round, median(samples)?))).collect()
}

/// The ratio over the rounds that both have.
fn paired(a: &BTreeMap<usize, f64>, b: &BTreeMap<usize, f64>) -> Option<Ratio> {
    stats::paired_ratio(a.iter().filter_map(|(round, &a)| Some((a, *b.get(round)?))))
}

#[cfg(test)]
mod tests;
