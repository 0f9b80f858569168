//! How partitioned transfers are shown: a row per mechanism, its times, and how it stands to `single`.

use super::case::{CaseView, half_width, measured, overhead_interval};
use super::columns::{Align, Column};
use super::table::Form;
use super::units;
use crate::partitioned::aggregation::AGGREGATED;
use crate::partitioned::mechanisms::is_by_launches;
use crate::record::{Phase, Record};

/// See [`Form`].
pub(super) const FORM: Form = Form {
    columns: &COLUMNS,
    legend: LEGEND,
    figures,
    size: |record| units::bytes(record.bytes),
    set: |record| record.params.clone(),
    reference: "the bulk-synchronous message (single)",
    contest: "Fastest",
    verdict_name: "aggregated",
    verdict: aggregated,
};

/// A row per mechanism: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 16] = [
    Column::new("mechanism", Align::Left, 0),
    Column::new("time", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("gain", Align::Right, 2),
    Column::new("model", Align::Right, 2),
    Column::new("diff", Align::Right, 1),
    Column::new("first", Align::Right, 2),
    Column::new("after", Align::Right, 2),
    Column::new("early", Align::Right, 2),
    Column::new("avail", Align::Right, 2),
    Column::new("speed-up", Align::Right, 2),
    Column::new("rate", Align::Right, 2),
    Column::new("msgs", Align::Right, 2),
    Column::new("note", Align::Left, 2),
];

const LEGEND: &str = "time: median time to solution, from the start to the end at the receiver without computing, ± the \
    larger side of its 95% interval. ovh: (t - t_single) / t, with its 95% interval. gain: t_single / t; model: what the \
    measured delay lets expect, by the model's equation for this size, or none; diff: gain less model. first: latency of the first partition. after: from the last partition to the end. early: \
    share of the bytes that were seen in the receiver's memory before the last partition was ready; those on their way \
    cannot be seen, so that a gain may stand beside 0%. avail: share of t_single that is not waited \
    for. speed-up: over single, computing included. rate: bytes / time. msgs: messages or puts.";

/// The figures of a mechanism.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::new();
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    let times = |value: f64| format!("{value:.2}");
    row.push(text(record.median_s, units::seconds));
    row.push(half_width(record));
    row.push(text(record.overhead_reference, units::percent));
    row.push(
        record.overhead_reference.map_or_else(String::new, |overhead| overhead_interval(record, overhead)),
    );
    row.push(text(record.gain, times));
    row.push(match record.gain_model_equation.as_deref() {
        Some("none") => "none".to_owned(),
        _ => text(record.gain_model, times),
    });
    row.push(text(record.gain_difference, |difference| format!("{difference:+.2}")));
    row.push(text(case.median(&record.method, Phase::FirstPartition), units::seconds));
    row.push(text(case.median(&record.method, Phase::AfterLast), units::seconds));
    row.push(text(record.early_bird, units::percent));
    row.push(text(record.availability, units::percent));
    row.push(text(record.speedup, units::percent));
    row.push(text(record.bandwidth_bytes_per_s, units::rate));
    row.push(record.messages.map_or_else(String::new, |messages| messages.to_string()));
    row
}

/// How our own layer stands to the best of the others but `single`.
fn aggregated(case: &CaseView) -> String {
    let is_ours = |record: &&Record| record.method.starts_with(AGGREGATED);
    let time = |record: &Record| record.median_s.filter(|_| measured(record));
    let best = |ours: bool| {
        let of = case.methods().filter(|record| is_ours(record) == ours && record.gain.is_some());
        let of = of.filter(|record| !is_by_launches(&record.method));
        of.filter_map(|record| Some((record, time(record)?))).min_by(|a, b| a.1.total_cmp(&b.1))
    };
    match (best(true), best(false)) {
        (Some((ours, t)), Some((other, best))) => {
            format!("{:.2} of {}, gain {:.2}", t / best, other.method, ours.gain.unwrap_or(f64::NAN))
        }
        _ => String::new(),
    }
}
