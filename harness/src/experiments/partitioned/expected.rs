//! The model's prediction for a transfer, and its difference to the measured gain, both with intervals,
//! because the model's inputs are measured and vary from round to round.

use std::collections::BTreeMap;

use super::Setting;
use super::model;
use crate::model::conditions::Rule;
use crate::model::{Figure, PairScope, Phase, Quantity, Record};
use crate::stats;
use common::summary::{Rounds, View};

const LEVEL: f64 = 0.95;

/// A value with both ends of its interval.
type LocatedValue = (f64, (f64, f64));

/// The delay, the time of `single` and that of an empty message, of each round.
struct Inputs {
    delay: Rounds,
    bulk: Rounds,
    latency: Rounds,
}

/// Adds the model's equation, its prediction, and the difference of the gain to it.
///
/// The medians of all rounds choose the equation. Prediction and difference are medians of the rounds' values, like the gain, so
/// that a slow round affects both sides of the difference. Under bench-pcomm's rule there are no rounds: the prediction is the
/// mean over samples, and the difference has the widest possible interval.
pub(super) fn add(
    record: &mut Record,
    gain: &Figure,
    setting: &Setting,
    [view, single]: [&View<'_>; 2],
    scope: PairScope,
) {
    let latency = |block: &crate::model::event::Block| block.message_latency_s.into_iter().collect();
    let inputs = Inputs {
        // The delay of `single`: a mechanism that makes threads wait delays its partitions.
        delay: single.rounds(Phase::Delay, scope),
        bulk: single.rounds(Phase::Solution, scope),
        latency: single.rounds_of(Phase::Solution, scope, latency),
    };
    let measured = |delay_s: f64, bulk_s: f64, latency_s: f64| model::MeasuredMessage {
        partitions: setting.partitions,
        bytes: record.bytes as f64,
        delay_s,
        bulk_s,
        latency_s,
        beta_bytes_per_s: setting.beta_bytes_per_s,
    };
    let (Some(delay_s), Some(bulk_s), Some(latency_s)) =
        (middle(&inputs.delay), middle(&inputs.bulk), middle(&inputs.latency))
    else {
        return;
    };
    let equation = model::equation(measured(delay_s, bulk_s, latency_s));
    let Some(equation) = equation else {
        let none =
            Figure { unit: Quantity::GainModel.unit(), quantity: Quantity::GainModel, ..Figure::default() };
        record.add([none.against(NO_EQUATION)]);
        return;
    };
    let predicted = |delay_s, bulk_s, latency_s| equation.gain(measured(delay_s, bulk_s, latency_s));
    let (model, difference) = match view.rule {
        Rule::Interval => by_rounds(&view.rounds(Phase::Solution, scope), &inputs, predicted),
        Rule::Pcomm => of_means(gain, &inputs, predicted),
    };
    let against = format!("equation {}", equation.number());
    let figure =
        |quantity, (value, interval)| Figure::with_interval(quantity, value, interval).against(&against);
    record.add(model.map(|model| figure(Quantity::GainModel, model)));
    record.add(difference.map(|difference| figure(Quantity::GainDifference, difference)));
}

/// Shown in place of a prediction if the model has no equation for the size.
pub const NO_EQUATION: &str = "no equation";

fn middle(rounds: &Rounds) -> Option<f64> {
    stats::median(&stats::sorted(rounds.values().flatten().copied()))
}

/// The prediction and the difference of the gain to it, each the median over rounds.
fn by_rounds(
    mine: &Rounds,
    inputs: &Inputs,
    predicted: impl Fn(f64, f64, f64) -> Option<f64>,
) -> (Option<LocatedValue>, Option<LocatedValue>) {
    let of =
        |rounds: &Rounds, round: &usize| stats::median(&stats::sorted(rounds.get(round)?.iter().copied()));
    let predict = |round: &usize| {
        predicted(of(&inputs.delay, round)?, of(&inputs.bulk, round)?, of(&inputs.latency, round)?)
    };
    let models: BTreeMap<usize, f64> =
        inputs.bulk.keys().filter_map(|round| Some((*round, predict(round)?))).collect();
    let differences: Vec<f64> = models
        .iter()
        .filter_map(|(round, model)| Some(of(&inputs.bulk, round)? / of(mine, round)? - model))
        .filter(|difference| difference.is_finite())
        .collect();
    (of_series(&models.into_values().collect::<Vec<_>>()), of_series(&differences))
}

/// The median of a series with its interval; `None` without an interval.
fn of_series(series: &[f64]) -> Option<LocatedValue> {
    let value = stats::median(&stats::sorted(series.iter().copied()))?;
    Some((value, stats::series_interval(series)?))
}

/// The mean of the samples' predictions, and the difference of a gain of means to it.
fn of_means(
    gain: &Figure,
    inputs: &Inputs,
    predicted: impl Fn(f64, f64, f64) -> Option<f64>,
) -> (Option<LocatedValue>, Option<LocatedValue>) {
    let samples = |rounds: &Rounds| rounds.values().flatten().copied().collect::<Vec<_>>();
    let Some(latency_s) = middle(&inputs.latency) else { return (None, None) };
    let pairs = samples(&inputs.delay).into_iter().zip(samples(&inputs.bulk));
    let models: Vec<f64> =
        pairs.filter_map(|(delay_s, bulk_s)| predicted(delay_s, bulk_s, latency_s)).collect();
    let model =
        stats::student_interval(&models, LEVEL).map(|(mean, half)| (mean, (mean - half, mean + half)));
    let difference = || {
        let (value, (low, high)) = model?;
        Some((gain.value? - value, (gain.low? - high, gain.high? - low)))
    };
    (model, difference())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(values: impl IntoIterator<Item = f64>) -> Rounds {
        values.into_iter().map(|value| vec![value]).enumerate().collect()
    }

    #[test]
    fn what_slows_a_round_down_is_no_difference() {
        // The gain equals the prediction in every round, whatever the round's time.
        let bulk = || (0..10).map(|i| f64::from(4 + i % 3));
        let inputs = Inputs { delay: rounds([0.0; 10]), bulk: rounds(bulk()), latency: rounds([1.0; 10]) };
        let mine = rounds(bulk().map(|_| 2.0));
        let (model, difference) = by_rounds(&mine, &inputs, |_, bulk, _| Some(bulk / 2.0));
        let (value, (low, high)) = model.unwrap();
        assert!(value == 2.5 && low < 2.5 && 2.5 < high);
        assert_eq!(difference, Some((0.0, (0.0, 0.0))));
    }

    #[test]
    fn of_means_the_difference_is_as_wide_as_both_make_it() {
        let all = |samples: &[f64]| Rounds::from([(0, samples.to_vec())]);
        let inputs = Inputs { delay: all(&[0.0; 3]), bulk: all(&[1.0, 2.0, 3.0]), latency: all(&[1.0]) };
        let gain = Figure::with_interval(Quantity::Gain, 3.0, (2.5, 3.5));
        let (model, difference) = of_means(&gain, &inputs, |_, bulk, _| Some(bulk));
        let (value, (low, high)) = model.unwrap();
        // t = 4.303 with two degrees of freedom, s = 1.
        assert!(value == 2.0 && (high - 2.0 - 4.303 / 3.0_f64.sqrt()).abs() < 1e-3);
        assert_eq!(difference, Some((1.0, (2.5 - high, 3.5 - low))));
        assert_eq!(of_means(&Figure::default(), &inputs, |_, bulk, _| Some(bulk)).1, None);
    }
}
