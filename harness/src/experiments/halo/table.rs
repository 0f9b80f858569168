//! The table of halo exchanges: a row per method with its phases, relative to packing by hand.

use std::sync::LazyLock;

use crate::experiments::Kind;
use crate::experiments::plain_table_format;
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::{Answer, PACKING};
use crate::report::case::{CaseView, cell, copies, messages, packing, rate};
use crate::report::table::{Cells, FigureColumn, TableFormat};
use crate::report::units;

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    time: Some(["method", "exchange"]),
    figures: FIGURES,
    legend: LEGEND,
    size: |record| format!("{} per rank in {}", units::bytes(record.bytes), units::segments(record.segments)),
    reference: "contiguous messages of the same sizes (reference)",
    answer: Answer { legend: "Times are whole exchanges.", ..PACKING },
    ..plain_table_format(Kind::Halo)
});

const FIGURES: &[FigureColumn] = &[
    FigureColumn::new("init", Cells::One(|case, record| time(case, record, Phase::Init))).rank(6),
    FigureColumn::new("compute", Cells::One(|case, record| time(case, record, Phase::Compute))).rank(7),
    FigureColumn::new("pack", Cells::One(|case, record| time(case, record, Phase::Pack))).rank(5),
    FigureColumn::new("comm+peer", Cells::One(|case, record| time(case, record, Phase::Communicate))).rank(5),
    FigureColumn::new("unpack", Cells::One(|case, record| time(case, record, Phase::Unpack))).rank(5),
    FigureColumn::new("ovh", Cells::Share(Quantity::OverheadReference)),
    FigureColumn::new("pack%", Cells::Two("[95%]", |_, record| packing(record))).rank(3),
    FigureColumn::new("gain", Cells::Ratio(Quantity::Gain)).rank(2),
    FigureColumn::new("speed-up", Cells::Share(Quantity::Speedup)).rank(6),
    FigureColumn::new("early", Cells::ShareAndHalf(Quantity::EarlyBird)).rank(7),
    FigureColumn::new("rate", Cells::One(|_, record| rate(record))).rank(4),
    FigureColumn::new("msgs", Cells::One(|_, record| messages(record))).rank(8),
    FigureColumn::new("copies", Cells::One(|_, record| copies(record))).rank(1),
];

const LEGEND: &str = "exchange: median of the time that the exchange adds to the computation of the slowest thread of all ranks, ± the \
    larger side of its 95% interval. another run: range in which a repeat of this run would put the median (95%). init: creating datatypes, requests and windows. compute, pack, comm+peer, unpack: \
    medians of the slowest rank; comm+peer is from the last share that a rank hands over to its last arrival, including the packing \
    of slower neighbours, so it is not only the network. ovh: (t - t_reference) / t, with its 95% interval, for methods of messages, as in figure 5 of the DDTBench paper. pack%: share of timed packing and \
    unpacking, with its interval. gain: t_manual / t, paired by rounds, or t_loop / t without a hand-written loop; speed-up: the same with computation. early: share of other \
    ranks' bytes that have arrived when a rank has handed over its own, ± the larger side of its interval. rate: bytes per second of the rank that sends most. \
    msgs: most messages, puts, or requests of partitions of any rank. copies: by a device's driver, for one message. unsteady: the times \
    drifted during the run; gain unsteady: it differs between the first and the second half of the run. Terms: docs/glossary.md.";

/// A time; a phase that took none is left out.
fn time(case: &CaseView, record: &Record, phase: Phase) -> String {
    cell(case.median(&record.method, phase).filter(|&time| time > 0.0), units::seconds)
}
