//! Comparisons as JUnit XML, which test services can show: a test case per row.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{Comparison, ComparisonRow, Comparisons, GateDecision, GateResult, Verdict, states};

impl Comparisons {
    /// JUnit XML with a suite per comparison: rows that fail a gate are failures; undecided and missing rows
    /// are skipped. The gate itself is a test case, too.
    ///
    /// # Errors
    /// If a name cannot be written as XML.
    pub fn junit(&self) -> Result<String, SerializeError> {
        let suite = |comparison: &Comparison| {
            let mut suite = TestSuite::new(comparison.suite(self.unit));
            if let Some(states) = states::text(&comparison.states) {
                suite.add_property(("state", states.as_str()));
            }
            if !comparison.conditions.is_empty() {
                suite.add_property(("conditions", comparison.conditions.as_str()));
            }
            suite.add_test_cases(comparison.rows.iter().map(|row| self.test_case(comparison, row)));
            suite
        };
        let mut report = Report::new("ddtbench compare");
        report.add_test_suites(self.comparisons.iter().map(suite));
        report.add_test_suites(self.gate.iter().map(GateResult::suite));
        report.to_string()
    }

    fn test_case(&self, comparison: &Comparison, row: &ComparisonRow) -> TestCase {
        let mut status = match row.gate() {
            GateDecision::Shut => TestCaseStatus::non_success(NonSuccessKind::Failure),
            GateDecision::Undecided => TestCaseStatus::skipped(),
            GateDecision::Open if row.verdict == Verdict::NotCompared => TestCaseStatus::skipped(),
            GateDecision::Open => TestCaseStatus::success(),
        };
        let sentence = self.sentence(comparison, row);
        status.set_message(sentence.clone());
        status.set_type(row.verdict_text());
        let mut case = TestCase::new(format!("{} {}", row.subject.method, row.subject.sizes()), status);
        case.set_classname(format!("{}.{}", row.subject.experiment.name(), row.subject.test));
        case.set_system_out(format!("{}: {sentence}", row.verdict_text()));
        case
    }
}

impl GateResult {
    fn suite(&self) -> TestSuite {
        let mut status = match self.passed {
            true => TestCaseStatus::success(),
            false => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        status.set_message(self.text.clone());
        let mut suite = TestSuite::new("gate");
        suite.add_test_case(TestCase::new("gate", status));
        suite
    }
}
