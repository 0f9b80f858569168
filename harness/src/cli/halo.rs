//! The command `halo`: which exchanges between many ranks are measured.

use std::process::ExitCode;

use anyhow::anyhow;
use apps::Preset;
use clap::Args;
use ddtbench::experiments::halo::{self, selection::HaloSelection};
use ddtbench::experiments::partitioned::presets::SLEEPERS;
use ddtbench::plan::{self, Plan};

use super::conditions::ConditionArgs;
use super::output::say;
use super::selection::{TestArgs, ValueArgs};

/// What CMB compares: bulk-synchronous, each share by itself, bins, and one-sided; and what they are compared with here.
const FIGURES_METHODS: [&str; 7] =
    ["reference", "manual", "put_ddt", "fine", "aggregated", "aggregated:bins=2", "aggregated:bins=4"];

#[derive(Debug, Args)]
pub struct HaloArgs {
    #[command(flatten)]
    chosen: TestArgs,
    /// Number of ranks, any that the exchange's grid allows [default: 4]
    #[arg(short = 'n', long, conflicts_with = "resume")]
    ranks: Option<usize>,
    /// Threads of each rank; several values make a sweep [default: 1]
    #[arg(short, long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["resume", "plan"])]
    threads: Vec<String>,
    /// The first and the last rank of a dimension are no neighbours
    #[arg(long, conflicts_with_all = ["resume", "plan"])]
    no_periodic: bool,
    /// Let MPI_Cart_create place ranks anew
    #[arg(long, conflicts_with_all = ["resume", "plan"])]
    reorder: bool,
    /// When threads are done computing: none, laggard:4%, uniform:10%, normal:2us, kde:NAME
    #[arg(long, value_name = "ARRIVAL", value_delimiter = ',', conflicts_with_all = ["resume", "plan"])]
    arrival: Vec<String>,
    /// Time that each thread computes, in microseconds [default: 0]
    #[arg(long, value_name = "US", value_delimiter = ',', conflicts_with_all = ["resume", "plan"])]
    compute_us: Vec<String>,
    /// How computing time passes: spin, sleep, work or sweep
    #[arg(long, value_name = "HOW", value_delimiter = ',', conflicts_with_all = ["resume", "plan"])]
    emulate: Vec<String>,
    /// How ranks begin together: barrier or clock
    #[arg(long, value_name = "HOW", value_delimiter = ',', conflicts_with_all = ["resume", "plan"])]
    start: Vec<String>,
    /// The data of CMB's figures 5 to 7 (Marts et al., CCGrid 2024): both stencils from 256 B to 4 MiB with its times of
    /// threads and its methods; 8 threads that sleep, unless --threads says another number
    #[arg(long, conflicts_with_all = ["resume", "plan", "tests", "params", "arrival", "compute_us", "emulate"])]
    figures: bool,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl HaloArgs {
    /// Runs; an error is a refusal, a failed experiment is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.chosen.check(&self.conditions)?;
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
        let words = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // All three figures have the computing time of 2^22 ns, which their threads sleep.
        let [tests, threads, arrival, compute_us, emulate] = match self.figures {
            true => [
                words("stencil7 stencil27"),
                if self.threads.is_empty() { vec![SLEEPERS.to_string()] } else { self.threads.clone() },
                words("laggard:0.04 normal:2us kde:sparse kde:molecular kde:matrix"),
                words("4194.304"),
                words("sleep"),
            ],
            false => [&self.chosen.tests, &self.threads, &self.arrival, &self.compute_us, &self.emulate]
                .map(Clone::clone),
        };
        let switch = |on: bool, text: &str| if on { vec![text.to_owned()] } else { Vec::new() };
        let ValueArgs { set, params } = self.chosen.values.clone();
        let selection = HaloSelection {
            tests,
            preset,
            set,
            params,
            conditions: vec![
                ("threads", threads),
                ("periodic", switch(self.no_periodic, "no")),
                ("reorder", switch(self.reorder, "yes")),
                ("arrival", arrival),
                ("compute_us", compute_us),
                ("emulate", emulate),
                ("start", self.start.clone()),
            ],
        };
        let selected = selection.cases(plan.setup()).map_err(|reason| anyhow!(reason))?;
        selected.notes.iter().for_each(|note| say(note));
        plan.cases = selected.cases;
        Ok(plan)
    }
}
