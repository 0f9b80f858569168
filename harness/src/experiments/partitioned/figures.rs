//! Figures of partitioned transfers, relative to `single`, the bulk-synchronous transfer.
//!
//! T is the time to solution: from the start to the end at the receiver, without the time
//! that the slowest thread computes (Gillis et al., ICPP 2023, section 2.1); all times are medians.
//!
//! - **effective bandwidth**: bytes / T.
//! - **perceived bandwidth**: bytes / (time from the last ready partition to the end), the bandwidth of a message that is
//!   sent at that time (Grant et al., "Finepoints", ISC 2019; Temuçin et al., ICPP 2022).
//! - **overhead** relative to `single`: (T - T_single) / T.
//! - **gain**: T_single / T, the median over rounds, or of the means under bench-pcomm's rule; eta of Gillis et al. in their
//!   equation 1. **model**: the prediction of their equation for this size, 4 or 5, or none (see
//!   [`equation`](super::model::equation)), with the partitions of this transfer. Gamma times its bytes is the delay from the first
//!   partition to the last, measured with `single` in the same run. Beta is the bytes divided by the time of `single` minus that of
//!   an empty message, or a given value. The prediction is the median over rounds, each with its own times. **difference**: the gain
//!   minus the prediction, also the median over rounds, so that the three need not add up to the last digit.
//! - **speed-up** over bulk-synchronous: (t_single - t) / t_single, with computation, as in CMB (CCGrid 2024).
//! - **availability**: 1 - (time from the last partition to the end) / T_single, the median over rounds: the share of the
//!   bulk-synchronous message's time that the application does not wait for (after Temuçin et al.).
//! - **early-bird fraction**: the share of the bytes that were seen in the receiver's memory before the last partition
//!   became ready. Bytes in transit, or in a buffer of the MPI, cannot be seen and do not count: a gain is possible with 0%.

use super::{Setting, expected};
use crate::experiments::summary::{RowContext, early};
use crate::model::{Figure, Phase, Quantity, Record};

pub(super) fn add(record: &mut Record, context: &RowContext<'_>) {
    if !context.is_headline() {
        return;
    }
    record.add(context.overhead());
    let (view, scope) = (context.view, context.scope);
    record.add(record.median_s.and_then(|t| context.bandwidth(t)));
    let perceived = view.median(Phase::AfterLast, scope).and_then(|t| context.bandwidth(t)?.value);
    record.add(perceived.map(|value| Figure::plain(Quantity::PerceivedBandwidth, value)));
    record.add(early::figure(context));
    record.add(context.messages());
    record.add(context.clock_error());
    record.add(context.device_bytes());
    let is_single = context.reference.is_none() && record.method == context.kind.reference();
    let Some(single) = context.reference.or(is_single.then_some(view)) else { return };
    if !is_single {
        let gain = context.gain(single);
        record.add(context.speedup(single));
        if let (Some(gain), Some(setting)) = (&gain, setting(&record.case.params)) {
            expected::add(record, gain, &setting, [view, single], scope);
        }
        record.add(gain);
    }
    let (after, whole) = (view.rounds(Phase::AfterLast, scope), single.rounds(Phase::Solution, scope));
    let waited = common::summary::ratio(&after, &whole, view.rule)
        .and_then(|ratio| Some((ratio.value, ratio.interval?)));
    // The longest wait has the lowest availability.
    record.add(waited.map(|(value, (low, high))| {
        let figure = Figure::with_interval(Quantity::Availability, 1.0 - value, (1.0 - high, 1.0 - low));
        figure.against(&single.method.method)
    }));
}

/// The setting in a case's parameters.
fn setting(params: &str) -> Option<Setting> {
    Setting::parse(params.split_whitespace().filter_map(|pair| pair.split_once('='))).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::experiments::partitioned::NO_EQUATION;
    use crate::experiments::summary::tests::{high, low};
    use crate::experiments::{Kind, summary};
    use crate::model::conditions::Rule;
    use crate::model::event::{Block, MessageFacts};
    use crate::model::{Case, CaseResult, Measured, Phase, Quantity, Record};
    use crate::report::made;

    /// A mechanism whose transfers take `solution` without and `solution` + 3 with computation, `after` of it at the end.
    fn measured(method: &str, solution: f64, after: f64, early: f64) -> Measured {
        let times = [
            (Phase::Solution, vec![solution; 5]),
            (Phase::Total, vec![solution + 3.0; 5]),
            (Phase::Compute, vec![3.0; 5]),
            (Phase::Delay, vec![3.0; 5]),
            (Phase::AfterLast, vec![after; 5]),
        ];
        let block = Block {
            early: vec![early; 2],
            messages: Some(7),
            message_latency_s: Some(0.1),
            ..made::block(times)
        };
        made::measured(method, vec![block; 8])
    }

    fn records() -> Vec<Record> {
        let methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        summary::records(Kind::Partitioned, &result(Rule::Interval, methods))
    }

    fn result(rule: Rule, methods: Vec<Measured>) -> CaseResult {
        let params = "bytes=800 partitions=4 threads=1 order=linear arrival=none";
        let case = Case { experiment: Kind::Partitioned, ..made::case("partitioned", "mpich", params) };
        let message = MessageFacts { bytes: 800, segments: 1, array_bytes: 800, line_bytes: None };
        CaseResult { rule, message, ..made::result(case, methods) }
    }

    #[test]
    fn figures_follow_their_definitions() {
        let records = records();
        let of = |method: &str, phase: Phase| {
            records.iter().find(|record| record.method == method && record.phase == phase).unwrap()
        };
        let many = of("many", Phase::Solution);
        assert_eq!(many.value(Quantity::Bandwidth), Some(160.0));
        assert_eq!(many.value(Quantity::PerceivedBandwidth), Some(200.0));
        assert_eq!(
            (many.value(Quantity::Gain), low(many, Quantity::Gain), high(many, Quantity::Gain)),
            (Some(1.6), Some(1.6), Some(1.6))
        );
        assert_eq!(many.value(Quantity::OverheadReference), Some(1.0 - 1.6));
        assert_eq!(
            (
                many.value(Quantity::Availability),
                many.value(Quantity::EarlyBird),
                many.value(Quantity::Messages)
            ),
            (Some(0.5), Some(0.75), Some(7.0))
        );
        for speedup in
            [many.value(Quantity::Speedup), low(many, Quantity::Speedup), high(many, Quantity::Speedup)]
        {
            assert!((speedup.unwrap() - 3.0 / 11.0).abs() < 1e-12);
        }
        assert_eq!(
            (many.figure(Quantity::Gain).and_then(|gain| gain.unsteady), many.unsteady),
            (Some(false), Some(false))
        );
        assert_eq!(many.fastest.as_deref(), Some("many"));
        assert_eq!(
            (
                many.value(Quantity::TimeOverFastest),
                of("single", Phase::Solution).value(Quantity::TimeOverFastest)
            ),
            (None, Some(1.6))
        );
        // gamma = 3 s / 200 B, beta = 800 B / 7.9 s.
        let model = 4.0 / (4.0 - 3.0 / 200.0 * 800.0 / 7.9);
        assert!((many.value(Quantity::GainModel).unwrap() - model).abs() < 1e-12);
        assert_eq!(many.figure(Quantity::GainModel).map(|model| model.against.as_str()), Some("equation 4"));
        assert!((many.value(Quantity::GainDifference).unwrap() - (1.6 - model)).abs() < 1e-12);
        let ends = [
            low(many, Quantity::GainModel),
            high(many, Quantity::GainModel),
            low(many, Quantity::Availability),
            high(many, Quantity::Availability),
        ];
        let exact = [many.value(Quantity::GainModel), many.value(Quantity::GainModel), Some(0.5), Some(0.5)];
        assert_eq!(ends, exact, "times that never differ");
        assert_eq!(
            (low(many, Quantity::GainDifference), high(many, Quantity::GainDifference)),
            (many.value(Quantity::GainDifference), many.value(Quantity::GainDifference))
        );
        assert_eq!(
            (low(many, Quantity::EarlyBird), high(many, Quantity::EarlyBird)),
            (Some(0.75), Some(0.75))
        );
        let single = of("single", Phase::Solution);
        assert_eq!(
            (
                single.value(Quantity::Gain),
                single.value(Quantity::OverheadReference),
                single.value(Quantity::Availability)
            ),
            (None, None, Some(0.0))
        );
        assert_eq!(of("many", Phase::Total).value(Quantity::Gain), None, "figures are of the whole");
    }

    #[test]
    fn a_bandwidth_that_is_given_takes_the_place_of_the_measured_one() {
        let with = |beta: &str| {
            let methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
            let mut result = result(Rule::Interval, methods);
            Arc::make_mut(&mut result.case).params += &format!(" beta={beta}");
            let records = summary::records(Kind::Partitioned, &result);
            records.into_iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap()
        };
        // In GB/s: 200 B/s, so that gamma times beta is 3 of the 4 partitions.
        let slow = with("0.0000002");
        let equation =
            |record: &Record| record.figure(Quantity::GainModel).map(|model| model.against.clone());
        assert_eq!((slow.value(Quantity::Gain), equation(&slow).as_deref()), (Some(1.6), Some("equation 4")));
        assert!((slow.value(Quantity::GainModel).unwrap() - 4.0).abs() < 1e-9, "{slow:?}");
        assert!((slow.value(Quantity::GainDifference).unwrap() - (1.6 - 4.0)).abs() < 1e-9, "{slow:?}");
        // Bytes that take no time, with a delay that does.
        let fast = with("1");
        assert_eq!((fast.value(Quantity::Gain), equation(&fast).as_deref()), (Some(1.6), Some(NO_EQUATION)));
        assert_eq!(fast.value(Quantity::GainModel), None);
    }

    #[test]
    fn no_share_and_no_prediction_stands_without_an_interval() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        methods.iter_mut().for_each(|method| method.blocks.truncate(5));
        let records = summary::records(Kind::Partitioned, &result(Rule::Interval, methods));
        for record in records.iter().filter(|record| record.phase == Phase::Solution) {
            let figures = [
                record.value(Quantity::Gain),
                record.value(Quantity::GainModel),
                record.value(Quantity::GainDifference),
                record.value(Quantity::EarlyBird),
            ];
            assert_eq!(
                (figures, record.value(Quantity::Availability)),
                ([None; 4], None),
                "{}",
                record.method
            );
        }
    }

    #[test]
    fn a_longer_wait_is_a_lower_end() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        for (block, after) in methods[1].blocks.iter_mut().zip([2.0, 4.0, 6.0, 4.0, 2.0, 6.0, 4.0, 4.0]) {
            block.times[Phase::AfterLast].fill(after);
            block.early.fill(after / 8.0);
        }
        let records = summary::records(Kind::Partitioned, &result(Rule::Interval, methods));
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        let [from, to] =
            [low(many, Quantity::Availability), high(many, Quantity::Availability)].map(Option::unwrap);
        assert!(many.value(Quantity::Availability) == Some(0.5) && from <= 0.25 && to >= 0.75, "{from} {to}");
        let [from, to] =
            [low(many, Quantity::EarlyBird), high(many, Quantity::EarlyBird)].map(Option::unwrap);
        assert!(
            many.value(Quantity::EarlyBird) == Some(0.5)
                && (0.0..=0.25).contains(&from)
                && (0.75..=1.0).contains(&to)
        );
    }

    #[test]
    fn cases_without_an_equation_are_marked() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        methods[0].blocks.iter_mut().for_each(|block| block.message_latency_s = Some(2.0));
        let records = summary::records(Kind::Partitioned, &result(Rule::Interval, methods));
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        let model = many.figure(Quantity::GainModel).map(|model| (model.against.as_str(), model.value));
        assert_eq!(model, Some((NO_EQUATION, None)));
        assert_eq!((many.value(Quantity::Gain), many.value(Quantity::GainDifference)), (Some(1.6), None));
    }

    #[test]
    fn under_the_rule_of_bench_pcomm_only_last_attempts_count() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        // `single` was precise at once, `many` with its third attempt: they never ended in the same round.
        methods[0].blocks.truncate(1);
        methods[1].blocks.truncate(3);
        methods[1].blocks[2].times[Phase::Solution] = vec![3.0, 4.0, 5.0];
        let result = result(Rule::Pcomm, methods);
        let used: Vec<bool> = common::summary::block_states(Kind::Partitioned, &result.methods, Rule::Pcomm)
            [1]
        .iter()
        .map(|s| s.used)
        .collect();
        assert_eq!(used, [false, false, true]);
        let records = summary::records(Kind::Partitioned, &result);
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        assert_eq!((many.n, many.blocks, many.median_s, many.mean_s), (3, 1, Some(4.0), Some(4.0)));
        // s = 1, t = 2.920 with two degrees of freedom.
        let half = 2.92 / 3.0_f64.sqrt();
        assert!((many.mean_low_s.unwrap() - (4.0 - half)).abs() < 1e-3);
        assert!((many.mean_high_s.unwrap() - (4.0 + half)).abs() < 1e-3);
        // The means are 8 and 4; sqrt(s^2 / 3) / 4 with the same t at 95%, 4.303.
        let factor = (4.303 / 3.0_f64.sqrt() / 4.0).exp();
        assert!(
            many.value(Quantity::Gain) == Some(2.0)
                && (low(many, Quantity::Gain).unwrap() - 2.0 / factor).abs() < 1e-3
        );
        assert!((high(many, Quantity::OverheadReference).unwrap() - (1.0 - 2.0 / factor)).abs() < 1e-3);
        assert_eq!((many.value(Quantity::OverheadReference), many.median_low_s), (Some(-1.0), None));
        assert_eq!((many.has_positive_mean(), many.blocks_other_state), (true, 0));
    }

    #[test]
    fn a_mean_that_is_not_a_time_is_marked() {
        let result =
            result(Rule::Pcomm, vec![measured("single", 8.0, 8.0, 0.0), measured("many", -1.0, 1.0, 0.0)]);
        for record in summary::records(Kind::Partitioned, &result) {
            let is_marked = record.method == "many" && record.phase == Phase::Solution;
            assert_eq!(!record.has_positive_mean(), is_marked, "{record:?}");
        }
        assert!(records().iter().all(|record| record.mean_low_s.is_none()));
    }
}
