//! One case: started, watched, and started again without a method that took the process with it.

use std::time::{Duration, Instant};

use super::heard::{Exit, Heard};
use super::{Observer, Run, RunError};
use crate::event::{Block, Event, Hello};
use crate::experiment::Experiment;
use crate::mpi::{Launch, Next};
use crate::partitioned::mechanisms::is_by_launches;
use crate::plan::{Limits, Plan};
use crate::record::{Measured, Phase};

/// Time that a process gets to leave after it said that it was done.
const TO_LEAVE: Duration = Duration::from_secs(10);

/// Launches of each method that is measured in processes of its own: as many as an interval needs, and two more.
const LAUNCHES: usize = 8;

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
        while !left.is_empty() {
            let mut heard = Heard::default();
            let Some(exit) = self.watch(&left, &mut heard, observer)? else {
                return Ok(Finished::Interrupted);
            };
            let outcomes = heard.outcomes(&left, exit);
            left.retain(|method| outcomes.iter().all(|(ended, _)| ended != method));
            if !left.is_empty() {
                let failed = outcomes.iter().filter(|(_, outcome)| !outcome.is_measured());
                let failed: Vec<_> =
                    failed.map(|(method, outcome)| format!("{method}: {}", outcome.label())).collect();
                observer.note(&format!("{name} ({}): running {} again", failed.join(", "), left.join(", ")));
            }
            heard.blocks.iter_mut().for_each(|block| block.block += first_round);
            for (method, outcome) in outcomes {
                let blocks = heard.blocks_of(&method);
                measured.push(Measured { method, outcome, blocks });
            }
            first_round = heard.blocks.iter().map(|block| block.block + 1).max().unwrap_or(first_round);
            hello = hello.or(heard.hello);
        }
        measured.sort_by_key(|measured| self.methods.iter().position(|name| *name == measured.method));
        Ok(Finished::Case(measured, hello))
    }

    /// Starts a process for some methods and listens until it ends; `None` if the user wants to stop.
    pub(crate) fn watch(
        &self,
        methods: &[String],
        heard: &mut Heard,
        observer: &mut dyn Observer,
    ) -> Result<Option<Exit>, RunError> {
        let args = (self.arguments)(methods);
        let mut running = Launch { args: &args, ..self.launch.clone() }.start()?;
        let mut limit = Duration::from_secs_f64(self.timeout_s);
        let mut deadline = Instant::now() + limit;
        loop {
            match running.next(deadline.saturating_duration_since(Instant::now())) {
                Next::Line(line) => {
                    // Only events are signs of life: a library may complain for ever.
                    if let Some(event) = heard.line(line) {
                        if let Event::Ended { method, .. } = &event {
                            observer.method_ended(method);
                        }
                        if event == Event::Done {
                            limit = limit.min(TO_LEAVE);
                        }
                        deadline = Instant::now() + limit;
                    }
                }
                Next::Silence if Instant::now() < deadline => {}
                Next::Silence => {
                    running.kill();
                    return Ok(Some(Exit::Silent(self.timeout_s)));
                }
                Next::Interrupted => {
                    running.kill();
                    return Ok(None);
                }
                // A signal of the terminal's may have reached the ranks before us.
                Next::Exited(_) if crate::mpi::interrupt::requested() => return Ok(None),
                Next::Exited(exit) => return Ok(Some(Exit::Ended(exit))),
            }
        }
    }
}

impl Run<'_> {
    /// Runs case `i` of the plan until every method has an outcome.
    pub(super) fn finish(&self, i: usize, observer: &mut dyn Observer) -> Result<Finished, RunError> {
        let methods = self.plan.methods_of(i);
        let (apart, together): (Vec<String>, Vec<String>) =
            methods.into_iter().partition(|method| is_by_launches(method));
        let run = |methods: &[String], limits: &Limits, observer: &mut dyn Observer| {
            CaseRun {
                launch: self.launch(i, &[]),
                arguments: &|methods| arguments(self.plan, limits, i, methods),
                methods,
                timeout_s: limits.timeout_s,
            }
            .finish(&self.plan.cases[i].test, observer)
        };
        let limits = &self.plan.limits;
        let Finished::Case(mut measured, mut hello) = run(&together, limits, &mut *observer)? else {
            return Ok(Finished::Interrupted);
        };
        // Rounds go on where those of the others end: no launch is taken for one of theirs.
        let rounds = measured.iter().flat_map(|method| &method.blocks).map(|block| block.block + 1).max();
        let mut launched: Vec<Option<Measured>> = vec![None; apart.len()];
        let limits = Limits { max_time_s: limits.max_time_s / LAUNCHES as f64, ..*limits };
        for launch in 0..if apart.is_empty() { 0 } else { LAUNCHES } {
            // Who goes first takes turns as well.
            for turn in 0..apart.len() {
                let k = (launch + turn) % apart.len();
                if launched[k].as_ref().is_some_and(|before| !before.outcome.is_measured()) {
                    continue;
                }
                let Finished::Case(of_launch, account) = run(&apart[k..=k], &limits, &mut *observer)? else {
                    return Ok(Finished::Interrupted);
                };
                hello = hello.or(account);
                for one in of_launch {
                    launched[k] = Some(joined(launched[k].take(), one, rounds.unwrap_or(0) + launch));
                }
            }
        }
        measured.extend(launched.into_iter().flatten());
        let methods = self.plan.methods_of(i);
        measured.sort_by_key(|measured| methods.iter().position(|name| *name == measured.method));
        Ok(Finished::Case(measured, hello))
    }

    /// The rank program under its launcher, for case `i`.
    pub fn launch<'a>(&'a self, i: usize, args: &'a [String]) -> Launch<'a> {
        Launch {
            installation: self.installation,
            ranks: self.plan.ranks,
            threads: self.plan.threads(i),
            program: self.program,
            args,
            launcher: self.plan.launcher.as_deref(),
            launcher_args: &self.plan.launcher_args,
            bind: self.plan.bind,
            env: self.plan.env(i),
        }
    }

    /// What one would type to run case `i` with all methods.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn command_line(&self, i: usize) -> Result<String, RunError> {
        let (apart, together): (Vec<String>, Vec<String>) =
            self.plan.methods_of(i).into_iter().partition(|method| is_by_launches(method));
        let methods = if together.is_empty() { apart } else { together };
        let args = arguments(self.plan, &self.plan.limits, i, &methods);
        Ok(self.launch(i, &args).command_line()?.to_string())
    }
}

/// What was measured of a method in launches before, and in this one, whose blocks together are one.
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

/// The rank program's arguments.
fn arguments(plan: &Plan, limits: &Limits, i: usize, methods: &[String]) -> Vec<String> {
    let mut args = vec![plan.experiment.command().to_owned()];
    args.extend(plan.case_arguments(i));
    let mut option = |name: &str, value: String| args.extend([format!("--{name}"), value]);
    option("method", methods.join(","));
    option("ranks", plan.ranks.to_string());
    option("seed", plan.seed.to_string());
    option("cache", plan.cache.name().to_owned());
    option("warmup", limits.warmup.to_string());
    option("min-runs", limits.min_runs.to_string());
    option("max-runs", limits.max_runs.to_string());
    option("max-time", limits.max_time_s.to_string());
    option("min-rounds", limits.min_rounds.to_string());
    option("precision", limits.precision_percent.to_string());
    if !limits.rule.is_default() {
        option("rule", limits.rule.name().to_owned());
    }
    option("format", "json".to_owned());
    match plan.experiment {
        Experiment::PingPong => option("pairs", plan.pairs.name().to_owned()),
        Experiment::Partitioned if plan.startall => args.push("--startall".to_owned()),
        Experiment::Partitioned | Experiment::Halo => {}
    }
    args
}

#[cfg(test)]
#[path = "case_tests.rs"]
mod tests;
