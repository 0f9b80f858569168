//! Comparisons as JUnit XML, which every service that runs tests can show: a test case for each row.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{Comparison, ComparisonRow, Comparisons, Estimate, Verdict};

impl Comparisons {
    /// As JUnit XML, a suite for each comparison: what is slower or broken is a failure, what is undecided or was not compared is
    /// skipped.
    ///
    /// # Errors
    /// If a name cannot be written as XML.
    pub fn junit(&self) -> Result<String, SerializeError> {
        let suite = |comparison: &Comparison| {
            let mut suite =
                TestSuite::new(format!("{} against {}", comparison.new.name, comparison.base.name));
            suite.add_test_cases(comparison.rows.iter().map(test_case));
            suite
        };
        let mut report = Report::new("ddtbench compare");
        report.add_test_suites(self.comparisons.iter().map(suite));
        report.to_string()
    }
}

fn test_case(row: &ComparisonRow) -> TestCase {
    let mut status = match row.verdict {
        Verdict::Slower | Verdict::Broken => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Undecided | Verdict::NotCompared => TestCaseStatus::skipped(),
        Verdict::Same | Verdict::Faster | Verdict::Repaired => TestCaseStatus::success(),
    };
    let text = row.answer().map_or_else(|| row.note.clone(), Estimate::text);
    status.set_message(format!("{} {text}", row.verdict.name()));
    let mut case = TestCase::new(format!("{} {}", row.subject.method, row.subject.sizes()), status);
    case.set_classname(format!("{}.{}", row.subject.experiment.name(), row.subject.test));
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::{comparisons, row};

    #[test]
    fn every_row_is_a_case() {
        let rows = vec![
            row("a", "ddt", 1, 22.4, Verdict::Slower),
            row("b<", "ddt", 1, 1.0, Verdict::Undecided),
            row("c", "ddt", 1, 1.0, Verdict::Same),
        ];
        let xml = comparisons(rows).junit().unwrap();
        for part in [r#"tests="3""#, r#"failures="1""#, r#"disabled="1""#, "22.4x", "b&lt;"] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
    }
}
