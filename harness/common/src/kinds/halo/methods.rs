//! The methods by which the messages of an exchange travel. The rank program implements them.

use crate::fine_grained::aggregation::{AGGREGATED, Aggregation, Over};
use crate::fine_grained::functions::PARTITIONED;
use crate::kinds::find as find_row;
use crate::model::{LOOP, MethodInfo};

/// The method against which packing is an overhead.
pub const REFERENCE: &str = "reference";
/// The bulk-synchronous method that speed-ups are over.
pub const MANUAL: &str = "manual";

/// What messages in partitions between many ranks rest on. Where there are several neighbours, MPI is called for one
/// between the start of another's request and its first partition, of any size.
const REQUESTS: &[&str] = &[
    "equal_counts",
    "ring",
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
];
/// What they rest on in some cases: with several threads; and where a rank is its own neighbour, as on a periodic grid with
/// one rank along a dimension.
const IN_SOME: &[&str] = &["pready_threads", "self_communication"];

const fn method(name: &'static str, about: &'static str, from_arrays: bool) -> MethodInfo {
    let method = MethodInfo::new(name, about);
    if from_arrays { method } else { method.contiguous() }
}

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    method(REFERENCE, "contiguous messages of the same sizes, nothing packed", false),
    method(
        MANUAL,
        "the application's loops around nonblocking messages, sent when all threads have packed",
        true,
    )
    .by_hand(),
    method("manual_tuned", "these loops as an expert tunes them by hand, around nonblocking messages", true)
        .by_hand(),
    method(
        LOOP,
        "plain loops over the datatypes' nests, interpreted, around nonblocking messages; of `layout` always",
        true,
    )
    .on_request(),
    method("engine", "our own pack engine around nonblocking messages", true),
    method("ddt", "nonblocking messages with derived datatypes", true),
    method("persistent", "hand-written loops around persistent messages; of `layout` the plain ones", true),
    method("neighbor_alltoallw", "one MPI_Neighbor_alltoallw per stage, with derived datatypes", true)
        .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw"]),
    method("put_ddt", "MPI_Put between fences, with derived datatypes at both ends", true)
        .needs(&["MPI_Win_create", "MPI_Win_fence", "MPI_Put"]),
    method("partitioned", "each thread packs its share of a message by these loops, and marks it ready", true)
        .needs(PARTITIONED)
        .probes(&[REQUESTS, IN_SOME]),
    method("fine", "the same with a persistent message per share, as CMB's fine granularity", true),
    method(
        "aggregated",
        "the same over our own layer, which merges shares into messages worth sending",
        true,
    ),
    method(
        "partitioned_ddt",
        "each thread's share is a partition with a datatype over the face; a request each where shares are uneven",
        true,
    )
    .needs(PARTITIONED)
    .probes(&[REQUESTS, &["datatype_with_gaps"], IN_SOME]),
];

/// Whether an exchange that has loops written by hand, or has none, can travel by a method.
pub fn can(has_loops: bool, method: &str) -> bool {
    has_loops || find(method).is_ok_and(|method| !method.by_hand)
}

/// The method called `name`, or the reason why there is none.
///
/// # Errors
/// A sentence with all names.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    let stem = match Aggregation::of_mechanism(name) {
        Some(Ok(Aggregation { over: Over::Partitioned, .. })) => {
            return Err(format!("method {name:?}: a halo aggregates over messages alone"));
        }
        Some(aggregation) => aggregation.map(|_| AGGREGATED)?,
        None => name,
    };
    find_row(METHODS, "method of a halo", stem)
}
