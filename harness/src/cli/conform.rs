//! The command `conform`: tests MPIs for correctness.

mod datatypes;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand};
use ddtbench::conformance::{CheckResult, Conditions, TIMEOUT_S, table};
use ddtbench::folder::{CHECKS, ENVIRONMENT, LockedFolder};
use ddtbench::model::check::{CLOCKS, Check, PARTITIONED};
use ddtbench::model::conditions::MemoryKind;
use ddtbench::model::plain::plain;
use ddtbench::mpi::{MpiError, Target, interrupt, shared_memory};
use ddtbench::plan::Plan;
use ddtbench::run::{MpiAccount, Part};

use super::headings::RESULTS;
use super::measure::{self, FAILED, INTERRUPTED};
use super::mpi_args::MpiArgs;
use super::output::{self, log};
use super::{numbers, targets};

/// Without a subject, derived datatypes.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConformArgs {
    #[command(subcommand)]
    subject: Option<ConformCommand>,
    #[command(flatten)]
    datatypes: datatypes::DatatypesArgs,
}

/// Subjects of checks that are listed.
#[derive(Debug, Subcommand)]
enum ConformCommand {
    /// Check partitioned communication
    Partitioned(PartitionedArgs),
    /// Check how well the clocks of the ranks are synchronised
    Clocks(CheckArgs),
}

#[derive(Debug, Args)]
pub struct PartitionedArgs {
    /// The checks [default: all]
    #[arg(value_name = "CHECK", value_parser = names(PARTITIONED))]
    checks: Vec<String>,
    #[command(flatten)]
    how: CheckArgs,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    mpis: MpiArgs,
    /// Repetitions of each check; it fails if one of them fails
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count(MOST_REPEATS))]
    repeat: usize,
    /// A check that prints nothing for this many seconds is stopped, and counts as timed out
    #[arg(long, value_name = "TIME", default_value_t = TIMEOUT_S, value_parser = numbers::seconds)]
    timeout: f64,
    /// The folder for the results [default: results/DATE-TIME-MPI]
    #[arg(help_heading = RESULTS, short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show how rank programs are built and launched
    #[arg(help_heading = RESULTS, short, long)]
    verbose: bool,
}

/// A larger number is a typo.
const MOST_REPEATS: usize = 10_000;

/// Names of checks, with their questions for the help.
fn names(checks: &'static [Check]) -> PossibleValuesParser {
    PossibleValuesParser::new(checks.iter().map(|check| PossibleValue::new(check.name).help(check.question)))
}

impl ConformArgs {
    /// Runs the checks. An error is a refusal; a failed check is not an error.
    pub fn execute(self) -> anyhow::Result<ExitCode> {
        let code = match self.subject {
            None => self.datatypes.execute()?,
            Some(ConformCommand::Partitioned(PartitionedArgs { checks, how })) => {
                let is_asked = |one: &&Check| checks.is_empty() || checks.iter().any(|name| name == one.name);
                how.run(&PARTITIONED.iter().filter(is_asked).collect::<Vec<_>>())?
            }
            Some(ConformCommand::Clocks(how)) => how.run(&CLOCKS.iter().collect::<Vec<_>>())?,
        };
        shared_memory::message().iter().for_each(|message| log(message));
        Ok(code)
    }
}

/// The folder of a run, with the accounts of its MPIs, and the MPIs with their rank programs. Without these,
/// nothing is left of the folder.
fn prepare(
    mpis: &MpiArgs,
    out: Option<&Path>,
    is_verbose: bool,
    memory: MemoryKind,
    account: impl Fn(&Target) -> anyhow::Result<MpiAccount>,
) -> anyhow::Result<(LockedFolder, Vec<Target>)> {
    let folder = out.map(LockedFolder::create).transpose()?;
    let mut plan = Plan { memories: vec![memory], ..Plan::default() };
    mpis.apply(&mut plan);
    let chosen = match targets::choose(&mut plan, false, is_verbose) {
        Ok(chosen) => chosen,
        Err(error) => {
            if let Some(folder) = folder {
                folder.discard(&[ENVIRONMENT]);
            }
            return Err(error);
        }
    };
    let folder = match folder {
        Some(folder) => folder,
        None => measure::default_folder(&chosen.name_or("conform"), LockedFolder::create)?,
    };
    measure::introduce(&chosen, folder.path());
    let built = chosen.build().and_then(|targets| {
        let accounts = targets.iter().map(account).collect::<Result<_, _>>()?;
        folder.write_json(ENVIRONMENT, &Part::from_accounts(measure::now(), accounts))?;
        Ok(targets)
    });
    match built {
        Ok(targets) => Ok((folder, targets)),
        Err(error) => {
            folder.discard(&[ENVIRONMENT]);
            Err(error)
        }
    }
}

impl CheckArgs {
    fn run(&self, checks: &[&Check]) -> anyhow::Result<ExitCode> {
        interrupt::hold();
        let (folder, targets) =
            prepare(&self.mpis, self.out.as_deref(), self.verbose, MemoryKind::Host, |target| {
                let first = self.conditions(target).command_line(checks[0])?;
                Ok(MpiAccount::from_target(target, first))
            })?;
        let mut results = Vec::new();
        let all = checks.iter().flat_map(|check| targets.iter().map(move |target| (check, target)));
        let count = checks.len() * targets.len();
        for (number, (check, target)) in all.enumerate() {
            let result = match self.answer(&self.conditions(target), check) {
                Ok(result) => result,
                Err(MpiError::Interrupted) => break,
                Err(error) => {
                    if results.is_empty() {
                        folder.discard(&[ENVIRONMENT]);
                    }
                    return Err(error.into());
                }
            };
            let (outcome, mpi) = (result.answer.outcome.name(), target.label());
            log(&format!("[{}/{count}] {}, {mpi}: {outcome}", number + 1, check.name));
            results.push(result);
            folder.write_table(CHECKS, &results)?;
        }
        let is_whole = results.len() == count;
        output::print_text(&plain(&format!(
            "{}\nresults: {}\n",
            table::table(&results, output::width()),
            folder.path().display()
        )))?;
        Ok(if !is_whole {
            log("stopped; the results so far are saved");
            ExitCode::from(INTERRUPTED)
        } else if results.iter().any(CheckResult::is_failure) {
            ExitCode::from(FAILED)
        } else {
            ExitCode::SUCCESS
        })
    }

    fn conditions<'a>(&self, target: &'a Target) -> Conditions<'a> {
        Conditions::on_host(target, self.timeout)
    }

    /// Runs a check until it fails, or as often as given.
    fn answer(&self, conditions: &Conditions<'_>, check: &Check) -> Result<CheckResult, MpiError> {
        let mut result = conditions.run(check)?;
        for _ in 1..self.repeat {
            if result.is_failure() {
                break;
            }
            result = conditions.run(check)?;
        }
        Ok(result)
    }
}
