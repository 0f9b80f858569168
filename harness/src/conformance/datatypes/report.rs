//! The report: findings with their C programs, coverage, and rates; as text, JSON or JUnit XML.

use std::fmt::Write;

use common::conformance::{FIRST_FIXED, OPERATIONS, Operation};
use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use serde_json::{Value, json};

use super::campaign::Coverage;
use super::finding::{Finding, Hit};
use super::list::FindingList;
use crate::mpi::Target;

/// Layouts with probably the same cause that are shown.
const MOST_SIMILAR: usize = 3;

/// The findings in one MPI.
#[derive(Debug)]
pub struct MpiReport {
    /// Its name in tables.
    pub label: String,
    /// The maker and the version.
    pub title: String,
    /// The findings, known ones first.
    pub findings: Vec<Finding>,
    /// Listed findings that do not occur any more.
    pub fixed: Vec<Hit>,
    /// Wrong results before they were shrunk and joined.
    pub hits: usize,
    /// Counts of tried operations and constructors.
    pub coverage: Coverage,
    /// Whether the user has stopped it.
    pub is_stopped: bool,
}

/// The reports of all MPIs of a run.
#[derive(Debug, Default)]
pub struct Reports(pub Vec<MpiReport>);

impl MpiReport {
    /// An empty report about an MPI.
    pub fn new(target: &Target) -> Self {
        Self {
            label: target.label(),
            title: target.installation.title(),
            findings: Vec::new(),
            fixed: Vec::new(),
            hits: 0,
            coverage: Coverage::default(),
            is_stopped: false,
        }
    }

    /// Findings that were not known.
    pub fn new_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.is_known)
    }

    /// The name of a finding's files: the MPI and the number among the new findings.
    pub fn file_name(&self, number: usize) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        format!("{}-{}", self.label.chars().map(plain).collect::<String>(), number + 1)
    }

    fn text(&self) -> String {
        let new: Vec<_> = self.new_findings().collect();
        let known = self.findings.len() - new.len();
        let mut text = format!("{} ({}): {}", self.label, self.title, counted(new.len(), "new finding"));
        if known > 0 {
            let _ = write!(text, ", {known} known");
        }
        text.push('\n');
        for (number, finding) in new.iter().enumerate() {
            text += &format!("\n{}. {}", number + 1, finding.text());
            let _ = writeln!(text, "   C program: {}.c", self.file_name(number));
        }
        for hit in &self.fixed {
            let _ =
                writeln!(text, "\nnot found any more: {} of {}", hit.operation.name, hit.layout.to_text());
        }
        if self.coverage.cases > 0 {
            text += &self.coverage.text(self.hits);
        }
        text
    }

    fn json(&self) -> Value {
        let finding = |finding: &Finding| {
            json!({
                "operation": finding.hit.operation.name,
                "kind": finding.hit.kind,
                "layout": finding.hit.layout.to_text(),
                "items": finding.hit.items,
                "detail": finding.hit.detail,
                "clause": finding.hit.operation.clause,
                "other_operations": finding.others.iter().map(|(operation, _)| operation.name).collect::<Vec<_>>(),
                "similar": finding.similar.iter().map(|hit| hit.layout.to_text()).collect::<Vec<_>>(),
                "first_case": finding.first_case(),
                "hits": finding.hits,
                "known": finding.is_known,
                "reproduced": finding.is_reproduced,
                "confirmed": finding.confirmation.shown.is_some(),
                "program": finding.confirmation.code,
            })
        };
        let operations = OPERATIONS.iter().zip(&self.coverage.operations);
        json!({
            "mpi": self.label,
            "title": self.title,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
            "cases": self.coverage.cases,
            "seconds": self.coverage.time.as_secs_f64(),
            "hits": self.hits,
            "operations": operations.map(|(operation, times)| (operation.name, times)).collect::<std::collections::BTreeMap<_, _>>(),
            "constructors": self.coverage.constructors,
            "left_out": self.coverage.left_out,
            "stopped": self.is_stopped,
        })
    }

    /// A test case for each operation.
    fn suite(&self) -> TestSuite {
        let mut suite = TestSuite::new(&self.label);
        for (number, operation) in OPERATIONS.iter().enumerate() {
            let new: Vec<_> =
                self.new_findings().filter(|finding| finding.hit.operation == operation).collect();
            let status = if let Some(first) = new.first() {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(first.sentence()).set_type(first.hit.kind.name());
                status.set_description(new.iter().map(|finding| finding.text()).collect::<String>());
                status
            } else if self.coverage.operations.get(number).is_none_or(|times| *times == 0) {
                TestCaseStatus::skipped()
            } else {
                TestCaseStatus::success()
            };
            let mut case = TestCase::new(operation.name, status);
            case.set_classname("datatypes");
            suite.add_test_case(case);
        }
        suite
    }
}

impl Finding {
    /// In one line.
    pub fn sentence(&self) -> String {
        let Hit { layout, items, operation, kind, detail, .. } = &self.hit;
        let items = if *items == 1 { String::new() } else { format!(", {items} items") };
        format!("{}, {kind}: {}{items}: {detail}", operation.name, layout.to_short_text())
    }

    fn text(&self) -> String {
        let Hit { layout, items, operation: Operation { name, clause, .. }, kind, detail, .. } = &self.hit;
        let mut text = format!("{name}: {kind}\n   type: {}", layout.to_text());
        if *items != 1 {
            let _ = write!(text, ", {items} items");
        }
        let detail = detail.lines().next().unwrap_or_default();
        let _ = write!(text, "\n   {detail}\n   MPI-4.1, section {clause}");
        if !self.others.is_empty() {
            let others: Vec<_> = self.others.iter().map(|(operation, _)| operation.name).collect();
            let _ = write!(text, "\n   also wrong: {}", others.join(", "));
        }
        let mut similar: Vec<_> = self.similar.iter().map(|hit| hit.layout.to_short_text()).collect();
        similar.dedup();
        similar.retain(|layout| *layout != self.hit.layout.to_short_text());
        if !similar.is_empty() {
            let more = similar.len().saturating_sub(MOST_SIMILAR);
            similar.truncate(MOST_SIMILAR);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(text, "\n   probably the same: {}{more}", similar.join("; "));
        }
        let first = case_name(self.first_case());
        let _ = write!(text, "\n   first in {first}; explains {}", counted(self.hits, "hit"));
        if !self.is_reproduced {
            text += "\n   not reproduced without the cases before it";
        }
        match &self.confirmation {
            confirmation if confirmation.code.is_empty() => {}
            confirmation => match &confirmation.shown {
                Some(shown) => _ = write!(text, "\n   confirmed by the C program: {shown}"),
                None => _ = write!(text, "\n   not confirmed: {}", confirmation.reason),
            },
        }
        text + "\n"
    }
}

impl Coverage {
    fn text(&self, hits: usize) -> String {
        let mut text = format!(
            "\n{} cases in {:.0} s ({:.0} cases per minute), {}\n",
            self.cases,
            self.time.as_secs_f64(),
            self.cases_per_minute(),
            counted(hits, "hit")
        );
        let operations = OPERATIONS.iter().zip(&self.operations);
        let operations: Vec<_> =
            operations.map(|(operation, times)| format!("{} {times}", operation.name)).collect();
        let _ = writeln!(text, "operations: {}", operations.join(", "));
        let constructors: Vec<_> =
            self.constructors.iter().map(|(name, times)| format!("{name} {times}")).collect();
        let _ = writeln!(text, "constructors: {}", constructors.join(", "));
        if !self.left_out.is_empty() {
            let left_out: Vec<_> =
                self.left_out.iter().map(|(operation, times)| format!("{operation} {times}")).collect();
            let _ = writeln!(text, "left out after crashes or hangs: {}", left_out.join(", "));
        }
        text
    }
}

impl Reports {
    /// As text.
    pub fn text(&self) -> String {
        self.0.iter().map(MpiReport::text).collect::<Vec<_>>().join("\n")
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        self.0.iter().map(MpiReport::json).collect()
    }

    /// As JUnit XML, a suite for each MPI.
    ///
    /// # Errors
    /// If a name cannot be written as XML.
    pub fn junit(&self) -> Result<String, SerializeError> {
        let mut report = Report::new("ddtbench conform");
        report.add_test_suites(self.0.iter().map(MpiReport::suite));
        report.to_string()
    }

    /// The list of all new findings.
    pub fn findings(&self) -> FindingList {
        let of_mpis = self.0.iter().map(|report| FindingList::of(&report.title, report.new_findings()));
        FindingList { finding: of_mpis.flat_map(|list| list.finding).collect() }
    }

    /// Whether any finding is new.
    pub fn has_new_findings(&self) -> bool {
        self.0.iter().any(|report| report.new_findings().next().is_some())
    }
}

/// A case by its number.
fn case_name(number: u64) -> String {
    match number.checked_sub(FIRST_FIXED) {
        Some(fixed) => format!("fixed case {fixed}"),
        None => format!("case {number}"),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use common::conformance::{Fault, FaultKind};

    use super::super::finding::Confirmation;
    use super::*;

    fn finding(operation: &str, shown: Option<&str>) -> Finding {
        let fault = Fault::new(17, operation, FaultKind::WrongData, "byte 3 is wrong".to_owned());
        let layout = "vector(2, 1, -1, byte)".parse().unwrap();
        let (shown, reason) = (shown.map(str::to_owned), "the C program does not show it".to_owned());
        Finding {
            hit: Hit::of(&fault, &layout, 1, true).unwrap(),
            others: Vec::new(),
            similar: Vec::new(),
            hits: 4,
            is_reproduced: true,
            is_known: false,
            confirmation: Confirmation { code: "int main".to_owned(), shown, reason },
        }
    }

    fn reports() -> Reports {
        let coverage = Coverage { cases: 100, operations: vec![5; OPERATIONS.len()], ..Coverage::default() };
        let known = Finding { is_known: true, ..finding("unpack", None) };
        Reports(vec![MpiReport {
            label: "mpich".to_owned(),
            title: "MPICH 9".to_owned(),
            findings: vec![known, finding("pack", Some("byte 1")), finding("send", None)],
            fixed: Vec::new(),
            hits: 9,
            coverage,
            is_stopped: false,
        }])
    }

    #[test]
    fn a_finding_is_shown_with_its_type_its_clause_and_its_program() {
        let text = reports().text();
        for part in [
            "mpich (MPICH 9): 2 new findings, 1 known",
            "1. pack: wrong data\n   type: vector(2, 1, -1, byte)\n   byte 3 is wrong\n   MPI-4.1, section 5.2",
            "first in case 17; explains 4 hits\n   confirmed by the C program: byte 1\n   C program: mpich-1.c",
            "not confirmed: the C program does not show it\n   C program: mpich-2.c",
            "100 cases in",
            "operations: bounds 5, pack 5",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }

    #[test]
    fn junit_has_a_case_for_each_operation() {
        let xml = reports().junit().unwrap();
        assert_eq!(xml.matches("<testcase ").count(), OPERATIONS.len());
        assert_eq!(xml.matches("<failure ").count(), 2);
        assert!(reports().has_new_findings());
        assert_eq!(reports().json()[0]["findings"][1]["confirmed"], true);
    }
}
