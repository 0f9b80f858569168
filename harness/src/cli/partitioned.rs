//! The command `partitioned`: which transfers between two ranks are measured, one point or a sweep. The check of an MPI's
//! partitioned communication is in `check`.

mod check;
mod sweep;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use ddtbench::experiment::Experiment;
use ddtbench::partitioned::sweep::Figures;
use ddtbench::plan::{self, Plan, Rule};

use super::conditions::{ConditionArgs, set};
use sweep::SweepArgs;

/// What says how transfers are measured, which probes know nothing of.
const OF_TRANSFERS: [&str; 9] =
    ["preset", "rule", "startall", "methods", "seed", "cache", "resume", "plan", "dry_run"];

#[derive(Debug, Args)]
pub struct PartitionedArgs {
    /// Run probes instead: does the MPI, or each of several after --mpi, do partitioned communication rightly?
    #[arg(long, conflicts_with_all = OF_TRANSFERS)]
    check: bool,
    /// Probes, by name [default: all]
    #[arg(long = "probe", value_name = "NAME", value_delimiter = ',', requires = "check")]
    probes: Vec<String>,
    /// What --check prints
    #[arg(long, value_enum, default_value = "table", requires = "check")]
    format: CheckFormat,
    #[command(flatten)]
    sweep: SweepArgs,
    /// The data of a paper's figures, on a grid for this machine
    #[arg(long, value_enum, conflicts_with_all = ["resume", "plan"])]
    preset: Option<Figures>,
    /// The whole grid of the paper, with --preset
    #[arg(long, requires = "preset")]
    full_grid: bool,
    /// When a mechanism has been measured enough, and what its figures rest on [default: interval]
    #[arg(long, value_enum, conflicts_with = "resume")]
    rule: Option<Rule>,
    /// Start the receives of several messages by one MPI_Startall
    #[arg(long, conflicts_with = "resume")]
    startall: bool,
    #[command(flatten)]
    conditions: ConditionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// Tables
    Table,
    /// Rows
    Csv,
}

impl PartitionedArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        if self.check {
            return self.run_check();
        }
        self.conditions.refuse_selection(&self.sweep.given())?;
        self.conditions.execute(|| self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.conditions.begin(Experiment::Partitioned, plan::Limits::default().max_time_s)?;
        plan.startall |= self.startall;
        set(&mut plan.limits.rule, self.rule);
        if plan.limits.rule != Rule::Interval {
            self.conditions.refuse_limits(&format!("--rule {}", plan.limits.rule.name()))?;
        }
        if !self.conditions.has_plan() {
            let sweep = self.sweep.sweep();
            match self.preset {
                None => plan.cases = sweep.cases().map_err(anyhow::Error::msg)?,
                Some(figures) => {
                    plan.cache = self.conditions.cache.unwrap_or(figures.cache());
                    figures.add_to(&mut plan, &sweep, self.full_grid).map_err(anyhow::Error::msg)?
                }
            }
        }
        Ok(plan)
    }
}
