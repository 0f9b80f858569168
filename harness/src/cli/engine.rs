//! The command `engine`: from what was typed to the engine's table.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use ddtbench::engine::run::{EngineRun, Rival};
use ddtbench::engine::{self, EngineRecord, EngineTask, grid};
use ddtbench::event::Outcome;
use ddtbench::folder::EngineFolder;
use ddtbench::mpi::{Installation, Project, interrupt};
use ddtbench::plan::{Cache, Plan, Selection};
use ddtbench::run::{End, RunError};
use ddtbench::{memory, report};

use super::conditions::{FAILED, INTERRUPTED, default_folder, now};
use super::output::{self, say};
use super::progress::Progress;
use super::selection::{PresetName, ValueArgs};

#[derive(Debug, Args)]
pub struct EngineArgs {
    /// Names of tests; all if there is none
    #[arg(value_name = "TEST")]
    tests: Vec<String>,
    /// One parameter set per test; the original's sets; those and larger ones
    #[arg(long, value_enum, default_value = "quick")]
    preset: PresetName,
    #[command(flatten)]
    values: ValueArgs,
    /// Also the synthetic grid: blocks of 4 B to 64 KiB, at equal distances and at random places
    #[arg(long)]
    grid: bool,
    /// The grid, and no test
    #[arg(long, conflicts_with_all = ["tests", "preset", "set", "params"])]
    grid_only: bool,
    /// MPIs, by name or by the path of their mpicc [default: all that `ddtbench mpi list` shows]
    #[arg(long = "mpi", value_name = "NAME", value_delimiter = ',')]
    mpis: Vec<String>,
    /// Leave the buffers in the cache, evict them before each repetition, or one after the other
    #[arg(long, value_enum, default_value = "both")]
    cache: CacheName,
    /// Seed of index lists
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time of a case's rounds, beside one MPI in one cache mode
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5)]
    max_time: f64,
    /// Half width of a ratio's interval at which it is known well enough
    #[arg(long, value_name = "PERCENT", default_value_t = 2.5)]
    precision: f64,
    /// Silence after which a hanging rank program is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    /// The folder for the results [default: results/DATE-TIME-engine]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What is printed at the end
    #[arg(long, value_enum, default_value = "table")]
    format: EngineFormat,
    /// Leave the process where the launcher puts it
    #[arg(long)]
    no_bind: bool,
    /// Show what is built
    #[arg(short, long)]
    verbose: bool,
    /// More options for the launchers
    #[arg(last = true, value_name = "LAUNCHER_ARG")]
    launcher_args: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CacheName {
    Warm,
    Cold,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineFormat {
    /// Tables, and where the engine stands
    Table,
    /// The rows of engine.csv
    Csv,
}

impl EngineArgs {
    /// Compares; an error is a refusal, a failed case is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let (plan, tasks) = self.plan()?;
        // A folder that was asked for is tried before anything is installed or built.
        let folder = self.out.as_deref().map(EngineFolder::create).transpose()?;
        let begun = self.rivals();
        if interrupt::requested() {
            folder.map(EngineFolder::discard);
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let (rivals, folder) = match (begun, folder) {
            (Ok(rivals), Some(folder)) => (rivals, folder),
            (Ok(rivals), None) => (rivals, default_folder("engine", EngineFolder::create)?),
            (Err(error), folder) => {
                folder.map(EngineFolder::discard);
                return Err(error);
            }
        };
        for Rival { installation: mpi, .. } in &rivals {
            say(&format!(
                "MPI: {}, {} ({}: {})",
                mpi.name,
                mpi.title(),
                mpi.source.label(),
                mpi.mpicc.display()
            ));
        }
        say(&format!("results: {}", folder.path().display()));
        self.measure(&EngineRun { plan: &plan, tasks: &tasks, rivals: &rivals }, folder)
    }

    /// The cases, checked, and what is compared in them.
    fn plan(&self) -> anyhow::Result<(Plan, Vec<EngineTask>)> {
        let mut plan = Plan { seed: self.seed, ranks: engine::RANKS, bind: !self.no_bind, ..Plan::default() };
        plan.limits.max_time_s = self.max_time;
        plan.limits.precision_percent = self.precision;
        plan.limits.timeout_s = self.timeout;
        plan.launcher_args.clone_from(&self.launcher_args);
        plan.check_conditions()?;
        if !self.grid_only {
            let ValueArgs { set, params } = self.values.clone();
            let selection = Selection { tests: self.tests.clone(), preset: self.preset.into(), set, params };
            let selected = selection.cases(&plan)?;
            selected.notes.iter().for_each(|note| say(note));
            plan.cases = selected.cases;
        }
        let grid_from = plan.cases.len();
        if self.grid || self.grid_only {
            plan.cases.extend(grid::cases());
        }
        plan.check()?;
        if let Some(available) = memory::available_bytes() {
            for i in 0..plan.cases.len() {
                let case = plan.case(i, "");
                memory::check_engine(&*plan.app(i), available)
                    .map_err(|reason| anyhow!("{} {}: {reason}", case.test, case.params))?;
            }
        }
        let caches: &[Cache] = match self.cache {
            CacheName::Warm => &[Cache::Warm],
            CacheName::Cold => &[Cache::Cold],
            CacheName::Both => &[Cache::Warm, Cache::Cold],
        };
        let tasks = engine::tasks(&plan, grid_from, caches);
        Ok((plan, tasks))
    }

    /// The MPIs with their rank programs. Of those that were not named, one that cannot be built for is left out.
    fn rivals(&self) -> anyhow::Result<Vec<Rival>> {
        let mut project = Project::locate()?;
        project.verbose = self.verbose;
        let mut installations: Vec<Installation> = match self.mpis.is_empty() {
            true => project.installations(&mut say)?,
            false => {
                self.mpis.iter().map(|name| project.pick(Some(name), &mut say)).collect::<Result<_, _>>()?
            }
        };
        if installations.is_empty() {
            installations.push(project.pick(None, &mut say)?);
        }
        let mut rivals: Vec<Rival> = Vec::new();
        for installation in installations {
            if interrupt::requested()
                || rivals.iter().any(|known| known.installation.name == installation.name)
            {
                continue;
            }
            match project.rank_program(&installation, &mut say) {
                Ok(program) => rivals.push(Rival { installation, program }),
                Err(error) if self.mpis.is_empty() => say(&format!("left out: {error}")),
                Err(error) => return Err(error.into()),
            }
        }
        if rivals.is_empty() {
            bail!("the rank program could be built for no MPI");
        }
        Ok(rivals)
    }

    fn measure(&self, run: &EngineRun<'_>, mut folder: EngineFolder) -> anyhow::Result<ExitCode> {
        let mut environment = run.environment(now())?;
        folder.write_environment(&environment)?;
        let mut progress = Progress::new(run.tasks.len() * run.rivals.len(), engine::Contender::ALL.len());
        let result = run.all(&mut folder, &mut environment, &mut progress);
        drop(progress);
        let kept = format!("stopped; what was finished is kept in {}", folder.path().display());
        let (end, records) = match result {
            Ok(result) => result,
            Err(error @ RunError::Mpi(_)) => {
                let error = anyhow::Error::from(error);
                return Err(if folder.discard() { error } else { error.context(kept) });
            }
            Err(error) => return Err(error).context(kept),
        };
        if !records.is_empty() {
            self.print(&records)?;
        }
        if end == End::Interrupted {
            say(&kept);
            return Ok(ExitCode::from(INTERRUPTED));
        }
        say(&format!("results: {}", folder.path().display()));
        Ok(if is_success(&records) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }

    fn print(&self, records: &[EngineRecord]) -> anyhow::Result<()> {
        output::print(&match self.format {
            EngineFormat::Table => report::engine::table(records, output::width()).into_bytes(),
            EngineFormat::Csv => report::engine_csv::records(records, true),
        })
    }
}

/// Whether every contender has times, unless the MPI lacks what it needs.
fn is_success(records: &[EngineRecord]) -> bool {
    let lacks = Outcome::NotAvailable { reason: String::new() };
    !records.is_empty()
        && records.iter().all(|record| record.median_s.is_some() || record.outcome == lacks.label())
}
