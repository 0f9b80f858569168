//! Whether an MPI's launcher still starts processes. If it does not, all remaining cases would be reported as crashes.

use super::Unit;
use crate::model::CaseResult;

/// So many cases in a row without a process are not crashes: the launcher no longer works.
const IN_A_ROW: usize = 3;

pub(super) struct Starts {
    has_begun: bool,
    /// The last cases in which no process started. They are not written, because a resumed run must repeat
    /// them if the run ends here.
    pub held: Vec<(Unit, CaseResult)>,
}

impl Starts {
    /// Whether a process started in an earlier part of the run.
    pub fn from_begun(has_begun: bool) -> Self {
        Self { has_begun, held: Vec::new() }
    }

    /// A process has started: returns the cases to write, in measured order.
    pub fn has_begun(&mut self, case: (Unit, CaseResult)) -> Vec<(Unit, CaseResult)> {
        self.has_begun = true;
        let mut all = std::mem::take(&mut self.held);
        all.push(case);
        all
    }

    /// No process started, although the case was tried twice. If that is enough to end the run, returns a
    /// text with the number of tries.
    pub fn has_failed(&mut self, case: (Unit, CaseResult)) -> Option<&'static str> {
        self.held.push(case);
        match (self.has_begun, self.held.len()) {
            (false, _) => Some("twice"),
            (true, IN_A_ROW..) => Some("in three cases in a row, each tried twice"),
            (true, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::conditions::Conditions;

    fn case(number: usize) -> (Unit, CaseResult) {
        (
            Unit { case: number, conditions: Conditions::default(), target: 0, launch: 0 },
            CaseResult::default(),
        )
    }

    fn numbers(cases: &[(Unit, CaseResult)]) -> Vec<usize> {
        cases.iter().map(|(unit, _)| unit.case).collect()
    }

    #[test]
    fn three_failures_in_a_row_end_the_run_and_are_no_crashes() {
        let mut starts = Starts::from_begun(false);
        assert_eq!(numbers(&starts.has_begun(case(0))), [0]);
        assert!(starts.has_failed(case(1)).is_none() && starts.has_failed(case(2)).is_none());
        assert_eq!(numbers(&starts.has_begun(case(3))), [1, 2, 3], "now they are crashes");
        for number in 4..6 {
            assert!(starts.has_failed(case(number)).is_none());
        }
        assert!(starts.has_failed(case(6)).unwrap().contains("three cases"));
        assert_eq!(numbers(&starts.held), [4, 5, 6], "none of them is stored");
    }
}
