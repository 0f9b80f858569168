//! A comparison as JUnit XML, which every service that runs tests can show: a test case for each row.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::findings::answer;
use super::{Comparison, Row, Verdict};

impl Comparison {
    /// What is slower or broken is a failure, what is undecided or was not compared is skipped.
    pub(super) fn suite(&self) -> TestSuite {
        let mut suite = TestSuite::new(format!("{} against {}", self.new, self.base));
        suite.add_test_cases(self.rows.iter().map(test_case));
        suite
    }
}

fn test_case(row: &Row) -> TestCase {
    let text = answer(row).map_or_else(|| row.note.clone(), |answer| answer.text());
    let message = format!("{} {text}", row.verdict.name());
    let status = match row.verdict {
        Verdict::Slower | Verdict::Broken => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Verdict::Undecided | Verdict::NotCompared => TestCaseStatus::skipped(),
        Verdict::Same | Verdict::Faster | Verdict::Repaired => TestCaseStatus::success(),
    };
    let mut status = status;
    status.set_message(message);
    let set = if row.subject.set.is_empty() { &row.subject.params } else { &row.subject.set };
    let mut case = TestCase::new(format!("{} {set}", row.subject.method), status);
    case.set_classname(format!("{}.{}", row.subject.experiment, row.subject.test));
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::row;
    use crate::compare::{Comparisons, Overview, Settings, Unit};

    #[test]
    fn every_row_is_a_case() {
        let rows = vec![
            row("a", "ddt", 1, 22.4, Verdict::Slower),
            row("b<", "ddt", 1, 1.0, Verdict::Undecided),
            row("c", "ddt", 1, 1.0, Verdict::Same),
        ];
        let names = ("mpich".to_owned(), "new".to_owned());
        let comparison =
            Comparison { base: names.0, new: names.1, threshold: 0.05, unit: Unit::Launch, rows };
        let comparisons = Comparisons {
            settings: Settings::default(),
            comparisons: vec![comparison],
            overview: Overview::default(),
        };
        let xml = comparisons.junit().unwrap();
        assert!(
            xml.contains(r#"tests="3""#)
                && xml.contains(r#"failures="1""#)
                && xml.contains(r#"disabled="1""#),
            "{xml}"
        );
        assert!(xml.contains("22.4x") && xml.contains("b&lt;"), "{xml}");
    }
}
