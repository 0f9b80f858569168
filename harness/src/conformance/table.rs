//! Results of checks as a table: a row per check, a column per MPI.

use super::{CheckResult, left_aligned};
use crate::model::check::CheckOutcome;
use crate::model::plain::undecorated;
use crate::report::columns::{text_width, wrapped};
use crate::report::names::distinct;

const LEGEND: &str = "Each check is a process of its own; an MPI that conforms to the standard passes it. Results of runs that rest \
    on a failed check are invalid. not available: the MPI lacks functions or the thread level. timed out: stopped at its \
    limit.";

/// The table, the number of passed checks of each MPI, and notes. Lines are not wider than `width`, if possible.
pub fn table(results: &[CheckResult], width: Option<u16>) -> String {
    let (room, width) = (width.map(usize::from), text_width(width));
    let mut text = wrapped("", LEGEND, width, 0);
    text.push('\n');
    let mpis = distinct(results.iter().map(CheckResult::mpi_label));
    // MPIs that do not fit next to each other go below each other.
    let mut left = &mpis[..];
    while !left.is_empty() {
        let fits = |count: &usize| {
            let lines = outcomes(&left[..*count], results);
            room.is_none_or(|room| lines.lines().all(|line| line.chars().count() <= room))
        };
        let (shown, rest) = left.split_at((2..=left.len()).rev().find(fits).unwrap_or(1));
        text += &format!("{}\n", outcomes(shown, results));
        left = rest;
    }
    for mpi in mpis {
        text += &wrapped("", &summary(&mpi, results), width, 2);
    }
    text + &notes(results, width)
}

/// A heading, and a line for each check that one of these MPIs has.
fn outcomes(mpis: &[String], results: &[CheckResult]) -> String {
    let row = |check: String| {
        let of = |mpi: &String| results.iter().find(|r| r.mpi_label() == *mpi && r.check == check);
        let label = |mpi| of(mpi).map_or("", |result| result.answer.outcome.name()).to_owned();
        let cells: Vec<String> = mpis.iter().map(label).collect();
        cells.iter().any(|cell| !cell.is_empty()).then(|| [vec![check.clone()], cells].concat())
    };
    let checks = distinct(results.iter().map(|result| result.check.clone()));
    let names = ["check"].into_iter().chain(mpis.iter().map(String::as_str));
    left_aligned(names, checks.into_iter().filter_map(row).collect()).text(None)
}

/// The results of an MPI in one line.
fn summary(mpi: &str, results: &[CheckResult]) -> String {
    let of_mpi = || results.iter().filter(|result| result.mpi_label() == mpi);
    let count = |outcome| of_mpi().filter(|result| result.answer.outcome == outcome).count();
    let mut text = format!("{mpi}: {} of {} passed", count(CheckOutcome::Passed), of_mpi().count());
    for outcome in [CheckOutcome::NotAvailable, CheckOutcome::Skipped] {
        if count(outcome) > 0 {
            text += &format!(", {} {}", count(outcome), outcome.name());
        }
    }
    let failed = of_mpi().filter(|result| result.is_failure()).map(|result| result.check.as_str());
    let failed: Vec<_> = failed.collect();
    match failed.len() {
        0 => text,
        n => text + &format!(", {n} failed: {}", failed.join(", ")),
    }
}

/// The notes, in the order of the results.
fn notes(results: &[CheckResult], width: usize) -> String {
    let with_note = results.iter().filter(|result| !result.answer.note.is_empty());
    let note = |result: &CheckResult| {
        let (check, mpi, label) = (&result.check, result.mpi_label(), result.answer.outcome.name());
        wrapped("  ", &format!("{check}, {mpi}: {label}: {}", essence(&result.answer.note)), width, 4)
    };
    let text: String = with_note.map(note).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}

/// A note without decoration, shortened: `checks.csv` has the whole text.
fn essence(note: &str) -> String {
    const LONGEST: usize = 300;
    let text = undecorated(note);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::Answer;

    fn result(mpi: &str, check: &str, outcome: CheckOutcome, note: &str) -> CheckResult {
        let [mpi_version, mpi_variant] = ["1", ""].map(str::to_owned);
        let (check, mpi) = (check.to_owned(), mpi.to_owned());
        CheckResult { check, mpi, mpi_version, mpi_variant, ranks: 2, answer: Answer::new(outcome, note) }
    }

    fn results() -> Vec<CheckResult> {
        vec![
            result("mpich", "equal_counts", CheckOutcome::Passed, ""),
            result("mpich", "proc_null", CheckOutcome::Crashed, "SIGSEGV, \"at\" once"),
            result("openmpi", "equal_counts", CheckOutcome::Passed, ""),
            result("openmpi", "pready_list", CheckOutcome::NotAvailable, ""),
        ]
    }

    #[test]
    fn a_row_per_check_and_a_column_per_mpi() {
        let text = table(&results(), None);
        let words = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words("check"), ["check", "mpich", "openmpi"]);
        assert_eq!(words("equal_counts"), ["equal_counts", "passed", "passed"]);
        assert_eq!(words("pready_list"), ["pready_list", "not", "available"]);
        assert!(!text.contains("any_order"), "was not run");
        assert!(text.contains("mpich: 1 of 2 passed, 1 failed: proc_null\n"), "{text}");
        assert!(text.contains("openmpi: 1 of 2 passed, 1 not available\n"), "{text}");
        assert!(text.ends_with("\nNotes\n  proc_null, mpich: crashed: SIGSEGV, \"at\" once\n"), "{text}");
    }

    #[test]
    fn mpis_that_do_not_fit_are_below() {
        let text = table(&results(), Some(34));
        let headings: Vec<_> = text.lines().filter(|line| line.starts_with("check ")).collect();
        assert_eq!(headings.len(), 2, "{text}");
        assert!(headings[0].ends_with("mpich") && headings[1].ends_with("openmpi"), "{text}");
        let table = text.split("\n\n").nth(1).unwrap();
        assert!(table.lines().all(|line| line.len() <= 34), "{text}");
    }

    #[test]
    fn a_long_note_is_cut() {
        assert_eq!(essence(&"é".repeat(400)), "é".repeat(300) + "…");
    }
}
