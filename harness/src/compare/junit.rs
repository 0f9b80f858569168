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

#[cfg(test)]
mod tests {
    use crate::compare::ComparisonUnit;
    use crate::compare::made::comparisons;
    #[test]
    fn a_suite_is_named_after_its_mpis_and_its_baseline() {
        let suite = |base: &str, base_mpi: &str, new: &str, new_mpi: &str| {
            let mut comparison = comparisons(Vec::new()).comparisons.remove(0);
            (comparison.base.name, comparison.base.mpi) = (base.to_owned(), base_mpi.to_owned());
            (comparison.new.name, comparison.new.mpi) = (new.to_owned(), new_mpi.to_owned());
            let of_folders = comparison.base.name.contains('/');
            comparison.suite(if of_folders { ComparisonUnit::Run } else { ComparisonUnit::Launch })
        };
        assert_eq!(suite("mpich-4.3.2", "mpich 4.3.2", "mpich", "mpich 5.0.2"), "mpich 4.3.2 -> 5.0.2");
        let variant = suite("mpich", "mpich 5.0.2", "mpich:nocma", "mpich:nocma 5.0.2");
        assert_eq!(variant, "mpich 5.0.2 -> mpich:nocma 5.0.2");
        let check = |new_mpi: &str| suite("runs/main", "mpich 5.0.2", "runs/2026-11-25", new_mpi);
        assert_eq!(check("openmpi 5.0.11"), "main: mpich 5.0.2 -> openmpi 5.0.11");
        assert_eq!(check("mpich 5.0.2"), "main: mpich 5.0.2");
    }
}
