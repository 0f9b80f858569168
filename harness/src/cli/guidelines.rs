//! The command `guidelines`: finds datatypes of an MPI that are slower than an application can expect.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ddtbench::compare::guidelines::{Findings, code, compared, methods};
use ddtbench::compare::{Settings, Side, Subject};
use ddtbench::experiments::launches::over_launches;
use ddtbench::experiments::pingpong::descriptions::descriptions;
use ddtbench::experiments::pingpong::methods::description;
use ddtbench::experiments::planned::PlannedCase;
use ddtbench::experiments::{Kind, pingpong};
use ddtbench::folder::PLAN;
use ddtbench::model::{LOOP, MANUAL, Record};
use ddtbench::plan::{CheckedPlan, Plan};
use ddtbench::report::state;
use ddtbench::run::RunEnd;

use super::compare::share;
use super::kinds::{GivenArgs, MessageCases};
use super::{measure, output, recorded};

#[derive(Debug, Args)]
pub struct GuidelinesArgs {
    /// Slowdown beyond the guideline that counts as a violation
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    threshold: f64,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: GuidelinesFormat,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// TEST is a test, or the folder of a run
    #[command(flatten)]
    given: GivenArgs<MessageCases>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GuidelinesFormat {
    Text,
    Markdown,
    Json,
}

impl GuidelinesArgs {
    /// Measures, or reads recorded results. A violated guideline is not an error.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let dir = match self.recorded() {
            Some(dir) => dir,
            None => self.measured()?,
        };
        let records = recorded::records(&dir)?;
        recorded::warn_of_lacks(&dir, &records)?;
        let settings = Settings { threshold: self.threshold, ..Settings::default() };
        let mut findings: Vec<Findings> =
            Side::of_mpis(&records).iter().map(|side| Findings::from_side(side, &settings)).collect();
        // The folder of an older version may have a plan that this version cannot read, and then has no descriptions.
        if let Ok(plan) = Plan::read(&dir.join(PLAN)).and_then(Plan::check) {
            let cases = plan.named_cases();
            let of = |subject: &Subject| {
                let is_case = |case: &(&PlannedCase, &str)| {
                    (&*case.0.test, case.1) == (&*subject.test, &*subject.params)
                };
                let (case, _) = cases.iter().copied().find(is_case)?;
                Some(descriptions(&pingpong::message(case, plan.plan.context()).ok()?))
            };
            findings
                .iter_mut()
                .for_each(|of_mpi| of_mpi.describe(&|subject| of(subject).unwrap_or_default()));
        }
        let has_rows = findings.iter().any(|of_mpi| !of_mpi.rows.is_empty() || !of_mpi.failed.is_empty());
        ensure!(has_rows, "{}: nothing to compare: {}", dir.display(), required(&records));
        output::print(self.format.text_of(&findings)?.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }

    fn recorded(&self) -> Option<PathBuf> {
        let [only] = self.given.cases.tests.tests.as_slice() else { return None };
        let conditions = &self.given.conditions;
        let is_test =
            apps::find(only).is_ok() || !conditions.mpis.names.is_empty() || conditions.has("methods");
        Some(PathBuf::from(only)).filter(|dir| !is_test && (dir.exists() || dir.components().count() > 1))
    }

    fn measured(&self) -> anyhow::Result<PathBuf> {
        let conditions = &self.given.conditions;
        let mut plan = self.given.plan(Kind::PingPong)?;
        ensure!(plan.launches() >= 3, "--launches {}: must be at least 3", plan.launches());
        if !conditions.has("methods") && self.given.plan_file().is_none() {
            plan.methods = methods();
            plan = with_methods_of_each(plan)?;
        }
        let begun = measure::start(self.given.options(self.out.as_deref()), plan)?;
        let ended = measure::finish(begun, Vec::new(), conditions.verbose)?;
        let dir = ended.folder.path().to_owned();
        match ended.end {
            RunEnd::Complete => Ok(dir),
            RunEnd::Interrupted => bail!(measure::stopped(&dir)),
        }
    }
}

/// The requirement of a comparison.
fn required(records: &[Record]) -> String {
    let of_case: Vec<Record> = records.iter().filter(|of| of.case == records[0].case).cloned().collect();
    let states = state::text(&over_launches(&of_case, None));
    if states.contains(" in ") {
        return format!(
            "needs three launches in one state of the machine, and has {states}: try --launches 6"
        );
    }
    "needs at least three launches of two methods, such as mpi_pack and ddt; leave out -m for all".to_owned()
}

/// The plan in which each case has only the methods that its guidelines need: different descriptions, and the
/// plain loop only if the application has no loop.
fn with_methods_of_each(plan: Plan) -> anyhow::Result<Plan> {
    let CheckedPlan { mut plan, cases, .. } = plan.check()?;
    for (planned, case) in plan.cases.iter_mut().zip(&cases) {
        let is_asked = |method: &&String| match method.as_str() {
            LOOP => !case.has(MANUAL),
            method => case.has(method) || description(method).is_none(),
        };
        planned.methods = plan.methods.iter().filter(is_asked).cloned().collect();
    }
    Ok(plan)
}

impl GuidelinesFormat {
    fn text_of(self, findings: &[Findings]) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => compared(findings).text(output::width()) + &code(findings, false, output::width()),
            Self::Markdown => compared(findings).markdown() + &code(findings, true, None),
            Self::Json => serde_json::to_string_pretty(findings)? + "\n",
        })
    }
}
