//! The engine's comparison as tables for people: a table per MPI and cache mode, and where the engine stands.

use std::fmt::Write as _;

use super::columns::{Align, Column, aligned, wrapped};
use super::table::text_width;
use super::units;
use crate::engine::standing::{self, Mean, Rival, Scope, Verdict, Work};
use crate::engine::{Contender, EngineRecord, ONE_ORDER, grid};
use crate::plan::{CUSTOM, Cache};
use crate::record::Phase;

const LEGEND: &str = "GB/s: packed bytes per second of the median time. manual/engine, tuned/engine and MPI/engine: time over the \
    engine's, the median over the rounds, with its 95% interval; above 1 the engine is faster. bound: share of the \
    speed of a copy that touches as many cache lines as the engine must; above 100% where the engine writes fewer of \
    them than the copy, which writes half. compile: the engine's. create: making and \
    committing both datatypes, and its ratio to compile.";

/// Two rows per case: packing and unpacking.
const COLUMNS: [Column; 21] = [
    Column::new("test", Align::Left, 0),
    Column::new("set", Align::Left, 2),
    Column::new("bytes", Align::Right, 2),
    Column::new("segments", Align::Right, 2),
    Column::new("", Align::Left, 2),
    Column::new("engine", Align::Right, 2),
    Column::new("manual", Align::Right, 2),
    Column::new("tuned", Align::Right, 2),
    Column::new("MPI", Align::Right, 2),
    Column::new("memcpy", Align::Right, 2),
    Column::new("manual/engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("tuned/engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("MPI/engine", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("bound", Align::Right, 2),
    Column::new("[95%]", Align::Left, 1),
    Column::new("compile", Align::Right, 2),
    Column::new("create", Align::Right, 2),
    Column::new("", Align::Right, 1),
];

/// All tables, and where there is more than one case the standing. Headings and notes are broken at `width`.
pub fn table(records: &[EngineRecord], width: Option<u16>) -> String {
    if records.is_empty() {
        return "No records.\n".to_owned();
    }
    let width = text_width(width);
    let mut text = wrapped("", LEGEND, width, 0);
    if let Some(note) = crate::earlier::engine_note(records) {
        text += &wrapped("", &note, width, 0);
    }
    for (mpi, cache) in places(records) {
        let here: Vec<_> =
            records.iter().filter(|record| record.mpi == mpi && record.cache == cache).collect();
        let _ = write!(text, "\n{mpi}, {cache}: GB/s\n");
        let header = COLUMNS.iter().map(|column| column.name.to_owned()).collect();
        let rows = cases(&here).into_iter().flat_map(|case| rows(&case));
        let rows: Vec<_> = std::iter::once(header).chain(rows).collect();
        for line in aligned(&COLUMNS, &rows) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text += &notes(records, width);
    if places(records).len() > 1 || cases(&records.iter().collect::<Vec<_>>()).len() > 1 {
        text += &standing(records);
    }
    text
}

/// The MPIs and cache modes, in the order in which they came, MPI by MPI.
fn places(records: &[EngineRecord]) -> Vec<(&str, &str)> {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for record in records {
        let place = (record.mpi.as_str(), record.cache.as_str());
        if !places.contains(&place) {
            let behind = places.iter().rposition(|known| known.0 == place.0);
            places.insert(behind.map_or(places.len(), |behind| behind + 1), place);
        }
    }
    places
}

/// The records of each case, in the order in which they came.
fn cases<'a>(records: &[&'a EngineRecord]) -> Vec<Vec<&'a EngineRecord>> {
    let key = |record: &EngineRecord| {
        [&record.test, &record.params, &record.order, &record.mpi, &record.cache].map(Clone::clone)
    };
    let mut cases: Vec<Vec<&EngineRecord>> = Vec::new();
    for &record in records {
        match cases.last_mut() {
            Some(case) if key(case[0]) == key(record) => case.push(record),
            _ => cases.push(vec![record]),
        }
    }
    cases
}

/// What tells the sizes of a test: its set, or its values where that has no name, and its order of bytes.
fn set(record: &EngineRecord) -> String {
    let is_named = record.set != CUSTOM && record.set != grid::SET;
    let values = record.params.split(' ').map(|pair| pair.split_once('=').map_or(pair, |pair| pair.1));
    let set = if is_named { record.set.clone() } else { values.collect::<Vec<_>>().join(",") };
    if record.order == ONE_ORDER { set } else { format!("{set} {}", record.order) }
}

/// The rows of a case.
fn rows(case: &[&EngineRecord]) -> Vec<Vec<String>> {
    let of = |contender: Contender, phase: Phase| {
        case.iter().copied().find(|r| r.method == contender.name() && r.phase == phase)
    };
    let text = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(String::new, form);
    let row = |phase: Phase| {
        let first = case[0];
        let mut row = match phase {
            Phase::Pack => {
                vec![first.test.clone(), set(first), units::bytes(first.bytes), first.segments.to_string()]
            }
            _ => vec![String::new(); 4],
        };
        row.push(phase.name().to_owned());
        let order = [
            Contender::Engine,
            Contender::Manual,
            Contender::ManualTuned,
            Contender::MpiPack,
            Contender::Memcpy,
        ];
        row.extend(order.map(|contender| {
            let record = of(contender, phase);
            // A contender without times says why where its rate would be.
            match of(contender, Phase::Pack).filter(|record| record.median_s.is_none()) {
                Some(failed) if phase == Phase::Pack => failed.outcome.clone(),
                _ => text(record.and_then(|r| r.gb_per_s), |rate| format!("{rate:.1}")),
            }
        }));
        for contender in [Contender::Manual, Contender::ManualTuned, Contender::MpiPack] {
            let record = of(contender, phase);
            row.push(text(record.and_then(|r| r.ratio), ratio));
            row.push(record.map_or_else(String::new, interval));
        }
        row.extend(of(Contender::Engine, phase).map_or_else(Default::default, bound));
        let created = |contender| of(contender, Phase::Create).filter(|_| phase == Phase::Pack);
        row.push(text(created(Contender::Engine).and_then(|r| r.median_s), units::seconds));
        row.push(text(created(Contender::MpiPack).and_then(|r| r.median_s), units::seconds));
        let over_compiling =
            |record: &EngineRecord| Some(format!("{}x {}", ratio(record.ratio?), interval(record)));
        row.push(created(Contender::MpiPack).and_then(over_compiling).unwrap_or_default());
        row
    };
    [Phase::Pack, Phase::Unpack].map(row).into()
}

fn ratio(value: f64) -> String {
    if value < 9.995 { format!("{value:.2}") } else { format!("{value:.1}") }
}

/// The share of the bound and its interval.
fn bound(record: &EngineRecord) -> [String; 2] {
    let (Some(share), Some(low), Some(high)) =
        (record.bound_share, record.bound_share_low, record.bound_share_high)
    else {
        return Default::default();
    };
    let figure = |end| units::percent_figure(end, units::percent_decimals(share));
    [units::percent(share), format!("[{}, {}]", figure(low), figure(high))]
}

fn interval(record: &EngineRecord) -> String {
    match (record.ratio_low, record.ratio_high) {
        (Some(low), Some(high)) => format!("[{}, {}]", ratio(low), ratio(high)),
        _ => String::new(),
    }
}

/// Why contenders have no times.
fn notes(records: &[EngineRecord], width: usize) -> String {
    let note = |record: &EngineRecord| {
        let start = format!("  {}  {}, {}, {}: ", record.test, set(record), record.mpi, record.cache);
        let text = format!("{} {}: {}", record.method, record.outcome, record.detail.as_deref()?);
        Some(wrapped(&start, &text, width, 4))
    };
    let text: String = records.iter().filter_map(note).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

/// A rival that is faster by less than this is counted apart: as little as ratios are known to.
const CLEARLY: f64 = 0.975;

/// The geometric means, how often the engine is first, and where it is not.
fn standing(records: &[EngineRecord]) -> String {
    let mut text = "\nTime over the engine's, geometric means (above 1 the engine is faster)\n".to_owned();
    let last_sets = Scope::LastSets.of(records).len();
    for scope in Scope::ALL {
        let of_scope = scope.of(records);
        if of_scope.is_empty() || scope == Scope::Tests && of_scope.len() == last_sets {
            continue;
        }
        let title = match scope {
            Scope::LastSets => "each test once, its last set",
            Scope::Tests => "all sets of all tests",
            Scope::Grid => "synthetic grid",
        };
        let _ = writeln!(text, "  {title}");
        for line in means(&of_scope, &standing::rivals(records)) {
            let _ = writeln!(text, "    {line}");
        }
        let verdicts = standing::verdicts(of_scope.iter().copied());
        let count = |wanted| verdicts.iter().filter(|(_, verdict)| *verdict == wanted).count();
        let _ = writeln!(
            text,
            "    of {} contests (packing or unpacking a case, warm or cold; against both loops and every MPI)\n    \
             the engine is first in {}, level in {}, behind in {}, in {} of these by more than {}",
            verdicts.len(),
            count(Verdict::First),
            count(Verdict::Level),
            count(Verdict::Behind),
            standing::lost(&of_scope, CLEARLY),
            units::percent(1.0 - CLEARLY),
        );
    }
    text + &behind(records)
}

/// The means of each rival, a line each, with the number of contests.
fn means(records: &[&EngineRecord], rivals: &[Rival]) -> Vec<String> {
    let columns: [(&'static str, Work); 6] = [
        ("all", Work::All),
        ("warm pack", Work::One(Cache::Warm, Phase::Pack)),
        ("warm unpack", Work::One(Cache::Warm, Phase::Unpack)),
        ("cold pack", Work::One(Cache::Cold, Phase::Pack)),
        ("cold unpack", Work::One(Cache::Cold, Phase::Unpack)),
        ("create", Work::Create),
    ];
    let mut rows =
        vec![std::iter::once("").chain(columns.map(|column| column.0)).map(str::to_owned).collect()];
    for rival in rivals {
        let name = match rival {
            Rival::Mpi(mpi) => format!("MPI_Pack of {mpi}"),
            Rival::BestMpi => "MPI_Pack, the best in each contest".to_owned(),
            Rival::Manual => "application's loop".to_owned(),
            Rival::ManualTuned => "tuned loop".to_owned(),
        };
        let cells = columns.map(|(_, work)| {
            let mean = standing::mean(records, rival, work);
            mean.map_or_else(String::new, |Mean { value, interval: (low, high), contests }| {
                format!("{} [{}, {}] ({contests})", ratio(value), ratio(low), ratio(high))
            })
        });
        rows.push(std::iter::once(name).chain(cells).collect::<Vec<_>>());
    }
    let layout = columns.map(|(name, _)| Column::new(name, Align::Right, 2));
    aligned(&[&[Column::new("", Align::Left, 0)], &layout[..]].concat(), &rows)
}

/// Every rival that is faster than the engine.
fn behind(records: &[EngineRecord]) -> String {
    let faster = standing::faster(records);
    if faster.is_empty() {
        return "\nNowhere is the engine behind\n".to_owned();
    }
    const COLUMNS: [Column; 7] = [
        Column::new("test", Align::Left, 0),
        Column::new("set", Align::Left, 2),
        Column::new("", Align::Left, 2),
        Column::new("", Align::Left, 2),
        Column::new("faster", Align::Left, 2),
        Column::new("its time/engine", Align::Right, 2),
        Column::new("[95%]", Align::Left, 1),
    ];
    let mut rows = vec![COLUMNS.iter().map(|column| column.name.to_owned()).collect::<Vec<_>>()];
    rows.extend(faster.iter().map(|record| {
        let rival = match record.method == Contender::MpiPack.name() {
            true => format!("MPI_Pack of {}", record.mpi),
            false => format!("{}, beside {}", record.method, record.mpi),
        };
        let exact = |value: f64| format!("{value:.3}");
        let value = record.ratio.map_or_else(String::new, exact);
        let interval = match (record.ratio_low, record.ratio_high) {
            (Some(low), Some(high)) => format!("[{}, {}]", exact(low), exact(high)),
            _ => String::new(),
        };
        let (cache, phase) = (record.cache.clone(), record.phase.name().to_owned());
        vec![record.test.clone(), set(record), cache, phase, rival, value, interval]
    }));
    let lines: String =
        aligned(&COLUMNS, &rows).iter().fold(String::new(), |lines, line| lines + "  " + line + "\n");
    format!("\nWhere the engine is behind (the interval lies below 1)\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{records, summary::tests::result};
    use crate::event::Outcome;

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
        assert!(!text.contains("geometric means"), "one case has no standing");
    }

    #[test]
    fn what_failed_says_so_where_its_rate_would_be() {
        let mut result = result("strided", "mpich", 2e-6, 3e-6);
        result.methods[2].outcome = Outcome::WrongData { detail: "pack: packed byte 7".to_owned() };
        let text = table(&records(&result), None);
        assert_eq!(lines_with(&text, "wrong data").len(), 2, "{text}");
        assert!(text.contains("mpi_pack wrong data: pack: packed byte 7"), "{text}");
    }

    #[test]
    fn the_standing_counts_every_contest_and_names_all_who_are_faster() {
        let cases = [
            result("a", "mpich", 2e-6, 4e-6),
            result("a", "openmpi", 2e-6, 0.5e-6),
            result("b", "mpich", 2e-6, 0.99e-6),
            result("b", "openmpi", 2e-6, 2e-6),
        ];
        let text = table(&cases.iter().flat_map(records).collect::<Vec<_>>(), None);
        assert!(
            text.contains("first in 0, level in 0, behind in 4, in 2 of these by more than 2.5%"),
            "{text}"
        );
        assert_eq!(lines_with(&text, "each test once").len(), 1);
        assert!(!text.contains("all sets of all tests"), "the same once more");
        assert_eq!(lines_with(&text, "MPI_Pack of openmpi  0.500 [0.500, 0.500]").len(), 0);
        let faster: Vec<_> =
            text.split("Where the engine is behind").nth(1).unwrap().lines().skip(2).collect();
        assert_eq!(faster.len(), 4, "{text}");
        assert!(faster[0].contains("MPI_Pack of openmpi") && faster[0].contains("0.500"), "{text}");
    }
}
