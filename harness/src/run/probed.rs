//! What a run asks of its MPI before it measures: the probes that its methods' figures rest on.

use std::collections::BTreeSet;
use std::time::Duration;

use super::known_probes::{self, KnownProbes};
use super::{Finished, Observer, Run, RunEnd, RunError, Target, Unit};
use crate::experiments::planned::PlannedCase;
use crate::experiments::probes::list::{self, PROBES, is_failure};
use crate::experiments::{Kind, summary};
use crate::folder::Folder;
use crate::model::event::{Event, Hello};
use crate::model::{Case, Measured, Outcome, Record};
use crate::plan::{CheckedPlan, Limits, Plan};

/// Silence after which a probe is ended, in seconds, where a run's own limit is not shorter: a run needs few and quick ones.
const TIMEOUT_S: f64 = 10.0;

impl Run<'_> {
    /// Runs the probes of an MPI that are needed and not in `known`, nor known of an earlier run, and keeps them in the folder of
    /// the run `id`. Gives them with those that were known.
    ///
    /// # Errors
    /// If the launcher cannot start anything, or a record not be kept.
    pub(super) fn probe(
        &self,
        target: &Target,
        id: &str,
        folder: &mut Folder,
        mut known: Vec<Record>,
        observer: &mut dyn Observer,
    ) -> Result<(RunEnd, Vec<Record>), RunError> {
        let mpi = target.label();
        let is_known = |name: &str, known: &[Record]| {
            known.iter().any(|record| record.case.mpi_label() == mpi && record.case.test == name)
        };
        let needed = self.needed_probes();
        if needed.iter().all(|name| is_known(name, &known)) {
            return Ok((RunEnd::Complete, known));
        }
        let launcher = (self.plan.plan.launcher.as_deref(), self.plan.plan.launcher_args.as_slice());
        let timeout_s = self.plan.plan.limits.timeout_s.min(TIMEOUT_S);
        let earlier = KnownProbes::of(&target.installation, &target.program, launcher, timeout_s);
        let mut remembered =
            earlier.as_ref().map_or_else(Vec::new, |earlier| remembered(target, earlier, observer));
        remembered
            .retain(|record| needed.contains(&*record.case.test) && !is_known(&record.case.test, &known));
        folder.append_probes(&remembered)?;
        known.extend(remembered);
        let names = needed.into_iter().filter(|name| !is_known(name, &known));
        let plan = self.plan_of_probes(names, timeout_s);
        let (end, new) = match &plan {
            Some(plan) => {
                let run = Run { plan, targets: std::slice::from_ref(target) };
                run.all_probes(id, folder, observer)?
            }
            None => (RunEnd::Complete, Vec::new()),
        };
        // What cannot be kept is only tried again.
        if !new.is_empty()
            && let Some(Err(error)) = earlier.map(|earlier| earlier.add(target, &new))
        {
            observer.note(&format!("probes are not remembered for the next run: {error}"));
        }
        known.extend(new);
        Ok((end, known))
    }

    /// Forgets what earlier probes saw of the run's MPIs.
    pub fn forget_probes(&self, observer: &mut dyn Observer) {
        for target in self.targets {
            if let Err(error) = known_probes::forget(&target.program) {
                observer.note(&format!(
                    "what earlier probes saw of {} goes on counting: {error}",
                    target.label()
                ));
            }
        }
    }

    /// The probes that the figures of the plan's methods rest on.
    fn needed_probes(&self) -> BTreeSet<&'static str> {
        let cases = 0..self.plan.cases.len();
        let methods = cases.flat_map(|i| self.plan.methods_of(i).into_iter().map(move |method| (i, method)));
        methods.flat_map(|(i, method)| self.plan.cases[i].required_probes(&method)).collect()
    }

    /// The plan of these probes, under this run's launcher; `None` without any.
    fn plan_of_probes<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        timeout_s: f64,
    ) -> Option<CheckedPlan> {
        let names: BTreeSet<&str> = names.collect();
        let of_list = PROBES.iter().filter(|probe| names.contains(probe.name));
        let case = |name: &str| PlannedCase { test: name.to_owned(), ..PlannedCase::default() };
        let plan = Plan {
            launcher: self.plan.plan.launcher.clone(),
            launcher_args: self.plan.plan.launcher_args.clone(),
            limits: Limits { timeout_s, ..Limits::default() },
            cases: of_list.map(|probe| case(probe.name)).collect(),
            ..Plan::of(Kind::Probes)
        };
        (!plan.cases.is_empty()).then(|| plan.check().expect("probes of the list can be planned"))
    }

    /// Runs all of a plan of probes, and keeps each before the next begins.
    fn all_probes(
        &self,
        id: &str,
        folder: &mut Folder,
        observer: &mut dyn Observer,
    ) -> Result<(RunEnd, Vec<Record>), RunError> {
        let mut all = Vec::new();
        for unit in self.units() {
            let (methods, hello) = match self.try_case(unit, &mut Quiet(observer))? {
                Finished::Interrupted => return Ok((RunEnd::Interrupted, all)),
                Finished::Case(methods, None) => {
                    return Err(self.never_began(unit, &methods, "twice"));
                }
                Finished::Case(methods, Some(hello)) => (methods, hello),
            };
            let hosts = Hello::hosts(&hello);
            let case = Case { run: id.to_owned(), hosts, ..self.case(unit) };
            let new = summary::records(Kind::Probes, &self.result(unit, case, methods, Some(&hello)));
            folder.append_probes(&new)?;
            for record in new.iter().filter(|record| is_failure(record)) {
                observer.note(&format!("    probe {} {}", record.case.test, record.outcome.with_reason()));
            }
            all.extend(new);
        }
        Ok((RunEnd::Complete, all))
    }

    /// Marks what rests on a probe that failed.
    pub(super) fn mark(&self, unit: Unit, methods: &mut [Measured], probes: &[Record]) {
        let (case, mpi) = (&self.plan.cases[unit.case], self.targets[unit.target].label());
        let of_mpi = probes.iter().filter(|record| record.case.mpi_label() == mpi);
        for measured in methods.iter_mut().filter(|measured| measured.outcome.is_measured()) {
            if let Some(failed) = list::failed(of_mpi.clone(), &case.required_probes(&measured.method)) {
                let (name, ended) = (&failed.case.test, failed.outcome.with_reason());
                measured.outcome =
                    Outcome::Invalid { detail: format!("rests on probe {name}, which {ended}") };
            }
        }
    }
}

/// What probes saw before, which is said.
fn remembered(target: &Target, known: &KnownProbes, observer: &mut dyn Observer) -> Vec<Record> {
    let Some((records, age)) = known.read(target) else { return Vec::new() };
    let (mpi, minutes) = (target.label(), age.as_secs() / 60);
    observer.note(&format!(
        "probes of {mpi} that ended {minutes} minutes ago count (`ddtbench probe` tries them again)"
    ));
    records
}

/// Tells what probes say, but not that each begins and ends: they are no cases of the run.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn begins(&mut self, _: usize, _: usize, _: &str) {}

    fn received(&mut self, _: &Event) {}

    fn note(&mut self, text: &str) {
        self.0.note(text);
    }

    fn ended(&mut self, _: &[Measured], _: Duration) {}

    fn skipped(&mut self, _: &Case) {}
}
