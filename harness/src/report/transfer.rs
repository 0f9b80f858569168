//! How partitioned transfers are shown: a row per mechanism, its times, and how it stands to `single`.

use super::case::{CaseView, gain, half_width, larger_side, measured, overhead, share_and_half, speedup};
use super::columns::{Align, Column};
use super::table::Form;
use super::units;
use super::verdict::{Against, Base};
use crate::partitioned::aggregation::AGGREGATED;
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
const COLUMNS: [Column; 22] = [
    Column::new("mechanism", Align::Left, 0),
    Column::new("time", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("gain", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("model", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("diff", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("first", Align::Right, 2),
    Column::new("after", Align::Right, 2),
    Column::new("early", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("avail", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("speed-up", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("rate", Align::Right, 2),
    Column::new("msgs", Align::Right, 2),
    Column::new("note", Align::Left, 2),
];

const LEGEND: &str = "time: median time to solution, from the start to the end at the receiver without computing, ± the \
    larger side of its 95% interval. ovh: (t - t_single) / t, with its 95% interval. gain: t_single / t; model: what the \
    measured delay lets expect, by the model's equation for this size, or none; diff: gain less model, with its interval. first: latency of the first partition. after: from the last partition to the end. early: \
    share of the bytes that were seen in the receiver's memory before the last partition was ready; those on their way \
    cannot be seen, so that a gain may stand beside 0%. avail: share of t_single that is not waited \
    for. ± after model, early and avail: the larger side of their intervals. speed-up: over single, computing included. rate: bytes / time. msgs: messages or puts. unsteady: the times \
    wandered during the run; gain unsteady: its halves part.";

/// The figures of a mechanism.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::new();
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    row.push(text(record.median_s, units::seconds));
    row.push(half_width(record));
    row.extend(overhead(record));
    row.extend(gain(record));
    row.extend(model(record));
    row.extend(difference(record));
    row.push(text(case.median(&record.method, Phase::FirstPartition), units::seconds));
    row.push(text(case.median(&record.method, Phase::AfterLast), units::seconds));
    row.extend(share_and_half(record.early_bird, record.early_bird_low, record.early_bird_high));
    row.extend(share_and_half(record.availability, record.availability_low, record.availability_high));
    row.extend(speedup(record));
    row.push(text(record.bandwidth_bytes_per_s, units::rate));
    row.push(record.messages.map_or_else(String::new, |messages| messages.to_string()));
    row
}

/// What the model predicts, or that it has no equation for the size; and the larger side of its interval.
fn model(record: &Record) -> [String; 2] {
    if record.gain_model_equation.as_deref() == Some("none") {
        return ["none".to_owned(), String::new()];
    }
    let half = larger_side(record.gain_model, record.gain_model_low, record.gain_model_high);
    let text =
        |value: Option<f64>, sign: &str| value.map_or_else(String::new, |value| format!("{sign}{value:.2}"));
    [text(record.gain_model, ""), text(half, "±")]
}

/// The gain less what the model predicts, and its interval.
fn difference(record: &Record) -> [String; 2] {
    let ends = record.gain_difference_low.zip(record.gain_difference_high);
    [
        record.gain_difference.map_or_else(String::new, |difference| format!("{difference:+.2}")),
        ends.map_or_else(String::new, |(low, high)| format!("[{low:+.2}, {high:+.2}]")),
    ]
}

/// How our own layer stands to the fastest, or to the next where it is the fastest itself; by the rounds' own ratios.
fn aggregated(case: &CaseView) -> String {
    let is_ours = |record: &Record| record.method.starts_with(AGGREGATED);
    let all: Vec<_> = case.methods().filter(|record| measured(record)).collect();
    let Some(first) = all.iter().find_map(|record| record.fastest.as_deref()) else { return String::new() };
    let of_fastest = all.iter().find(|record| record.method == first).filter(|record| is_ours(record));
    let of_nearest = |ours: bool| {
        let ratios = all.iter().filter(|record| is_ours(record) == ours);
        let ratios = ratios.filter_map(|record| Some((record, Against::of(record, Base::Fastest)?)));
        ratios.min_by(|a, b| a.1.value.total_cmp(&b.1.value))
    };
    let gain_of = |record: &Record| match gain(record) {
        [value, interval] if !value.is_empty() => format!(", gain {value} {interval}"),
        _ => String::new(),
    };
    match (of_fastest, of_nearest(of_fastest.is_none())) {
        (_, Some((_, ratio))) if ratio.unsteady => "unsteady".to_owned(),
        (Some(ours), Some((_, other))) => {
            format!("{} of {}{}", other.inverse().text(), other.name, gain_of(ours))
        }
        (None, Some((ours, ratio))) => format!("{} of {first}{}", ratio.text(), gain_of(ours)),
        (_, None) => String::new(),
    }
}
