//! What a run asks of its MPI before it measures: the probes that its methods' figures rest on.

use std::collections::BTreeSet;

use super::known_probes::KnownProbes;
use super::{End, Observer, Run, RunError};
use crate::event::Outcome;
use crate::folder::Folder;
use crate::partitioned::check::{Check, Progress};
use crate::partitioned::probe::{self, PROBES, Probe, ProbeRecord};
use crate::record::Measured;

/// Silence after which a probe is ended, in seconds, where a run's own limit is not shorter: a run needs few and quick ones.
const TIMEOUT_S: f64 = 10.0;

impl Run<'_> {
    /// Runs the probes that are needed and not in `known`, nor known of an earlier run, and keeps them in the folder.
    ///
    /// # Errors
    /// If the launcher cannot be started, or a record not be kept.
    pub(super) fn probe(
        &self,
        folder: &mut Folder,
        mut known: Vec<ProbeRecord>,
        observer: &mut dyn Observer,
    ) -> Result<(End, Vec<ProbeRecord>), RunError> {
        let cases = 0..self.plan.cases.len();
        let needed: BTreeSet<&str> = cases
            .flat_map(|i| self.plan.methods_of(i).into_iter().map(move |method| (i, method)))
            .flat_map(|(i, method)| self.plan.probes(i, &method))
            .collect();
        let is_needed = |name: &str, known: &[ProbeRecord]| {
            needed.contains(name) && known.iter().all(|record| record.probe != name)
        };
        if needed.is_empty() {
            return Ok((End::Complete, known));
        }
        let launcher = (self.plan.launcher.as_deref(), self.plan.launcher_args.as_slice());
        let timeout_s = self.plan.limits.timeout_s.min(TIMEOUT_S);
        let earlier = KnownProbes::of(self.installation, self.program, launcher, timeout_s);
        let mut remembered = earlier.as_ref().map_or_else(Vec::new, |known| self.remembered(known, observer));
        remembered.retain(|record| is_needed(&record.probe, &known));
        for record in remembered {
            folder.append_probe(&record)?;
            known.push(record);
        }
        let probes: Vec<&'static Probe> =
            PROBES.iter().filter(|probe| is_needed(probe.name, &known)).collect();
        let check = Check {
            installation: self.installation,
            program: self.program,
            probes: &probes,
            timeout_s,
            launcher: self.plan.launcher.as_deref(),
            launcher_args: &self.plan.launcher_args,
        };
        let progress = Progress { before: 0, total: probes.len() };
        let (end, new) =
            check.run(progress, &mut |record| folder.append_probe(record), &mut Quiet(observer))?;
        // What cannot be kept is only tried again.
        if !new.is_empty()
            && let Some(Err(error)) = earlier.map(|known| known.add(&self.installation.name, &new))
        {
            observer.note(&format!("probes are not remembered for the next run: {error}"));
        }
        known.extend(new);
        Ok((end, known))
    }

    /// What probes saw before, which is said.
    fn remembered(&self, known: &KnownProbes, observer: &mut dyn Observer) -> Vec<ProbeRecord> {
        let mpi = &self.installation.name;
        let Some((records, age)) = known.read(mpi) else { return Vec::new() };
        let minutes = age.as_secs() / 60;
        observer.note(&format!(
            "probes of {mpi} that ended {minutes} minutes ago count (`ddtbench partitioned --check` tries them again)"
        ));
        records
    }

    /// Marks what rests on a probe that failed.
    pub(super) fn mark(&self, i: usize, methods: &mut [Measured], probes: &[ProbeRecord]) {
        for measured in methods.iter_mut().filter(|measured| measured.outcome.is_measured()) {
            if let Some(failed) = probe::failed(probes, &self.plan.probes(i, &measured.method)) {
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

/// Tells what probes say, but not that each begins and ends: they are no cases of the run.
struct Quiet<'a>(&'a mut dyn Observer);

impl Observer for Quiet<'_> {
    fn begins(&mut self, _: usize, _: usize, _: &str) {}

    fn method_ended(&mut self, _: &str) {}

    fn note(&mut self, text: &str) {
        self.0.note(text);
    }

    fn ended(&mut self, _: &[Measured], _: std::time::Duration) {}

    fn skipped(&mut self, _: &crate::record::Case) {}
}
