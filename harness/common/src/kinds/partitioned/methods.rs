//! The mechanisms: ways to send a message that is finished partition by partition. The rank program implements them.

use crate::fine_grained::aggregation::{AGGREGATED, Aggregation, Grouping, Over};
use crate::fine_grained::functions::{PARTITIONED, PARTITIONED_LISTS};
use crate::model::{MethodInfo, MethodRow, find_method, info, infos};

/// The mechanism that all others are compared with.
pub const SINGLE: &str = "single";
/// [`SINGLE`] like CMB's bulk variant: with plain `MPI_Init`. A process can only choose this for all that it measures,
/// so the mechanism is measured in separate processes and compared by launches with [`SINGLE_LAUNCHED`].
pub const SINGLE_INIT: &str = "single:init";
/// [`SINGLE`] with the usual thread level, also in separate processes.
pub const SINGLE_LAUNCHED: &str = "single:launched";

/// How a message that is finished partition by partition is sent. In all ways except the first, threads call MPI themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionTransfer {
    /// One persistent message.
    Single,
    /// A blocking send and receive per partition.
    Send,
    /// A nonblocking send per partition.
    Isend(Polling),
    /// A persistent send per partition.
    Persistent,
    /// A persistent send per partition, with a communicator per thread.
    Many,
    /// MPI-4's partitioned communication.
    Native(Marking),
    Put(Epoch, Windows),
    /// Our own layer, which merges partitions.
    Aggregated(Aggregation),
}

/// How partitions of an MPI-4 request are marked and received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// `MPI_Pready` for each partition.
    OneByOne,
    /// `MPI_Pready_list` for all partitions of a thread, with its last one.
    Lists,
    /// `MPI_Pready` for each partition; the receiver's threads call `MPI_Parrived` for each partition.
    Asking,
    /// Like `Asking`; in addition, the receiver's first thread calls `MPI_Request_get_status` before it.
    AskingAndPolling,
    /// `MPI_Pready` for each partition; a thread at the sender calls `MPI_Request_get_status` until all are marked.
    ProgressThread,
}

/// How a sender of nonblocking messages polls for progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polling {
    /// Only in the wait at the end.
    Never,
    /// `MPI_Request_get_status` for each message, once, after it was sent.
    OnceEach,
    /// `MPI_Testall` until all are complete, instead of the wait.
    UntilAll,
}

/// The synchronisation that begins and ends the epoch of the puts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// `MPI_Win_fence`.
    Fence,
    /// Empty messages, under a lock that is held throughout; flushed at the end.
    Lock,
    /// `MPI_Win_start` and `MPI_Win_complete` at the sender, `MPI_Win_post` and `MPI_Win_wait` at the receiver.
    PostStart,
}

/// How many windows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Windows {
    /// One, which all threads put into.
    Single,
    /// One per thread, each over the whole message and with a separate communicator.
    Many,
}

impl PartitionTransfer {
    /// Whether it must know the cost of messages. A single partition is always one message.
    pub fn needs_costs(self, partitions: usize) -> bool {
        partitions > 1 && matches!(self, Self::Aggregated(Aggregation { grouping: Grouping::Adaptive, .. }))
    }
}

/// Functions needed for puts under locks.
const PASSIVE: &[&str] = &["MPI_Win_lock", "MPI_Win_flush", "MPI_Win_sync"];
/// Functions needed for puts between start and complete.
const ACTIVE: &[&str] = &["MPI_Win_start", "MPI_Win_post"];

/// Checks that the partitions of a request depend on: the number of partitions on both sides, and how they are marked ready.
const MARKING: &[&str] = &["equal_counts", "any_order", "pready_threads", "zero_count"];
/// Checks that they depend on if the receiver may have another number than the sender.
const UNEQUAL: &[&str] = &["unequal_counts"];
/// Checks that calling `MPI_Parrived` for each partition depends on.
const ASKING: &[&str] = &["parrived_equal", "parrived_unequal", "parrived_threads"];
/// Checks that polling at the sender depends on, before its first partition is ready and after.
const POLLING: &[&str] = &[
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
    "progress_between_preadys_8b",
    "progress_between_preadys_4kib",
    "progress_between_preadys_64kib",
];

/// [`AGGREGATED`] over messages of our own layer.
const OVER_MESSAGES: MethodInfo =
    info(AGGREGATED, "our own partitioned layer; partitions are merged before they are sent");
/// The same over the partitions of a request, with the same number on both sides.
const OVER_PARTITIONS: MethodInfo = OVER_MESSAGES.needs(PARTITIONED).checks(&[MARKING]);

/// All mechanisms, in report order.
const ROWS: &[MethodRow<PartitionTransfer>] = {
    use PartitionTransfer::{Aggregated, Isend, Many, Native, Persistent, Put, Send, Single};
    &[
        info(SINGLE, "one persistent message when all threads have finished: bulk-synchronous")
            .made_of(Single),
        info("send", "a blocking send and receive per partition").made_of(Send),
        info("isend", "a nonblocking send per partition").made_of(Isend(Polling::Never)),
        info("isend:test", "the same, with one test of each message after it is sent")
            .on_request()
            .made_of(Isend(Polling::OnceEach)),
        info("isend:testall", "the same, ending with a loop of MPI_Testall")
            .on_request()
            .made_of(Isend(Polling::UntilAll)),
        info("persistent", "a persistent send per partition").made_of(Persistent),
        info("many", "a persistent send per partition, a communicator per thread")
            .needs(&["MPI_Comm_dup"])
            .made_of(Many),
        info("partitioned", "MPI-4's own partitioned transfer")
            .needs(PARTITIONED)
            .checks(&[UNEQUAL, MARKING])
            .made_of(Native(Marking::OneByOne)),
        info("partitioned:list", "the same, marking all partitions of a thread ready in one call")
            .needs(PARTITIONED_LISTS)
            .checks(&[UNEQUAL, MARKING, &["pready_list"]])
            .made_of(Native(Marking::Lists)),
        info(
            "partitioned:parrived",
            "the same, with MPI_Parrived for each partition in the receiver's threads",
        )
        .needs(PARTITIONED)
        .checks(&[UNEQUAL, MARKING, ASKING])
        .made_of(Native(Marking::Asking)),
        info("partitioned:parrived_progress", "the same, with polling of the request in between")
            .on_request()
            .needs(PARTITIONED)
            .checks(&[UNEQUAL, MARKING, ASKING, &["progress_on_receiver"]])
            .made_of(Native(Marking::AskingAndPolling)),
        info(
            "partitioned:progress_thread",
            "partitioned, with a thread of the sender that polls the request",
        )
        .on_request()
        .needs(PARTITIONED)
        .checks(&[UNEQUAL, MARKING, POLLING])
        .made_of(Native(Marking::ProgressThread)),
        OVER_MESSAGES
            .made_of(Aggregated(Aggregation { grouping: Grouping::Adaptive, over: Over::Persistent })),
        info("rma_single_passive", "puts into one window under a lock, flushed at the end")
            .needs(PASSIVE)
            .made_of(Put(Epoch::Lock, Windows::Single)),
        info("rma_many_passive", "puts into a window per thread under locks, flushed at the end")
            .needs(PASSIVE)
            .made_of(Put(Epoch::Lock, Windows::Many)),
        info("rma_single_active", "puts into one window between start and complete")
            .needs(ACTIVE)
            .made_of(Put(Epoch::PostStart, Windows::Single)),
        info("rma_many_active", "puts into a window per thread between start and complete")
            .needs(ACTIVE)
            .made_of(Put(Epoch::PostStart, Windows::Many)),
        info("rma_fence", "puts into a window per thread between fences")
            .needs(&["MPI_Win_fence"])
            .made_of(Put(Epoch::Fence, Windows::Many)),
        info(SINGLE_INIT, "single with plain MPI_Init, in separate launches")
            .partial()
            .against(SINGLE_LAUNCHED)
            .in_own_processes()
            .made_of(Single),
        info(SINGLE_LAUNCHED, "single in separate launches, to compare with single:init")
            .contiguous()
            .in_own_processes()
            .made_of(Single),
    ]
};

/// Their descriptions.
pub const MECHANISMS: &[MethodInfo] = &infos::<_, { ROWS.len() }>(ROWS);

/// The mechanism called `name`, or the reason why there is none.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    Ok(match Aggregation::of_mechanism(name).transpose()? {
        Some(Aggregation { over: Over::Persistent, .. }) => &OVER_MESSAGES,
        Some(Aggregation { over: Over::Partitioned, .. }) => &OVER_PARTITIONS,
        None => &find_method(ROWS, "mechanism", name)?.info,
    })
}

/// The transfer of the mechanism called `name`.
pub fn transfer(name: &str) -> Result<PartitionTransfer, String> {
    match Aggregation::of_mechanism(name).transpose()? {
        Some(aggregation) => Ok(PartitionTransfer::Aggregated(aggregation)),
        None => Ok(find_method(ROWS, "mechanism", name)?.made_of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aggregated_mechanism_is_found_however_it_aggregates() {
        assert_eq!(find("aggregated:bins=4").unwrap().name, AGGREGATED);
        assert_eq!(find("aggregated:m=4").unwrap().needs, [""; 0]);
        assert_eq!(find("aggregated:m=4@partitioned").unwrap().needs, PARTITIONED);
        assert_eq!(find("partitioned:list").unwrap().name, "partitioned:list");
        assert_eq!(find(SINGLE_INIT).unwrap().name, SINGLE_INIT);
        assert!(find(SINGLE_INIT).unwrap().in_own_processes && !find(SINGLE).unwrap().in_own_processes);
        assert!(find("psend").unwrap_err().contains("rma_fence"));
    }

    #[test]
    fn one_message_needs_no_costs_and_only_a_choice_needs_them() {
        let needs = |name, partitions| transfer(name).unwrap().needs_costs(partitions);
        assert!(needs("aggregated:adaptive", 2) && !needs("aggregated:adaptive", 1));
        assert!(needs("aggregated", 2) && !needs("aggregated:m=2", 2) && !needs("partitioned", 2));
    }
}
