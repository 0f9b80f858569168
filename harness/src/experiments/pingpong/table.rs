//! The table of ping-pongs: a row per method with its phases and the pack overhead.

use std::sync::LazyLock;

use crate::experiments::Kind;
use crate::experiments::plain_table_format;
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::{Answer, PACKING};
use crate::report::case::{CaseView, cell, copies, packing, rate};
use crate::report::table::{Cells, FigureColumn, TableFormat};
use crate::report::units;

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    time: Some(["method", "round trip"]),
    figures: FIGURES,
    legend: LEGEND,
    reference: "the same bytes, contiguous (reference)",
    answer: Answer { legend: "Times are round trips.", ..PACKING },
    ..plain_table_format(Kind::PingPong)
});

const FIGURES: &[FigureColumn] = &[
    FigureColumn::new("create", Cells::Time(Phase::Create)).rank(6),
    FigureColumn::new("pack", Cells::Time(Phase::Pack)).rank(5),
    FigureColumn::new("peer", Cells::One(peer)).rank(5),
    FigureColumn::new("net", Cells::Time(Phase::Net)).rank(5),
    FigureColumn::new("unpack", Cells::Time(Phase::Unpack)).rank(5),
    FigureColumn::new("ovh", Cells::Share(Quantity::OverheadReference)),
    FigureColumn::new("pack%", Cells::Two("[95%]", |_, record| packing(record))).rank(3),
    FigureColumn::new("rate", Cells::One(|_, record| rate(record))).rank(4),
    FigureColumn::new("copies", Cells::One(|_, record| copies(record))).rank(1),
];

pub(super) const LEGEND: &str = "round trip: median of a whole ping-pong, without create, ± the larger side of its 95% \
    interval. another run: range in which a repeat of this run would put the median (95%). create, pack, unpack: medians at the origin. \
    peer: unpacking and packing at the other rank, by its clock. net: communication without peer. Phases add up within a repetition; their medians \
    need not. Round trips and phases come from different repetitions. ovh: (t - t_reference) / t, with its 95% interval, as in figure 5 \
    of the DDTBench paper; for put_*, relative to put_reference, for get_*, to get_reference. pack%: share of timed packing and \
    unpacking, both ranks; 0 for a datatype, which MPI packs internally. rate: payload per second, one way. copies: by \
    a device's driver, for one message. \
    unsteady: the times drifted during the run. Terms: docs/glossary.md.";

#[cfg(test)]
mod tests;

fn peer(case: &CaseView, record: &Record) -> String {
    let of = |phase| case.median(&record.method, phase);
    let both = [of(Phase::PeerUnpack), of(Phase::PeerPack)].into_iter().flatten().reduce(|a, b| a + b);
    cell(both, units::seconds)
}
