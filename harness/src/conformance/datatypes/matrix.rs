//! One table of several MPIs: a row for each finding, a column for each MPI.

use common::conformance::FaultKind;
use serde_json::{Value, json};

use super::finding::Hit;
use super::report::MpiReport;
use crate::report::columns::{Align, Column, Table};

/// Findings of several MPIs, each tried on all of them.
#[derive(Debug)]
pub struct Matrix<'a> {
    mpis: Vec<&'a str>,
    rows: Vec<MatrixRow<'a>>,
}

/// A finding on each MPI.
#[derive(Debug)]
struct MatrixRow<'a> {
    hit: &'a Hit,
    cells: Vec<MatrixCell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatrixCell {
    Wrong(FaultKind),
    Right,
    Untried,
}

impl MatrixCell {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrong(kind) => kind.name(),
            Self::Right => "right",
            Self::Untried => "",
        }
    }
}

impl<'a> Matrix<'a> {
    /// The table of these reports; `None` for one MPI, or without findings.
    pub fn from_reports(reports: &'a [MpiReport]) -> Option<Self> {
        let mut hits: Vec<&Hit> = Vec::new();
        for finding in reports.iter().flat_map(|report| &report.findings) {
            if !hits.iter().any(|known| known.is_same_trial(&finding.hit)) {
                hits.push(&finding.hit);
            }
        }
        let row = |hit| MatrixRow { hit, cells: reports.iter().map(|report| cell(report, hit)).collect() };
        let mpis = reports.iter().map(|report| &*report.label).collect();
        (reports.len() > 1 && !hits.is_empty())
            .then(|| Self { mpis, rows: hits.into_iter().map(row).collect() })
    }

    /// As a table for terminals and pages.
    pub fn table(&self) -> Table<'a> {
        let columns = ["operation", "type"].into_iter().chain(self.mpis.iter().copied()).enumerate();
        let columns: Vec<_> =
            columns.map(|(i, name)| Column::new(name, Align::Left, if i == 0 { 0 } else { 2 })).collect();
        let row = |row: &MatrixRow<'_>| {
            let layout = row.hit.layout.to_short_text() + &row.hit.message();
            let names = [row.hit.operation.name.to_owned(), layout];
            names.into_iter().chain(row.cells.iter().map(|cell| cell.name().to_owned())).collect()
        };
        Table { columns, rows: self.rows.iter().map(row).collect() }
    }

    /// As JSON: of each MPI how the finding fails, `right`, or nothing if it was not tried.
    pub fn json(&self) -> Value {
        let row = |row: &MatrixRow<'_>| {
            let cells = self.mpis.iter().zip(&row.cells).map(|(mpi, cell)| (*mpi, cell.name()));
            json!({
                "operation": row.hit.operation.name,
                "layout": row.hit.layout.to_text(),
                "items": row.hit.items,
                "construction": row.hit.construction,
                "mpis": cells.collect::<std::collections::BTreeMap<_, _>>(),
            })
        };
        self.rows.iter().map(row).collect()
    }
}

/// A finding on an MPI.
pub(super) fn cell(report: &MpiReport, hit: &Hit) -> MatrixCell {
    let own = report.findings.iter().map(|finding| (&finding.hit, Some(finding.hit.kind)));
    let mut all = own.chain(report.elsewhere.iter().map(|(hit, kind)| (hit, *kind)));
    match all.find(|(known, _)| known.is_same_trial(hit)) {
        Some((_, Some(kind))) => MatrixCell::Wrong(kind),
        Some((_, None)) => MatrixCell::Right,
        None => MatrixCell::Untried,
    }
}
