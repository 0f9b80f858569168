//! The methods by which something is communicated beside a computation. The rank program implements them.

use crate::model::{LOOP, MethodInfo};

/// The method against which packing is an overhead.
pub const REFERENCE: &str = "reference";
/// An operation's nonblocking form.
pub const NONBLOCKING: &str = "nonblocking";
/// An operation's persistent form; of messages and exchanges, persistent messages that are packed by hand.
pub const PERSISTENT: &str = "persistent";
/// Persistent messages with datatypes.
pub const PERSISTENT_DDT: &str = "persistent_ddt";
/// One collective call for a whole stage of an exchange.
pub const NEIGHBOUR: &str = "ineighbor_alltoallw";
/// Its persistent form.
pub const PERSISTENT_NEIGHBOUR: &str = "persistent_neighbor_alltoallw";

/// All methods, in report order.
pub const METHODS: &[MethodInfo] = &[
    MethodInfo::new(NONBLOCKING, "the operation's nonblocking form, as MPI_Ibcast"),
    MethodInfo::new(REFERENCE, "nonblocking messages of the same number of contiguous bytes, nothing packed")
        .contiguous(),
    MethodInfo::new(
        "manual",
        "the application's loops pack before the message is started, and unpack when it is there",
    )
    .by_hand(),
    MethodInfo::new("manual_tuned", "these loops as an expert tunes them by hand").by_hand(),
    MethodInfo::new(LOOP, "a plain loop over the datatype's nest, interpreted, in their place; of `layout` always")
        .on_request(),
    MethodInfo::new("mpi_pack", "MPI_Pack and MPI_Unpack in their place"),
    MethodInfo::new("engine", "our own pack engine in their place"),
    MethodInfo::new("ddt", "nonblocking messages with derived datatypes; of an all-to-all, MPI_Ialltoallw"),
    MethodInfo::new(
        PERSISTENT,
        "made once and started: the operation's persistent form, as MPI_Bcast_init; of a test or a halo, messages that the \
         application's loops pack",
    )
    .by_hand(),
    MethodInfo::new(
        PERSISTENT_DDT,
        "persistent messages with derived datatypes; of an all-to-all, MPI_Alltoallw_init",
    ),
    MethodInfo::new(NEIGHBOUR, "one MPI_Ineighbor_alltoallw per stage of a halo, with derived datatypes")
        .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Ineighbor_alltoallw"]),
    MethodInfo::new(
        PERSISTENT_NEIGHBOUR,
        "its persistent form, MPI_Neighbor_alltoallw_init, made once and started",
    )
    .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw_init"]),
];
