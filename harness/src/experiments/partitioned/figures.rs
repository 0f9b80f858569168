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

fn setting(params: &str) -> Option<Setting> {
    Setting::parse(params.split_whitespace().filter_map(|pair| pair.split_once('='))).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::experiments::partitioned::NO_EQUATION;
    use crate::experiments::summary::tests::located;
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

    fn methods() -> Vec<Measured> {
        vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)]
    }

    fn records(methods: Vec<Measured>) -> Vec<Record> {
        summary::records(Kind::Partitioned, &result(Rule::Interval, methods))
    }

    fn solution<'a>(records: &'a [Record], method: &str) -> &'a Record {
        let is_it = |record: &&Record| record.method == method && record.phase == Phase::Solution;
        records.iter().find(is_it).unwrap()
    }

    fn result(rule: Rule, methods: Vec<Measured>) -> CaseResult {
        let params = "bytes=800 partitions=4 threads=1 order=linear arrival=none";
        let case = Case { experiment: Kind::Partitioned, ..made::case("partitioned", "mpich", params) };
        let message = MessageFacts { bytes: 800, segments: 1, array_bytes: 800, line_bytes: None };
        CaseResult { rule, message, ..made::result(case, methods) }
    }

    #[test]
    fn figures_follow_their_definitions() {
        let records = records(methods());
        let (single, many) = (solution(&records, "single"), solution(&records, "many"));
        // gamma = 3 s / 200 B, beta = 800 B / 7.9 s.
        let model = 4.0 / (4.0 - 3.0 / 200.0 * 800.0 / 7.9);
        for (quantity, expected) in [
            (Quantity::Gain, 1.6),
            (Quantity::OverheadReference, 1.0 - 1.6),
            (Quantity::Speedup, 3.0 / 11.0),
            (Quantity::GainModel, model),
            (Quantity::GainDifference, 1.6 - model),
            (Quantity::Availability, 0.5),
            (Quantity::EarlyBird, 0.75),
        ] {
            // Times that never differ.
            let found = located(many, quantity);
            assert!(
                found.iter().all(|end| (end.unwrap() - expected).abs() < 1e-12),
                "{quantity:?}: {found:?}"
            );
        }
        let plain = [Quantity::Bandwidth, Quantity::PerceivedBandwidth, Quantity::Messages];
        assert_eq!(plain.map(|quantity| many.value(quantity)), [Some(160.0), Some(200.0), Some(7.0)]);
        assert_eq!(many.figure(Quantity::Gain).and_then(|gain| gain.unsteady), Some(false));
        assert_eq!(many.figure(Quantity::GainModel).map(|model| model.against.as_str()), Some("equation 4"));
        assert_eq!((many.fastest.as_deref(), many.unsteady), (Some("many"), Some(false)));
        let over_fastest = [many, single].map(|record| record.value(Quantity::TimeOverFastest));
        assert_eq!(over_fastest, [None, Some(1.6)]);
        let of_single = [Quantity::Gain, Quantity::OverheadReference, Quantity::Availability];
        assert_eq!(of_single.map(|quantity| single.value(quantity)), [None, None, Some(0.0)]);
        let whole = records.iter().find(|record| record.method == "many" && record.phase == Phase::Total);
        assert_eq!(whole.unwrap().value(Quantity::Gain), None, "figures are of the whole");
    }

    #[test]
    fn a_bandwidth_that_is_given_takes_the_place_of_the_measured_one() {
        let with = |beta: &str| {
            let mut result = result(Rule::Interval, methods());
            Arc::make_mut(&mut result.case).params += &format!(" beta={beta}");
            solution(&summary::records(Kind::Partitioned, &result), "many").clone()
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
        let mut methods = methods();
        methods.iter_mut().for_each(|method| method.blocks.truncate(5));
        let records = records(methods);
        for quantity in [
            Quantity::Gain,
            Quantity::GainModel,
            Quantity::GainDifference,
            Quantity::EarlyBird,
            Quantity::Availability,
        ] {
            let values = ["single", "many"].map(|method| solution(&records, method).value(quantity));
            assert_eq!(values, [None; 2], "{quantity:?}");
        }
    }

    #[test]
    fn a_longer_wait_is_a_lower_end() {
        let mut methods = methods();
        for (block, after) in methods[1].blocks.iter_mut().zip([2.0, 4.0, 6.0, 4.0, 2.0, 6.0, 4.0, 4.0]) {
            block.times[Phase::AfterLast].fill(after);
            block.early.fill(after / 8.0);
        }
        let records = records(methods);
        for quantity in [Quantity::Availability, Quantity::EarlyBird] {
            let [value, from, to] = located(solution(&records, "many"), quantity).map(Option::unwrap);
            let is_wide = (0.0..=0.25).contains(&from) && (0.75..=1.0).contains(&to);
            assert!(value == 0.5 && is_wide, "{quantity:?}: {from} {to}");
        }
    }

    #[test]
    fn under_the_rule_of_bench_pcomm_only_last_attempts_count() {
        let mut methods = methods();
        // `single` was precise at once, `many` with its third attempt: they never ended in the same round.
        methods[0].blocks.truncate(1);
        methods[1].blocks.truncate(3);
        methods[1].blocks[2].times[Phase::Solution] = vec![3.0, 4.0, 5.0];
        let result = result(Rule::Pcomm, methods);
        let states = common::summary::block_states(Kind::Partitioned, &result.methods, Rule::Pcomm);
        assert!(states[1].iter().map(|state| state.used).eq([false, false, true]));
        let records = summary::records(Kind::Partitioned, &result);
        let many = solution(&records, "many");
        assert_eq!((many.n, many.blocks, many.median_s, many.mean_s), (3, 1, Some(4.0), Some(4.0)));
        // s = 1, t = 2.920 with two degrees of freedom.
        let half = 2.92 / 3.0_f64.sqrt();
        assert!((many.mean_low_s.unwrap() - (4.0 - half)).abs() < 1e-3);
        assert!((many.mean_high_s.unwrap() - (4.0 + half)).abs() < 1e-3);
        // The means are 8 and 4; sqrt(s^2 / 3) / 4 with the same t at 95%, 4.303.
        let factor = (4.303 / 3.0_f64.sqrt() / 4.0).exp();
        let [gain, low, _] = located(many, Quantity::Gain).map(Option::unwrap);
        assert!(gain == 2.0 && (low - 2.0 / factor).abs() < 1e-3);
        let [overhead, _, high] = located(many, Quantity::OverheadReference).map(Option::unwrap);
        assert!(overhead == -1.0 && (high - (1.0 - 2.0 / factor)).abs() < 1e-3);
        assert_eq!((many.median_low_s, many.has_positive_mean(), many.blocks_other_state), (None, true, 0));
    }

    #[test]
    fn a_mean_that_is_not_a_time_is_marked() {
        let [single, _] = &methods()[..] else { panic!("two methods") };
        let result = result(Rule::Pcomm, vec![single.clone(), measured("many", -1.0, 1.0, 0.0)]);
        for record in summary::records(Kind::Partitioned, &result) {
            let is_marked = record.method == "many" && record.phase == Phase::Solution;
            assert_eq!(!record.has_positive_mean(), is_marked, "{record:?}");
        }
        assert!(records(methods()).iter().all(|record| record.mean_low_s.is_none()));
    }
}
