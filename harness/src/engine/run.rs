//! A comparison: from tasks to a folder of figures, one process of the rank program per task and MPI.
//!
//! All MPIs have their turn with a task before the next begins, so that what is compared across MPIs, the ratios to the
//! engine beside each, was measured within seconds.

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use super::{EngineRecord, EngineResult, EngineTask};
use crate::event::{Hello, MessageFacts};
use crate::folder::EngineFolder;
use crate::mpi::{Installation, Launch};
use crate::plan::Plan;
use crate::run::{CaseRun, End, Finished, Machine, MpiFacts, Observer, RunError};

/// An MPI that is compared with.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The MPI.
    pub installation: Installation,
    /// The rank program that was built for it.
    pub program: PathBuf,
}

/// What a comparison works with.
#[derive(Debug)]
pub struct EngineRun<'a> {
    /// The cases, the seed and the limits.
    pub plan: &'a Plan,
    /// What is compared.
    pub tasks: &'a [EngineTask],
    /// Beside which MPIs.
    pub rivals: &'a [Rival],
}

/// What is in `environment.json` of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct EngineEnvironment {
    /// When it began, with the zone's offset.
    pub date: String,
    /// Version of this program.
    pub ddtbench_version: String,
    /// What was typed.
    pub command_line: Vec<String>,
    /// The machine.
    pub machine: Machine,
    /// The MPIs.
    pub mpis: Vec<RivalFacts>,
}

/// What is known of an MPI that is compared with.
#[derive(Clone, Debug, Serialize)]
pub struct RivalFacts {
    /// The MPI.
    pub mpi: MpiFacts,
    /// What one would type to run the first case.
    pub first_case: String,
    /// The rank program's account of itself, of the first case that ended.
    pub rank_program: Option<Hello>,
}

impl EngineRun<'_> {
    /// Runs all tasks, keeps each in `folder`, and gives all records.
    ///
    /// # Errors
    /// If results cannot be kept or the launcher cannot be started; what was finished before is kept.
    pub fn all(
        &self,
        folder: &mut EngineFolder,
        environment: &mut EngineEnvironment,
        observer: &mut dyn Observer,
    ) -> Result<(End, Vec<EngineRecord>), RunError> {
        let mut records = Vec::new();
        let total = self.tasks.len() * self.rivals.len();
        let turns = self.tasks.iter().flat_map(|task| self.rivals.iter().enumerate().map(move |r| (task, r)));
        for (number, (task, (r, rival))) in turns.enumerate() {
            let case = task.named(self.plan, &rival.installation.name);
            observer.begins(number + 1, total, &case.label());
            let start = Instant::now();
            let run = CaseRun {
                launch: self.launch(rival),
                arguments: &|methods| arguments(self.plan, task, methods),
                methods: &task.methods(),
                timeout_s: self.plan.limits.timeout_s,
            };
            let (methods, hello) = match run.finish(&case.label(), observer)? {
                Finished::Case(methods, hello) => (methods, hello),
                Finished::Interrupted => return Ok((End::Interrupted, records)),
            };
            let message = hello.as_ref().map_or_else(
                || MessageFacts::of(&*self.plan.app(task.case), task.order.wire_order()),
                |hello| hello.message,
            );
            let result = EngineResult { case, message, methods };
            records.extend(folder.append(&result)?);
            let facts = &mut environment.mpis[r];
            if let Some(hello) = hello.filter(|_| facts.rank_program.is_none()) {
                facts.rank_program = Some(Hello { message: MessageFacts::default(), ..*hello });
                folder.write_environment(environment)?;
            }
            observer.ended(&result.methods, start.elapsed());
        }
        Ok((End::Complete, records))
    }

    /// The account of the machine and the MPIs.
    ///
    /// # Errors
    /// A launcher that cannot be understood.
    pub fn environment(&self, date: String) -> Result<EngineEnvironment, RunError> {
        let facts = |rival: &Rival| {
            let task = &self.tasks[0];
            let args = arguments(self.plan, task, &task.methods());
            let command = Launch { args: &args, ..self.launch(rival) }.command_line()?;
            let mpi = MpiFacts::from(&rival.installation);
            Ok(RivalFacts { mpi, first_case: command.to_string(), rank_program: None })
        };
        Ok(EngineEnvironment {
            date,
            ddtbench_version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: crate::run::typed(),
            machine: Machine::this(),
            mpis: self.rivals.iter().map(facts).collect::<Result<_, RunError>>()?,
        })
    }

    /// The rank program under its launcher, as the one process that compares.
    fn launch<'a>(&'a self, rival: &'a Rival) -> Launch<'a> {
        Launch {
            threads: 1,
            installation: &rival.installation,
            ranks: 1,
            program: &rival.program,
            args: &[],
            launcher: self.plan.launcher.as_deref(),
            launcher_args: &self.plan.launcher_args,
            bind: self.plan.bind,
            env: Default::default(),
        }
    }
}

/// The rank program's arguments.
fn arguments(plan: &Plan, task: &EngineTask, methods: &[String]) -> Vec<String> {
    let case = &plan.cases[task.case];
    let mut args = vec!["engine".to_owned()];
    args.extend(case.arguments());
    let mut option = |name: &str, value: String| args.extend([format!("--{name}"), value]);
    option("method", methods.join(","));
    option("order", task.order.name().to_owned());
    option("seed", plan.seed.to_string());
    option("cache", task.cache.name().to_owned());
    option("max-time", plan.limits.max_time_s.to_string());
    option("precision", plan.limits.precision_percent.to_string());
    option("format", "json".to_owned());
    args
}
