//! One case: started, watched, and started again without a method that took the process with it.

use std::time::{Duration, Instant};

use apps::{Side, WireOrder};

use super::heard::{Exit, Heard};
use super::{Observer, Run, RunError};
use crate::event::{Event, Hello, MessageFacts};
use crate::mpi::{Launch, Next};
use crate::plan::Plan;
use crate::record::{Case, CaseResult, Measured};

/// Time that a process gets to leave after it said that it was done.
const TO_LEAVE: Duration = Duration::from_secs(10);

/// A case that is to be run.
#[derive(Debug)]
pub struct CaseRun<'a> {
    /// What it belongs to.
    pub run: &'a Run<'a>,
    /// Its number in the plan, from 0.
    pub case: usize,
}

/// What became of a case.
#[derive(Debug)]
pub enum Finished {
    /// Each method has an outcome; beside it the rank program's account of itself, if it gave one.
    Case(CaseResult, Option<Box<Hello>>),
    /// The user wants to stop; the ranks are gone.
    Interrupted,
}

impl CaseRun<'_> {
    /// Runs until every method has an outcome.
    ///
    /// # Errors
    /// If the launcher cannot be started.
    pub fn finish(&self, case: Case, observer: &mut dyn Observer) -> Result<Finished, RunError> {
        let plan = self.run.plan;
        let mut left = plan.methods.clone();
        let mut measured: Vec<Measured> = Vec::new();
        let mut hello = None;
        while !left.is_empty() {
            let mut heard = Heard::default();
            let Some(exit) = self.watch(&left, &mut heard, observer)? else {
                return Ok(Finished::Interrupted);
            };
            let outcomes = heard.outcomes(&left, exit);
            left.retain(|method| outcomes.iter().all(|(ended, _)| ended != method));
            if !left.is_empty() {
                let failed = outcomes.iter().filter(|(_, outcome)| !outcome.is_measured());
                let names: Vec<_> =
                    failed.map(|(name, outcome)| format!("{name}: {}", outcome.label())).collect();
                observer.note(&format!(
                    "{} ({}): running {} again",
                    case.test,
                    names.join(", "),
                    left.join(", ")
                ));
            }
            for (method, outcome) in outcomes {
                let blocks = heard.blocks_of(&method);
                measured.push(Measured { method, outcome, blocks });
            }
            hello = hello.or(heard.hello);
        }
        measured.sort_by_key(|measured| plan.methods.iter().position(|name| *name == measured.method));
        let message = hello.as_ref().map_or_else(|| self.message(), |hello| hello.message);
        Ok(Finished::Case(CaseResult { case, message, methods: measured }, hello))
    }

    /// Starts a process for some methods and listens until it ends; `None` if the user wants to stop.
    fn watch(
        &self,
        methods: &[String],
        heard: &mut Heard,
        observer: &mut dyn Observer,
    ) -> Result<Option<Exit>, RunError> {
        let timeout_s = self.run.plan.limits.timeout_s;
        let mut running = self.run.launch(&arguments(self.run.plan, self.case, methods)).start()?;
        let mut limit = Duration::from_secs_f64(timeout_s);
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
                    return Ok(Some(Exit::Silent(timeout_s)));
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

    /// The message where no rank program told of it.
    fn message(&self) -> MessageFacts {
        let app = self.run.plan.app(self.case);
        let message = app.message(Side::Send, WireOrder::Manual);
        MessageFacts {
            bytes: message.size(),
            segments: message.segments().count() as u64,
            array_bytes: app.arrays().iter().map(|array| array.bytes() as u64).sum(),
        }
    }
}

impl Run<'_> {
    /// The rank program under its launcher.
    pub fn launch<'a>(&'a self, args: &'a [String]) -> Launch<'a> {
        Launch {
            installation: self.installation,
            ranks: self.plan.ranks,
            program: self.program,
            args,
            launcher: self.plan.launcher.as_deref(),
            launcher_args: &self.plan.launcher_args,
            bind: self.plan.bind,
            env: Default::default(),
        }
    }

    /// What one would type to run case `i` with all methods.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn command_line(&self, i: usize) -> Result<String, RunError> {
        let args = arguments(self.plan, i, &self.plan.methods);
        Ok(self.launch(&args).command_line()?.to_string())
    }
}

/// The rank program's arguments.
fn arguments(plan: &Plan, i: usize, methods: &[String]) -> Vec<String> {
    let case = &plan.cases[i];
    let limits = &plan.limits;
    let mut args = vec!["pingpong".to_owned(), case.test.clone()];
    for (name, value) in &case.params {
        args.extend(["-p".to_owned(), format!("{name}={}", value.0)]);
    }
    let mut option = |name: &str, value: String| args.extend([format!("--{name}"), value]);
    option("method", methods.join(","));
    option("ranks", plan.ranks.to_string());
    option("seed", plan.seed.to_string());
    option("cache", plan.cache.name().to_owned());
    option("pairs", plan.pairs.name().to_owned());
    option("warmup", limits.warmup.to_string());
    option("min-runs", limits.min_runs.to_string());
    option("max-runs", limits.max_runs.to_string());
    option("max-time", limits.max_time_s.to_string());
    option("precision", limits.precision_percent.to_string());
    option("format", "json".to_owned());
    args
}

#[cfg(test)]
#[path = "case_tests.rs"]
mod tests;
