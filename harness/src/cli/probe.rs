//! The command `probe`: which behaviours of an MPI are looked at.

use std::process::ExitCode;

use clap::Args;
use ddtbench::experiments::Kind;
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::experiments::probes::TIMEOUT_S;
use ddtbench::experiments::probes::list::{self, PROBES};
use ddtbench::plan::{Limits, Plan};

use super::conditions::ConditionArgs;

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Probes, by name; all if there is none
    #[arg(value_name = "PROBE", conflicts_with_all = ["resume", "plan"])]
    probes: Vec<String>,
    #[command(flatten)]
    conditions: ConditionArgs,
}

impl ProbeArgs {
    /// Looks; an error is a refusal, a probe that fails is none.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        self.conditions.execute(false, || plan(&self.conditions, &self.probes))
    }
}

/// The plan of the probes with these names, or of all.
pub(super) fn plan(conditions: &ConditionArgs, names: &[String]) -> anyhow::Result<Plan> {
    conditions.refuse_limits("probes")?;
    let mut plan = conditions.begin(Kind::Probes, Limits::default().max_time_s)?;
    if conditions.has_plan() {
        return Ok(plan);
    }
    plan.limits.timeout_s = conditions.timeout.unwrap_or(TIMEOUT_S);
    let all = || PROBES.iter().map(|probe| probe.name).collect();
    let names: Vec<&str> = if names.is_empty() { all() } else { names.iter().map(String::as_str).collect() };
    for name in names {
        list::find(name).map_err(anyhow::Error::msg)?;
        let case = PlannedCase { test: name.to_owned(), ..PlannedCase::default() };
        if !plan.cases.contains(&case) {
            plan.cases.push(case);
        }
    }
    Ok(plan)
}
