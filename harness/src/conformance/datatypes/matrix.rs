//! One table of several MPIs: a row for each finding, a column for each MPI.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::finding::Hit;
use super::report::MpiReport;
use crate::conformance::left_aligned;
use crate::report::columns::Table;

/// Findings of several MPIs, each tried on all of them.
#[derive(Debug)]
pub struct Matrix<'a> {
    reports: &'a [MpiReport],
    hits: Vec<&'a Hit>,
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
        (reports.len() > 1 && !hits.is_empty()).then_some(Self { reports, hits })
    }

    /// As a table for terminals and pages.
    pub fn table(&self) -> Table<'a> {
        let names = ["operation", "type"].into_iter().chain(self.reports.iter().map(|report| &*report.label));
        let row = |hit: &&Hit| {
            let names = [hit.operation.name.to_owned(), hit.layout.to_short_text() + &hit.message()];
            names.into_iter().chain(self.reports.iter().map(|report| cell(report, hit).to_owned())).collect()
        };
        left_aligned(names, self.hits.iter().map(row).collect())
    }

    /// As JSON: of each MPI how the finding fails, `right`, or nothing if it was not tried.
    pub fn json(&self) -> Value {
        let row = |hit: &&Hit| {
            let mpis: BTreeMap<_, _> =
                self.reports.iter().map(|report| (&report.label, cell(report, hit))).collect();
            let Hit { operation, items, construction, .. } = hit;
            let (operation, layout) = (operation.name, hit.layout.to_text());
            json!({ "operation": operation, "layout": layout, "items": items, "construction": construction, "mpis": mpis })
        };
        self.hits.iter().map(row).collect()
    }
}

/// How a finding fails on an MPI, `right`, or nothing if it was not tried.
pub(super) fn cell(report: &MpiReport, hit: &Hit) -> &'static str {
    let own = report.findings.iter().map(|finding| (&finding.hit, Some(finding.hit.kind)));
    let mut all = own.chain(report.elsewhere.iter().map(|(hit, kind)| (hit, *kind)));
    let found = all.find(|(known, _)| known.is_same_trial(hit));
    found.map_or("", |(_, kind)| kind.map_or("right", |kind| kind.name()))
}
