//! The table of overlap: a row per method with its times, separately and together, the ratios, and the diagnosis.

use std::sync::LazyLock;

use super::diagnosis::Diagnosis;
use super::sentences::sentences;
use crate::experiments::Kind;
use crate::experiments::plain_table_format;
use crate::model::{Phase, Quantity, Record};
use crate::report::answer::Answer;
use crate::report::case::{CaseView, cell, measured, ratio, share};
use crate::report::columns::{Align, Column};
use crate::report::names::grouped;
use crate::report::table::{Cells, FigureColumn, TableFormat};
use crate::report::units;
use crate::report::verdict::Claim;

pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    time: Some(["method", "both"]),
    figures: FIGURES,
    legend: LEGEND,
    size: |record| units::bytes(record.bytes),
    set: |case| what_differs(&case.first().case.params),
    reference: "contiguous messages of the same sizes (reference)",
    contest: "Fastest with work to hide behind",
    answer: Answer {
        columns: &const {
            [
                Column::new("comm", Align::Right, 2),
                Column::new("comp", Align::Right, 2),
                Column::new("ratio", Align::Right, 2),
            ]
        },
        cells: |case| {
            let Some(record) = shown(case) else { return vec![String::new(); 3] };
            let time = |phase| cell(case.median(&record.method, phase), units::seconds);
            let ratio = record.value(Quantity::OverheadRatio);
            vec![
                time(Phase::CommunicationAlone),
                time(Phase::ComputationAlone),
                ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
            ]
        },
        legend: "comm, comp: communication and computation, each by itself. ratio: (t - longer) / shorter, t with both at once: 0 is \
                 perfect overlap, 1 is serial, more is worse.",
        claims: |case| vec![diagnosis(case)],
        sentences,
        ..Answer::PLAIN
    },
    ..plain_table_format(Kind::Overlap)
});

const FIGURES: &[FigureColumn] = &[
    FigureColumn::new("comm", Cells::Time(Phase::CommunicationAlone)).rank(2),
    FigureColumn::new("comp", Cells::Time(Phase::ComputationAlone)).rank(2),
    FigureColumn::new("call", Cells::Time(Phase::Call)).rank(6),
    FigureColumn::new("compute", Cells::Time(Phase::Compute)).rank(6),
    FigureColumn::new("wait", Cells::Time(Phase::Wait)).rank(6),
    FigureColumn::new("rim", Cells::Time(Phase::Rim)).rank(6),
    FigureColumn::new("ratio", Cells::Ratio(Quantity::OverheadRatio)),
    FigureColumn::new("slowdown", Cells::Ratio(Quantity::ComputationSlowdown)).rank(3),
    FigureColumn::new("in MPI", Cells::Ratio(Quantity::CommunicationRatio)).rank(3),
    FigureColumn::new("hidden", Cells::Share(Quantity::Hidden)).rank(4),
    FigureColumn::new("impact", Cells::Ratio(Quantity::MpiImpact)).rank(5),
    FigureColumn::new("ovh", Cells::One(|_, record| alone(record, Quantity::OverheadReference))).rank(7),
    FigureColumn::new("IMB", Cells::One(|_, record| alone(record, Quantity::OverlapImb))).rank(8),
    FigureColumn::new("OSU", Cells::One(|_, record| alone(record, Quantity::OverlapOsu))).rank(8),
    FigureColumn::new(
        "diagnosis",
        Cells::Words(|case, record| {
            format!("{}{}", Diagnosis::from_record(case, record).name(), caveat(record))
        }),
    ),
];

const LEGEND: &str = "both: median time with both at once, from the first rank's start to the last one's end, ± the larger side of its 95% \
    interval. another run: range in which a repeat of this run would put the median (95%). comm: communication without computation. \
    comp: computation without communication. call, compute, wait, rim: pieces of both, each on the slowest rank; \
    the rim is computed after the wait and cannot hide communication, so ratio and slowdown use comp without the rim. \
    ratio: the overhead ratio, (t - longer) / shorter of comm and comp: 0 perfect overlap, 1 none, above 1 longer than without overlap, below 0 a \
    reference was imprecise. slowdown: compute / comp. in MPI: (call + wait) / comm: 0 if all of it is hidden. hidden: the share of comm that \
    does not add to comp. impact: comp / the same before MPI_Init. ovh: (t - t_reference) / t. IMB, OSU: the overlap that IMB-NBC and the \
    OSU benchmarks would print. not bound: with `dedicated`, the MPI's threads are not bound to the reserved core. unsteady: the times drifted during the run. Terms: docs/glossary.md.";

/// A fraction without its interval.
fn alone(record: &Record, quantity: Quantity) -> String {
    let [value, _] = share(record, quantity);
    value
}

/// The parameters that distinguish cases of one test, without sizes that were found for a given time.
fn what_differs(params: &str) -> String {
    let has = |name: &str| params.split(' ').any(|pair| pair.starts_with(name));
    let is_shown = |pair: &&str| match pair.split('=').next().unwrap_or_default() {
        "bytes" => !has("communication_us="),
        "matrix_order" => !has("computation_us="),
        "threads" => !pair.ends_with("=1"),
        // Shown next to the MPI.
        "configuration" => false,
        _ => true,
    };
    params.split(' ').filter(is_shown).collect::<Vec<_>>().join(" ")
}

/// The record that represents a case in one line: of the only method, or of the fastest one.
fn shown<'a>(case: &CaseView<'a>) -> Option<&'a Record> {
    let fastest = case.methods().find_map(|record| record.fastest.as_deref());
    let of_fastest = case.methods().find(|record| fastest == Some(&record.method));
    of_fastest.or_else(|| case.methods().find(|record| measured(record)))
}

/// Added to a diagnosis if a core was reserved but the MPI's threads are not bound to it.
fn caveat(record: &Record) -> &'static str {
    let are_unbound = record.value(Quantity::UnboundRanks).is_some_and(|ranks| ranks > 0.0);
    if are_unbound { ", not bound" } else { "" }
}

/// The methods by diagnosis. A single method is shown with its ratio.
fn diagnosis<'a>(case: &CaseView<'a>) -> Claim<'a> {
    let all: Vec<&Record> = case.methods().filter(|record| measured(record)).collect();
    match &all[..] {
        [] => Claim::not_compared("nothing was measured"),
        all => {
            let what = |record: &&Record| {
                format!("{}{}", Diagnosis::from_record(case, record).name(), caveat(record))
            };
            let methods =
                |all: Vec<&'a Record>| all.into_iter().map(|record| record.method.as_str()).collect();
            let groups = grouped(all.iter().copied(), what).into_iter();
            let of = groups.map(|(what, all)| (methods(all), what)).collect();
            let detail = match all {
                [one] => ratio(one, Quantity::OverheadRatio).join(" ").trim().to_owned(),
                _ => case.fastest().text(),
            };
            Claim::Diagnosis { of, detail }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::model::Figure;

    #[test]
    fn a_core_that_nothing_is_bound_to_is_shown_beside_the_diagnosis() {
        let of = |ranks: Option<f64>| {
            let figures = ranks.map(|ranks| Figure::plain(Quantity::UnboundRanks, ranks));
            let record = Record {
                method: "nonblocking".to_owned(),
                phase: Kind::Overlap.headline(),
                median_s: Some(1.0),
                figures: figures.into_iter().collect(),
                ..Record::default()
            };
            let records = [record];
            let case = &CaseView::all(experiments::of_kind(Kind::Overlap).table_format, &records)[0];
            (diagnosis(case).text(), case.notes().join("; "))
        };
        assert_eq!(of(None), of(Some(0.0)));
        assert_eq!(of(None), ("too short to decide".to_owned(), String::new()));
        let (text, notes) = of(Some(2.0));
        assert_eq!(text, "too short to decide, not bound");
        assert!(notes.contains("not bound to it in 2 ranks"), "{notes}");
    }

    #[test]
    fn cases_are_distinguished_by_the_requested_times() {
        let params = "communication_us=1000 computation_us=4000 bytes=123456 matrix_order=213 threads=1";
        assert_eq!(what_differs(params), "communication_us=1000 computation_us=4000");
        assert_eq!(what_differs("bytes=8 matrix_order=213 threads=2"), "bytes=8 matrix_order=213 threads=2");
    }
}
