//! When a case is run a second time: an outcome that the machine may be at fault for.

use super::{Finished, Observer, Run, RunError, Unit};
use crate::experiments;
use crate::model::{Measured, Outcome};

impl Run<'_> {
    /// Runs a case, and once more where its kind wants that: the second outcome counts then, and
    /// both are told.
    pub(super) fn try_case(&self, unit: Unit, observer: &mut dyn Observer) -> Result<Finished, RunError> {
        let Finished::Case(first, hello) = self.finish(unit, observer)? else {
            return Ok(Finished::Interrupted);
        };
        let (kind, test) = (self.plan.plan.experiment, &self.plan.plan.cases[unit.case].test);
        if hello.is_none()
            || !first.iter().any(|one| experiments::of(kind).needs_second_try(test, &one.outcome))
        {
            return Ok(Finished::Case(first, hello));
        }
        let Finished::Case(second, account) = self.finish(unit, observer)? else {
            return Ok(Finished::Interrupted);
        };
        let both = |(first, second): (Measured, Measured)| Measured {
            outcome: after(&first.outcome, second.outcome.clone()),
            ..second
        };
        Ok(Finished::Case(first.into_iter().zip(second).map(both).collect(), hello.or(account)))
    }
}

/// The second outcome, whose detail tells of the first as well.
fn after(first: &Outcome, second: Outcome) -> Outcome {
    let detail = match *first == second {
        true => format!("twice {}", second.with_reason()),
        false => format!("second try {}; first try {}", second.with_reason(), first.with_reason()),
    };
    second.with_detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Seen;

    #[test]
    fn the_second_try_counts_and_both_are_reported() {
        let first = Outcome::TimedOut { detail: "nothing heard for 3 s".to_owned() };
        let passed = Outcome::Seen { what: Seen::Passed, detail: String::new() };
        let both = after(&first, passed);
        assert_eq!(both.label(), "passed");
        assert_eq!(both.detail(), Some("second try passed; first try timed out: nothing heard for 3 s"));
        assert_eq!(after(&first, first.clone()).detail(), Some("twice timed out: nothing heard for 3 s"));
    }
}
