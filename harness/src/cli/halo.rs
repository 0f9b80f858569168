//! The command `halo`: which exchanges between many ranks are measured.

use std::process::ExitCode;

use clap::Args;
use common::parameter::Flag;
use ddtbench::experiments::Kind;
use ddtbench::experiments::halo::PARAMETERS;
use ddtbench::experiments::selection::Selection;
use ddtbench::plan::{self, Plan};

use super::conditions::ConditionArgs;
use super::headings::WHAT;
use super::output::say;
use super::parameters::{ParameterArgs, Table};
use super::selection::TestArgs;

/// The parameters of exchanges besides their own.
#[derive(Debug)]
struct Exchanges;

impl Table for Exchanges {
    fn flags() -> Vec<&'static Flag> {
        PARAMETERS.iter().map(|own| &own.flag).collect()
    }
}

#[derive(Debug, Args)]
pub struct HaloArgs {
    #[command(flatten)]
    chosen: TestArgs,
    /// Any layout instead of an exchange, to both neighbours on a ring, or with -p neighbours=next, faces2d, faces3d to others: a
    /// text as 'vector(408, 5, 2050, double)', a file that has one or is what `ddtbench layout --json` prints, or - for standard
    /// input; several make a case each (docs/my-array.md)
    #[arg(long = "layout", value_name = "FILE|TEXT", conflicts_with = "sets", help_heading = WHAT)]
    layouts: Vec<String>,
    /// Number of ranks, any that the exchange's grid allows [default: 4]
    #[arg(short = 'n', long, conflicts_with = "resume")]
    ranks: Option<usize>,
    #[command(flatten)]
    parameters: ParameterArgs<Exchanges>,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl HaloArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.chosen.check(&self.conditions)?;
        self.conditions.refuse_selection(&[("--layout", !self.layouts.is_empty())])?;
        if let Some(flag) = self.parameters.given() {
            self.conditions.refuse_selection(&[(&flag, true)])?;
        }
        self.conditions.execute(false, || self.plan())
    }

    fn plan(&self) -> anyhow::Result<Plan> {
        let selection = self.selection()?;
        let mut plan = self.conditions.begin(Kind::Halo, plan::max_time_s(selection.preset()))?;
        plan.ranks = self.ranks.or(plan.ranks);
        if self.conditions.has_plan() {
            return Ok(plan);
        }
        plan.check_conditions()?;
        plan.select(&selection)?.iter().for_each(|note| say(note));
        if !self.conditions.has_methods() {
            plan.use_usual_methods();
        }
        Ok(plan)
    }

    fn selection(&self) -> anyhow::Result<Selection> {
        let Selection { lists, .. } = self.chosen.values.selection()?;
        let lists = lists.and(self.parameters.lists.clone()).map_err(anyhow::Error::msg)?;
        Ok(Selection { lists, layouts: self.layouts.clone(), ..self.chosen.selection()? })
    }
}
