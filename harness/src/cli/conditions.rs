//! The flags of every command that measures, and the plan that they make.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::model::conditions::{Cache, MemoryKind};
use ddtbench::mpi::cores;
use ddtbench::plan::{LimitArgs, MIN_ROUNDS, MOST_LAUNCHES, Plan};

use super::completions;
use super::headings::{HOW_LONG, RESULTS, WHAT};
use super::measure::{self, RunOptions};
use super::mpi_args::MpiArgs;
use super::numbers;
use super::repeat::{RepeatArgs, Runs};
use super::resume;

/// Methods, MPIs, limits, and other flags of every measurement.
#[derive(Debug, Args)]
pub struct ConditionArgs {
    /// Methods, by name [default: all]
    #[arg(help_heading = WHAT, short, long = "method", value_name = "NAME", value_delimiter = ',', add = completions::methods())]
    methods: Vec<String>,
    /// Measure your own loop as method `own`: a C or Fortran file with pack and unpack (`ddtbench layout TEST --write-loop c` prints
    /// one to start from), compiled with $CC $CFLAGS or $FC $FFLAGS, or a shared object
    #[arg(help_heading = WHAT, long, value_name = "FILE")]
    pack: Option<PathBuf>,
    #[command(flatten)]
    pub(super) mpis: MpiArgs,
    /// Number of launches (new processes) per case, spread over the run. From three on, intervals include the
    /// variation between launches [default: 6]
    #[arg(help_heading = HOW_LONG, long, value_name = "N", value_parser = numbers::count(MOST_LAUNCHES))]
    launches: Option<usize>,
    /// Cache state before each repetition: data in the cache, or evicted from it; both with warm,cold [default: warm]
    #[arg(help_heading = WHAT, long, value_enum, value_delimiter = ',')]
    cache: Vec<Cache>,
    /// Memory of arrays and messages: that of a device, of which managed and pinned are kinds (docs/gpu.md) [default: host]
    #[arg(help_heading = WHAT, long, value_enum, value_delimiter = ',')]
    memory: Vec<MemoryKind>,
    #[command(flatten, next_help_heading = HOW_LONG)]
    limits: LimitArgs,
    /// Set any key of the plan that --dry-run prints, such as seed=7
    ///
    /// Further keys: limits.timeout_s=20 (how long a process may print nothing; 60 s), bind=false (ranks are not bound to cores),
    /// pairs=across (rank 0 with the first of the second half of the ranks), formats=ddtbench (also the original suite's format)
    #[arg(help_heading = RESULTS, long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    set_plan: Vec<(String, String)>,
    /// Run the programs named in a plan file of another user
    #[arg(help_heading = RESULTS, long)]
    pub(super) trust: bool,
    /// Show how rank programs are built and launched
    #[arg(help_heading = RESULTS, short, long)]
    pub(super) verbose: bool,
    /// Print the plan, do not run it
    #[arg(help_heading = RESULTS, long)]
    dry_run: bool,
}

/// The folder of the results, and resuming.
#[derive(Debug, Args)]
#[command(next_help_heading = RESULTS)]
pub struct FolderArgs {
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Resume the run in this folder
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// With --resume: also repeat methods that crashed, timed out, moved wrong bytes or are invalid, and failed checks
    #[arg(long, requires = "resume")]
    retry_failed: bool,
    /// With --resume: continue even if the machine or settings differ
    #[arg(long, requires = "resume")]
    anyway: bool,
    /// Print all methods with all values, not only the answer
    #[arg(long)]
    details: bool,
    #[command(flatten)]
    repeat: RepeatArgs,
}

/// With --resume, refuses flags that change the plan of the folder; with --plan, flags that select cases.
/// Applies to subcommands too.
pub(super) fn with_conflicts(command: clap::Command) -> clap::Command {
    const WITH_RESUME: [&str; 9] =
        ["resume", "retry_failed", "anyway", "details", "verbose", "trust", "color", "repeat", "pause"];
    const SELECT: [&str; 6] = ["tests", "preset", "sets", "params", "layouts", "resume"];
    let ids: Vec<clap::Id> = command.get_arguments().map(|arg| arg.get_id().clone()).collect();
    let only = |is_wanted: &dyn Fn(&str) -> bool| {
        ids.iter().filter(|id| is_wanted(id.as_str())).cloned().collect::<Vec<_>>()
    };
    let not_with_resume = only(&|id| !WITH_RESUME.contains(&id));
    let not_with_plan = only(&|id| SELECT.contains(&id));
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "resume" => arg.conflicts_with_all(&not_with_resume),
        "plan_file" => arg.conflicts_with_all(&not_with_plan),
        _ => arg,
    });
    command.mut_subcommands(with_conflicts)
}

fn key_and_value(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    pair.ok_or_else(|| "must be KEY=VALUE, for example limits.timeout_s=20".to_owned())
}

/// Replaces a list by the given values, without duplicates.
pub(super) fn replace<T: Clone + PartialEq>(list: &mut Vec<T>, given: &[T]) {
    if given.is_empty() {
        return;
    }
    list.clear();
    for value in given {
        if !list.contains(value) {
            list.push(value.clone());
        }
    }
}

impl ConditionArgs {
    /// Whether a key of the plan was given, with its flag or with --set-plan.
    pub fn has(&self, key: &str) -> bool {
        let by_flag = match key {
            "methods" => !self.methods.is_empty(),
            "launches" => self.launches.is_some(),
            "limits.max_time_s" => self.limits.max_time.is_some(),
            "caches" => !self.cache.is_empty(),
            "memories" => !self.memory.is_empty(),
            "pack" => self.pack.is_some(),
            _ => false,
        };
        by_flag || self.set_plan.iter().any(|(known, _)| known == key)
    }

    pub fn limit(&self) -> Option<&'static str> {
        self.limits.given()
    }

    pub fn options<'a>(&self, out: Option<&'a Path>, plan_file: Option<&'a Path>) -> RunOptions<'a> {
        RunOptions {
            out,
            plan_file,
            dry_run: self.dry_run,
            is_trusted: self.trust,
            verbose: self.verbose,
            ..RunOptions::default()
        }
    }

    /// The plan of the file, or an empty one of this kind, with the flags applied.
    ///
    /// # Errors
    /// If the file cannot be read or is of another kind, or if a key or a value is invalid.
    pub fn begin(&self, kind: Kind, max_time_s: f64, file: Option<&Path>) -> anyhow::Result<Plan> {
        let mut plan = Plan::of_experiment(kind);
        (plan.limits.max_time_s, plan.limits.min_rounds) = (max_time_s, MIN_ROUNDS);
        if let Some(file) = file {
            plan = Plan::read(file)?;
            ensure!(
                plan.experiment == kind,
                "{file} is a plan for {} experiments, not for {}; use `ddtbench {} --plan {file}`",
                plan.experiment.name(),
                kind.name(),
                plan.experiment.row().command,
                file = file.display(),
            );
        }
        self.apply(plan)
    }

    /// The plan with the flags applied. Programs that are named by flags are the user's, whoever has written the plan.
    ///
    /// # Errors
    /// If a key or a value is invalid.
    pub fn apply(&self, plan: Plan) -> anyhow::Result<Plan> {
        let typed = self
            .applied(Plan::of_experiment(plan.experiment))
            .map(|typed| typed.programs())
            .unwrap_or_default();
        let plan = self.applied(plan)?;
        Ok(Plan { origin: plan.origin.clone().with_typed(typed), ..plan })
    }

    fn applied(&self, mut plan: Plan) -> anyhow::Result<Plan> {
        plan.limit_to_cores(cores());
        replace(&mut plan.caches, &self.cache);
        replace(&mut plan.memories, &self.memory);
        self.mpis.apply(&mut plan);
        if !self.methods.is_empty() {
            replace(&mut plan.methods, &self.methods);
            // They replace the methods of sweeps too.
            plan.sweeps.iter_mut().for_each(|sweep| sweep.methods.clear());
        }
        if let Some(file) = &self.pack {
            plan.pack = Some(std::path::absolute(file)?);
        }
        plan.launches = self.launches.or(plan.launches);
        self.limits.apply(&mut plan.limits);
        for (key, value) in &self.set_plan {
            plan = plan.with_key(key, value)?;
        }
        Ok(plan)
    }
}

impl FolderArgs {
    /// Resumes a run, or makes a plan and runs it. An error is a refusal; a failed experiment is not an error.
    pub fn execute(
        &self,
        conditions: &ConditionArgs,
        plan_file: Option<&Path>,
        plan: impl FnOnce() -> anyhow::Result<Plan>,
    ) -> anyhow::Result<ExitCode> {
        let (retry_failed, anyway, details) = (self.retry_failed, self.anyway, self.details);
        let options =
            RunOptions { retry_failed, anyway, ..conditions.options(self.out.as_deref(), plan_file) };
        match (&self.resume, self.repeat.repeat) {
            (Some(dir), None) => {
                let (begun, records) = resume::reopen(options, dir, None)?;
                measure::finish(begun, records, options.verbose)?.print(details)
            }
            (None, None) => measure::finish(measure::start(options, plan()?)?, Vec::new(), options.verbose)?
                .print(details),
            (Some(dir), Some(most)) => self.repeat.execute(most, Runs::Resumed(dir), options, details),
            (None, Some(most)) => {
                let runs = Runs::New(options.out, Box::new(plan()?));
                self.repeat.execute(most, runs, options, details)
            }
        }
    }
}
