//! The mechanisms that there are, by name: how a message that is finished partition by partition can travel. The rank
//! program implements them.

use crate::fine_grained::aggregation::{AGGREGATED, Aggregation, Over};
use crate::fine_grained::functions::{PARTITIONED, PARTITIONED_LISTS};
use crate::kinds::find as find_row;
use crate::model::MethodInfo;

/// The mechanism that all others are compared with.
pub const SINGLE: &str = "single";

const fn mechanism(name: &'static str, about: &'static str) -> MethodInfo {
    MethodInfo::new(name, about)
}

/// What puts under locks need.
const PASSIVE: &[&str] = &["MPI_Win_lock", "MPI_Win_flush", "MPI_Win_sync"];
/// What puts between start and complete need.
const ACTIVE: &[&str] = &["MPI_Win_start", "MPI_Win_post"];

/// What the partitions of a request rest on: how many both sides have, and how they are marked ready.
const MARKING: &[&str] = &["equal_counts", "any_order", "pready_threads", "zero_count"];
/// What they rest on where the receiver may have another number than the sender.
const UNEQUAL: &[&str] = &["unequal_counts"];
/// What asking for each partition rests on.
const ASKING: &[&str] = &["parrived_equal", "parrived_unequal", "parrived_threads"];

/// [`AGGREGATED`] over the messages of its own layer.
const OVER_MESSAGES: MethodInfo =
    mechanism(AGGREGATED, "our own partitioned layer; partitions are merged before they are sent");
/// The same over the partitions of a request, of which both sides have as many.
const OVER_PARTITIONS: MethodInfo = OVER_MESSAGES.needs(PARTITIONED).probes(&[MARKING]);

/// All mechanisms, in report order.
pub const MECHANISMS: &[MethodInfo] = &[
    mechanism(SINGLE, "one persistent message when all threads have finished: bulk-synchronous"),
    mechanism("send", "a blocking send and receive per partition"),
    mechanism("isend", "a nonblocking send per partition"),
    mechanism("persistent", "a persistent send per partition"),
    mechanism("many", "a persistent send per partition, a communicator per thread").needs(&["MPI_Comm_dup"]),
    mechanism("partitioned", "MPI-4's own partitioned transfer")
        .needs(PARTITIONED)
        .probes(&[UNEQUAL, MARKING]),
    mechanism("partitioned:list", "the same, all partitions of a thread marked ready in one call")
        .needs(PARTITIONED_LISTS)
        .probes(&[UNEQUAL, MARKING, &["pready_list"]]),
    mechanism("partitioned:parrived", "the same, the receiver's threads ask for each partition")
        .needs(PARTITIONED)
        .probes(&[UNEQUAL, MARKING, ASKING]),
    OVER_MESSAGES,
    mechanism("rma_single_passive", "puts into one window under a lock, flushed at the end").needs(PASSIVE),
    mechanism("rma_many_passive", "puts into a window per thread under locks, flushed at the end")
        .needs(PASSIVE),
    mechanism("rma_single_active", "puts into one window between start and complete").needs(ACTIVE),
    mechanism("rma_many_active", "puts into a window per thread between start and complete").needs(ACTIVE),
    mechanism("rma_fence", "puts into a window per thread between fences").needs(&["MPI_Win_fence"]),
];

/// [`SINGLE`] as CMB has its bulk variant: under plain `MPI_Init`, which a process can only choose for all that it measures. So it
/// is measured in processes of its own, and compared by launches with [`SINGLE_LAUNCHED`].
pub const SINGLE_INIT: &str = "single:init";
/// [`SINGLE`] with the thread level of all, in processes of its own as well.
pub const SINGLE_LAUNCHED: &str = "single:launched";

/// Mechanisms that are measured in several launches each, taking turns; only where they are asked for.
pub const BY_LAUNCHES: &[MethodInfo] = &[
    mechanism(SINGLE_INIT, "single under plain MPI_Init, in launches of its own")
        .partial()
        .against(SINGLE_LAUNCHED)
        .in_own_processes(),
    mechanism(SINGLE_LAUNCHED, "single in launches of its own, beside single:init")
        .contiguous()
        .in_own_processes(),
];

/// The mechanism called `name`, or the reason why there is none.
///
/// # Errors
/// A sentence with all names, or what is wrong with the way to aggregate.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    if let Some(aggregation) = Aggregation::of_mechanism(name) {
        return aggregation.map(|aggregation| match aggregation.over {
            Over::Persistent => &OVER_MESSAGES,
            Over::Partitioned => &OVER_PARTITIONS,
        });
    }
    match BY_LAUNCHES.iter().find(|mechanism| mechanism.name == name) {
        Some(mechanism) => Ok(mechanism),
        None => find_row(MECHANISMS, "mechanism", name),
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
        assert!(find("aggregated:bins=0").unwrap_err().contains("bins=0"));
        assert!(find("psend").unwrap_err().contains("rma_fence"));
    }
}
