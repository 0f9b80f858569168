//! The table of partitioned transfers: a row per mechanism with its times, relative to `single`.

use std::sync::LazyLock;

use super::NO_EQUATION;
use crate::experiments::{Kind, plain_table_format};
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::Answer;
use crate::report::case::{CaseView, larger_side, messages, rate};
use crate::report::table::{Cells, FigureColumn, TableFormat};
use crate::report::units;
use crate::report::verdict::{Against, Claim};

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    time: Some(["mechanism", "time"]),
    figures: FIGURES,
    legend: LEGEND,
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

const FIGURES: &[FigureColumn] = &[
    FigureColumn::new("ovh", Cells::Share(Quantity::OverheadReference)).rank(3),
    FigureColumn::new("gain", Cells::Ratio(Quantity::Gain)),
    FigureColumn::new("model", Cells::Two("±", |_, record| model(record))).rank(4),
    FigureColumn::new("diff", Cells::Two("[95%]", |_, record| difference(record))).rank(5),
    FigureColumn::new("first", Cells::Time(Phase::FirstPartition)).rank(6),
    FigureColumn::new("after", Cells::Time(Phase::AfterLast)).rank(6),
    FigureColumn::new("early", Cells::ShareAndHalf(Quantity::EarlyBird)).rank(7),
    FigureColumn::new("avail", Cells::ShareAndHalf(Quantity::Availability)).rank(7),
    FigureColumn::new("speed-up", Cells::Share(Quantity::Speedup)).rank(6),
    FigureColumn::new("rate", Cells::One(|_, record| rate(record))).rank(4),
    FigureColumn::new("msgs", Cells::One(|_, record| messages(record))).rank(8),
];

const LEGEND: &str = "time: median time to solution, from the agreed start to the end at the receiver, minus the computation of the slowest thread, ± the \
    larger side of its 95% interval. another run: range in which a repeat of this run would put the median (95%). ovh: (t - t_single) / t, with its 95% interval. gain: t_single / t. model: the gain that \
    the model of Gillis et al. predicts for this size and the measured delay, if one of its equations applies. diff: gain minus model, with its interval. first: latency of the first partition. after: from the last ready partition to the end. early: \
    share of the bytes seen in the receiver's memory before the last partition was ready; bytes in transit \
    cannot be seen, so a gain is possible with 0%. avail: share of t_single in which the sender does not wait. \
    ± after model, early and avail: the larger side of their intervals. speed-up: relative to single, with computation. rate: bytes / time. msgs: messages or puts. unsteady: the times \
    drifted during the run; gain unsteady: it differs between the first and the second half of the run. Terms: docs/glossary.md.";

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
    let gain = other.and_then(|record| Against::from_record(record, record.figure(Quantity::Gain)));
    gain.map_or_else(|| case.fastest(), |gain| Claim::from_ratio(gain.inverse(), single))
}
