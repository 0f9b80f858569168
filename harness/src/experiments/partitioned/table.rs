//! The table of partitioned transfers: a row per mechanism with its times, relative to `single`.

use std::sync::LazyLock;

use super::NO_EQUATION;
use crate::experiments::{Kind, plain_table_format};
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::Answer;
use crate::report::case::{
    ANOTHER_RUN, CaseView, cell, larger_side, median, messages, rate, ratio, share, share_and_half,
};
use crate::report::columns::{Align, Column};
use crate::report::table::TableFormat;
use crate::report::units;
use crate::report::verdict::{Against, Claim};

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    columns: &COLUMNS,
    legend: LEGEND,
    figures,
    size: |record| units::bytes(record.bytes),
    set: |case| case.first().case.params.clone(),
    reference: "the bulk-synchronous message (single)",
    contest: "Fastest",
    answer: Answer {
        times: &["single"],
        legend: "single: one message, sent when all partitions are ready.",
        claims: |case| vec![fastest_or_single(case)],
        ..Answer::PLAIN
    },
    ..plain_table_format(Kind::Partitioned)
});

/// The columns: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 23] = [
    Column::new("mechanism", Align::Left, 0),
    Column::new("time", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    ANOTHER_RUN,
    Column::new("ovh", Align::Right, 2).rank(3),
    Column::new("[95%]", Align::Left, 1),
    Column::new("gain", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("model", Align::Right, 2).rank(4),
    Column::new("±", Align::Right, 1),
    Column::new("diff", Align::Right, 2).rank(5),
    Column::new("[95%]", Align::Left, 1),
    Column::new("first", Align::Right, 2).rank(6),
    Column::new("after", Align::Right, 2).rank(6),
    Column::new("early", Align::Right, 2).rank(7),
    Column::new("±", Align::Right, 1),
    Column::new("avail", Align::Right, 2).rank(7),
    Column::new("±", Align::Right, 1),
    Column::new("speed-up", Align::Right, 2).rank(6),
    Column::new("[95%]", Align::Left, 1),
    Column::new("rate", Align::Right, 2).rank(4),
    Column::new("msgs", Align::Right, 2).rank(8),
    Column::new("note", Align::Left, 2),
];

const LEGEND: &str = "time: median time to solution, from the agreed start to the end at the receiver, minus the computation of the slowest thread, ± the \
    larger side of its 95% interval. another run: range in which a repeat of this run would put the median (95%). ovh: (t - t_single) / t, with its 95% interval. gain: t_single / t. model: the gain that \
    the model of Gillis et al. predicts for this size and the measured delay, if one of its equations applies. diff: gain minus model, with its interval. first: latency of the first partition. after: from the last ready partition to the end. early: \
    share of the bytes seen in the receiver's memory before the last partition was ready; bytes in transit \
    cannot be seen, so a gain is possible with 0%. avail: share of t_single in which the sender does not wait. \
    ± after model, early and avail: the larger side of their intervals. speed-up: relative to single, with computation. rate: bytes / time. msgs: messages or puts. unsteady: the times \
    drifted during the run; gain unsteady: it differs between the first and the second half of the run. Terms: docs/glossary.md.";

/// The figures of a mechanism.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::from(median(record));
    row.extend(share(record, Quantity::OverheadReference));
    row.extend(ratio(record, Quantity::Gain));
    row.extend(model(record));
    row.extend(difference(record));
    row.push(cell(case.median(&record.method, Phase::FirstPartition), units::seconds));
    row.push(cell(case.median(&record.method, Phase::AfterLast), units::seconds));
    row.extend(share_and_half(record, Quantity::EarlyBird));
    row.extend(share_and_half(record, Quantity::Availability));
    row.extend(share(record, Quantity::Speedup));
    row.push(rate(record));
    row.push(messages(record));
    row
}

/// The model's prediction, or that it has no equation for the size; and the larger side of its interval.
fn model(record: &Record) -> [String; 2] {
    let Some(model) = record.figure(Quantity::GainModel) else { return Default::default() };
    if model.against == NO_EQUATION {
        return ["none".to_owned(), String::new()];
    }
    let text =
        |value: Option<f64>, sign: &str| value.map_or_else(String::new, |value| format!("{sign}{value:.2}"));
    [text(model.value, ""), text(larger_side(model), "±")]
}

/// The gain minus the prediction, and its interval.
fn difference(record: &Record) -> [String; 2] {
    let Some(figure) = record.figure(Quantity::GainDifference) else { return Default::default() };
    [
        figure.value.map_or_else(String::new, |difference| format!("{difference:+.2}")),
        figure.interval().map_or_else(String::new, |(low, high)| format!("[{low:+.2}, {high:+.2}]")),
    ]
}

/// Whether the fastest mechanism is faster than one message, by its gain.
fn fastest_or_single<'a>(case: &CaseView<'a>) -> Claim<'a> {
    let single = Kind::Partitioned.reference();
    let fastest = case.methods().find_map(|record| record.fastest.as_deref());
    let record = fastest.and_then(|name| case.methods().find(|record| record.method == name));
    let other = record.filter(|record| record.method != single);
    let gain = other.and_then(|record| Against::of(record, record.figure(Quantity::Gain)));
    gain.map_or_else(|| case.fastest(), |gain| Claim::of(gain.inverse(), single))
}
