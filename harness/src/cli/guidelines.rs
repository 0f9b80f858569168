//! The command `guidelines`: what an application may expect of an MPI's datatypes, and where it is not so.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use ddtbench::compare::guidelines::{Findings, compared, methods};
use ddtbench::compare::{Settings, Side};
use ddtbench::experiments::Kind;
use ddtbench::folder::LAUNCHES;
use ddtbench::run::RunEnd;

use super::compare::share;
use super::kinds::{GivenArgs, MessageCases};
use super::{measure, output, recorded};

#[derive(Debug, Args)]
pub struct GuidelinesArgs {
    /// How much slower than the guideline allows counts as a violation
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share)]
    threshold: f64,
    /// How it is printed
    #[arg(long, value_enum, default_value = "text")]
    format: GuidelinesFormat,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What is measured: TEST is a test, or the folder of a run
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
    /// Measures, or reads what was; a guideline that is violated is no error.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let dir = match self.recorded() {
            Some(dir) => dir,
            None => self.measured()?,
        };
        let records = recorded::records(&dir)?;
        let settings = Settings { threshold: self.threshold, ..Settings::default() };
        let findings: Vec<Findings> =
            Side::of_mpis(&records).iter().map(|side| Findings::of(side, &settings)).collect();
        ensure!(
            findings.iter().any(|of_mpi| !of_mpi.rows.is_empty() || !of_mpi.failed.is_empty()),
            "{}: nothing to hold against each other: three launches are needed of some of {}",
            dir.display(),
            methods().join(", ")
        );
        output::print(self.format.of(&findings)?.as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }

    /// The folder of a run, if one was named.
    fn recorded(&self) -> Option<PathBuf> {
        let [only] = self.given.cases.tests.tests.as_slice() else { return None };
        let conditions = &self.given.conditions;
        let is_test =
            apps::find(only).is_ok() || !conditions.mpis.names.is_empty() || conditions.has("methods");
        Some(PathBuf::from(only)).filter(|dir| !is_test && dir.join(LAUNCHES).exists())
    }

    fn measured(&self) -> anyhow::Result<PathBuf> {
        let conditions = &self.given.conditions;
        let mut plan = self.given.plan(Kind::PingPong)?;
        if !conditions.has("methods") && self.given.plan_file().is_none() {
            plan.methods = methods();
        }
        ensure!(plan.launches() >= 3, "--launches {}: three at least are needed", plan.launches());
        let begun = measure::start(self.given.options(self.out.as_deref()), plan)?;
        let ended = measure::finish(begun, Vec::new(), conditions.verbose)?;
        let dir = ended.folder.path().to_owned();
        match ended.end {
            RunEnd::Complete => Ok(dir),
            RunEnd::Interrupted => bail!(measure::stopped(&dir)),
        }
    }
}

impl GuidelinesFormat {
    fn of(self, findings: &[Findings]) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => compared(findings).text(output::width()),
            Self::Markdown => compared(findings).markdown(),
            Self::Json => serde_json::to_string_pretty(findings)? + "\n",
        })
    }
}
