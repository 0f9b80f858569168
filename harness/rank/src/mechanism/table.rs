//! The mechanisms by name: what each is made of, and what it needs of the MPI.

use ddtbench::event::Outcome;
use ddtbench::partitioned::aggregation::{Aggregation, Over, Rule};
use ddtbench::partitioned::costs::Costs;
use ddtbench::partitioned::mechanisms::{SINGLE, SINGLE_INIT, SINGLE_LAUNCHED};

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
            _ => &[],
        },
    }
}

/// Whether only one thread, the first, ever calls MPI.
pub fn is_funneled(name: &str) -> bool {
    [SINGLE, SINGLE_INIT, SINGLE_LAUNCHED].contains(&name)
}

/// Whether a mechanism has to know what messages cost. One message is one message, whoever decides when it goes.
pub fn needs_costs(name: &str, partitions: usize) -> bool {
    let aggregation = Aggregation::of_mechanism(name);
    partitions > 1 && matches!(aggregation, Some(Ok(Aggregation { rule: Rule::Adaptive, .. })))
}

/// Why a mechanism cannot send both ways at once, if it cannot.
pub fn one_way_only(name: &str) -> Option<Outcome> {
    let reason = "blocking sends of both ranks would wait for each other";
    (name == "send").then(|| Outcome::NotAvailable { reason: reason.to_owned() })
}

/// One end of the mechanism called `name`, or why this channel cannot have it; collective over both ranks. `costs` are there
/// for all that [`needs_costs`].
pub fn make<'a>(
    name: &str,
    channel: Channel<'a>,
    costs: Option<&'a Costs>,
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
        SINGLE | SINGLE_INIT | SINGLE_LAUNCHED => Box::new(Single::new(&channel)?),
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
            match (aggregation, costs) {
                (Aggregation { rule: Rule::Adaptive, .. }, Some(costs)) => {
                    Box::new(AggregatedAdaptive::new(channel, costs)?)
                }
                (Aggregation { over: Over::Persistent, .. }, _) => {
                    Box::new(AggregatedStatic::over_messages(&channel, units)?)
                }
                (Aggregation { over: Over::Partitioned, .. }, _) => match AggregatedStatic::refusal(&units) {
                    Some(reason) => return refused(reason),
                    None => Box::new(AggregatedStatic::over_partitions(&channel, units)?),
                },
            }
        }
    };
    Ok(Ok(mechanism))
}
