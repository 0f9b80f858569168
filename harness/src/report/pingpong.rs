//! How ping-pongs are shown: a row per method, its phases, and the pack overhead.

use super::case::{CaseView, half_width, overhead};
use super::columns::{Align, Column};
use super::table::Form;
use super::units;
use crate::methods;
use crate::record::{Phase, Record};

/// See [`Form`].
pub(super) const FORM: Form = Form {
    columns: &COLUMNS,
    legend: LEGEND,
    figures,
    size: |record| format!("{} in {} segments", units::bytes(record.bytes), record.segments),
    set: |record| record.set.clone(),
    reference: "the same bytes in one piece (reference)",
    contest: "Fastest from arrays to arrays",
    verdict_name: "manual or ddt",
    verdict: |case| case.manual_or_ddt(),
};

/// A row per method: `±` and `[95%]` belong to the column before them.
const COLUMNS: [Column; 12] = [
    Column::new("method", Align::Left, 0),
    Column::new("round trip", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    Column::new("create", Align::Right, 2),
    Column::new("pack", Align::Right, 2),
    Column::new("comm", Align::Right, 2),
    Column::new("unpack", Align::Right, 2),
    Column::new("ovh", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("pack%", Align::Right, 2),
    Column::new("rate", Align::Right, 2),
    Column::new("note", Align::Left, 2),
];

pub(super) const LEGEND: &str = "round trip: median of a whole ping-pong, creation left out, ± the larger side of its 95% \
    interval. create, pack, comm, unpack: medians at the origin. ovh: (t - t_reference) / t, with its 95% \
    interval. pack%: share of timed packing and unpacking, both sides. rate: payload per second one way. unsteady: the \
    times wandered during the run.";

/// The figures of a method.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::new();
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    row.push(text(record.median_s, units::seconds));
    row.push(half_width(record));
    row.extend(
        [Phase::Create, Phase::Pack, Phase::Communicate, Phase::Unpack]
            .map(|phase| text(case.median(&record.method, phase), units::seconds)),
    );
    row.extend(overhead(record));
    row.push(text(record.overhead_pack.filter(|_| record.method != methods::REFERENCE), units::percent));
    row.push(text(record.bandwidth_bytes_per_s, units::rate));
    row
}
