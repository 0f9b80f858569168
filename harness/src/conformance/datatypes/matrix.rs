//! One table of several MPIs: a row for each finding, a column for each MPI.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::finding::{Hit, distinct_hits};
use super::report::MpiReport;
use crate::conformance::left_aligned;
use crate::report::columns::Table;

/// Each finding of several MPIs, and how it fails on each; nothing for one MPI.
fn rows(reports: &[MpiReport]) -> Vec<(&Hit, Vec<&'static str>)> {
    let found = reports.iter().filter(|_| reports.len() > 1).flat_map(|report| &report.findings);
    let hits = distinct_hits(found.map(|finding| &finding.hit));
    hits.into_iter().map(|hit| (hit, reports.iter().map(|report| cell(report, hit)).collect())).collect()
}

/// As a table for terminals and pages; `None` for one MPI, or without findings.
pub fn table(reports: &[MpiReport]) -> Option<Table<'_>> {
    let names = ["operation", "type"].into_iter().chain(reports.iter().map(|report| &*report.label));
    let row = |(hit, cells): (&Hit, Vec<&str>)| {
        let of_hit = [hit.operation.name.to_owned(), hit.layout.to_short_text() + &hit.message()];
        of_hit.into_iter().chain(cells.into_iter().map(str::to_owned)).collect()
    };
    let rows: Vec<_> = rows(reports).into_iter().map(row).collect();
    (!rows.is_empty()).then(|| left_aligned(names, rows))
}

/// As JSON: of each MPI how the finding fails, `right`, or nothing if it was not tried.
pub fn json(reports: &[MpiReport]) -> Value {
    let row = |(hit, cells): (&Hit, Vec<&str>)| {
        let mpis: BTreeMap<_, _> = reports.iter().map(|report| &report.label).zip(cells).collect();
        let mut json = json!(hit);
        json["mpis"] = json!(mpis);
        json
    };
    rows(reports).into_iter().map(row).collect()
}

/// How a finding fails on an MPI, `right`, or nothing if it was not tried.
pub(super) fn cell(report: &MpiReport, hit: &Hit) -> &'static str {
    let own = report.findings.iter().map(|finding| (&finding.hit, Some(finding.hit.kind)));
    let mut all = own.chain(report.elsewhere.iter().map(|(hit, kind)| (hit, *kind)));
    let found = all.find(|(known, _)| known.is_same_trial(hit));
    found.map_or("", |(_, kind)| kind.map_or("right", |kind| kind.name()))
}
