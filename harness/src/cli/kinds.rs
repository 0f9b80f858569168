//! The commands that measure: what each kind of experiments takes besides the flags of all, and the plan that comes of it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::overlap::methods::NONBLOCKING;
use ddtbench::experiments::selection::Selection;
use ddtbench::model::conditions::{Cache, Rule};
use ddtbench::plan::{self, Plan};

use super::conditions::{ConditionArgs, FolderArgs};
use super::headings::{RESULTS, WHAT};
use super::measure::BeginOptions;
use super::numbers;
use super::output::log;
use super::resume::ResumeOptions;
use super::selection::{ParamArgs, TestArgs};

/// Ranks at most: MPI counts them in a C `int`.
const MOST_RANKS: usize = i32::MAX as usize;

/// The cases that flags select.
pub trait Cases: Args {
    /// What is selected.
    ///
    /// # Errors
    /// A value without a name, or a name that is given twice.
    fn selection(&self) -> anyhow::Result<Selection>;

    /// Ranks, if given.
    fn ranks(&self) -> Option<usize> {
        None
    }

    /// Sets what is usual for the kind and was not given.
    fn set_usual(&self, _plan: &mut Plan, _conditions: &ConditionArgs) {}
}

/// A command that measures.
#[derive(Debug, Args)]
pub struct MeasureArgs<C: Cases> {
    #[command(flatten)]
    pub(super) given: GivenArgs<C>,
    #[command(flatten)]
    folder: FolderArgs,
}

/// The cases, and how they are measured; comparisons, baselines and guidelines have them too.
#[derive(Debug, Args)]
pub struct GivenArgs<C: Cases> {
    #[command(flatten)]
    pub(super) cases: C,
    #[command(flatten)]
    pub(super) conditions: ConditionArgs,
    /// Run what this file says; a flag next to it replaces the file's value
    #[arg(help_heading = RESULTS, long = "plan", value_name = "FILE")]
    plan_file: Option<PathBuf>,
}

impl<C: Cases> MeasureArgs<C> {
    /// Runs; an error is a refusal, a failed experiment is none.
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
                "{flag} cannot be used with the rule {}, which has numbers of its own",
                plan.limits.rule.name()
            );
        }
        if self.plan_file().is_none() {
            plan.check_conditions()?;
            plan.select(&selection)?.iter().for_each(|note| log(note));
            if !conditions.has("methods") {
                plan.use_usual_methods();
            }
            self.cases.set_usual(&mut plan, conditions);
        }
        Ok(plan)
    }

    /// The file that says what is run.
    pub(super) fn plan_file(&self) -> Option<&Path> {
        self.plan_file.as_deref()
    }

    /// How a run is begun by these flags, in this folder.
    pub(super) fn options<'a>(&'a self, out: Option<&'a Path>) -> BeginOptions<'a> {
        self.conditions.options(out, self.plan_file())
    }

    /// How a run that these flags have begun is resumed.
    pub(super) fn resume_options(&self) -> ResumeOptions {
        let ConditionArgs { trust, verbose, .. } = self.conditions;
        ResumeOptions { is_trusted: trust, verbose, ..ResumeOptions::default() }
    }

    /// The plan of a file of any kind, or of ping-pongs that the flags select.
    pub(super) fn plan_of_any_kind(&self) -> anyhow::Result<Plan> {
        let kind = self.plan_file().map(Plan::read).transpose()?;
        self.plan(kind.map_or(Kind::PingPong, |plan| plan.experiment))
    }
}

/// The number of ranks.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// Number of ranks [default: 2; of an exchange 4]
    #[arg(help_heading = WHAT, short = 'n', long, value_parser = numbers::count(MOST_RANKS))]
    pub(super) ranks: Option<usize>,
}

/// Layouts that are measured as the test `layout`.
#[derive(Debug, Args)]
pub struct LayoutArgs {
    /// Any layout instead of a test: a text such as 'vector(408, 5, 2050, double)', a file with one, or - for standard
    /// input; several make a case each (docs/my-array.md)
    #[arg(help_heading = WHAT, long = "layout", value_name = "FILE|TEXT", conflicts_with = "sets")]
    layouts: Vec<String>,
}

/// Messages of tests and layouts, in ping-pongs and exchanges.
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
        Ok(Selection { layouts: self.layouts.layouts.clone(), ..self.tests.selection()? })
    }

    fn ranks(&self) -> Option<usize> {
        self.ranks.ranks
    }
}

/// Communications next to a computation.
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

/// Packing without communication.
#[derive(Debug, Args)]
pub struct EngineCases {
    #[command(flatten)]
    tests: TestArgs,
    #[command(flatten)]
    layouts: LayoutArgs,
}

impl Cases for EngineCases {
    fn selection(&self) -> anyhow::Result<Selection> {
        Ok(Selection { layouts: self.layouts.layouts.clone(), ..self.tests.selection()? })
    }

    fn set_usual(&self, plan: &mut Plan, conditions: &ConditionArgs) {
        if !conditions.has("caches") {
            plan.caches = vec![Cache::Warm, Cache::Cold];
        }
    }
}

/// Transfers that are finished in partitions.
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
