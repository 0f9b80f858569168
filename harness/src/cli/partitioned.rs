//! The command `partitioned`: which transfers between two ranks are measured, one point or a sweep. `--check` is the
//! command `probe`, as it was called before.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use common::parameter::Flag;
use ddtbench::experiments::Kind;
use ddtbench::experiments::partitioned::{PARAMETERS, sweep};
use ddtbench::experiments::selection::Selection;
use ddtbench::model::conditions::Rule;
use ddtbench::plan::{self, Plan};

use super::conditions::{ConditionArgs, set};
use super::parameters::{ParameterArgs, Table};
use super::probe;

/// What says how transfers are measured, which probes know nothing of.
const OF_TRANSFERS: [&str; 5] = ["rule", "startall", "methods", "resume", "plan"];

/// The parameters of transfers, which can also come from a plan, or be those of an earlier run.
#[derive(Debug)]
struct Transfers;

impl Table for Transfers {
    fn flags() -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).chain(sweep::PRODUCTS).collect()
    }
}

#[derive(Debug, Args)]
pub struct PartitionedArgs {
    /// Run probes instead: does the MPI, or each of several after --mpi, do partitioned communication rightly?
    #[arg(long, conflicts_with_all = OF_TRANSFERS)]
    check: bool,
    /// Probes, by name [default: all]
    #[arg(long = "probe", value_name = "NAME", value_delimiter = ',', requires = "check")]
    probes: Vec<String>,
    #[command(flatten)]
    parameters: ParameterArgs<Transfers>,
    /// When a mechanism has been measured enough, and what its figures rest on [default: interval]
    #[arg(long, value_enum, conflicts_with = "resume")]
    rule: Option<Rule>,
    /// Start the receives of several messages by one MPI_Startall
    #[arg(long, conflicts_with = "resume")]
    startall: bool,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl PartitionedArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        if self.check {
            if let Some(flag) = self.parameters.given() {
                bail!("{flag} cannot be used with --check, whose probes have messages of their own");
            }
            return self.conditions.execute(false, || probe::plan(&self.conditions, &self.probes));
        }
        if let Some(flag) = self.parameters.given() {
            self.conditions.refuse_selection(&[(&flag, true)])?;
        }
        self.conditions.execute(false, || self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.conditions.begin(Kind::Partitioned, plan::Limits::default().max_time_s)?;
        plan.startall |= self.startall;
        set(&mut plan.limits.rule, self.rule);
        if plan.limits.rule != Rule::Interval {
            self.conditions.refuse_limits(&format!("--rule {}", plan.limits.rule.name()))?;
        }
        if !self.conditions.has_plan() {
            let lists = self.parameters.lists.clone();
            plan.select(&Selection { lists, ..Selection::default() })?;
        }
        Ok(plan)
    }
}
