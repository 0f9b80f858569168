//! Comparisons as JUnit XML, which test services can show: a test case per row.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::{Comparison, ComparisonRow, Comparisons, GateDecision, Verdict, states};

impl Comparisons {
    /// JUnit XML with a suite per comparison: rows that fail a gate are failures; undecided and missing rows are skipped.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::made::{comparisons, in_states, row};
    use crate::compare::{ComparisonUnit, PhaseChange, StateMet};
    use crate::model::Phase;

    #[test]
    fn every_row_is_a_case_with_its_sentence() {
        let communicate = |base_s, new_s| PhaseChange { phase: Phase::Communicate, base_s, new_s };
        let pack = PhaseChange { phase: Phase::Pack, base_s: 1e-6, new_s: 1e-6 };
        let phases = vec![pack, communicate(9e-6, 220e-6)];
        let mut slower = row("a", "ddt", 1, 22.4, Verdict::Slower);
        slower.changes[0].phases = phases;
        let rows = vec![
            slower,
            row("b<", "ddt", 1, 1.0, Verdict::Undecided),
            row("c", "ddt", 1, 1.0, Verdict::Same),
        ];
        let mut comparisons = comparisons(rows);
        comparisons.comparisons[0].base.mpi = "mpich 4.3.2".to_owned();
        let xml = comparisons.junit().unwrap();
        let message = "a 4x4 ddt: 10.0 -&gt; 224 µs (22.4x [22.2, 22.6]), mostly in communicate (9.00 -&gt; 220 µs); \
                       mpich 4.3.2 -&gt; 5.0.2";
        for part in [
            r#"tests="3""#,
            r#"failures="1""#,
            r#"skipped="1""#,
            &format!("<failure message=\"{message}\" type=\"slower\""),
            &format!("<system-out>slower: {message}</system-out>"),
            "<system-out>same: c 4x4 ddt: 10.0 -&gt; 10.0 µs (1.00x [0.99, 1.01])",
            "b&lt; 4x4 ddt",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
    }

    #[test]
    fn states_are_a_property_and_each_has_its_change() {
        let of = row("a", "ddt", 1, 1.0, Verdict::Same);
        let mut comparisons =
            comparisons(vec![in_states(&of, &[(33e-9, None), (160e-9, Some((1.3, Verdict::Slower)))])]);
        comparisons.comparisons[0].states = [(33e-9, 0), (160e-9, 1)]
            .map(|(latency_s, state)| StateMet { state, latency_s, launches: vec![13, 13] })
            .to_vec();
        let xml = comparisons.junit().unwrap();
        for part in [
            r#"<property name="state" value="cores 33 ns apart in 26 launches, 160 ns in 26"/>"#,
            r#"failures="1""#,
            "a 4x4 ddt: 10.0 -&gt; 10.0 µs (1.00x [0.99, 1.01]) at 33 ns same; 10.0 -&gt; 13.0 µs (1.30x [1.29, 1.31]) at 160 ns slower",
        ] {
            assert!(xml.contains(part), "{part}: {xml}");
        }
    }

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
