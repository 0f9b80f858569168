//! Makes the mechanisms.

use common::fine_grained::aggregation::{Aggregation, Grouping, Over};
use common::fine_grained::costs::Costs;
use common::kinds::partitioned::methods::{Marking, PartitionTransfer};

use super::aggregated_adaptive::AggregatedAdaptive;
use super::merged::Merged;
use super::messages::PartitionMessages;
use super::one_sided::OneSided;
use super::partitioned::Native;
use super::progress_thread::ProgressThread;
use super::send::BlockingPartitions;
use super::{Channel, Mechanism};
use crate::checked::CallError;

/// Refuses a mechanism that is not available on this channel because of the number of threads, or of both ways at once.
pub fn check(transfer: PartitionTransfer, channel: &Channel<'_>, both_ways: bool) -> Result<(), CallError> {
    match (transfer, &channel.calls) {
        (PartitionTransfer::Single, _) => Ok(()),
        (_, Err(reason)) => refused(reason.clone()),
        (PartitionTransfer::Send, Ok(_)) if both_ways => {
            refused("blocking sends of both ranks would wait for each other".to_owned())
        }
        _ => Ok(()),
    }
}

fn refused<T>(reason: String) -> Result<T, CallError> {
    Err(CallError::NotPossible { reason })
}

/// One end of a mechanism; collective over both ranks. `costs` are given if it [needs](PartitionTransfer::needs_costs) them.
pub fn make<'a>(
    transfer: PartitionTransfer,
    channel: Channel<'a>,
    costs: Option<&'a Costs>,
) -> Result<Box<dyn Mechanism + 'a>, CallError> {
    let calls = match (transfer, channel.calls.clone()) {
        (PartitionTransfer::Single, _) => return Ok(Box::new(PartitionMessages::single(&channel)?)),
        (_, Err(reason)) => return refused(reason),
        (_, Ok(calls)) => calls,
    };
    let mechanism: Box<dyn Mechanism + 'a> = match transfer {
        PartitionTransfer::Single => unreachable!("made above"),
        PartitionTransfer::Send => Box::new(BlockingPartitions::new(channel, calls)),
        PartitionTransfer::Isend(polling) => {
            Box::new(PartitionMessages::nonblocking(&channel, polling, calls)?)
        }
        PartitionTransfer::Persistent => Box::new(PartitionMessages::persistent(&channel, calls)?),
        PartitionTransfer::Many => Box::new(PartitionMessages::many(&channel, calls)?),
        PartitionTransfer::Native(marking) => match (Native::refusal(&channel), marking, calls.multiple()) {
            (Some(reason), ..) => return refused(reason),
            (_, Marking::ProgressThread, None) => {
                return refused("a progress thread needs MPI_THREAD_MULTIPLE".to_owned());
            }
            (_, Marking::ProgressThread, Some(multiple)) => {
                Box::new(ProgressThread::new(&channel, calls, multiple)?)
            }
            (..) => Box::new(Native::new(&channel, marking, calls)?),
        },
        PartitionTransfer::Put(epoch, windows) => Box::new(OneSided::new(channel, epoch, windows, calls)?),
        PartitionTransfer::Aggregated(aggregation) => {
            let partitions = channel.partitions.len();
            let bytes = channel.memory.bytes() / partitions;
            let runs = aggregation.units(partitions, bytes as u64);
            let merged = channel.merged(&runs);
            match (aggregation, costs) {
                (Aggregation { grouping: Grouping::Adaptive, .. }, Some(costs)) => {
                    Box::new(AggregatedAdaptive::new(channel, costs, calls)?)
                }
                (Aggregation { over: Over::Persistent, .. }, _) => {
                    Box::new(Merged::new(&runs, PartitionMessages::opened_by_one(&merged, calls)?))
                }
                (Aggregation { over: Over::Partitioned, .. }, _) => match Native::refusal(&merged) {
                    Some(reason) => return refused(reason),
                    None => Box::new(Merged::new(&runs, Native::new(&merged, Marking::OneByOne, calls)?)),
                },
            }
        }
    };
    Ok(mechanism)
}
