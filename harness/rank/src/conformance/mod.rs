//! Checks of the MPI's correctness: run on all ranks, judged together, reported by rank 0.
//!
//! A rank that encounters an error reports it at once and ends the job, because others may be waiting for it.

mod clocks;
mod context;
pub mod datatypes;
mod partitioned;

use std::sync::OnceLock;

use anyhow::{Context, ensure};
use common::model::check::{Answer, Check, CheckOutcome, PARTITIONED};

use crate::checked::{World, symbols, world};
use crate::cli::Conform;
use crate::output::OutputFormat;
use crate::reporter::WRONG_DATA;
use context::{CheckContext, Report, Stop};

/// A check, in the form that each rank runs.
type CheckFunction = fn(&CheckContext<'_>) -> Result<(), Stop>;

/// The report that `MPI_Finalize` has returned, if everything else was right.
static FINAL_REPORT: OnceLock<Report> = OnceLock::new();

/// Runs the check.
///
/// # Errors
/// Why it cannot be run; the same on all ranks.
pub fn run(world: &World, args: &Conform) -> anyhow::Result<u8> {
    let check = args.check().map_err(anyhow::Error::msg)?;
    let asked = if check.any_ranks { None } else { Some(check.ranks) };
    let ranks =
        world.ranks(asked).with_context(|| format!("{} is a check of {} ranks", check.name, check.ranks))?;
    ensure!(ranks > 1, "{} is a check of at least 2 ranks, and the launcher has started 1", check.name);
    let rank = world.comm.rank()?;
    let context = CheckContext::new(world, check.name, rank, args.format);
    let judged = match obstacle(world, check) {
        Some(reason) => Ok(Answer::new(CheckOutcome::NotAvailable, reason)),
        None => {
            context.work("exchange");
            function(check.name)(&context).and_then(|()| Ok(context.judge()?))
        }
    };
    let answer = match judged {
        Ok(answer) => answer,
        Err(Stop::Call(error)) => {
            context.leave(Answer::new(CheckOutcome::Failed, format!("rank {rank}: {error}")))
        }
        Err(Stop::Answered(answer)) => context.leave(answer),
    };
    let is_wrong = answer.outcome == CheckOutcome::Failed;
    if rank == 0 {
        // After a failure, ranks may not be able to exit normally.
        if is_wrong {
            context.leave(answer);
        }
        if check.name == partitioned::NOT_FREED && answer.outcome == CheckOutcome::Passed {
            FINAL_REPORT.get_or_init(|| context.report.until_finalized("MPI_Finalize did not come back"));
        } else {
            context.report.conclude(answer);
        }
    }
    let is_by_hand = args.format == OutputFormat::Text;
    Ok(if is_wrong && is_by_hand { WRONG_DATA } else { 0 })
}

/// Reports results that are only known after MPI was finalised.
pub fn report_after_finalize() {
    if let Some(report) = FINAL_REPORT.get() {
        report.conclude(Answer::passed());
    }
}

fn function(name: &str) -> CheckFunction {
    let is_it = |(known, _): &&(&str, CheckFunction)| *known == name;
    partitioned::FUNCTIONS.iter().find(is_it).map_or(clocks::agree, |(_, function)| *function)
}

/// Functions that the MPI lacks for a check.
fn obstacle(world: &World, check: &Check) -> Option<String> {
    let needed =
        if PARTITIONED.contains(check) { partitioned::needed_functions(check.name) } else { Vec::new() };
    let missing = symbols::missing(&needed);
    if !missing.is_empty() {
        return Some(format!("the MPI has no {}", missing.join(", ")));
    }
    (check.threads > 1 && world.multiple().is_none())
        .then(|| format!("needs {}, the MPI gives {}", world::MULTIPLE, world.thread_level))
}
