//! The checks that a run requires of its MPIs before it measures: the results of its methods depend on them.

use std::collections::BTreeSet;

use super::{Observer, Run, RunError, Unit};
use crate::conformance::known::{self, KnownResults};
use crate::conformance::{self, CheckResult, Conditions};
use crate::folder::{CHECKS, Folder};
use crate::model::check::PARTITIONED;
use crate::model::{Measured, Outcome};
use crate::mpi::Target;

impl Run<'_> {
    /// Runs the checks that the plan's methods need, unless an earlier run has their results, and saves all results in the
    /// folder. `None` if the user wants to stop.
    ///
    /// # Errors
    /// If the launcher cannot start anything, or results cannot be saved.
    pub(super) fn check(
        &self,
        folder: &Folder,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<CheckResult>>, RunError> {
        let needed = self.required_checks();
        let mut results = Vec::new();
        for target in if needed.is_empty() { &[] } else { self.targets } {
            let Some(of_mpi) = self.check_mpi(target, &needed, observer)? else { return Ok(None) };
            results.extend(of_mpi);
        }
        if !results.is_empty() {
            folder.write_table(CHECKS, &results)?;
        }
        Ok(Some(results))
    }

    fn check_mpi(
        &self,
        target: &Target,
        needed: &BTreeSet<&str>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Vec<CheckResult>>, RunError> {
        let timeout_s = self.plan.plan.limits.timeout_s.min(conformance::TIMEOUT_S);
        let conditions = Conditions { target, timeout_s };
        let mut known = KnownResults::of(&conditions);
        let (mut results, mut is_noted) = (Vec::new(), false);
        for check in PARTITIONED.iter().filter(|check| needed.contains(check.name)) {
            if let Some(answer) = known.as_ref().and_then(|known| known.answer(check)) {
                if !std::mem::replace(&mut is_noted, true) {
                    observer.note(&format!(
                        "using results of checks of {} that are less than a day old (`ddtbench conform partitioned` repeats them)",
                        target.label(),
                    ));
                }
                results.push(CheckResult::new(target, check, answer.clone()));
                continue;
            }
            let Some(result) = conditions.run(check)? else { return Ok(None) };
            if result.is_failure() {
                observer.note(&format!("    check {} {}", check.name, result.answer.text()));
            }
            if let Some(Err(error)) = known.as_mut().map(|known| known.add(&result)) {
                observer.note(&format!("results of checks cannot be saved for the next run: {error}"));
            }
            results.push(result);
        }
        Ok(Some(results))
    }

    /// Deletes earlier results of checks of the run's MPIs, so that they are repeated.
    pub fn forget_checks(&self, observer: &mut dyn Observer) {
        for target in self.targets {
            if let Err(error) = known::forget(&target.program) {
                let mpi = target.label();
                observer.note(&format!("earlier results of checks of {mpi} cannot be removed: {error}"));
            }
        }
    }

    /// The checks on which the plan's methods depend.
    fn required_checks(&self) -> BTreeSet<&'static str> {
        let cases = 0..self.plan.cases.len();
        let methods = cases.flat_map(|i| self.plan.methods_of(i).into_iter().map(move |method| (i, method)));
        methods.flat_map(|(i, method)| self.plan.cases[i].checks(&method).to_vec()).collect()
    }

    /// Marks methods that depend on a failed check as invalid.
    pub(super) fn mark(&self, unit: Unit, methods: &mut [Measured], results: &[CheckResult]) {
        let (case, mpi) = (&self.plan.cases[unit.case], self.targets[unit.target].label());
        let has_failed = |check: &&str| {
            let is_it = |result: &&CheckResult| result.check == **check && result.mpi_label() == mpi;
            results.iter().find(is_it).filter(|result| result.is_failure())
        };
        for measured in methods.iter_mut().filter(|measured| measured.outcome.is_measured()) {
            if let Some(failed) = case.checks(&measured.method).iter().find_map(has_failed) {
                let detail = format!("depends on check {}, which {}", failed.check, failed.answer.text());
                measured.outcome = Outcome::Invalid { detail };
            }
        }
    }
}
