//! The commands that measure: the flags of each kind of experiments, and the plan that they make.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::layout_file::likely_counts;
use ddtbench::experiments::overlap::methods::NONBLOCKING;
use ddtbench::experiments::selection::Selection;
use ddtbench::model::conditions::{Cache, Rule};
use ddtbench::plan::{self, Plan};

use super::conditions::{ConditionArgs, FolderArgs};
use super::headings::{RESULTS, WHAT};
use super::measure::RunOptions;
use super::numbers;
use super::output::log;
use super::selection::{ParamArgs, TestArgs};

/// MPI counts ranks in a C `int`.
pub(super) const MOST_RANKS: usize = i32::MAX as usize;

pub trait Cases: Args {
    /// # Errors
    /// If a value has no name, or a name is given twice.
    fn selection(&self) -> anyhow::Result<Selection>;

    fn ranks(&self) -> Option<usize> {
        None
    }

    /// Sets the kind's defaults for everything that was not given.
    fn set_usual(&self, _plan: &mut Plan, _conditions: &ConditionArgs) {}
}

#[derive(Debug, Args)]
pub struct MeasureArgs<C: Cases> {
    #[command(flatten)]
    pub(super) given: GivenArgs<C>,
    #[command(flatten)]
    folder: FolderArgs,
}

/// Cases and conditions; comparisons and guidelines have them too.
#[derive(Debug, Args)]
pub struct GivenArgs<C: Cases> {
    #[command(flatten)]
    pub(super) cases: C,
    #[command(flatten)]
    pub(super) conditions: ConditionArgs,
    /// Run this plan file; flags replace its values
    #[arg(help_heading = RESULTS, long = "plan", value_name = "FILE")]
    plan_file: Option<PathBuf>,
}

impl<C: Cases> MeasureArgs<C> {
    /// Runs. An error is a refusal; a failed experiment is not an error.
    pub fn execute(self, kind: Kind) -> anyhow::Result<ExitCode> {
        let given = &self.given;
        self.folder.execute(&given.conditions, given.plan_file(), || given.plan(kind))
    }
}

impl<C: Cases> GivenArgs<C> {
    /// The plan of the flags, or of the file and the flags.
    pub(super) fn plan(&self, kind: Kind) -> anyhow::Result<Plan> {
        let (conditions, selection) = (&self.conditions, self.cases.selection()?);
        let mut plan = conditions.begin(kind, plan::max_time_s(selection.preset()), self.plan_file())?;
        plan.ranks = self.cases.ranks().or(plan.ranks);
        if let (false, Some(flag)) = (plan.limits.rule == Rule::Interval, conditions.limit()) {
            anyhow::bail!(
                "{flag} cannot be used with the rule {}, which has its own numbers",
                plan.limits.rule.name()
            );
        }
        if self.plan_file().is_none() {
            plan.check_conditions()?;
            plan.select(&selection)?.iter().for_each(|note| log(note));
            selection.layouts.iter().flat_map(likely_counts).for_each(|warning| log(&warning));
            if !conditions.has("methods") {
                plan.use_usual_methods();
            }
            self.cases.set_usual(&mut plan, conditions);
        }
        Ok(plan)
    }

    pub(super) fn plan_file(&self) -> Option<&Path> {
        self.plan_file.as_deref()
    }

    pub(super) fn options<'a>(&'a self, out: Option<&'a Path>) -> RunOptions<'a> {
        self.conditions.options(out, self.plan_file())
    }

    /// The plan of a file of any kind, or of ping-pongs that the flags select.
    pub(super) fn plan_of_any_kind(&self) -> anyhow::Result<Plan> {
        let kind = self.plan_file().map(Plan::read).transpose()?;
        self.plan(kind.map_or(Kind::PingPong, |plan| plan.experiment))
    }
}

#[derive(Debug, Args)]
pub struct RankArgs {
    /// Number of ranks [default: 2; 4 for exchanges]
    #[arg(help_heading = WHAT, short = 'n', long, value_parser = numbers::count(MOST_RANKS))]
    pub(super) ranks: Option<usize>,
}

#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// Any layout instead of a test: text such as 'vector(408, 5, 2050, double)', a file, or - for standard
    /// input; each one is a case (docs/my-array.md)
    #[arg(help_heading = WHAT, long = "layout", value_name = "FILE|TEXT", conflicts_with = "sets")]
    layouts: Vec<String>,
    /// Values of names in layouts and parameters, such as n=64,bl=[1,2]; several, such as n=16,32, are a case
    /// each. They replace those in a program
    #[arg(help_heading = WHAT, long, value_name = "NAME=VALUE", hide_short_help = true)]
    define: Vec<String>,
}

impl LayoutArgs {
    fn selection(&self, tests: &TestArgs) -> anyhow::Result<Selection> {
        Ok(Selection { define: self.define.clone(), ..tests.selection()?.with_layouts(&self.layouts) })
    }
}

#[derive(Debug, Args)]
pub struct MessageCases {
    #[command(flatten)]
    pub(super) tests: TestArgs,
    #[command(flatten)]
    layouts: LayoutArgs,
    #[command(flatten)]
    ranks: RankArgs,
}

impl Cases for MessageCases {
    fn selection(&self) -> anyhow::Result<Selection> {
        self.layouts.selection(&self.tests)
    }

    fn ranks(&self) -> Option<usize> {
        self.ranks.ranks
    }
}

#[derive(Debug, Args)]
pub struct OverlapCases {
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    ranks: RankArgs,
}

impl Cases for OverlapCases {
    fn selection(&self) -> anyhow::Result<Selection> {
        self.tests.selection()
    }

    fn ranks(&self) -> Option<usize> {
        self.ranks.ranks
    }

    fn set_usual(&self, plan: &mut Plan, conditions: &ConditionArgs) {
        if self.tests.are_quick() && !conditions.has("methods") {
            plan.methods = vec![NONBLOCKING.to_owned()];
        }
    }
}

#[derive(Debug, Args)]
pub struct EngineCases {
    /// Only measure which copies are the fastest on this processor, and print them: for the pack engine's
    /// table of a new family of processors
    #[arg(help_heading = WHAT, long, exclusive = true)]
    pub(super) tune: bool,
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    layouts: LayoutArgs,
}

impl Cases for EngineCases {
    fn selection(&self) -> anyhow::Result<Selection> {
        self.layouts.selection(&self.tests)
    }

    fn set_usual(&self, plan: &mut Plan, conditions: &ConditionArgs) {
        if !conditions.has("caches") && plan.memories.iter().all(|memory| memory.is_host()) {
            plan.caches = vec![Cache::Warm, Cache::Cold];
        }
    }
}

#[derive(Debug, Args)]
pub struct PartitionedCases {
    #[command(flatten)]
    params: ParamArgs,
}

impl Cases for PartitionedCases {
    fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { lists: self.params.lists()?, ..Selection::default() })
    }
}
