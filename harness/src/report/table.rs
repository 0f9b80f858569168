//! Records as a table with all details: a block per case, a row per method, and what can be said from it.

use std::fmt::Write as _;

use super::answer::Answer;
use super::case::{CaseView, launches, measured, warnings};
use super::columns::{Align, Column, fitted, text_width, wrapped};
use super::state;
use super::units;
use crate::model::{MethodInfo, Outcome, Phase, Quantity, Record};

/// What verdicts rest on.
pub(super) const VERDICTS: &str = "by the median of the rounds' ratios [95%]; no verdict where that holds 1, or where the \
    halves of the run part: unsteady";

/// What finds a method by its name.
pub type FindMethod = dyn Fn(&str) -> Option<&'static MethodInfo> + Sync;

/// How the cases of one kind of experiments are shown.
pub struct TableFormat {
    /// What is known of a method.
    pub method: &'static FindMethod,
    /// The phase that methods are judged by.
    pub headline: Phase,
    /// The name of the method that all are compared with.
    pub reference_method: &'static str,
    /// A row per method.
    pub columns: &'static [Column<'static>],
    /// What the columns mean.
    pub legend: &'static str,
    /// The cells of a method that was measured, between its name and the note.
    pub figures: fn(&CaseView, &Record) -> Vec<String>,
    /// What travels.
    pub size: fn(&Record) -> String,
    /// What tells cases of one test apart.
    pub set: fn(&CaseView) -> String,
    /// What all are compared with.
    pub reference: &'static str,
    /// Who is compared in the end.
    pub contest: &'static str,
    /// What is said of a case in one line.
    pub answer: Answer,
}

impl TableFormat {
    /// A format with these facts of a kind. All else is a row per method without figures, and the texts of a kind whose methods pack;
    /// the kind puts its own in their place.
    pub const fn new(method: &'static FindMethod, headline: Phase, reference_method: &'static str) -> Self {
        Self {
            method,
            headline,
            reference_method,
            columns: const { &[Column::new("method", Align::Left, 0), Column::new("note", Align::Left, 2)] },
            legend: "",
            figures: |_, _| Vec::new(),
            size: |record| format!("{} in {}", units::bytes(record.bytes), units::segments(record.segments)),
            set: |case| case.set().to_owned(),
            reference: reference_method,
            contest: "Fastest from arrays to arrays",
            answer: Answer::PLAIN,
        }
    }

    /// The cells of a method: figures, where there are usable ones, and what is to be said of them.
    pub fn row(&self, case: &CaseView, record: &Record) -> Vec<String> {
        let has_figures = measured(record);
        let mut row = vec![record.method.clone()];
        if has_figures {
            row.extend((self.figures)(case, record));
        }
        row.resize(self.columns.len() - 1, String::new());
        // How wide the interval is that all launches have left stands beside the time.
        let is_usual = matches!(record.outcome, Outcome::Converged | Outcome::LaunchLimit);
        let end = (!has_figures || !is_usual).then_some(record.outcome.label());
        let doubt = (has_figures && !record.has_positive_mean()).then_some("mean not above 0");
        let gain = record.figure(Quantity::Gain).and_then(|gain| gain.unsteady);
        let moved = [(record.unsteady, "unsteady"), (gain, "gain unsteady")];
        let moved = moved.into_iter().find(|(moved, _)| has_figures && *moved == Some(true));
        let moved = moved.map(|(_, note)| note);
        row.push(end.into_iter().chain(doubt).chain(moved).collect::<Vec<_>>().join(", "));
        row
    }
}

/// The records as text, nothing of it wider than a terminal of `width`.
pub fn table(form: &'static TableFormat, records: &[Record], width: Option<u16>) -> String {
    let room = width.map(usize::from);
    let width = text_width(width);
    let cases = CaseView::all(form, records);
    if cases.is_empty() {
        return "No records.\n".to_owned();
    }
    // What is the same everywhere is said once.
    let all = cases[0].conditions();
    let same = cases.iter().all(|case| case.conditions() == all);
    let mut text = wrapped("", form.legend, width, 0);
    let states =
        |cases: &[CaseView]| state::met(cases).map_or_else(String::new, |states| format!("; {states}"));
    if same {
        text += &wrapped("All: ", &format!("{all}{}", states(&cases)), width, 2);
    }
    if let Some(launches) = launches(records) {
        text += &wrapped("", &launches, width, 0);
    }
    for warning in warnings(records) {
        text += &wrapped("", &warning, width, 0);
    }
    text += &wrapped("", &format!("Verdicts: {VERDICTS}."), width, 0);

    let header: Vec<String> = form.columns.iter().map(|column| column.name.to_owned()).collect();
    let rows_of = |case: &CaseView| {
        let rows = case.methods().map(|record| form.row(case, record));
        std::iter::once(header.clone()).chain(rows).collect::<Vec<_>>()
    };
    let rows: Vec<_> = cases.iter().flat_map(rows_of).collect();
    let fitted_rows = fitted(form.columns, &rows, room, 2);
    text += &fitted_rows.left_out_text(width);
    let mut lines = fitted_rows.rows.into_iter();
    for case in &cases {
        let r = case.first();
        let size = (form.size)(r);
        let at = match same {
            true => String::new(),
            false => format!("  {}{}", case.conditions(), states(std::slice::from_ref(case))),
        };
        text.push('\n');
        text += &wrapped("", &format!("{}  {size}{at}  ({})", case.name(), r.case.params), width, 4);
        for line in lines.by_ref().take(case.methods().count() + 1) {
            let _ = writeln!(text, "{line}");
        }
        let mut found = vec![case.fastest().text(), form.answer.verdict(case)];
        found.dedup();
        text += &wrapped("  ", &format!("{}: {}", form.contest, found.join("; ")), width, 4);
    }
    text + &notes(&cases, width, same)
}

/// What is to be said of each case besides.
fn notes(cases: &[CaseView], width: usize, same: bool) -> String {
    let of_case = |case: &CaseView| {
        let at = if same { String::new() } else { format!("  {}", case.conditions()) };
        let note = |note: String| wrapped("  ", &format!("{}{at}: {note}", case.name()), width, 4);
        case.notes().into_iter().map(note).collect::<String>()
    };
    let text: String = cases.iter().map(of_case).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}
