//! Runs a case: starts and watches the rank program, and starts it again without a method that crashed or hung.

use super::process_log::ProcessLog;
use super::{Observer, Run, RunError, Unit};
use crate::experiments::Kind;
use crate::experiments::pingpong::methods::PACK;
use crate::model::event::{self, Block, Event, Hello};
use crate::model::{Measured, OWN, Outcome, Phase};
use crate::mpi::{Exit, Launch, MpiError, Sign};
use crate::plan::{LimitArgs, Limits, Plan};
use crate::stats;

/// Processes of each method that is measured in separate processes: two more than an interval needs.
const PROCESSES: usize = 8;

/// The results of each method in the requested order, and the rank program's account of itself, if there is one.
pub(super) type Finished = (Vec<Measured>, Option<Box<Hello>>);

impl Run<'_> {
    /// Runs some methods of a case, by as many processes as needed, until each has an outcome.
    ///
    /// # Errors
    /// If the launcher cannot be started, or the user wants to stop; the ranks are gone.
    fn finish_methods(
        &self,
        unit: Unit,
        methods: &[String],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Finished, RunError> {
        let (name, launch) = (&self.plan.plan.cases[unit.case].test, self.launch(unit, &[]));
        let mut left = methods.to_vec();
        let mut measured: Vec<Measured> = Vec::new();
        let mut hello = None;
        // Round numbers continue in a new process: only blocks of one process may be compared.
        let mut first_round = 0;
        while !left.is_empty() {
            let (mut log, exit, tries) = self.watch(unit, &left, limits, observer)?;
            if log.hello.as_ref().is_some_and(|hello| hello.version != event::VERSION) {
                return Err(launch.of_another_version().into());
            }
            let other = log.hello.as_ref().and_then(|hello| {
                launch.installation.other_library(&hello.library_version, hello.library_path.as_deref())
            });
            if let Some(reason) = other {
                return Err(MpiError::Other(reason).into());
            }
            if tries > 1 && log.hello.is_some() {
                observer.note(&format!("{name}: the launcher started a process only at the second try"));
            }
            if log.torn > 0 {
                observer.note(&format!(
                    "{name}: {} lines of the rank program were mixed with other output and are lost",
                    log.torn
                ));
            }
            let mut outcomes = log.outcomes(&left, exit);
            if log.hello.is_some() {
                self.lack_devices(unit, &mut outcomes, &left);
            }
            let is_stray = |(method, outcome): &(String, Outcome)| {
                method == OWN && matches!(outcome, Outcome::WrongData { .. })
            };
            // The user's loop may have written anywhere: what failed together with it runs again without it.
            if outcomes.iter().any(is_stray) {
                outcomes.retain(|(method, outcome)| method == OWN || outcome.is_measured());
            }
            left.retain(|method| outcomes.iter().all(|(ended, _)| ended != method));
            if !left.is_empty() {
                let failed = outcomes.iter().filter(|(_, outcome)| !outcome.is_measured());
                let failed: Vec<_> =
                    failed.map(|(method, outcome)| format!("{method}: {}", outcome.label())).collect();
                observer.note(&format!("{name} ({}): running {} again", failed.join(", "), left.join(", ")));
            }
            log.blocks.iter_mut().for_each(|block| block.block += first_round);
            for (method, outcome) in outcomes {
                let blocks = log.blocks_of(&method);
                measured.push(Measured { method, outcome, blocks });
            }
            first_round = log.blocks.iter().map(|block| block.block + 1).max().unwrap_or(first_round);
            let bad_ending = log.bad_ending(exit);
            hello = hello.or(log.hello);
            if let Some(hello) = &mut hello {
                hello.bad_ending = hello.bad_ending.take().or(bad_ending);
            }
        }
        measured.sort_by_key(|measured| methods.iter().position(|name| *name == measured.method));
        Ok((measured, hello))
    }

    /// Explains why an MPI fails that gets memory of a device without taking it: by the reference, which is
    /// verified first. Other methods that give it such memory are not tried.
    fn lack_devices(&self, unit: Unit, outcomes: &mut Vec<(String, Outcome)>, left: &[String]) {
        let kind = self.plan.plan.experiment;
        let is_failure = |outcome: &Outcome| match outcome {
            Outcome::MpiError { .. } => true,
            // An error of the driver is not the MPI's.
            Outcome::Crashed { detail } => !detail.contains("CUDA_ERROR"),
            _ => false,
        };
        let fails =
            |(method, outcome): &&(String, Outcome)| method == kind.shows_devices() && is_failure(outcome);
        let Some((_, failure)) =
            outcomes.iter().find(fails).filter(|_| unit.conditions.memory.is_on_device())
        else {
            return;
        };
        let reason = format!("does not take memory of a device: {}", failure.with_reason());
        let gives_it = |method: &&String| {
            kind.method(method)
                .is_ok_and(|info| info.needs == PACK || info.only_in.is_none() && kind != Kind::Engine)
        };
        outcomes.retain(|(method, _)| !gives_it(&method));
        let lack = |method: &String| (method.clone(), Outcome::NotAvailable { reason: reason.clone() });
        outcomes.extend(left.iter().filter(gives_it).map(lack));
    }

    /// Runs a process for some methods to its end. Its log, its end, and the number of tries.
    fn watch(
        &self,
        unit: Unit,
        methods: &[String],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<(ProcessLog, Exit, usize), MpiError> {
        let args = self.arguments(limits, unit, methods);
        let launch = self.launch(unit, &args);
        let take = |log: &mut ProcessLog, line| {
            let events = log.line(line);
            events.iter().for_each(|event| observer.received(event));
            match events.last() {
                None => Sign::Noise,
                Some(_) if events.contains(&Event::Done) => Sign::Done,
                Some(_) => Sign::Alive,
            }
        };
        // A process that hangs before its first event would hang again.
        let timeouts_s = [limits.timeout_s; 2];
        launch.watch_begun(None, timeouts_s, ProcessLog::default, take, |log| log.hello.is_some())
    }

    /// Runs a case until every method has an outcome, without the user's loop if it was `endless` in an earlier launch.
    pub(super) fn finish(
        &self,
        unit: Unit,
        endless: Option<&Measured>,
        observer: &mut dyn Observer,
    ) -> Result<Finished, RunError> {
        let (apart, mut together) = self.methods(unit);
        let endless = endless.filter(|_| together.len() > 1);
        together.retain(|method| endless.is_none_or(|own| own.method != *method));
        let of_launch = limits(&self.plan.plan);
        let (mut measured, mut hello) = self.finish_methods(unit, &together, &of_launch, observer)?;
        // Round numbers continue after those of the other methods, so that no rounds of different processes are paired.
        let rounds = measured.iter().flat_map(|method| &method.blocks).map(|block| block.block + 1).max();
        let mut launched: Vec<Option<Measured>> = vec![None; apart.len()];
        let of_process = Limits { max_time_s: of_launch.max_time_s / PROCESSES as f64, ..of_launch };
        for process in 0..if apart.is_empty() { 0 } else { PROCESSES } {
            // The first method changes too.
            for turn in 0..apart.len() {
                let k = (process + turn) % apart.len();
                if launched[k].as_ref().is_some_and(|before| !before.outcome.is_measured()) {
                    continue;
                }
                let (of_process, account) =
                    self.finish_methods(unit, &apart[k..=k], &of_process, observer)?;
                hello = hello.or(account);
                for one in of_process {
                    launched[k] = Some(joined(launched[k].take(), one, rounds.unwrap_or(0) + process));
                }
            }
        }
        measured.extend(launched.into_iter().flatten().chain(endless.cloned()));
        let methods = self.plan.methods_of(unit.case, unit.conditions.memory);
        measured.sort_by_key(|measured| methods.iter().position(|name| *name == measured.method));
        Ok((measured, hello))
    }

    /// The methods of a case: those that need separate processes, and those that share one.
    fn methods(&self, unit: Unit) -> (Vec<String>, Vec<String>) {
        let kind = self.plan.plan.experiment;
        self.plan
            .methods_of(unit.case, unit.conditions.memory)
            .into_iter()
            .partition(|method| kind.in_own_processes(method))
    }

    /// The rank program under its launcher.
    pub fn launch<'a>(&'a self, unit: Unit, args: &'a [String]) -> Launch<'a> {
        let (plan, settings) = (&self.plan.plan, &self.plan.cases[unit.case].process_settings);
        let target = &self.targets[unit.target];
        Launch {
            installation: &target.installation,
            ranks: plan.ranks(),
            threads: settings.threads,
            program: &target.program,
            args,
            programs: &target.programs,
            bind: plan.bind,
            memory: unit.conditions.memory,
            stand_in: target.stand_in.as_ref().map(|stand_in| stand_in.folder()),
            env: target.settings(settings.configuration).chain(settings.env.clone()).collect(),
        }
    }

    /// The command that runs a case with all methods.
    ///
    /// # Errors
    /// If a launcher cannot be parsed.
    pub fn command_line(&self, unit: Unit) -> Result<String, RunError> {
        let (apart, together) = self.methods(unit);
        let methods = if together.is_empty() { apart } else { together };
        let args = self.arguments(&limits(&self.plan.plan), unit, &methods);
        Ok(self.launch(unit, &args).command_line()?.to_string())
    }

    /// The rank program's arguments.
    fn arguments(&self, limits: &Limits, unit: Unit, methods: &[String]) -> Vec<String> {
        let plan = &self.plan.plan;
        let mut args = vec![plan.experiment.name().to_owned()];
        args.extend_from_slice(&self.plan.cases[unit.case].arguments);
        let mut option = |name: &str, value: String| args.extend([format!("--{name}"), value]);
        option("method", methods.join(","));
        option("ranks", plan.ranks().to_string());
        option("seed", plan.seed.to_string());
        option("cache", unit.conditions.cache.name().to_owned());
        option("memory", unit.conditions.memory.name().to_owned());
        option("min-rounds", limits.min_rounds.to_string());
        option("format", "json".to_owned());
        let options = plan.experiment.row().options;
        if options.contains(&"rule") {
            option("rule", limits.rule.name().to_owned());
        }
        if options.contains(&"pairs") {
            option("pairs", plan.pairs.name().to_owned());
        }
        if let Some(own_loop) = &self.targets[unit.target].own_loop {
            option("pack", own_loop.file.display().to_string());
            option("pack-source", own_loop.source.display().to_string());
        }
        if plan.startall {
            args.push("--startall".to_owned());
        }
        args.extend(LimitArgs::from_limits(limits));
        args
    }
}

/// The limits of one launch. Time and minimum rounds of a method are for all launches together; each launch
/// has as many rounds as an interval of a ratio needs, unless the user has set the time.
fn limits(plan: &Plan) -> Limits {
    let launches = plan.launches() as u32;
    let all = plan.limits.min_rounds;
    let least = if all == 0 { 0 } else { all.min(stats::MIN_ROUNDS as u32) };
    let min_rounds = all.div_ceil(launches).max(least);
    Limits { max_time_s: plan.limits.max_time_s / f64::from(launches), min_rounds, ..plan.limits }
}

/// Joins the results of a method in an earlier process and in this one.
fn joined(before: Option<Measured>, launch: Measured, number: usize) -> Measured {
    let mut blocks = launch.blocks.into_iter();
    let whole = blocks.next().map(|first| {
        blocks.fold(Block { block: number, ..first }, |mut whole, block| {
            for phase in Phase::ALL.into_iter().filter(|&phase| !block.times[phase].is_empty()) {
                whole.times[phase].extend(&block.times[phase]);
            }
            Block { after: block.after, ..whole }
        })
    });
    let before = before.map(|before| before.blocks).unwrap_or_default();
    Measured { blocks: before.into_iter().chain(whole).collect(), ..launch }
}

#[cfg(test)]
#[path = "case_tests.rs"]
mod tests;
