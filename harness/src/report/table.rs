//! Records as tables with all details: a table per case, a row per method, and notes.

use std::fmt::Write as _;

use super::answer::Answer;
use super::case::{
    ANOTHER_RUN, CaseView, cell, launches, measured, median, ratio, share, share_and_half, warnings,
};
use super::columns::{Align, Column, fitted, text_width, wrapped};
use super::sentences::decisions;
use super::state;
use super::units;
use crate::model::{MethodInfo, Outcome, Phase, Quantity, Record};

/// The basis of verdicts.
pub(super) const VERDICTS: &str = "median of the rounds' ratios [95%]; none if the interval overlaps 0.995 to \
     1.005, or if the ratio changes between the halves of the run: unsteady";

/// Finds a method by its name.
pub type FindMethod = dyn Fn(&str) -> Option<&'static MethodInfo> + Sync;

/// A figure of a method in tables: its column, and how its cells are computed.
#[derive(Clone, Copy)]
pub struct FigureColumn {
    name: &'static str,
    rank: u8,
    cells: Cells,
}

/// The cells of a figure: one, or two with the column that belongs to it.
#[derive(Clone, Copy)]
pub enum Cells {
    /// The median of a phase.
    Time(Phase),
    /// A fraction with its interval, or with the larger side of that.
    Share(Quantity),
    ShareAndHalf(Quantity),
    /// A ratio with its interval.
    Ratio(Quantity),
    One(fn(&CaseView, &Record) -> String),
    /// Words, which begin at the left end.
    Words(fn(&CaseView, &Record) -> String),
    /// With the name of the second column.
    Two(&'static str, fn(&CaseView, &Record) -> [String; 2]),
}

impl FigureColumn {
    pub const fn new(name: &'static str, cells: Cells) -> Self {
        Self { name, rank: 0, cells }
    }

    /// Sets the rank: columns of high rank are left out first if the line is too long.
    pub const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    fn columns(&self) -> impl Iterator<Item = Column<'static>> {
        let (align, attached) = match self.cells {
            Cells::Time(_) | Cells::One(_) => (Align::Right, None),
            Cells::Words(_) => (Align::Left, None),
            Cells::ShareAndHalf(_) => (Align::Right, Some("±")),
            Cells::Share(_) | Cells::Ratio(_) => (Align::Right, Some("[95%]")),
            Cells::Two(name, _) => (Align::Right, Some(name)),
        };
        let side = |name| if name == "±" { Align::Right } else { Align::Left };
        let attached = attached.map(|name| Column::new(name, side(name), 1));
        std::iter::once(Column::new(self.name, align, 2).rank(self.rank)).chain(attached)
    }

    fn cells(&self, case: &CaseView, record: &Record) -> Vec<String> {
        match self.cells {
            Cells::Time(phase) => vec![cell(case.median(&record.method, phase), units::seconds)],
            Cells::Share(quantity) => share(record, quantity).into(),
            Cells::ShareAndHalf(quantity) => share_and_half(record, quantity).into(),
            Cells::Ratio(quantity) => ratio(record, quantity).into(),
            Cells::One(of) | Cells::Words(of) => vec![of(case, record)],
            Cells::Two(_, of) => of(case, record).into(),
        }
    }
}

/// How the cases of one kind of experiments are shown.
pub struct TableFormat {
    /// The known properties of a method.
    pub method: &'static FindMethod,
    /// The phase that methods are judged by.
    pub headline: Phase,
    /// The name of the method that all are compared with.
    pub reference_method: &'static str,
    /// The names of the columns of a method's name and of its time; without one, tables have no figures.
    pub time: Option<[&'static str; 2]>,
    /// The columns between the time and the note.
    pub figures: &'static [FigureColumn],
    /// Explains the columns.
    pub legend: &'static str,
    /// The size of the message.
    pub size: fn(&Record) -> String,
    /// Distinguishes the cases of one test.
    pub set: fn(&CaseView) -> String,
    /// The reference of all methods.
    pub reference: &'static str,
    /// The title of the final comparison.
    pub contest: &'static str,
    /// The line of a case in the summary.
    pub answer: Answer,
}

impl TableFormat {
    /// A format with these properties of a kind. By default, it has a row per method without figures, and the
    /// texts of a kind whose methods pack; the kind replaces them.
    pub const fn new(method: &'static FindMethod, headline: Phase, reference_method: &'static str) -> Self {
        Self {
            method,
            headline,
            reference_method,
            time: None,
            figures: &[],
            legend: "",
            size: |record| format!("{} in {}", units::bytes(record.bytes), units::segments(record.segments)),
            set: |case| case.set().to_owned(),
            reference: reference_method,
            contest: "Fastest method",
            answer: Answer::PLAIN,
        }
    }

    /// The columns of a table with a row per method.
    pub fn columns(&self) -> Vec<Column<'static>> {
        let mut columns = vec![Column::new(self.time.map_or("method", |names| names[0]), Align::Left, 0)];
        if let Some([_, time]) = self.time {
            let time = [Column::new(time, Align::Right, 2), Column::new("±", Align::Right, 1), ANOTHER_RUN];
            columns.extend(time);
            columns.extend(self.figures.iter().flat_map(FigureColumn::columns));
        }
        columns.push(Column::new("note", Align::Left, 2));
        columns
    }

    /// The cells of a method: usable values, and notes.
    pub fn row(&self, case: &CaseView, record: &Record) -> Vec<String> {
        let has_times = measured(record);
        let has_figures = has_times || record.value(Quantity::DeviceCopies).is_some();
        let mut row = vec![record.method.clone()];
        if has_figures && self.time.is_some() {
            row.extend(median(record));
            row.extend(self.figures.iter().flat_map(|figure| figure.cells(case, record)));
        }
        row.resize(self.columns().len() - 1, String::new());
        // The time already shows the interval that all launches have reached.
        let is_usual = matches!(record.outcome, Outcome::Converged | Outcome::LaunchLimit);
        let end = (!has_figures || !is_usual).then_some(record.outcome.label());
        let doubt = (has_times && !record.has_positive_mean()).then_some("mean is not above 0");
        let gain = record.figure(Quantity::Gain).and_then(|gain| gain.unsteady);
        let moved = [(record.unsteady, "unsteady"), (gain, "gain unsteady")];
        let moved = moved.into_iter().find(|(moved, _)| has_figures && *moved == Some(true));
        let moved = moved.map(|(_, note)| note);
        row.push(end.into_iter().chain(doubt).chain(moved).collect::<Vec<_>>().join(", "));
        row
    }
}

/// Text within the width of a terminal.
pub fn table(form: &'static TableFormat, records: &[Record], width: Option<u16>) -> String {
    let room = width.map(usize::from);
    let width = text_width(width);
    let cases = CaseView::all(form, records);
    if cases.is_empty() {
        return "No records.\n".to_owned();
    }
    // Common conditions are printed once.
    let all = cases[0].conditions();
    let same = cases.iter().all(|case| case.conditions() == all);
    let decided = decisions(form, &cases, false);
    let mut text: String = decided.iter().map(|decision| wrapped("", decision, width, 2)).collect();
    text += &wrapped("", form.legend, width, 0);
    if same {
        text += &wrapped("All: ", &format!("{all}{}", state::counted_of(&cases)), width, 2);
    }
    if let Some(launches) = launches(records, true) {
        text += &wrapped("", &launches, width, 0);
    }
    for warning in warnings(records) {
        text += &wrapped("", &warning, width, 0);
    }
    text += &wrapped("", &format!("Verdicts: {VERDICTS}."), width, 0);

    let columns = form.columns();
    let header: Vec<String> = columns.iter().map(|column| column.name.to_owned()).collect();
    let rows_of = |case: &CaseView| {
        let rows = case.methods().map(|record| form.row(case, record));
        std::iter::once(header.clone()).chain(rows).collect::<Vec<_>>()
    };
    let rows: Vec<_> = cases.iter().flat_map(rows_of).collect();
    let fitted_rows = fitted(&columns, &rows, room, 2);
    text += &fitted_rows.left_out_text(width);
    let mut lines = fitted_rows.rows.into_iter();
    for case in &cases {
        let r = case.first();
        let size = (form.size)(r);
        let at = match same {
            true => String::new(),
            false => format!("  {}{}", case.conditions(), state::counted_of([case])),
        };
        text.push('\n');
        text += &wrapped("", &format!("{}  {size}{at}  ({})", case.name(), r.case.params), width, 4);
        for line in lines.by_ref().take(case.methods().count() + 1) {
            let _ = writeln!(text, "{line}");
        }
        let found = form.answer.findings(case);
        text += &wrapped("  ", &format!("{}: {}", form.contest, found.join("; ")), width, 4);
    }
    text + &notes(&cases, width, same)
}

/// Additional notes for each case.
fn notes(cases: &[CaseView], width: usize, same: bool) -> String {
    let of_case = |case: &CaseView| {
        let at = if same { String::new() } else { format!("  {}", case.conditions()) };
        let note = |note: String| wrapped("  ", &format!("{}{at}: {note}", case.name()), width, 4);
        case.notes().into_iter().map(note).collect::<String>()
    };
    let text: String = cases.iter().map(of_case).collect();
    if text.is_empty() { text } else { format!("\nNotes\n{text}") }
}
