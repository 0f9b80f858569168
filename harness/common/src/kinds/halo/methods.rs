//! The methods by which the messages of an exchange travel. The rank program implements them.

use apps::halo::HaloApp;

use crate::fine_grained::aggregation::{AGGREGATED, Aggregation, Grouping, Over};
use crate::fine_grained::functions::PARTITIONED;
use crate::model::{LOOP, MethodInfo, MethodRow, find_method, info, infos};
use crate::packing::{Form, Packing};

/// The method relative to which packing is an overhead.
pub const REFERENCE: &str = "reference";
/// The bulk-synchronous method that speed-ups are relative to.
pub const MANUAL: &str = "manual";

/// Checks that messages in partitions between many ranks depend on. With several neighbours, MPI calls for one
/// neighbour happen between the start of another's request and its first partition, with messages of any size.
const REQUESTS: &[&str] = &[
    "equal_counts",
    "ring",
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
];
/// Checks that they depend on in some cases: with several threads, and if a rank is its own neighbour, as on a periodic
/// grid with one rank along a dimension.
const IN_SOME: &[&str] = &["pready_threads", "self_communication"];

/// How the messages of all neighbours are sent. In the fine-grained ways, threads call MPI themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaloTransfer {
    /// By one thread, after all threads have packed.
    Bulk(Form, Packing),
    /// By one `MPI_Neighbor_alltoallw` per stage with datatypes: blocking, or in another form.
    Neighbour(Topology, Option<Form>),
    /// By one `MPI_Alltoallw` per stage with datatypes.
    AllToAllW,
    /// By puts between fences, with datatypes.
    Put,
    /// Each thread sends its share.
    Fine(FineTransport),
}

/// The communicator of a neighbourhood collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A graph with the neighbours of a stage.
    Graph,
    /// The grid of the ranks, which has all neighbours along its dimensions.
    Cartesian,
}

/// The transfers that carry the shares of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FineTransport {
    /// MPI-4's partitioned communication; shares are packed by the application's loops.
    Partitioned,
    /// The same with datatypes over the face.
    PartitionedDatatypes,
    /// A persistent message per share.
    Fine,
    /// Persistent messages of shares, merged by our own layer with a mapping that is fixed beforehand.
    Aggregated(Grouping),
}

impl HaloTransfer {
    /// How shares are packed.
    pub const fn packing(self) -> Packing {
        match self {
            Self::Bulk(_, packing) => packing,
            Self::Neighbour(..)
            | Self::AllToAllW
            | Self::Put
            | Self::Fine(FineTransport::PartitionedDatatypes) => Packing::Datatype,
            Self::Fine(_) => Packing::ByHand,
        }
    }
}

/// All methods, in report order.
const ROWS: &[MethodRow<HaloTransfer>] = {
    use HaloTransfer::{AllToAllW, Bulk, Fine, Neighbour, Put};
    const fn bulk(packing: Packing) -> HaloTransfer {
        Bulk(Form::Nonblocking, packing)
    }
    &[
        info(REFERENCE, "contiguous messages of the same sizes, nothing packed")
            .contiguous()
            .made_of(bulk(Packing::Wire)),
        info(MANUAL, "the application's loops with nonblocking messages, sent when all threads have packed")
            .by_hand()
            .made_of(bulk(Packing::ByHand)),
        info("manual_tuned", "these loops tuned by an expert, with nonblocking messages")
            .by_hand()
            .made_of(bulk(Packing::Tuned)),
        info(
            LOOP,
            "generic (interpreted) loops over the datatypes' nesting, with nonblocking messages; always for `layout`",
        )
        .on_request()
        .made_of(bulk(Packing::Looped)),
        info("engine", "our pack engine with nonblocking messages").made_of(bulk(Packing::Engine)),
        info("ddt", "nonblocking messages with derived datatypes").made_of(bulk(Packing::Datatype)),
        info("persistent", "hand-written loops with persistent messages; generic loops for `layout`")
            .made_of(Bulk(Form::Persistent, Packing::ByHand)),
        info("persistent_ddt", "persistent messages with derived datatypes")
            .made_of(Bulk(Form::Persistent, Packing::Datatype)),
        info("neighbor_alltoallw", "one MPI_Neighbor_alltoallw per stage, with derived datatypes, on a graph of its neighbours")
            .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw"])
            .made_of(Neighbour(Topology::Graph, None)),
        info(
            "neighbor_alltoallw:cart",
            "the same on the communicator of MPI_Cart_create; empty messages to neighbours that a stage does not have",
        )
        .needs(&["MPI_Neighbor_alltoallw"])
        .on_request()
        .made_of(Neighbour(Topology::Cartesian, None)),
        info(
            "alltoallw",
            "one MPI_Alltoallw per stage, with a derived datatype for all messages to a rank, and none for ranks without one",
        )
        .on_request()
        .made_of(AllToAllW),
        info("put_ddt", "MPI_Put between fences, with derived datatypes at both ends")
            .needs(&["MPI_Win_create", "MPI_Win_fence", "MPI_Put"])
            .made_of(Put),
        info("partitioned", "each thread packs its share of a message by these loops, and marks it ready")
            .needs(PARTITIONED)
            .checks(&[REQUESTS, IN_SOME])
            .made_of(Fine(FineTransport::Partitioned)),
        info("fine", "the same with a persistent message per share, like CMB's fine granularity")
            .made_of(Fine(FineTransport::Fine)),
        info(AGGREGATED, "the same with our own layer, which merges small shares into larger messages")
            .made_of(Fine(FineTransport::Aggregated(Grouping::Adaptive))),
        info(
            "partitioned_ddt",
            "each thread's share is a partition with a datatype for its part of the face; uneven shares are separate requests",
        )
        .needs(PARTITIONED)
        .checks(&[REQUESTS, &["datatype_with_gaps"], IN_SOME])
        .made_of(Fine(FineTransport::PartitionedDatatypes)),
    ]
};

/// Their descriptions.
pub const METHODS: &[MethodInfo] = &infos::<_, { ROWS.len() }>(ROWS);

/// Why a method does not support an exchange between this number of ranks; `None` if it does.
pub fn lack(app: &dyn HaloApp, ranks: usize, method: &str) -> Option<&'static str> {
    const NO_LOOPS: &str = "it has no hand-written loops; use loop instead";
    const NOT_ALONG_A_GRID: &str =
        "not all of its messages go to the next rank along one dimension of a grid";
    let Ok(row) = row(method) else { return None };
    let (MethodRow { info, made_of }, _) = row;
    let is_along_grid = |rank: usize| {
        let mut sends = app.stages(rank).into_iter().flat_map(|stage| stage.sends);
        sends.all(|send| app.along_grid(send.tag).is_some())
    };
    match made_of {
        _ if info.by_hand && !app.has_loops() => Some(NO_LOOPS),
        HaloTransfer::Neighbour(Topology::Cartesian, _)
            if app.grid().is_none() || !(0..ranks).all(is_along_grid) =>
        {
            Some(NOT_ALONG_A_GRID)
        }
        _ => None,
    }
}

/// The method called `name`, or the reason why there is none.
///
/// # Errors
/// A message with all names.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    Ok(&row(name)?.0.info)
}

/// How messages are sent by the method called `name`.
///
/// # Errors
/// As [`find`].
pub fn transfer(name: &str) -> Result<HaloTransfer, String> {
    let (row, grouping) = row(name)?;
    let aggregated = |grouping| HaloTransfer::Fine(FineTransport::Aggregated(grouping));
    Ok(grouping.map_or(row.made_of, aggregated))
}

/// The row of a method, and how shares are merged according to its name.
fn row(name: &str) -> Result<(&'static MethodRow<HaloTransfer>, Option<Grouping>), String> {
    let aggregation = Aggregation::of_mechanism(name).transpose()?;
    if aggregation.is_some_and(|aggregation| aggregation.over == Over::Partitioned) {
        return Err(format!("method {name:?}: a halo aggregates only messages"));
    }
    let stem = if aggregation.is_some() { AGGREGATED } else { name };
    Ok((find_method(ROWS, "method of a halo", stem)?, aggregation.map(|aggregation| aggregation.grouping)))
}
