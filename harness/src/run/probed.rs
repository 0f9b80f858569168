//! What a run asks of its MPI before it measures: the probes that its methods' figures rest on.

use std::collections::BTreeSet;

use super::check::{Check, Progress};
use super::known_probes::KnownProbes;
use super::{End, Observer, Run, RunError, Target, Unit};
use crate::experiments::probes::list::{self, PROBES, Probe};
use crate::folder::Folder;
use crate::model::probe::ProbeRecord;
use crate::model::{Measured, Outcome};

/// Silence after which a probe is ended, in seconds, where a run's own limit is not shorter: a run needs few and quick ones.
const TIMEOUT_S: f64 = 10.0;

impl Run<'_> {
    /// Runs the probes of an MPI that are needed and not in `known`, nor known of an earlier run, and keeps them in the folder.
    ///
    /// # Errors
    /// If the launcher cannot be started, or a record not be kept.
    pub(super) fn probe(
        &self,
        target: &Target,
        folder: &mut Folder,
        mut known: Vec<ProbeRecord>,
        observer: &mut dyn Observer,
    ) -> Result<(End, Vec<ProbeRecord>), RunError> {
        let (cases, mpi) = (0..self.plan.cases.len(), target.label());
        let needed: BTreeSet<&str> = cases
            .flat_map(|i| self.plan.methods_of(i).into_iter().map(move |method| (i, method)))
            .flat_map(|(i, method)| self.plan.cases[i].required_probes(&method))
            .collect();
        let is_needed = |name: &str, known: &[ProbeRecord]| {
            needed.contains(name) && known.iter().all(|record| record.mpi != mpi || record.probe != name)
        };
        if !needed.iter().any(|name| is_needed(name, &known)) {
            return Ok((End::Complete, known));
        }
        let launcher = (self.plan.plan.launcher.as_deref(), self.plan.plan.launcher_args.as_slice());
        let timeout_s = self.plan.plan.limits.timeout_s.min(TIMEOUT_S);
        let earlier = KnownProbes::of(&target.installation, &target.program, launcher, timeout_s);
        let mut remembered =
            earlier.as_ref().map_or_else(Vec::new, |known| remembered(&mpi, known, observer));
        remembered.retain(|record| is_needed(&record.probe, &known));
        for record in remembered {
            folder.append_probe(&record)?;
            known.push(record);
        }
        let probes: Vec<&'static Probe> =
            PROBES.iter().filter(|probe| is_needed(probe.name, &known)).collect();
        let check = Check {
            mpi: &mpi,
            installation: &target.installation,
            program: &target.program,
            probes: &probes,
            timeout_s,
            launcher: self.plan.plan.launcher.as_deref(),
            launcher_args: &self.plan.plan.launcher_args,
        };
        let progress = Progress { before: 0, total: probes.len() };
        let (end, new) =
            check.run(progress, &mut |record| folder.append_probe(record), &mut Quiet(observer))?;
        // What cannot be kept is only tried again.
        if !new.is_empty()
            && let Some(Err(error)) = earlier.map(|known| known.add(&mpi, &new))
        {
            observer.note(&format!("probes are not remembered for the next run: {error}"));
        }
        known.extend(new);
        Ok((end, known))
    }

    /// Marks what rests on a probe that failed.
    pub(super) fn mark(&self, unit: Unit, methods: &mut [Measured], probes: &[ProbeRecord]) {
        let (case, mpi) = (&self.plan.cases[unit.case], self.targets[unit.target].label());
        let probes: Vec<_> = probes.iter().filter(|record| record.mpi == mpi).cloned().collect();
        for measured in methods.iter_mut().filter(|measured| measured.outcome.is_measured()) {
            if let Some(failed) = list::failed(&probes, &case.required_probes(&measured.method)) {
                let (name, outcome) = (&failed.probe, failed.outcome.label());
                let detail = match failed.detail.is_empty() {
                    true => format!("rests on probe {name}, which {outcome}"),
                    false => format!("rests on probe {name}, which {outcome}: {}", failed.detail),
                };
                measured.outcome = Outcome::Invalid { detail };
            }
        }
    }
}

/// What probes saw before, which is said.
fn remembered(mpi: &str, known: &KnownProbes, observer: &mut dyn Observer) -> Vec<ProbeRecord> {
    let Some((records, age)) = known.read(mpi) else { return Vec::new() };
    let minutes = age.as_secs() / 60;
    observer.note(&format!(
        "probes of {mpi} that ended {minutes} minutes ago count (`ddtbench probe` tries them again)"
    ));
    records
}

/// Tells what probes say, but not that each begins and ends: they are no cases of the run.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn begins(&mut self, _: usize, _: usize, _: &str) {}

    fn method_ended(&mut self, _: &str) {}

    fn note(&mut self, text: &str) {
        self.0.note(text);
    }

    fn ended(&mut self, _: &[Measured], _: std::time::Duration) {}

    fn skipped(&mut self, _: &crate::model::Case) {}
}
