//! The command `engine`: which tests' packing is compared.

use std::process::ExitCode;

use apps::Preset;
use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::engine::grid;
use ddtbench::experiments::selection::Selection;
use ddtbench::model::conditions::Cache;
use ddtbench::plan::{self, Plan};

use super::conditions::ConditionArgs;
use super::output::say;
use super::selection::{GivenLayouts, TestArgs};

#[derive(Debug, Args)]
pub struct EngineArgs {
    #[command(flatten)]
    chosen: TestArgs,
    #[command(flatten)]
    given: GivenLayouts,
    /// Also the synthetic grid: blocks of 4 B to 64 KiB, at equal distances and at random places
    #[arg(long, conflicts_with_all = ["resume", "plan"])]
    grid: bool,
    /// The grid, and no test
    #[arg(long, conflicts_with_all = ["resume", "plan", "tests", "preset", "sets", "params", "layouts"])]
    grid_only: bool,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl EngineArgs {
    /// Compares; an error is a refusal, a failed case is none. Without a name, beside all MPIs.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.chosen.check(&self.conditions)?;
        self.conditions.refuse_selection(&[("--layout", !self.given.layouts.is_empty())])?;
        self.conditions.execute(true, || self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.conditions.begin(Kind::Engine, plan::max_time_s(Preset::Quick))?;
        if self.conditions.has_plan() {
            return Ok(plan);
        }
        if self.conditions.caches().is_none() {
            plan.caches = vec![Cache::Warm, Cache::Cold];
        }
        plan.check_conditions()?;
        if !self.grid_only {
            let selection = Selection { layouts: self.given.layouts.clone(), ..self.chosen.selection()? };
            plan.select(&selection)?.iter().for_each(|note| say(note));
        }
        if self.grid || self.grid_only {
            plan.cases.extend(grid::cases());
        }
        if !self.conditions.has_methods() {
            plan.use_usual_methods();
        }
        Ok(plan)
    }
}
