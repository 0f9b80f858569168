//! A run: cases x cache modes x MPIs x launches, from a plan to a folder of results. Each unit is a process of the rank program.

mod account;
mod calibrated;
mod case;
pub mod doctor;
mod environment;
mod long_values;
mod machine;
mod order;
mod paths;
pub(crate) mod process_log;
mod required;
mod starts;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use account::{Difference, MpiAccount};
pub use calibrated::calibrated;
pub use environment::{Environment, Part, differences, now, this_build};
pub use long_values::put_long_values;
pub use machine::Machine;
pub use order::{Unit, in_plan_order};
use paths::Paths;
use starts::Starts;

use crate::experiments::summary;
use crate::folder::{self, Done, Folder, FolderError};
use crate::model::conditions::Configuration;
use crate::model::event::{Event, Hello};
use crate::model::load::Load;
use crate::model::{Case, CaseResult, Measured, OWN, Outcome, Record};
use crate::mpi::{MpiError, Pmi, Target, progressing};
use crate::plan::CheckedPlan;

/// Users wait this long without an interim result.
const LONG: Duration = Duration::from_secs(20);

/// Receives the progress of a run.
pub trait Observer {
    /// A case begins: its number from 1, how many there are, and its name.
    fn begins(&mut self, _number: usize, _total: usize, _name: &str) {}
    /// An event of a rank program: a block, the end of a method.
    fn received(&mut self, _event: &Event) {}
    /// A message for the user.
    fn note(&mut self, _text: &str) {}
    /// The case has ended.
    fn ended(&mut self, _methods: &[Measured], _took: Duration) {}
    /// All cases have a launch, after a long time, and others follow: the records in the plan's order.
    fn has_first_launches(&mut self, _records: &[Record]) {}
    /// A case was already finished.
    fn skipped(&mut self, _case: &Case) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// All cases have ended.
    Complete,
    /// The user stopped it.
    Interrupted,
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Results cannot be stored.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The rank program cannot be started.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// Ranks run under other conditions than required.
    #[error("conditions differ: {0}; add --anyway to measure nevertheless; the results record it")]
    Conditions(String),
    /// Sizes that cases need were not found.
    #[error("{0}")]
    Calibration(String),
}

impl Target {
    /// Variables that this MPI needs for asynchronous progress.
    fn settings(&self, configuration: Configuration) -> impl Iterator<Item = (String, String)> {
        let settings = match configuration {
            Configuration::Basic => &[],
            Configuration::Progress | Configuration::Dedicated => progressing(self.installation.family),
        };
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
    }

    /// Adds its name to the case.
    fn name(&self, case: Case) -> Case {
        Case {
            mpi: self.installation.name.clone(),
            mpi_version: self.installation.version.clone(),
            mpi_variant: self.variant.clone(),
            ..case
        }
    }
}

/// A plan and its MPIs.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub plan: &'a CheckedPlan,
    /// The MPIs, each with its rank program.
    pub targets: &'a [Target],
}

impl Run<'_> {
    /// Runs the part of `units` that is not in `done`, stores each case in `folder`, and returns all new records.
    ///
    /// # Errors
    /// If results cannot be stored or the launcher cannot be started. Earlier results are kept.
    pub fn measure(
        &self,
        units: &[Unit],
        folder: &mut Folder,
        done: &Done,
        environment: &mut Environment,
        observer: &mut dyn Observer,
    ) -> Result<(RunEnd, Vec<Record>), RunError> {
        self.report_pmi(observer)?;
        let checks = match self.check(folder, observer) {
            Err(RunError::Mpi(MpiError::Interrupted)) => return Ok((RunEnd::Interrupted, Vec::new())),
            checks => checks?,
        };
        let mut records = Vec::new();
        let has_done = |target: &Target| done.iter().any(|(case, _)| case.mpi_label() == target.label());
        let mut starts: Vec<Starts> =
            self.targets.iter().map(|target| Starts::from_begun(has_done(target))).collect();
        let mut bad_endings = HashSet::new();
        let mut endless: Vec<(Unit, Measured)> = Vec::new();
        let mut paths = Paths::from_cases(done.iter().map(|(case, _)| &**case));
        let done: HashSet<_> = done.iter().map(|(case, launch)| (asked_for(case), *launch)).collect();
        let names = self.plan.names();
        let begun = Instant::now();
        let first = units.partition_point(|unit| unit.launch == 0);
        for (number, unit) in units.iter().enumerate() {
            if number == first && done.is_empty() && begun.elapsed() > LONG {
                let mut known = records.clone();
                self.in_plan_order(&mut known);
                observer.has_first_launches(&known);
            }
            let case = self.case(*unit);
            if done.contains(&(asked_for(&case), unit.launch)) {
                observer.skipped(&case);
                continue;
            }
            observer.begins(number + 1, units.len(), &self.label(*unit, &names[unit.case]));
            let start = Instant::now();
            let of_first = Unit { launch: 0, ..*unit };
            let known = endless.iter().find(|(unit, _)| *unit == of_first).map(|(_, own)| own);
            let (mut methods, hello) = match self.finish(*unit, known, observer) {
                Err(RunError::Mpi(MpiError::Interrupted)) => return Ok((RunEnd::Interrupted, records)),
                finished => finished?,
            };
            let hung = |of: &&Measured| of.method == OWN && matches!(of.outcome, Outcome::TimedOut { .. });
            endless.extend(methods.iter().find(hung).map(|own| (of_first, own.clone())));
            let mut new_notes = Vec::new();
            if let Some(hello) = &hello {
                environment.check_account(unit.target, hello)?;
                new_notes = environment.keep_notes(unit.target, hello.notes.clone());
            }
            new_notes.iter().for_each(|note| observer.note(note));
            self.mark(*unit, &mut methods, &checks);
            if let Some(text) = hello.as_ref().and_then(|hello| hello.bad_ending.as_ref())
                && bad_endings.insert((unit.target, text.clone()))
            {
                observer.note(&format!("{}: {text}", self.targets[unit.target].label()));
            }
            let case = Case { run: environment.run.clone(), ..case };
            let (case, warning) = paths.complete(case, hello.as_deref());
            warning.into_iter().for_each(|warning| observer.note(&warning));
            let result = self.result(*unit, case, methods, hello.as_deref());
            let starts = &mut starts[unit.target];
            if hello.is_none() {
                let times = starts.has_failed((*unit, result));
                let methods = starts.held.last().map_or(&[][..], |(_, result)| &result.methods);
                // The error reports the failure.
                if let Some(times) = times {
                    return Err(self.never_began(*unit, methods, times));
                }
                observer.ended(methods, start.elapsed());
                continue;
            }
            observer.ended(&result.methods, start.elapsed());
            for (unit, result) in starts.has_begun((*unit, result)) {
                let kept = self.keep(folder, unit.case, &result, environment.part_number())?;
                paths.contradictions(&kept).iter().for_each(|warning| observer.note(warning));
                records.extend(kept);
            }
            let is_new = hello.is_some_and(|hello| environment.keep_account(unit.target, *hello));
            if is_new || !new_notes.is_empty() {
                environment.keep(folder)?;
            }
        }
        for (unit, result) in starts.into_iter().flat_map(|starts| starts.held) {
            records.extend(self.keep(folder, unit.case, &result, environment.part_number())?);
        }
        Ok((RunEnd::Complete, records))
    }

    /// An error if the launcher starts no process, with possible causes.
    fn never_began(&self, unit: Unit, methods: &[Measured], times: &'static str) -> RunError {
        let output = methods.iter().find_map(|method| method.outcome.detail()).unwrap_or("no output");
        self.launch(unit, &[])
            .never_began(&self.targets[unit.target].label(), times, output.to_owned())
            .into()
    }

    /// Reports the PMI that was chosen for `srun`, or the variables that were removed for other launchers, once for each MPI.
    fn report_pmi(&self, observer: &mut dyn Observer) -> Result<(), RunError> {
        let mut reported = HashSet::new();
        for target in 0..self.targets.len() {
            let conditions = self.plan.plan.conditions().next().unwrap_or_default();
            let unit = Unit { case: 0, conditions, target, launch: 0 };
            let launch = self.launch(unit, &[]);
            let pmi =
                launch.pmi()?.filter(|pmi| !matches!(pmi, Pmi::Given { .. })).map(|pmi| pmi.to_string());
            for text in pmi.into_iter().chain(launch.outer_launcher()?) {
                if reported.insert(text.clone()) {
                    observer.note(&text);
                }
            }
        }
        Ok(())
    }

    /// A case as results name it, as far as known before it is measured.
    pub fn case(&self, unit: Unit) -> Case {
        self.targets[unit.target].name(self.plan.case(unit.case, unit.conditions))
    }

    fn result(&self, unit: Unit, case: Case, methods: Vec<Measured>, hello: Option<&Hello>) -> CaseResult {
        CaseResult {
            case: Arc::new(case),
            launch: unit.launch,
            rule: self.plan.plan.limits.rule,
            message: hello.map_or_else(|| *self.plan.cases[unit.case].message, |hello| hello.message),
            load: hello.and_then(Load::from_hello),
            thread_level: hello.map(|hello| hello.thread_level.clone()),
            methods,
        }
    }

    /// Stores a case that was measured in a part of the run, and returns its records.
    fn keep(
        &self,
        folder: &mut Folder,
        case: usize,
        result: &CaseResult,
        part: usize,
    ) -> Result<Vec<Record>, RunError> {
        let kind = self.plan.plan.experiment;
        let mut records = summary::records(kind, result);
        records.iter_mut().for_each(|record| record.part = Some(part));
        folder.append(folder::FinishedCase {
            result,
            records: &records,
            states: &common::summary::block_states(kind, &result.methods, result.rule),
            numbers: &self.plan.cases[case].numbers(),
            apart: kind.row().timed_apart,
        })?;
        Ok(records)
    }

    /// A unit's name for the user: that of its case, and if there are several, the cache mode, the MPI and the launch.
    fn label(&self, unit: Unit, name: &str) -> String {
        let plan = &self.plan.plan;
        let mut label = name.to_owned();
        let mut add = |text: String| label += &format!(", {text}");
        if self.targets.len() > 1 {
            add(self.targets[unit.target].label());
        }
        if plan.conditions().count() > 1 {
            add(unit.conditions.text());
        }
        if plan.launches() > 1 {
            add(format!("launch {} of {}", unit.launch + 1, plan.launches()));
        }
        label
    }
}

/// The requested part of a case, without values that are known only after measuring.
pub fn asked_for(case: &Case) -> Case {
    Case {
        run: String::new(),
        hosts: 0,
        transport: String::new(),
        device: String::new(),
        set: String::new(),
        ..case.clone()
    }
}
