//! One probe, most of them of partitioned communication: done on all ranks, judged together, reported by the first.
//!
//! A rank that sees an error tells it at once and ends the job, since others may be waiting for it.

mod arrival;
mod clocks;
mod completion;
mod context;
mod datatypes;
mod exchange;
mod marking;
mod message;
mod misuse;
mod progress;
mod scale;
mod starting;
mod threads;

use std::process::ExitCode;
use std::sync::OnceLock;

use anyhow::{Context, ensure};
use common::fine_grained::functions::PARTITIONED;
use common::kinds::Kind;
use common::kinds::probes::list;
use common::model::event::{Event, MessageFacts};
use common::model::{Outcome, Seen};

use crate::checked::{World, symbols, world};
use crate::cli::Probe;
use crate::environment;
use crate::measure::clock::Clock;
use crate::output::{OutputFormat, print_event};
use crate::reporter::WRONG_DATA;
use context::{FinalReport, Observation, ProbeContext, Stop};

/// A probe, as each rank does it.
type Function = fn(&ProbeContext<'_>) -> Result<Observation, Stop>;

/// The probe that passes only once `MPI_Finalize` has come back.
const NOT_FREED: &str = "not_freed_at_finalize";

/// What it reports then, once all else was right.
static FINAL_REPORT: OnceLock<FinalReport> = OnceLock::new();

/// The probe that has nothing to do with partitioned communication.
const CLOCKS: &str = "clocks";

/// The function of each probe.
const FUNCTIONS: &[(&str, Function)] = &[
    ("equal_counts", marking::equal_counts),
    ("any_order", marking::any_order),
    ("duplicated_communicator", marking::duplicated_communicator),
    ("reinitialised", marking::reinitialised),
    ("unequal_counts", marking::unequal_counts),
    ("parrived_equal", arrival::equal),
    ("parrived_unequal", arrival::unequal),
    ("gapless_datatype", datatypes::gapless),
    ("datatype_with_gaps", datatypes::with_gaps),
    ("pready_threads", threads::pready),
    ("parrived_threads", threads::parrived),
    ("pready_range", marking::range),
    ("pready_list", marking::list),
    ("early_delivery", arrival::early_delivery),
    ("progress_before_first_pready_8b", progress::before_first_8b),
    ("progress_before_first_pready_4kib", progress::before_first_4kib),
    ("progress_before_first_pready_64kib", progress::before_first_64kib),
    ("barrier_before_first_pready_8b", progress::barrier_8b),
    ("barrier_before_first_pready_4kib", progress::barrier_4kib),
    ("barrier_before_first_pready_64kib", progress::barrier_64kib),
    ("progress_between_preadys_8b", progress::between_8b),
    ("progress_between_preadys_4kib", progress::between_4kib),
    ("progress_between_preadys_64kib", progress::between_64kib),
    ("progress_on_receiver", progress::on_receiver),
    ("startall_sends", starting::startall_sends),
    ("startall_send_and_receive", starting::startall_send_and_receive),
    ("some_ranks_only", marking::equal_counts),
    ("self_communication", starting::self_communication),
    ("self_communication_alone", starting::self_communication_alone),
    ("two_requests_of_one_tag", completion::two_requests_of_one_tag),
    ("waitall_with_point_to_point", completion::waitall_with_point_to_point),
    ("status_fields", completion::status_fields),
    ("many_requests", scale::many_requests),
    ("very_many_requests", scale::very_many_requests),
    ("many_partitions", scale::many_partitions),
    ("zero_count", scale::zero_count),
    ("zero_partitions", misuse::zero_partitions),
    ("proc_null", misuse::proc_null),
    ("any_source", misuse::any_source),
    ("receive_larger_than_send", misuse::receive_larger_than_send),
    ("double_pready", misuse::double_pready),
    ("pready_before_start", misuse::pready_before_start),
    ("pready_out_of_range", misuse::pready_out_of_range),
    ("cancel_inactive", misuse::cancel_inactive),
    ("late_receiver", starting::late_receiver),
    ("receiver_waits_first", starting::receiver_waits_first),
    (NOT_FREED, starting::not_freed),
    ("free_without_start", starting::free_without_start),
    ("large_message", scale::large_message),
    ("ring", starting::ring),
    (CLOCKS, clocks::agree),
];

/// Does the probe.
///
/// # Errors
/// Why it cannot be done; on all ranks alike.
pub fn run(world: &World, args: &Probe) -> anyhow::Result<ExitCode> {
    let probe = list::find(&args.name).map_err(anyhow::Error::msg)?;
    let asked = if probe.any_ranks { args.methods.ranks } else { Some(probe.ranks) };
    let ranks =
        world.ranks(asked).with_context(|| format!("{} is a probe of {} ranks", probe.name, probe.ranks))?;
    ensure!(ranks > 1, "{} is a probe of at least 2 ranks, and the launcher has started 1", probe.name);
    args.methods.of(Kind::Probes)?;
    let (rank, format) = (world.comm.rank()?, args.conditions.format);
    // What carries the bytes is not found out: that takes large messages, and some probes are of the first one.
    let place = environment::place(rank);
    let hello = environment::hello(world, &place, MessageFacts::default(), Clock::measure(), Vec::new())?;
    if rank == 0 && format == OutputFormat::Json {
        print_event(&Event::Hello(Box::new(hello)));
    }
    let context = ProbeContext::new(world, probe.name, rank, format);
    let judged = match obstacle(world, probe) {
        Some(reason) => Ok(Outcome::NotAvailable { reason }),
        None => {
            let (_, work) =
                FUNCTIONS.iter().find(|(name, _)| *name == probe.name).expect("every probe is done");
            context.work("exchange");
            work(&context).and_then(|seen| context.judge(seen)).map(Observation::outcome)
        }
    };
    let outcome = match judged {
        Ok(outcome) => outcome,
        Err(Stop::Call(error)) => {
            context.leave(Observation::new(Seen::Failed, format!("rank {rank}: {error}")).outcome())
        }
        Err(Stop::Observation(seen)) => context.leave(seen.outcome()),
    };
    let saw = |wanted| matches!(&outcome, Outcome::Seen { what, .. } if *what == wanted);
    let is_wrong = saw(Seen::Failed) && format == OutputFormat::Text;
    if rank == 0 {
        // What has gone wrong may keep ranks from leaving in peace.
        if saw(Seen::Failed) {
            context.leave(outcome);
        }
        if probe.name == NOT_FREED && saw(Seen::Passed) {
            FINAL_REPORT.get_or_init(|| context.final_report("MPI_Finalize did not come back"));
        } else {
            context.conclude(outcome);
        }
    }
    Ok(if is_wrong { ExitCode::from(WRONG_DATA) } else { ExitCode::SUCCESS })
}

/// Reports what could not be known before MPI was finalised.
pub fn report_after_finalize() {
    if let Some(word) = FINAL_REPORT.get() {
        word.say();
    }
}

/// What the MPI lacks for a probe.
fn obstacle(world: &World, probe: &list::Probe) -> Option<String> {
    let needed: &[&[&'static str]] = match probe.name {
        "pready_range" => &[PARTITIONED, &["MPI_Pready_range"]],
        "pready_list" => &[PARTITIONED, &["MPI_Pready_list"]],
        CLOCKS => &[],
        _ => &[PARTITIONED],
    };
    let missing = symbols::missing(&needed.concat());
    if !missing.is_empty() {
        return Some(format!("the MPI has no {}", missing.join(", ")));
    }
    (probe.threads > 1 && world.multiple().is_none())
        .then(|| format!("needs {}, the MPI gives {}", world::MULTIPLE, world.thread_level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_is_done() {
        let names: Vec<_> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, list::PROBES.iter().map(|probe| probe.name).collect::<Vec<_>>());
    }
}
