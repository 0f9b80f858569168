//! One case: started, watched, and started again without a method that took the process with it.

use std::thread;
use std::time::Duration;

use super::process_log::ProcessLog;
use super::{Observer, Run, RunError, Unit};
use crate::model::event::{self, Block, Event, Hello};
use crate::model::{Measured, Phase};
use crate::mpi::{Exit, Launch, MpiError, Sign};
use crate::plan::{LimitArgs, Limits, Plan};
use crate::stats;

/// Processes of each method that is measured in some of its own: as many as an interval needs, and two more.
const PROCESSES: usize = 8;

/// Pause before a launcher that failed is tried once more: what it lacked, as a port, may be there again.
const TO_RECOVER: Duration = Duration::from_secs(1);

/// Some methods of one case that are to be measured, by as many processes as that takes.
pub struct CaseRun<'a> {
    /// The rank program under its launcher, without arguments.
    pub launch: Launch<'a>,
    /// The rank program's arguments for some of the methods.
    pub arguments: &'a dyn Fn(&[String]) -> Vec<String>,
    /// The methods.
    pub methods: &'a [String],
    /// Silence of the rank program after which it is ended, in seconds.
    pub timeout_s: f64,
}

/// What became of a case.
#[derive(Debug)]
pub enum Finished {
    /// What each method came to, in the order in which they were asked for; beside it the rank program's account of
    /// itself, if it gave one.
    Case(Vec<Measured>, Option<Box<Hello>>),
    /// The user wants to stop; the ranks are gone.
    Interrupted,
}

impl CaseRun<'_> {
    /// Runs until every method has an outcome; `name` is the case's for the user.
    ///
    /// # Errors
    /// If the launcher cannot be started.
    pub fn finish(&self, name: &str, observer: &mut dyn Observer) -> Result<Finished, RunError> {
        let mut left = self.methods.to_vec();
        let mut measured: Vec<Measured> = Vec::new();
        let mut hello = None;
        // Rounds of a new process go on where those of the last ended: only what ran side by side is compared.
        let mut first_round = 0;
        let mut has_tried_again = false;
        while !left.is_empty() {
            let mut log = ProcessLog::default();
            let Some(exit) = self.watch(&left, &mut log, observer)? else {
                return Ok(Finished::Interrupted);
            };
            if log.hello.as_ref().is_some_and(|hello| hello.version != event::VERSION) {
                return Err(self.launch.of_another_version().into());
            }
            if log.torn > 0 {
                observer.note(&format!(
                    "{name}: {} lines of the rank program had other output within them, and what they reported is lost",
                    log.torn
                ));
            }
            // Launchers fail now and then. Only where nothing was waited for: a hang would hang again.
            if log.hello.is_none() && matches!(exit, Exit::Ended(_)) && !has_tried_again {
                has_tried_again = true;
                observer.note("no process has begun; trying once more");
                thread::sleep(TO_RECOVER);
                continue;
            }
            let outcomes = log.outcomes(&left, exit);
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
        measured.sort_by_key(|measured| self.methods.iter().position(|name| *name == measured.method));
        Ok(Finished::Case(measured, hello))
    }

    /// Starts a process for some methods and reads its events until it ends; `None` if the user wants to stop.
    fn watch(
        &self,
        methods: &[String],
        log: &mut ProcessLog,
        observer: &mut dyn Observer,
    ) -> Result<Option<Exit>, MpiError> {
        let args = (self.arguments)(methods);
        Launch { args: &args, ..self.launch.clone() }.watch(self.timeout_s, |line| {
            let events = log.line(line);
            events.iter().for_each(|event| observer.received(event));
            match events.last() {
                None => Sign::Noise,
                Some(_) if events.contains(&Event::Done) => Sign::Done,
                Some(_) => Sign::Alive,
            }
        })
    }
}

impl Run<'_> {
    /// Runs a case until every method has an outcome.
    pub(super) fn finish(&self, unit: Unit, observer: &mut dyn Observer) -> Result<Finished, RunError> {
        let (apart, together) = self.methods(unit);
        let of_launch = limits(&self.plan.plan);
        let run = |methods: &[String], limits: &Limits, observer: &mut dyn Observer| {
            CaseRun {
                launch: self.launch(unit, &[]),
                arguments: &|methods| self.arguments(limits, unit, methods),
                methods,
                timeout_s: limits.timeout_s,
            }
            .finish(&self.plan.plan.cases[unit.case].test, observer)
        };
        let Finished::Case(mut measured, mut hello) = run(&together, &of_launch, &mut *observer)? else {
            return Ok(Finished::Interrupted);
        };
        // Rounds go on where those of the others end: no process is taken for one of theirs.
        let rounds = measured.iter().flat_map(|method| &method.blocks).map(|block| block.block + 1).max();
        let mut launched: Vec<Option<Measured>> = vec![None; apart.len()];
        let of_process = Limits { max_time_s: of_launch.max_time_s / PROCESSES as f64, ..of_launch };
        for process in 0..if apart.is_empty() { 0 } else { PROCESSES } {
            // Who goes first takes turns as well.
            for turn in 0..apart.len() {
                let k = (process + turn) % apart.len();
                if launched[k].as_ref().is_some_and(|before| !before.outcome.is_measured()) {
                    continue;
                }
                let Finished::Case(of_process, account) = run(&apart[k..=k], &of_process, &mut *observer)?
                else {
                    return Ok(Finished::Interrupted);
                };
                hello = hello.or(account);
                for one in of_process {
                    launched[k] = Some(joined(launched[k].take(), one, rounds.unwrap_or(0) + process));
                }
            }
        }
        measured.extend(launched.into_iter().flatten());
        let methods = self.plan.methods_of(unit.case);
        measured.sort_by_key(|measured| methods.iter().position(|name| *name == measured.method));
        Ok(Finished::Case(measured, hello))
    }

    /// The methods of a case: those that need processes of their own, and those that share one.
    fn methods(&self, unit: Unit) -> (Vec<String>, Vec<String>) {
        let kind = self.plan.plan.experiment;
        self.plan.methods_of(unit.case).into_iter().partition(|method| kind.in_own_processes(method))
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
            launcher: plan.launcher.as_deref(),
            launcher_args: &plan.launcher_args,
            bind: plan.bind,
            env: target.settings(settings.configuration).chain(settings.env.clone()).collect(),
        }
    }

    /// What one would type to run a case with all methods.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
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
        option("cache", unit.cache.name().to_owned());
        option("min-rounds", limits.min_rounds.to_string());
        option("format", "json".to_owned());
        let options = plan.experiment.row().options;
        if options.contains(&"rule") {
            option("rule", limits.rule.name().to_owned());
        }
        if options.contains(&"pairs") {
            option("pairs", plan.pairs.name().to_owned());
        }
        if plan.startall {
            args.push("--startall".to_owned());
        }
        args.extend(LimitArgs::of(limits));
        args
    }
}

/// The limits of each launch. The time of a method and its least rounds are those of all launches together; each has as many
/// rounds as a ratio needs that has an interval, unless somebody has set the time.
fn limits(plan: &Plan) -> Limits {
    let launches = plan.launches() as u32;
    let all = plan.limits.min_rounds;
    let least = if all == 0 { 0 } else { all.min(stats::MIN_ROUNDS as u32) };
    let min_rounds = all.div_ceil(launches).max(least);
    Limits { max_time_s: plan.limits.max_time_s / f64::from(launches), min_rounds, ..plan.limits }
}

/// What was measured of a method in processes before, and in this one, whose blocks together are one.
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
