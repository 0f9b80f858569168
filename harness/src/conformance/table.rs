//! Results of checks as a table: a row per check, a column per MPI.

use super::{CheckResult, left_aligned};
use crate::model::check::CheckOutcome;
use crate::model::plain::undecorated;
use crate::report::columns::{Table, text_width, wrapped};
use crate::report::names::distinct;

const LEGEND: &str = "Each check is a process of its own; an MPI that conforms to the standard passes it. Results of runs that rest \
    on a failed check are invalid. not available: the MPI lacks functions or the thread level. timed out: stopped at its \
    limit.";

/// The table, the number of passed checks of each MPI, and notes. Lines are not wider than `width`, if possible.
pub fn table(results: &[CheckResult], width: Option<u16>) -> String {
    let mpis = distinct(results.iter().map(CheckResult::mpi_label));
    let mut text =
        wrapped("", LEGEND, text_width(width), 0) + "\n" + &outcomes(&mpis, results).text(width) + "\n";
    let width = text_width(width);
    for mpi in mpis {
        text += &wrapped("", &summary(&mpi, results), width, 2);
    }
    text + &notes(results, width)
}

/// A row for each check.
fn outcomes<'a>(mpis: &'a [String], results: &[CheckResult]) -> Table<'a> {
    let row = |check: String| {
        let of = |mpi: &String| results.iter().find(|r| r.mpi_label() == *mpi && r.check == check);
        let outcome = |mpi| of(mpi).map_or("", |result| result.answer.outcome.name()).to_owned();
        std::iter::once(check.clone()).chain(mpis.iter().map(outcome)).collect()
    };
    let checks = distinct(results.iter().map(|result| result.check.clone()));
    let names = ["check"].into_iter().chain(mpis.iter().map(String::as_str));
    left_aligned(names, checks.into_iter().map(row).collect())
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
    fn a_long_note_is_cut() {
        assert_eq!(essence(&"é".repeat(400)), "é".repeat(300) + "…");
    }
}
