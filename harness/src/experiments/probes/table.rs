//! What probes saw: a table with a row per probe and a column per MPI.

use std::fmt::Write as _;
use std::sync::LazyLock;

use super::list::{self, PROBES, ProbeKind, is_failure};
use crate::experiments::{Kind, plain_table_format};
use crate::model::Record;
use crate::report::columns::{Align, Column, aligned, wrapped};
use crate::report::table::{TableFormat, text_width};

/// How a probe is shown where all kinds are.
pub(super) static TABLE_FORMAT: LazyLock<TableFormat> = LazyLock::new(|| plain_table_format(Kind::Probes));

const LEGEND: &str = "Each probe is a process of its own. must: a correct program, which an MPI that conforms passes; \
    figures that rest on one that failed are invalid. misuse: forbidden or left open by the standard, so that nothing \
    is a failure; an error, `refused`, is best. may: an MPI is free to do it or not. not available: the MPI lacks \
    functions or the thread level. timed out: ended at its limit.";

/// The table, how many of the probes each MPI passed, and what was seen beside it. Headings and notes are broken at
/// `width`.
pub fn table(records: &[Record], width: Option<u16>) -> String {
    if records.is_empty() {
        return "No records.\n".to_owned();
    }
    let (room, width) = (width.map(usize::from), text_width(width));
    let mut text = wrapped("", LEGEND, width, 0);
    text.push('\n');
    let mpis = Record::mpis(records);
    // MPIs that do not fit beside each other stand below each other.
    let mut left = &mpis[..];
    while !left.is_empty() {
        let fits = |count: &usize| {
            let lines = outcomes(&left[..*count], records);
            room.is_none_or(|room| lines.iter().all(|line| line.chars().count() <= room))
        };
        let (shown, rest) = left.split_at((2..=left.len()).rev().find(fits).unwrap_or(1));
        outcomes(shown, records).iter().for_each(|line| text += &format!("{line}\n"));
        text.push('\n');
        left = rest;
    }
    for mpi in mpis {
        text += &wrapped("", &standing(&mpi, records), width, 2);
    }
    text + &notes(records, width)
}

/// A heading, and a line for each probe that one of these MPIs has.
fn outcomes(mpis: &[String], records: &[Record]) -> Vec<String> {
    let columns: Vec<_> =
        (0..2 + mpis.len()).map(|i| Column::new("", Align::Left, if i == 0 { 0 } else { 2 })).collect();
    let header = ["probe", ""].map(str::to_owned).into_iter().chain(mpis.iter().cloned()).collect();
    let mut rows: Vec<Vec<String>> = vec![header];
    for probe in PROBES {
        let of =
            |mpi: &String| records.iter().find(|r| r.case.mpi_label() == *mpi && r.case.test == probe.name);
        let cells: Vec<_> = mpis.iter().map(of).collect();
        if cells.iter().any(Option::is_some) {
            let cells = cells.into_iter().map(|record| record.map_or("", |record| record.outcome.label()));
            rows.push([probe.name, kind(probe.kind)].into_iter().chain(cells).map(str::to_owned).collect());
        }
    }
    aligned(&columns, &rows)
}

const fn kind(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::Conformance => "must",
        ProbeKind::Misuse => "misuse",
        ProbeKind::Question => "may",
    }
}

/// How an MPI did, in a line.
fn standing(mpi: &str, records: &[Record]) -> String {
    let is_must = |record: &&Record| {
        let is_must = |probe: &list::Probe| probe.kind == ProbeKind::Conformance;
        record.case.mpi_label() == mpi && list::find(&record.case.test).is_ok_and(is_must)
    };
    let musts = || records.iter().filter(is_must);
    let count = |outcome| musts().filter(|record| record.outcome.label() == outcome).count();
    let mut text = format!("{mpi}: {} of {} passed", count("passed"), musts().count());
    for outcome in ["not available", "skipped"] {
        if count(outcome) > 0 {
            let _ = write!(text, ", {} {outcome}", count(outcome));
        }
    }
    let failed: Vec<_> =
        musts().filter(|record| is_failure(record)).map(|record| record.case.test.as_str()).collect();
    match failed.len() {
        0 => text,
        n => text + &format!(", {n} failed: {}", failed.join(", ")),
    }
}

/// What was seen beside the outcome, in the order of the table.
fn notes(records: &[Record], width: usize) -> String {
    let of = |name: &'static str| records.iter().filter(move |record| record.case.test == name);
    let with_detail =
        PROBES.iter().flat_map(|probe| of(probe.name)).filter_map(|r| Some((r, r.outcome.detail()?)));
    let note = |(record, detail): (&Record, &str)| {
        let (probe, mpi) = (&record.case.test, record.case.mpi_label());
        wrapped("  ", &format!("{probe}, {mpi}: {}: {}", record.outcome.label(), essence(detail)), width, 4)
    };
    let text: String = with_detail.map(note).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

/// A detail without what launchers draw around a crash and the frames of a stack, and not too long: the whole is in
/// `launches.csv`.
fn essence(detail: &str) -> String {
    const LONGEST: usize = 300;
    const WORDS: &str = "last words:";
    const DECORATION: [&str; 6] = ["=", "/", "--", "YOU CAN IGNORE", "This typically refers", "Please see"];
    let says_something = |words: &&str| !DECORATION.iter().any(|start| words.starts_with(start));
    let pieces = detail.replacen(&format!("{WORDS} "), &format!("{WORDS} | "), 1);
    let text = pieces.split(" | ").filter(says_something).collect::<Vec<_>>().join(" | ");
    let text = text.replacen(&format!("{WORDS} | "), &format!("{WORDS} "), 1);
    let text = text.trim_end_matches(&format!("; {WORDS}")).to_owned();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, Outcome};

    fn record(mpi: &str, probe: &str, outcome: &str, detail: &str) -> Record {
        let case = Case { mpi: mpi.to_owned(), test: probe.to_owned(), ..Case::default() };
        let outcome = Outcome::from_label(outcome).unwrap().with_detail(detail.to_owned());
        Record { case: case.into(), outcome, ..Record::default() }
    }

    fn records() -> Vec<Record> {
        vec![
            record("mpich", "equal_counts", "passed", ""),
            record("mpich", "double_pready", "crashed", "SIGABRT"),
            record("mpich", "proc_null", "crashed", "SIGSEGV, \"at\" once"),
            record("openmpi", "equal_counts", "passed", ""),
            record("openmpi", "pready_list", "not available", ""),
            record("openmpi", "double_pready", "accepted", ""),
        ]
    }

    #[test]
    fn a_row_per_probe_and_a_column_per_mpi() {
        let text = table(&records(), None);
        let words = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words("probe"), ["probe", "mpich", "openmpi"]);
        assert_eq!(words("equal_counts"), ["equal_counts", "must", "passed", "passed"]);
        assert_eq!(words("double_pready"), ["double_pready", "misuse", "crashed", "accepted"]);
        assert_eq!(words("pready_list"), ["pready_list", "must", "not", "available"]);
        assert!(!text.contains("any_order"), "was not run");
    }

    #[test]
    fn mpis_that_do_not_fit_stand_below() {
        let text = table(&records(), Some(36));
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with("probe ")).collect();
        assert_eq!(headings.len(), 2, "{text}");
        assert!(headings[0].ends_with("mpich") && headings[1].ends_with("openmpi"), "{text}");
        let table = text.split("\n\n").nth(1).unwrap();
        assert!(table.lines().all(|line| line.len() <= 36), "{text}");
    }

    #[test]
    fn misuse_counts_as_nothing_and_details_are_notes() {
        let text = table(&records(), None);
        assert!(text.contains("mpich: 1 of 2 passed, 1 failed: proc_null\n"), "{text}");
        assert!(text.contains("openmpi: 1 of 2 passed, 1 not available\n"), "{text}");
        assert!(text.contains("  double_pready, mpich: crashed: SIGABRT\n"), "{text}");
        assert_eq!(text.split("\nNotes\n").nth(1).unwrap().lines().count(), 2, "{text}");
    }

    #[test]
    fn a_crash_is_told_without_its_frame() {
        let detail =
            "exit code 11; last words: ===== | =   PID 1 | Segmentation fault | /lib/libmpi.so(+0x1) [0x2]";
        assert_eq!(essence(detail), "exit code 11; last words: Segmentation fault");
        assert_eq!(essence("killed; last words: ===="), "killed");
        assert_eq!(essence(&"é".repeat(400)), "é".repeat(300) + "…");
    }
}
