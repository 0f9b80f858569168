//! The mechanisms that there are, by name: how a message that is finished partition by partition can travel. The rank
//! program implements them.

use crate::experiments::find as find_row;
use crate::experiments::fine_grained::aggregation::{AGGREGATED, Aggregation};
use crate::model::MethodInfo;

/// The mechanism that all others are compared with.
pub const SINGLE: &str = "single";

const fn mechanism(name: &'static str, about: &'static str) -> MethodInfo {
    MethodInfo::new(name, about)
}

/// All mechanisms, in report order.
pub const MECHANISMS: &[MethodInfo] = &[
    mechanism(SINGLE, "one persistent message when all threads have finished: bulk-synchronous"),
    mechanism("send", "a blocking send and receive per partition"),
    mechanism("isend", "a nonblocking send per partition"),
    mechanism("persistent", "a persistent send per partition"),
    mechanism("many", "a persistent send per partition, a communicator per thread"),
    mechanism("partitioned", "MPI-4's own partitioned transfer"),
    mechanism("partitioned:list", "the same, all partitions of a thread marked ready in one call"),
    mechanism("partitioned:parrived", "the same, the receiver's threads ask for each partition"),
    mechanism(AGGREGATED, "our own partitioned layer; partitions are merged before they are sent"),
    mechanism("rma_single_passive", "puts into one window under a lock, flushed at the end"),
    mechanism("rma_many_passive", "puts into a window per thread under locks, flushed at the end"),
    mechanism("rma_single_active", "puts into one window between start and complete"),
    mechanism("rma_many_active", "puts into a window per thread between start and complete"),
    mechanism("rma_fence", "puts into a window per thread between fences"),
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
    let stem = match Aggregation::of_mechanism(name) {
        Some(aggregation) => aggregation.map(|_| AGGREGATED)?,
        None => name,
    };
    match BY_LAUNCHES.iter().find(|mechanism| mechanism.name == stem) {
        Some(mechanism) => Ok(mechanism),
        None => find_row(MECHANISMS, "mechanism", stem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aggregated_mechanism_is_found_however_it_aggregates() {
        assert_eq!(find("aggregated:bins=4").unwrap().name, AGGREGATED);
        assert_eq!(find("partitioned:list").unwrap().name, "partitioned:list");
        assert_eq!(find(SINGLE_INIT).unwrap().name, SINGLE_INIT);
        assert!(find(SINGLE_INIT).unwrap().in_own_processes && !find(SINGLE).unwrap().in_own_processes);
        assert!(find("aggregated:bins=0").unwrap_err().contains("bins=0"));
        assert!(find("psend").unwrap_err().contains("rma_fence"));
    }
}
