//! The report as one page of HTML that needs no other file. C programs are folded.

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::finding::Finding;
use super::matrix;
use super::report::{MpiReport, Reports};
use crate::report::html::{STYLE, render};

const TEMPLATE: &str = include_str!("page.html");

impl Reports {
    /// As one page.
    pub fn html(&self) -> String {
        let mpis: Vec<&str> = self.0.iter().map(|report| &*report.title).collect();
        let title = format!("Conformance of derived datatypes: {}", mpis.join(", "));
        let table = matrix::table(&self.0).map(|table| Value::from(Serde(table)));
        let mpis: Vec<Value> = self.0.iter().map(of_mpi).collect();
        render(TEMPLATE, context! { title, style => STYLE, table, mpis })
    }
}

fn of_mpi(report: &MpiReport) -> Value {
    let findings: Vec<Value> =
        report.findings.iter().enumerate().map(|(i, finding)| of_finding(i + 1, finding)).collect();
    let counts = if report.coverage.cases > 0 { report.counts() } else { Vec::new() };
    context! { label => &report.label, summary => report.summary(), findings, counts }
}

fn of_finding(number: usize, finding: &Finding) -> Value {
    let operation = finding.hit.operation;
    let known = if finding.is_known { " (known)" } else { "" };
    let head = format!("{number}. {}: {}{known}", operation.name, finding.hit.kind);
    let asks = format!("{}: MPI-4.1, section {}", operation.asks, operation.clause);
    let lines: Vec<String> = finding.lines().into_iter().chain([asks]).collect();
    context! { head, layout => finding.hit.layout.to_text() + &finding.hit.message(), lines, program => &finding.confirmation.code }
}
