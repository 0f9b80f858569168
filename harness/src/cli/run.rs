//! The command `run`: which tests a ping-pong is of.

use std::process::ExitCode;

use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::pingpong::Pairs;
use ddtbench::experiments::selection::Selection;
use ddtbench::plan::{self, Plan};

use super::conditions::{ConditionArgs, set};
use super::output::say;
use super::selection::{GivenLayouts, TestArgs};

/// The original suite's text format, by its name.
const ORIGINAL: &str = "ddtbench";

/// The command itself, and what is typed without one.
#[derive(Debug, Args)]
pub struct RunCommand {
    #[command(flatten)]
    run: RunArgs,
    /// --export-original by its former name; elsewhere `--format` says how something is printed
    #[arg(long = "format", value_parser = [ORIGINAL], hide = true, conflicts_with = "resume")]
    formats: Vec<String>,
}

impl RunCommand {
    /// The names of tests that were given.
    pub fn tests(&self) -> &[String] {
        &self.run.chosen.tests
    }

    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(mut self) -> anyhow::Result<ExitCode> {
        self.run.export_original |= !self.formats.is_empty();
        self.run.execute()
    }
}

/// What a ping-pong is of and how it is measured; comparisons and baselines have it, too.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub(super) chosen: TestArgs,
    #[command(flatten)]
    given: GivenLayouts,
    /// Number of ranks, even [default: 2]
    #[arg(short = 'n', long, conflicts_with = "resume")]
    ranks: Option<usize>,
    /// 0 with 1, 2 with 3, ..., or the first half with the second [default: adjacent]
    #[arg(long, value_enum, conflicts_with = "resume")]
    pairs: Option<Pairs>,
    /// Write the results also in the original suite's text format, into the folder
    #[arg(long, conflicts_with = "resume")]
    export_original: bool,
    #[command(flatten)]
    pub(super) conditions: ConditionArgs,
}

impl RunArgs {
    fn execute(self) -> anyhow::Result<ExitCode> {
        self.chosen.check(&self.conditions)?;
        self.conditions.refuse_selection(&[("--layout", !self.given.layouts.is_empty())])?;
        self.conditions.execute(false, || self.plan())
    }

    /// The plan of the flags, or of a file of whatever kind.
    pub(super) fn plan_of_any_kind(&self) -> anyhow::Result<Plan> {
        match self.conditions.plan_file() {
            Some(file) => {
                self.conditions.begin(Plan::read(file)?.experiment, plan::Limits::default().max_time_s)
            }
            None => self.plan(),
        }
    }

    /// The plan of the flags, or of the file and the flags.
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let selection = Selection { layouts: self.given.layouts.clone(), ..self.chosen.selection()? };
        let mut plan = self.conditions.begin(Kind::PingPong, plan::max_time_s(selection.preset()))?;
        plan.ranks = self.ranks.or(plan.ranks);
        set(&mut plan.pairs, self.pairs);
        plan.formats.extend(self.export_original.then(|| ORIGINAL.to_owned()));
        plan.formats.dedup();
        if !self.conditions.has_plan() {
            plan.check_conditions()?;
            plan.select(&selection)?.iter().for_each(|note| say(note));
            if !self.conditions.has_methods() {
                plan.use_usual_methods();
            }
        }
        Ok(plan)
    }
}
