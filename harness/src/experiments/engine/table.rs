//! The table of the engine's comparison: a row per method.

use std::sync::LazyLock;

use super::methods::{ENGINE, MANUAL, MPI_PACK};
use crate::experiments::{Kind, plain_table_format};
use crate::model::{LOOP, OWN, Phase, Quantity, Record};
use crate::report::answer::Answer;
use crate::report::case::{CaseView, copies, rate, too_few};
use crate::report::ratio::texts;
use crate::report::table::{Cells, FigureColumn, TableFormat};
use crate::report::verdict::{Against, Claim};
use common::kinds::pingpong::methods::COPIES;

const LEGEND: &str = "pack: median time, ± the larger side of its 95% interval. another run: range in which a repeat of this run would put the \
    median (95%). create: compiling the layouts of both sides, or making and committing both datatypes. pack rate: packed bytes per second. \
    pack/engine, unpack/engine: time relative to the engine's, the median over rounds, with its 95% interval; above 1 the engine is faster. \
    bound: share of the speed of a copy that touches as many cache lines as packing must; it can exceed 100%, because packing \
    may write fewer lines than the copy. copies: by a device's driver, for packing and unpacking. Terms: docs/glossary.md.";

/// How a case is shown.
pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    time: Some(["method", "pack"]),
    figures: FIGURES,
    legend: LEGEND,
    reference: "our pack engine",
    contest: "The engine and the other methods",
    answer: Answer {
        times: &[OWN, ENGINE, MPI_PACK],
        legend: "Packing only, with warm or cold caches as shown (--details shows unpacking).",
        claims: |case| vec![engine_or_other(case)],
        methods: &[ENGINE, MPI_PACK],
        ..Answer::PLAIN
    },
    ..plain_table_format(Kind::Engine)
});

/// Compares the engine with the first of these methods that the case has.
fn engine_or_other<'a>(case: &CaseView<'a>) -> Claim<'a> {
    let claims = [OWN, MPI_PACK, MANUAL, LOOP, COPIES].into_iter().filter_map(|method| {
        let record = case.methods().find(|record| record.method == method)?;
        Some(Claim::from_ratio(Against::from_record(record, record.over(ENGINE))?, ENGINE))
    });
    match claims.into_iter().next() {
        Some(claim) => claim,
        None => Claim::undecided(Vec::new(), too_few(case.first())),
    }
}

const FIGURES: &[FigureColumn] = &[
    FigureColumn::new("unpack", Cells::Time(Phase::Unpack)),
    FigureColumn::new("create", Cells::Time(Phase::Create)).rank(3),
    FigureColumn::new("pack rate", Cells::One(|_, record| rate(record))).rank(2),
    FigureColumn::new("pack/engine", Cells::Two("[95%]", |_, record| over_engine(Some(record)))),
    FigureColumn::new(
        "unpack/engine",
        Cells::Two("[95%]", |case, record| over_engine(case.phase(&record.method, Phase::Unpack))),
    ),
    FigureColumn::new("bound", Cells::Share(Quantity::BoundShare)).rank(1),
    FigureColumn::new("copies", Cells::One(|_, record| copies(record))).rank(1),
];

/// Its time relative to the engine's, and the interval.
fn over_engine(record: Option<&Record>) -> [String; 2] {
    let over = record.and_then(|record| record.over(ENGINE));
    let Some((value, interval)) = over.and_then(|over| Some((over.value?, over.interval()?))) else {
        return Default::default();
    };
    let ratio = |value: f64| if value < 9.995 { format!("{value:.2}") } else { format!("{value:.1}") };
    texts(value, "", interval, ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::tests::records;
    use crate::report::table::table;

    #[test]
    fn a_method_has_its_times_and_their_ratios_to_the_engines() {
        let made = records("every phase of every method of the engine's experiment has a record");
        let text = table(&TABLE_FORMAT, &made, None);
        let row = |method: &str| {
            let row = text.lines().find(|line| line.trim_start().starts_with(method)).expect(&text);
            row.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(row("mpi_pack").contains("3.00 [3.00, 3.00]"), "{text}");
        assert!(row("engine").contains("50% [50, 50]"), "{text}");
    }

    #[test]
    fn nothing_is_said_of_what_stands_out_where_there_are_no_ratios_to_the_fastest() {
        let made = records("a slow mpi_pack");
        let answer = crate::experiments::of_kind(Kind::Engine).answer(&made, None, None);
        assert!(answer.contains("engine is 18.0") && !answer.contains("stands out"), "{answer}");
    }
}
