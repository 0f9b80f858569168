//! The table of halo exchanges: a row per method with its phases, relative to packing by hand.

use std::sync::LazyLock;

use crate::experiments::Kind;
use crate::experiments::plain_table_format;
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::{Answer, PACKING};
use crate::report::case::{
    ANOTHER_RUN, CaseView, cell, median, messages, packing, rate, ratio, share, share_and_half,
};
use crate::report::columns::{Align, Column};
use crate::report::table::TableFormat;
use crate::report::units;

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    columns: &COLUMNS,
    legend: LEGEND,
    figures,
    size: |record| format!("{} per rank in {}", units::bytes(record.bytes), units::segments(record.segments)),
    reference: "contiguous messages of the same sizes (reference)",
    answer: Answer { legend: "Times are whole exchanges.", ..PACKING },
    ..plain_table_format(Kind::Halo)
});

/// The columns: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 22] = [
    Column::new("method", Align::Left, 0),
    Column::new("exchange", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    ANOTHER_RUN,
    Column::new("init", Align::Right, 2).rank(6),
    Column::new("compute", Align::Right, 2).rank(7),
    Column::new("pack", Align::Right, 2).rank(5),
    Column::new("comm+peer", Align::Right, 2).rank(5),
    Column::new("unpack", Align::Right, 2).rank(5),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("pack%", Align::Right, 2).rank(3),
    Column::new("[95%]", Align::Left, 1),
    Column::new("gain", Align::Right, 2).rank(2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("speed-up", Align::Right, 2).rank(6),
    Column::new("[95%]", Align::Left, 1),
    Column::new("early", Align::Right, 2).rank(7),
    Column::new("±", Align::Right, 1),
    Column::new("rate", Align::Right, 2).rank(4),
    Column::new("msgs", Align::Right, 2).rank(8),
    Column::new("note", Align::Left, 2),
];

const LEGEND: &str = "exchange: median of the time that the exchange adds to the computation of the slowest thread of all ranks, ± the \
    larger side of its 95% interval. another run: range in which a repeat of this run would put the median (95%). init: creating datatypes, requests and windows. compute, pack, comm+peer, unpack: \
    medians of the slowest rank; comm+peer is from the last share that a rank hands over to its last arrival, including the packing \
    of slower neighbours, so it is not only the network. ovh: (t - t_reference) / t, with its 95% interval, for methods of messages, as in figure 5 of the DDTBench paper. pack%: share of timed packing and \
    unpacking, with its interval. gain: t_manual / t, paired by rounds, or t_loop / t without a hand-written loop; speed-up: the same with computation. early: share of other \
    ranks' bytes that have arrived when a rank has handed over its own, ± the larger side of its interval. rate: bytes per second of the rank that sends most. \
    msgs: most messages, puts, or requests of partitions of any rank. unsteady: the times \
    drifted during the run; gain unsteady: it differs between the first and the second half of the run. Terms: docs/glossary.md.";

/// The figures of a method.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::from(median(record));
    row.extend([Phase::Init, Phase::Compute, Phase::Pack, Phase::Communicate, Phase::Unpack].map(|phase| {
        let time = case.median(&record.method, phase).filter(|&time| time > 0.0);
        cell(time, units::seconds)
    }));
    row.extend(share(record, Quantity::OverheadReference));
    row.extend(packing(record));
    row.extend(ratio(record, Quantity::Gain));
    row.extend(share(record, Quantity::Speedup));
    row.extend(share_and_half(record, Quantity::EarlyBird));
    row.push(rate(record));
    row.push(messages(record));
    row
}
