//! The command `overlap`: which communications are measured beside a computation.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use common::parameter::Flag;
use ddtbench::experiments::Kind;
use ddtbench::experiments::overlap::PARAMETERS;
use ddtbench::experiments::overlap::methods::NONBLOCKING;
use ddtbench::experiments::selection::Selection;
use ddtbench::plan::{self, Plan};

use super::conditions::ConditionArgs;
use super::headings::WHAT;
use super::output::say;
use super::parameters::{ParameterArgs, Table};
use super::selection::ValueArgs;

/// The parameters of overlap besides those of micro-apps.
#[derive(Debug)]
struct Overlaps;

impl Table for Overlaps {
    fn flags() -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).collect()
    }
}

/// How large a grid is measured.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum GridName {
    /// 500 us and 2 ms each way, four operations by their nonblocking form: less than two minutes
    Quick,
    /// From 500 us to 16 ms each way, all operations
    Default,
}

impl GridName {
    const fn preset(self) -> apps::Preset {
        match self {
            Self::Quick => apps::Preset::Quick,
            Self::Default => apps::Preset::Default,
        }
    }
}

#[derive(Debug, Args)]
pub struct OverlapArgs {
    /// Operations (ibcast, ialltoall, isend, ...), tests, or exchanges (halo:nas_mg); those of the preset if there is none
    #[arg(help_heading = WHAT, value_name = "TEST", conflicts_with_all = ["resume", "plan"])]
    tests: Vec<String>,
    /// The times of both parts where none are given [default: quick]
    #[arg(help_heading = WHAT, long, value_enum, conflicts_with_all = ["resume", "plan"])]
    preset: Option<GridName>,
    #[command(flatten)]
    values: ValueArgs,
    /// Number of ranks [default: 2]
    #[arg(short = 'n', long, conflicts_with = "resume")]
    ranks: Option<usize>,
    #[command(flatten)]
    parameters: ParameterArgs<Overlaps>,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl OverlapArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.values.check(&self.conditions)?;
        if let Some(flag) = self.parameters.given() {
            self.conditions.refuse_selection(&[(&flag, true)])?;
        }
        self.conditions.execute(false, || self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let preset = self.preset.unwrap_or(GridName::Quick).preset();
        let mut plan = self.conditions.begin(Kind::Overlap, plan::max_time_s(preset))?;
        plan.ranks = self.ranks.or(plan.ranks);
        if self.conditions.has_plan() {
            return Ok(plan);
        }
        let is_quick = self.preset.is_none_or(|preset| matches!(preset, GridName::Quick));
        if self.tests.is_empty() && is_quick && !self.conditions.has_methods() {
            plan.methods = vec![NONBLOCKING.to_owned()];
        }
        plan.check_conditions()?;
        let selection = self.values.selection()?;
        let lists = selection.lists.and(self.parameters.lists.clone()).map_err(anyhow::Error::msg)?;
        let (tests, preset) = (self.tests.clone(), Some(preset));
        let selection = Selection { tests, preset, lists, ..selection };
        plan.select(&selection)?.iter().for_each(|note| say(note));
        // Those of the preset are no layouts.
        if !self.tests.is_empty() && !self.conditions.has_methods() {
            plan.use_usual_methods();
        }
        Ok(plan)
    }
}
