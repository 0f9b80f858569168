//! The engine's comparison as tables for people: a table per MPI and cache mode.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::methods::{ENGINE, MANUAL, MANUAL_TUNED, MEMCPY, MPI_PACK};
use super::{grid, order};
use crate::experiments::{Kind, plain_table_format};
use crate::model::conditions::Cache;
use crate::model::{CUSTOM, Figure, LOOP, Phase, Quantity, Record};
use crate::report::answer::Answer;
use crate::report::case::{ANOTHER_RUN, CaseView, cell, median, rate};
use crate::report::columns::{Align, Column, fitted, wrapped};
use crate::report::table::{TableFormat, left_out, text_width};
use crate::report::units;
use crate::report::verdict::{Against, Base, Claim};

const LEGEND: &str = "GB/s: packed bytes per second of the median time. manual/engine, tuned/engine, loop/engine and MPI/engine: time over the \
    engine's, the median over the rounds, with its 95% interval; above 1 the engine is faster. bound: share of the \
    speed of a copy that touches as many cache lines as the engine must; above 100% where the engine writes fewer of \
    them than the copy, which writes half. compile: the engine's. create: making and \
    committing both datatypes, and its ratio to compile.";

/// Two rows per case: packing and unpacking.
const COLUMNS: [Column; 24] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2),
    Column::new("bytes", Align::Right, 2).rank(7),
    Column::new("segments", Align::Right, 2).rank(8),
    Column::new("", Align::Left, 2),
    Column::new("engine", Align::Right, 2),
    Column::new("manual", Align::Right, 2).rank(3),
    Column::new("tuned", Align::Right, 2).rank(5),
    Column::new("loop", Align::Right, 2).rank(3),
    Column::new("MPI", Align::Right, 2).rank(4),
    Column::new("memcpy", Align::Right, 2).rank(6),
    Column::new("manual/engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("tuned/engine", Align::Right, 2).rank(2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("loop/engine", Align::Right, 2).rank(1),
    Column::new("[95%]", Align::Left, 1),
    Column::new("MPI/engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("bound", Align::Right, 2).rank(5),
    Column::new("[95%]", Align::Left, 1),
    Column::new("compile", Align::Right, 2).rank(9),
    Column::new("create", Align::Right, 2).rank(9),
    Column::new("", Align::Right, 1).rank(10),
];

/// How the page shows a case: a row per method.
pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| TableFormat {
    columns: &OF_CASE,
    tables: |_, records, width| table(records, width),
    legend: LEGEND,
    figures,
    set: |case| set(case.first()),
    reference: "our pack engine",
    contest: "The engine and the other methods",
    verdict_name: "",
    verdict: |_| String::new(),
    answer: Answer {
        columns: &[],
        cells: |_| Vec::new(),
        legend: "Packing, warm or cold as named.",
        claim: engine_or_mpi,
        methods: &[ENGINE, MPI_PACK],
        ..Answer::PLAIN
    },
    ..plain_table_format(Kind::Engine)
});

/// Whether the engine or `MPI_Pack` packs faster; or a loop, where there is no other.
fn engine_or_mpi<'a>(case: &CaseView<'a>) -> Claim<'a> {
    let ratios = [MPI_PACK, MANUAL, LOOP].into_iter().filter_map(|method| {
        let record = case.methods().find(|record| record.method == method)?;
        Against::of(record, Base::Method(ENGINE))
    });
    match ratios.into_iter().next() {
        Some(ratio) => Claim::of(ratio, ENGINE),
        None => Claim::Unknown { names: Vec::new(), why: "not known: too few rounds".to_owned() },
    }
}

/// A row per method: `±` and `[95%]` belong to the column before them.
const OF_CASE: [Column; 10] = [
    Column::new("method", Align::Left, 0),
    Column::new("pack", Align::Right, 2),
    Column::new("±", Align::Right, 1),
    ANOTHER_RUN,
    Column::new("unpack", Align::Right, 2),
    Column::new("create", Align::Right, 2),
    Column::new("pack rate", Align::Right, 2),
    Column::new("over engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("note", Align::Left, 2),
];

/// The figures of a method.
fn figures(case: &CaseView, record: &Record) -> Vec<String> {
    let mut row = Vec::from(median(record));
    let times = [Phase::Unpack, Phase::Create].map(|phase| case.median(&record.method, phase));
    row.extend(times.map(|time| cell(time, units::seconds)));
    row.push(rate(record));
    let over = over_engine(record);
    row.push(cell(over.and_then(|over| over.value), ratio));
    row.push(over.map_or_else(String::new, interval));
    row
}

/// All tables. Headings and notes are broken at `width`.
fn table(records: &[Record], width: Option<u16>) -> String {
    if records.is_empty() {
        return "No records.\n".to_owned();
    }
    let (room, width) = (width.map(usize::from), text_width(width));
    let mut text = wrapped("", LEGEND, width, 0);
    for (mpi, cache) in places(records) {
        let here: Vec<_> = records.iter().filter(|record| place(record) == (mpi.clone(), cache)).collect();
        let _ = write!(text, "\n{mpi}, {}: GB/s\n", cache.name());
        let header = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
        let rows = cases(&here).into_iter().flat_map(|case| rows(&case));
        let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
        let shown = fitted(&COLUMNS, &rows, room, 2);
        for line in shown.rows {
            let _ = writeln!(text, "{line}");
        }
        text += &left_out(&shown.left_out, width);
    }
    text + &notes(records, width)
}

/// The MPI and the cache mode of a record.
fn place(record: &Record) -> (String, Cache) {
    (record.case.mpi_label(), record.case.cache)
}

/// The MPIs and cache modes, in the order in which they came, MPI by MPI.
fn places(records: &[Record]) -> Vec<(String, Cache)> {
    let mut places: Vec<(String, Cache)> = Vec::new();
    for place in records.iter().map(place) {
        if !places.contains(&place) {
            let behind = places.iter().rposition(|known| known.0 == place.0);
            places.insert(behind.map_or(places.len(), |behind| behind + 1), place);
        }
    }
    places
}

/// The records of each case, in the order in which they came.
fn cases<'a>(records: &[&'a Record]) -> Vec<Vec<&'a Record>> {
    let mut cases: Vec<Vec<&Record>> = Vec::new();
    for &record in records {
        match cases.last_mut() {
            Some(case) if case[0].case == record.case => case.push(record),
            _ => cases.push(vec![record]),
        }
    }
    cases
}

/// What tells the sizes of a test: its set, or its values where that has no name, and its order of bytes.
fn set(record: &Record) -> String {
    let case = &record.case;
    let is_named = case.set != CUSTOM && case.set != grid::SET;
    let values = case.params.split(' ').filter_map(|pair| pair.split_once('='));
    let values = values.filter(|(name, value)| !super::is_order(name, value)).map(|(_, value)| value);
    let set = if is_named { case.set.clone() } else { values.collect::<Vec<_>>().join(",") };
    order(&case.params).map_or(set.clone(), |order| format!("{set} {order}"))
}

/// The rows of a case.
fn rows(case: &[&Record]) -> Vec<Vec<String>> {
    let of =
        |method: &str, phase: Phase| case.iter().copied().find(|r| r.method == method && r.phase == phase);
    let row = |phase: Phase| {
        let first = case[0];
        let mut row = match phase {
            Phase::Pack => {
                vec![
                    first.case.test.clone(),
                    set(first),
                    units::bytes(first.bytes),
                    first.segments.to_string(),
                ]
            }
            _ => vec![String::new(); 4],
        };
        row.push(phase.name().to_owned());
        let order = [ENGINE, MANUAL, MANUAL_TUNED, LOOP, MPI_PACK, MEMCPY];
        row.extend(order.map(|method| {
            let record = of(method, phase);
            // A method without times says why where its rate would be.
            match of(method, Phase::Pack).filter(|record| record.median_s.is_none()) {
                Some(failed) if phase == Phase::Pack => failed.outcome.label().to_owned(),
                _ => cell(record.and_then(|r| r.value(Quantity::Bandwidth)), |rate| {
                    format!("{:.1}", rate / 1e9)
                }),
            }
        }));
        for method in [MANUAL, MANUAL_TUNED, LOOP, MPI_PACK] {
            let record = of(method, phase);
            let over = record.and_then(over_engine);
            row.push(cell(over.and_then(|over| over.value), ratio));
            row.push(over.map_or_else(String::new, interval));
        }
        row.extend(of(ENGINE, phase).map_or_else(Default::default, bound));
        let created = |method| of(method, Phase::Create).filter(|_| phase == Phase::Pack);
        row.push(cell(created(ENGINE).and_then(|r| r.median_s), units::seconds));
        row.push(cell(created(MPI_PACK).and_then(|r| r.median_s), units::seconds));
        let over_compiling = |record: &Record| {
            let over = over_engine(record)?;
            Some(format!("{}x {}", ratio(over.value?), interval(over)))
        };
        row.push(created(MPI_PACK).and_then(over_compiling).unwrap_or_default());
        row
    };
    [Phase::Pack, Phase::Unpack].map(row).into()
}

fn ratio(value: f64) -> String {
    if value < 9.995 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// The share of the bound and its interval.
fn bound(record: &Record) -> [String; 2] {
    let share = record.figure(Quantity::BoundShare);
    let Some((share, (low, high))) = share.and_then(|share| Some((share.value?, share.interval()?))) else {
        return Default::default();
    };
    let figure = |end| units::percent_figure(end, units::percent_decimals(share));
    [units::percent(share), format!("[{}, {}]", figure(low), figure(high))]
}

/// Its time over the engine's.
fn over_engine(record: &Record) -> Option<&Figure> {
    record.over(ENGINE)
}

fn interval(figure: &Figure) -> String {
    figure.interval().map_or_else(String::new, |(low, high)| format!("[{}, {}]", ratio(low), ratio(high)))
}

/// Why methods have no times.
fn notes(records: &[Record], width: usize) -> String {
    let note = |record: &Record| {
        let (mpi, cache) = place(record);
        let start = format!("  {}  {}, {mpi}, {}: ", record.case.test, set(record), cache.name());
        record.outcome.detail()?;
        let text = format!("{} {}", record.method, record.outcome.with_reason());
        Some(wrapped(&start, &text, width, 4))
    };
    let text: String = records.iter().filter_map(note).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::engine::figures::tests::{records, result};
    use crate::model::Outcome;

    fn lines_with<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
        text.lines().filter(|line| line.contains(word)).collect()
    }

    #[test]
    fn a_case_has_two_rows_with_rates_ratios_and_what_is_created() {
        let text = table(&records(&result("strided", "mpich", 2e-6, 3e-6)), None);
        let rows = lines_with(&text, "pack  ");
        assert_eq!(rows.len(), 2, "{text}");
        let words: Vec<_> = rows[0].split_whitespace().collect();
        let expected = [
            "strided", "small", "8.000", "kB", "1000", "pack", "8.0", "4.0", "2.7", "32.0", "2.00", "[2.00,",
            "2.00]", "3.00", "[3.00,", "3.00]", "50%", "[50,", "50]", "1.00", "µs", "2.00", "µs", "2.00x",
            "[2.00,", "2.00]",
        ];
        assert_eq!(words, expected, "{text}");
    }

    #[test]
    fn failures_are_shown_in_place_of_the_rate() {
        let mut result = result("strided", "mpich", 2e-6, 3e-6);
        result.methods[2].outcome = Outcome::WrongData { detail: "pack: packed byte 7".to_owned() };
        let text = table(&records(&result), None);
        assert_eq!(lines_with(&text, "wrong data").len(), 2, "{text}");
        assert!(text.contains("mpi_pack wrong data: pack: packed byte 7"), "{text}");
    }
}
