//! The checks that a run requires of its MPIs before it measures: the results of its methods depend on them.

use std::collections::BTreeSet;

use super::{Observer, Run, RunError, Unit};
use crate::conformance::{self, CheckResult, Conditions};
use crate::folder::{CHECKS, Folder};
use crate::model::check::PARTITIONED;
use crate::model::{Measured, Outcome};
use crate::mpi::Target;

impl Run<'_> {
    /// Runs the checks that the plan's methods need, and saves their results in the folder.
    ///
    /// # Errors
    /// If the launcher cannot start anything, results cannot be saved, or the user wants to stop.
    pub(super) fn check(
        &self,
        folder: &Folder,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CheckResult>, RunError> {
        let needed = self.required_checks();
        let mut results = Vec::new();
        for target in if needed.is_empty() { &[] } else { self.targets } {
            results.extend(self.check_mpi(target, &needed, observer)?);
        }
        if !results.is_empty() {
            folder.write_table(CHECKS, &results)?;
        }
        Ok(results)
    }

    fn check_mpi(
        &self,
        target: &Target,
        needed: &BTreeSet<&str>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<CheckResult>, RunError> {
        let timeout_s = self.plan.plan.limits.timeout_s.min(conformance::TIMEOUT_S);
        let conditions = Conditions::on_host(target, timeout_s);
        let mut results = Vec::new();
        for check in PARTITIONED.iter().filter(|check| needed.contains(check.name)) {
            let result = conditions.run(check)?;
            if result.is_failure() {
                observer.note(&format!("    check {} {}", check.name, result.answer.text()));
            }
            results.push(result);
        }
        Ok(results)
    }

    /// The checks on which the plan's methods depend.
    fn required_checks(&self) -> BTreeSet<&'static str> {
        let cases = (0..self.plan.cases.len())
            .flat_map(|i| self.plan.plan.memories.iter().map(move |memory| (i, *memory)));
        let methods = cases.flat_map(|(i, memory)| {
            self.plan.methods_of(i, memory).into_iter().map(move |method| (i, method))
        });
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
