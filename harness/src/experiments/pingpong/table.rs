//! The table of ping-pongs: a row per method with its phases and the pack overhead.

use std::sync::LazyLock;

use crate::experiments::Kind;
use crate::experiments::plain_table_format;
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::{Answer, PACKING};
use crate::report::case::{ANOTHER_RUN, CaseView, cell, median, packing, rate, share};
use crate::report::columns::{Align, Column};
use crate::report::table::TableFormat;
use crate::report::units;

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    columns: &COLUMNS,
    legend: LEGEND,
    figures,
    reference: "the same bytes, contiguous (reference)",
    answer: Answer { legend: "Times are round trips.", ..PACKING },
    ..plain_table_format(Kind::PingPong)
});

/// The columns: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 16] = [
    Column::new("method", Align::Left, 0),
    Column::new("round trip", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    ANOTHER_RUN,
    Column::new("create", Align::Right, 2).rank(6),
    Column::new("pack", Align::Right, 2).rank(5),
    Column::new("peer", Align::Right, 2).rank(5),
    Column::new("net", Align::Right, 2).rank(5),
    Column::new("unpack", Align::Right, 2).rank(5),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("pack%", Align::Right, 2).rank(3),
    Column::new("[95%]", Align::Left, 1),
    Column::new("rate", Align::Right, 2).rank(4),
    Column::new("copies", Align::Right, 2).rank(1),
    Column::new("note", Align::Left, 2),
];

pub(super) const LEGEND: &str = "round trip: median of a whole ping-pong, without create, ± the larger side of its 95% \
    interval. another run: range in which a repeat of this run would put the median (95%). create, pack, unpack: medians at the origin. \
    peer: unpacking and packing at the other rank, by its clock. net: communication without peer. Phases add up within a repetition; their medians \
    need not. Round trips and phases come from different repetitions. ovh: (t - t_reference) / t, with its 95% interval, as in figure 5 \
    of the DDTBench paper; for put_*, relative to put_reference, for get_*, to get_reference. pack%: share of timed packing and \
    unpacking, both ranks; 0 for a datatype, which MPI packs internally. rate: payload per second, one way. copies: by \
    a device's driver, for one message. \
    unsteady: the times drifted during the run. Terms: docs/glossary.md.";

/// The figures of a method.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::from(median(record));
    let of = |phase| case.median(&record.method, phase);
    let peer = [of(Phase::PeerUnpack), of(Phase::PeerPack)].into_iter().flatten().reduce(|a, b| a + b);
    let parts = [of(Phase::Create), of(Phase::Pack), peer, of(Phase::Net), of(Phase::Unpack)];
    row.extend(parts.map(|part| cell(part, units::seconds)));
    row.extend(share(record, Quantity::OverheadReference));
    row.extend(packing(record));
    row.push(rate(record));
    row.push(cell(record.value(Quantity::DeviceCopies), |copies| format!("{copies:.5}")));
    row
}

#[cfg(test)]
mod tests;
