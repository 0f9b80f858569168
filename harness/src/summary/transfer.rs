//! Figures of partitioned transfers, against `single`, the bulk-synchronous transfer beside them.

use super::{Scope, View, early, expected, finite, ratios};
use crate::partitioned::Setting;
use crate::record::{CaseResult, Phase, Record};

/// What a transfer's figures mean. T is the time to solution: from the start to the end at the receiver, without the time
/// that the slowest thread computes (Gillis et al., ICPP 2023, section 2.1); all times are medians.
///
/// - **effective bandwidth**: bytes / T.
/// - **perceived bandwidth**: bytes / (time from the last partition that became ready to the end), what a message would
///   need that is sent then (Grant et al., "Finepoints", ISC 2019; Temuçin et al., ICPP 2022).
/// - **overhead** against `single`: (T - T_single) / T.
/// - **gain**: T_single / T, the median over rounds, or of the means under bench-pcomm's rule; eta of Gillis et al. in their
///   equation 1. **model**: what their equation for this size predicts, 4 or 5, or none (see
///   [`equation`](crate::partitioned::model::equation)): with the partitions of this transfer, the delay from the first
///   partition to the last, as measured beside it with `single`, for gamma times its bytes, and for beta the bytes over the
///   time of `single` less that of an empty message, or a given one; the median over rounds of what each round's own times
///   make of the equation. **difference**: the gain less that of the model, the median over rounds as well, so that the
///   three need not add up to the last digit.
/// - **speed-up** over bulk-synchronous: (t_single - t) / t_single, computing included, as in CMB (CCGrid 2024).
/// - **availability**: 1 - (time from the last partition to the end) / T_single, the median over rounds: the share of the
///   bulk-synchronous message's time that the application does not wait for (after Temuçin et al.).
/// - **early-bird fraction**: the share of the bytes that were seen in the receiver's memory before the last partition
///   became ready. Bytes that are on their way, or that wait in a buffer of the MPI's, cannot be seen and do not count: a gain
///   may well stand beside 0%.
#[derive(Clone, Copy, Debug)]
pub struct Transfer;

/// Adds what can be known.
pub(super) fn add(
    record: &mut Record,
    result: &CaseResult,
    view: &View<'_>,
    single: Option<&View<'_>>,
    scope: Scope<'_>,
) {
    let bytes = result.message.bytes as f64;
    let after_last = view.median(Phase::AfterLast, scope);
    record.bandwidth_bytes_per_s = record.median_s.and_then(|t| finite(bytes / t));
    record.perceived_bandwidth_bytes_per_s = after_last.and_then(|t| finite(bytes / t));
    early::add(record, view, Phase::Solution, scope);
    record.messages = view.blocks(Phase::Solution, scope, true).last().and_then(|block| block.messages);
    let setting = setting(&result.case.params);
    let own = single.is_none() && view.method.method == result.case.experiment.reference();
    let Some(single) = single.or(own.then_some(view)) else { return };
    let ratio = |phase: Phase| ratios::figures(view.ratio(single, phase, scope));
    if !own {
        let gain = ratio(Phase::Solution);
        (record.gain, record.gain_low, record.gain_high, record.gain_unsteady) = gain;
        let total = ratio(Phase::Total);
        [record.speedup, record.speedup_low, record.speedup_high] =
            [total.0, total.1, total.2].map(|ratio| ratio.map(|ratio| 1.0 - 1.0 / ratio));
        if let Some(setting) = setting.as_ref().filter(|_| record.gain.is_some()) {
            expected::add(record, gain, setting, bytes, [view, single], scope);
        }
    }
    let (after, whole) = (view.rounds(Phase::AfterLast, scope), single.rounds(Phase::Solution, scope));
    let waited = ratios::figures(ratios::ratio(&after, &whole, view.rule));
    // The longest wait leaves the least.
    [record.availability, record.availability_high, record.availability_low] =
        [waited.0, waited.1, waited.2].map(|share| share.map(|share| 1.0 - share));
}

/// The setting that a case's parameters say.
fn setting(params: &str) -> Option<Setting> {
    Setting::parse(params.split_whitespace().filter_map(|pair| pair.split_once('='))).ok()
}

#[cfg(test)]
mod tests {
    use crate::event::{Block, MessageFacts, Outcome};
    use crate::experiment::Experiment;
    use crate::plan::Rule;
    use crate::record::{Case, CaseResult, Measured, Phase, Record};
    use crate::times::Times;

    /// A mechanism whose transfers take `solution` without and `solution` + 3 with computing, `after` of it at the end.
    fn measured(method: &str, solution: f64, after: f64, early: f64) -> Measured {
        let times = Times::from([
            (Phase::Solution, vec![solution; 5]),
            (Phase::Total, vec![solution + 3.0; 5]),
            (Phase::Compute, vec![3.0; 5]),
            (Phase::Delay, vec![3.0; 5]),
            (Phase::AfterLast, vec![after; 5]),
        ]);
        let block = |i| Block {
            method: method.to_owned(),
            block: i,
            batch: 1,
            times: times.clone(),
            early: vec![early; 2],
            messages: Some(7),
            message_latency_s: Some(0.1),
            ..Block::default()
        };
        Measured {
            method: method.to_owned(),
            outcome: Outcome::Converged,
            blocks: (0..8).map(block).collect(),
        }
    }

    fn records() -> Vec<Record> {
        let methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        crate::summary::records(&result(Rule::Interval, methods))
    }

    fn result(rule: Rule, methods: Vec<Measured>) -> CaseResult {
        CaseResult {
            rule,
            case: Case {
                experiment: Experiment::Partitioned,
                test: "partitioned".to_owned(),
                set: "custom".to_owned(),
                params: "bytes=800 partitions=4 threads=1 order=linear arrival=none".to_owned(),
                mpi: "mpich".to_owned(),
                ranks: 2,
                cache: "warm".to_owned(),
            },
            load: None,
            message: MessageFacts { bytes: 800, segments: 1, array_bytes: 800, line_bytes: None },
            methods,
        }
    }

    #[test]
    fn figures_follow_their_definitions() {
        let records = records();
        let of = |method: &str, phase: Phase| {
            records.iter().find(|record| record.method == method && record.phase == phase).unwrap()
        };
        let many = of("many", Phase::Solution);
        assert_eq!(many.bandwidth_bytes_per_s, Some(160.0));
        assert_eq!(many.perceived_bandwidth_bytes_per_s, Some(200.0));
        assert_eq!((many.gain, many.gain_low, many.gain_high), (Some(1.6), Some(1.6), Some(1.6)));
        assert_eq!(many.overhead_reference, Some(-0.6));
        assert_eq!((many.availability, many.early_bird, many.messages), (Some(0.5), Some(0.75), Some(7)));
        for speedup in [many.speedup, many.speedup_low, many.speedup_high] {
            assert!((speedup.unwrap() - 3.0 / 11.0).abs() < 1e-12);
        }
        assert_eq!((many.gain_unsteady, many.unsteady), (Some(false), Some(false)));
        assert_eq!(many.fastest.as_deref(), Some("many"));
        assert_eq!((many.over_fastest, of("single", Phase::Solution).over_fastest), (None, Some(1.6)));
        // gamma = 3 s / 200 B, beta = 800 B / 7.9 s.
        let model = 4.0 / (4.0 - 3.0 / 200.0 * 800.0 / 7.9);
        assert!((many.gain_model.unwrap() - model).abs() < 1e-12);
        assert_eq!(many.gain_model_equation.as_deref(), Some("4"));
        assert!((many.gain_difference.unwrap() - (1.6 - model)).abs() < 1e-12);
        let ends = [many.gain_model_low, many.gain_model_high, many.availability_low, many.availability_high];
        let exact = [many.gain_model, many.gain_model, Some(0.5), Some(0.5)];
        assert_eq!(ends, exact, "times that never differ");
        assert_eq!(
            (many.gain_difference_low, many.gain_difference_high),
            (many.gain_difference, many.gain_difference)
        );
        assert_eq!((many.early_bird_low, many.early_bird_high), (Some(0.75), Some(0.75)));
        let single = of("single", Phase::Solution);
        assert_eq!((single.gain, single.overhead_reference, single.availability), (None, None, Some(0.0)));
        assert_eq!(of("many", Phase::Total).gain, None, "figures are of the whole");
    }

    #[test]
    fn a_bandwidth_that_is_given_takes_the_place_of_the_measured_one() {
        let with = |beta: &str| {
            let methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
            let mut result = result(Rule::Interval, methods);
            result.case.params += &format!(" beta={beta}");
            let records = crate::summary::records(&result);
            records.into_iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap()
        };
        // In GB/s: 200 B/s, which makes gamma times beta 3 of the 4 partitions.
        let slow = with("0.0000002");
        assert_eq!((slow.gain, slow.gain_model_equation.as_deref()), (Some(1.6), Some("4")));
        assert!((slow.gain_model.unwrap() - 4.0).abs() < 1e-9, "{slow:?}");
        assert!((slow.gain_difference.unwrap() - (1.6 - 4.0)).abs() < 1e-9, "{slow:?}");
        // Bytes that take no time beside a delay that does.
        let fast = with("1");
        assert_eq!((fast.gain, fast.gain_model_equation.as_deref()), (Some(1.6), Some("none")));
        assert_eq!(fast.gain_model, None);
    }

    #[test]
    fn no_share_and_no_prediction_stands_without_an_interval() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        methods.iter_mut().for_each(|method| method.blocks.truncate(5));
        let records = crate::summary::records(&result(Rule::Interval, methods));
        for record in records.iter().filter(|record| record.phase == Phase::Solution) {
            let figures = [record.gain, record.gain_model, record.gain_difference, record.early_bird];
            assert_eq!((figures, record.availability), ([None; 4], None), "{}", record.method);
        }
    }

    #[test]
    fn a_longer_wait_is_a_lower_end() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        for (block, after) in methods[1].blocks.iter_mut().zip([2.0, 4.0, 6.0, 4.0, 2.0, 6.0, 4.0, 4.0]) {
            block.times[Phase::AfterLast].fill(after);
            block.early.fill(after / 8.0);
        }
        let records = crate::summary::records(&result(Rule::Interval, methods));
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        let [low, high] = [many.availability_low, many.availability_high].map(Option::unwrap);
        assert!(many.availability == Some(0.5) && low <= 0.25 && high >= 0.75, "{low} {high}");
        let [low, high] = [many.early_bird_low, many.early_bird_high].map(Option::unwrap);
        assert!(many.early_bird == Some(0.5) && (0.0..=0.25).contains(&low) && (0.75..=1.0).contains(&high));
    }

    #[test]
    fn where_no_equation_applies_that_is_said() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        methods[0].blocks.iter_mut().for_each(|block| block.message_latency_s = Some(2.0));
        let records = crate::summary::records(&result(Rule::Interval, methods));
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        assert_eq!((many.gain_model_equation.as_deref(), many.gain_model), (Some("none"), None));
        assert_eq!((many.gain, many.gain_difference), (Some(1.6), None));
    }

    #[test]
    fn under_the_rule_of_bench_pcomm_only_last_attempts_count() {
        let mut methods = vec![measured("single", 8.0, 8.0, 0.0), measured("many", 5.0, 4.0, 0.75)];
        // `single` was precise at once, `many` with its third attempt: they never ended in one round.
        methods[0].blocks.truncate(1);
        methods[1].blocks.truncate(3);
        methods[1].blocks[2].times[Phase::Solution] = vec![3.0, 4.0, 5.0];
        let result = result(Rule::Pcomm, methods);
        let used: Vec<bool> =
            crate::summary::block_states(&result.methods, Rule::Pcomm)[1].iter().map(|s| s.used).collect();
        assert_eq!(used, [false, false, true]);
        let records = crate::summary::records(&result);
        let many = records.iter().find(|r| r.method == "many" && r.phase == Phase::Solution).unwrap();
        assert_eq!((many.n, many.blocks, many.median_s, many.mean_s), (3, 1, Some(4.0), Some(4.0)));
        // s = 1, t = 2.920 with two degrees of freedom.
        let half = 2.92 / 3.0_f64.sqrt();
        assert!((many.mean_low_s.unwrap() - (4.0 - half)).abs() < 1e-3);
        assert!((many.mean_high_s.unwrap() - (4.0 + half)).abs() < 1e-3);
        // Of the means 8 and 4; sqrt(s^2 / 3) / 4 with the same t at 95%, 4.303.
        let factor = (4.303 / 3.0_f64.sqrt() / 4.0).exp();
        assert!(many.gain == Some(2.0) && (many.gain_low.unwrap() - 2.0 / factor).abs() < 1e-3);
        assert!((many.overhead_reference_high.unwrap() - (1.0 - 2.0 / factor)).abs() < 1e-3);
        assert_eq!((many.overhead_reference, many.median_low_s), (Some(-1.0), None));
        assert_eq!((many.detail.as_ref(), many.blocks_other_state), (None, 0));
    }

    #[test]
    fn a_mean_that_is_no_time_is_told() {
        let result =
            result(Rule::Pcomm, vec![measured("single", 8.0, 8.0, 0.0), measured("many", -1.0, 1.0, 0.0)]);
        for record in crate::summary::records(&result) {
            let is_told = record.method == "many" && record.phase == Phase::Solution;
            assert_eq!(record.detail.is_some(), is_told, "{record:?}");
        }
        assert!(records().iter().all(|record| record.mean_low_s.is_none()));
    }
}
