//! The mechanisms by name: what each is made of, and what it needs of the MPI.

use ddtbench::event::Outcome;
use ddtbench::partitioned::aggregation::{Aggregation, Over, Rule};

use super::aggregated::Units;
use super::aggregated_adaptive::AggregatedAdaptive;
use super::aggregated_static::AggregatedStatic;
use super::fence::Fence;
use super::isend::Isend;
use super::many::Many;
use super::partitioned::{Form, Native};
use super::passive::Passive;
use super::persistent::Persistent;
use super::post_start::PostStart;
use super::puts::Windows;
use super::send::Send;
use super::single::Single;
use super::{Channel, Mechanism};
use crate::checked::partitioned;

/// The functions that a mechanism calls beyond those that every MPI has.
pub fn needs(name: &str) -> &'static [&'static str] {
    match name {
        "partitioned" | "partitioned:parrived" => partitioned::NEEDS,
        "partitioned:list" => partitioned::NEEDS_LISTS,
        "rma_single_passive" | "rma_many_passive" => &["MPI_Win_lock", "MPI_Win_flush", "MPI_Win_sync"],
        "rma_single_active" | "rma_many_active" => &["MPI_Win_start", "MPI_Win_post"],
        "rma_fence" => &["MPI_Win_fence"],
        "many" => &["MPI_Comm_dup"],
        _ => match Aggregation::of_mechanism(name) {
            Some(Ok(Aggregation { over: Over::Partitioned, .. })) => partitioned::NEEDS,
            Some(Ok(Aggregation { rule: Rule::Adaptive, .. })) => &["MPI_Mprobe", "MPI_Imrecv"],
            _ => &[],
        },
    }
}

/// Whether only one thread, the first, ever calls MPI.
pub fn is_funneled(name: &str) -> bool {
    name == ddtbench::partitioned::mechanisms::SINGLE
}

/// One end of the mechanism called `name`, or why this channel cannot have it; collective over both ranks.
pub fn make<'a>(
    name: &str,
    channel: Channel<'a>,
) -> anyhow::Result<Result<Box<dyn Mechanism + 'a>, Outcome>> {
    let refused = |reason| Ok(Err(Outcome::NotAvailable { reason }));
    let native = |form: Form| -> anyhow::Result<Result<Box<dyn Mechanism + 'a>, Outcome>> {
        match Native::refusal(&channel) {
            Some(reason) => refused(reason),
            None => Ok(Ok(Box::new(Native::new(&channel, form)?))),
        }
    };
    let mechanism: Box<dyn Mechanism + 'a> = match name {
        "send" => Box::new(Send::new(channel)),
        "isend" => Box::new(Isend::new(channel)),
        "persistent" => Box::new(Persistent::new(&channel)?),
        "single" => Box::new(Single::new(&channel)?),
        "many" => Box::new(Many::new(&channel)?),
        "partitioned" => return native(Form::OneByOne),
        "partitioned:list" => return native(Form::Lists),
        "partitioned:parrived" => return native(Form::Asking),
        "rma_single_passive" => Box::new(Passive::new(channel, Windows::Single)?),
        "rma_many_passive" => Box::new(Passive::new(channel, Windows::Many)?),
        "rma_single_active" => Box::new(PostStart::new(channel, Windows::Single)?),
        "rma_many_active" => Box::new(PostStart::new(channel, Windows::Many)?),
        "rma_fence" => Box::new(Fence::new(channel)?),
        _ => {
            let Some(Ok(aggregation)) = Aggregation::of_mechanism(name) else {
                anyhow::bail!("mechanism {name:?} is listed but not implemented");
            };
            let partitions = channel.partitions.len();
            let runs = aggregation.units(partitions, (channel.bytes / partitions) as u64);
            let units = Units::new(&channel, &runs);
            match aggregation {
                // One message is one message, whoever decides when it goes.
                Aggregation { rule: Rule::Adaptive, .. } if runs.len() > 1 => {
                    Box::new(AggregatedAdaptive::new(channel, units)?)
                }
                Aggregation { over: Over::Persistent, .. } => {
                    Box::new(AggregatedStatic::over_messages(&channel, units)?)
                }
                Aggregation { over: Over::Partitioned, .. } => match AggregatedStatic::refusal(&units) {
                    Some(reason) => return refused(reason),
                    None => Box::new(AggregatedStatic::over_partitions(&channel, units)?),
                },
            }
        }
    };
    Ok(Ok(mechanism))
}
