//! The command `probe`: which behaviours of an MPI are looked at.

use std::process::ExitCode;

use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::experiments::probes::TIMEOUT_S;
use ddtbench::experiments::probes::list::{self, PROBES};
use ddtbench::plan::{Limits, Plan};

use super::conditions::{ConditionArgs, FolderArgs, PlanArgs};

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Probes, by name; all if there is none
    #[arg(value_name = "PROBE")]
    tests: Vec<String>,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    folder: FolderArgs,
}

impl ProbeArgs {
    /// Looks; an error is a refusal, a probe that fails is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.folder.execute(&self.conditions, self.plan.plan_file.as_deref(), || self.plan())
    }

    /// The plan of the file, of the probes with these names, or of all.
    fn plan(&self) -> anyhow::Result<Plan> {
        if let Some(file) = &self.plan.plan_file {
            return self.conditions.begin(Kind::Probes, Limits::default().max_time_s, Some(file));
        }
        let mut plan = Plan::of(Kind::Probes);
        plan.limits.timeout_s = TIMEOUT_S;
        plan = self.conditions.apply(plan)?;
        let all = || PROBES.iter().map(|probe| probe.name).collect();
        let names: Vec<&str> =
            if self.tests.is_empty() { all() } else { self.tests.iter().map(String::as_str).collect() };
        for name in names {
            list::find(name).map_err(anyhow::Error::msg)?;
            let case = PlannedCase { test: name.to_owned(), ..PlannedCase::default() };
            if !plan.cases.contains(&case) {
                plan.cases.push(case);
            }
        }
        Ok(plan)
    }
}
