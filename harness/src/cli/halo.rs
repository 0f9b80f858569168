//! The command `halo`: which exchanges between many ranks are measured.

use std::process::ExitCode;

use anyhow::anyhow;
use apps::Preset;
use clap::Args;
use ddtbench::experiments::halo::{self, PARAMETERS, selection::HaloSelection};
use ddtbench::experiments::layout_file;
use ddtbench::experiments::parameter::{Flag, Sweep, words};
use ddtbench::experiments::partitioned::presets::SLEEPERS;
use ddtbench::plan::{self, Plan};

use super::conditions::ConditionArgs;
use super::headings::WHAT;
use super::output::say;
use super::parameters::{ParameterArgs, Table};
use super::selection::TestArgs;

/// What CMB compares: bulk-synchronous, each share by itself, bins, and one-sided; and what they are compared with here.
const FIGURES_METHODS: [&str; 7] =
    ["reference", "manual", "put_ddt", "fine", "aggregated", "aggregated:bins=2", "aggregated:bins=4"];

/// The arrivals of threads in each of CMB's figures.
const ARRIVALS: [(u32, &str); 3] =
    [(5, "laggard:0.04"), (6, "normal:2us"), (7, "kde:sparse kde:molecular kde:matrix")];

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
    /// The data of CMB's figures 5 to 7 (Marts et al., CCGrid 2024): both stencils from 256 B to 4 MiB with its times of
    /// threads and its methods; 8 threads that sleep, unless --threads says another number
    #[arg(long, conflicts_with_all = ["resume", "plan", "tests", "layouts", "arrival", "compute_us", "emulate"])]
    figures: bool,
    /// One of these figures, by its number
    #[arg(long, value_name = "NUMBER", requires = "figures", value_parser = clap::value_parser!(u32).range(5..=7))]
    only: Option<u32>,
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
        let preset = self.chosen.preset(if self.figures { Preset::Default } else { Preset::Quick });
        let mut plan = self.conditions.begin(halo::KIND, plan::max_time_s(preset))?;
        if self.figures && !self.conditions.has_methods() {
            plan.methods = FIGURES_METHODS.map(str::to_owned).to_vec();
        }
        plan.ranks = self.ranks.or(plan.ranks);
        if self.conditions.has_plan() {
            return Ok(plan);
        }
        plan.check_conditions()?;
        let (mut tests, mut conditions) = (self.chosen.tests.clone(), self.parameters.sweep.clone());
        if self.figures {
            tests = words("stencil7 stencil27");
            // All three figures have the computing time of 2^22 ns, which their threads sleep.
            let arrivals: Vec<_> = ARRIVALS
                .iter()
                .filter(|(figure, _)| self.only.is_none_or(|only| only == *figure))
                .map(|(_, arrivals)| words(arrivals))
                .collect();
            let of_figures = Sweep::of([
                ("threads", vec![SLEEPERS.to_string()]),
                ("arrival", arrivals.concat()),
                ("compute_us", words("4194.304")),
                ("emulate", words("sleep")),
            ]);
            conditions = of_figures.with(&conditions);
        }
        let (sets, params) = self.chosen.values.given();
        let layouts = self.layouts.iter().map(|typed| layout_file::case(typed)).collect::<Result<_, _>>();
        let layouts = layouts.map_err(|reason| anyhow!(reason))?;
        let selection = HaloSelection { tests, preset, sets, params, layouts, conditions };
        let selected = selection.cases(plan.setup()).map_err(|reason| anyhow!(reason))?;
        selected.notes.iter().for_each(|note| say(note));
        plan.cases = selected.cases;
        if !self.figures && !self.conditions.has_methods() {
            plan.use_usual_methods();
        }
        Ok(plan)
    }
}
