//! The methods by which the messages of an exchange travel. The rank program implements them.

use std::sync::LazyLock;

use apps::halo::HaloApp;

use crate::fine_grained::aggregation::{AGGREGATED, Aggregation, Grouping, Over};
use crate::fine_grained::functions::PARTITIONED;
use crate::kinds::pingpong::methods::{BY_COPIES, COPIES, STAGED_REFERENCE};
use crate::model::{LOOP, MANUAL_TUNED, MethodInfo, MethodRow, OWN, Place, find_method, info};
use crate::packing::{Form, Packing, Staged};

/// The method relative to which packing is an overhead.
pub const REFERENCE: &str = "reference";
pub use crate::model::MANUAL;

/// Checks that messages in partitions between many ranks depend on. With several neighbours, MPI calls for one
/// neighbour happen between the start of another's request and its first partition, with messages of any size.
const REQUESTS: &[&str] = &[
    "equal_counts",
    "ring",
    "progress_before_first_pready_8b",
    "progress_before_first_pready_4kib",
    "progress_before_first_pready_64kib",
];
/// Checks that they depend on in some cases: with several threads, and if a rank is its own neighbour, as on
/// a periodic grid with one rank along a dimension.
const IN_SOME: &[&str] = &["pready_threads", "self_communication"];

/// How the messages of all neighbours are sent. In the fine-grained ways, threads call MPI themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HaloTransfer {
    /// By one thread, after all threads have packed.
    Bulk(Call, Packing),
    /// By one `MPI_Alltoallw` per stage with datatypes.
    AllToAllW,
    /// Each thread sends its share.
    Fine(FineTransport),
}

/// The calls that carry the messages of a stage, packed or with datatypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// A message per neighbour.
    Messages(Form),
    /// A put per neighbour, between fences.
    Put,
    /// One neighbourhood collective: blocking, or in another form. With counts if packed, otherwise with datatypes.
    Neighbour(Topology, Option<Form>),
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
            Self::AllToAllW | Self::Fine(FineTransport::PartitionedDatatypes) => Packing::Datatype,
            Self::Fine(_) => Packing::ByHand,
        }
    }
}

/// A packing as a part of a method's name, and in words.
const PACKINGS: [(&str, &str, Packing); 3] = [
    ("manual", "the application's loops", Packing::ByHand),
    ("engine", "our pack engine", Packing::Engine),
    ("ddt", "derived datatypes", Packing::Datatype),
];

impl Call {
    /// All except nonblocking messages, whose methods are called by their packing only.
    const OTHERS: [Self; 8] = {
        use Form::{Nonblocking, Persistent};
        use Topology::{Cartesian, Graph};
        [
            Self::Messages(Persistent),
            Self::Put,
            Self::Neighbour(Graph, None),
            Self::Neighbour(Cartesian, None),
            Self::Neighbour(Graph, Some(Nonblocking)),
            Self::Neighbour(Cartesian, Some(Nonblocking)),
            Self::Neighbour(Graph, Some(Persistent)),
            Self::Neighbour(Cartesian, Some(Persistent)),
        ]
    };

    /// The MPI function of a neighbourhood collective.
    const fn function(form: Option<Form>, is_typed: bool) -> &'static str {
        match (form, is_typed) {
            (None, false) => "MPI_Neighbor_alltoallv",
            (None, true) => "MPI_Neighbor_alltoallw",
            (Some(Form::Nonblocking), false) => "MPI_Ineighbor_alltoallv",
            (Some(Form::Nonblocking), true) => "MPI_Ineighbor_alltoallw",
            (Some(Form::Persistent), false) => "MPI_Neighbor_alltoallv_init",
            (Some(Form::Persistent), true) => "MPI_Neighbor_alltoallw_init",
        }
    }

    /// The name of a method of this call, and its description.
    fn named(self, (packing, words, how): (&str, &str, Packing)) -> (String, String) {
        let with = if how.is_typed() { "with" } else { "packed by" };
        match self {
            Self::Messages(_) if packing == "manual" => (
                "persistent".to_owned(),
                format!("persistent messages, {with} {words}; generic loops for `layout`"),
            ),
            Self::Messages(_) => {
                (format!("persistent_{packing}"), format!("persistent messages, {with} {words}"))
            }
            Self::Put => {
                let ends = if how.is_typed() { " at both ends" } else { "" };
                (format!("put_{packing}"), format!("MPI_Put between fences, {with} {words}{ends}"))
            }
            Self::Neighbour(topology, form) => {
                let letter = if how.is_typed() { "w" } else { "v" };
                let name = match form {
                    None => format!("neighbor_alltoall{letter}"),
                    Some(Form::Nonblocking) => format!("ineighbor_alltoall{letter}"),
                    Some(Form::Persistent) => format!("persistent_neighbor_alltoall{letter}"),
                };
                let engine = if how == Packing::Engine { "_engine" } else { "" };
                let (cart, on) = match topology {
                    Topology::Graph => ("", "a graph of its neighbours"),
                    Topology::Cartesian => (
                        ":cart",
                        "the communicator of MPI_Cart_create, with empty messages to neighbours without one",
                    ),
                };
                let function = Self::function(form, how.is_typed());
                (
                    format!("{name}{engine}{cart}"),
                    format!("one {function} per stage, {with} {words}, on {on}"),
                )
            }
        }
    }

    /// The functions that not every MPI has.
    fn needs(self, is_typed: bool) -> Vec<&'static str> {
        match self {
            Self::Messages(_) => Vec::new(),
            Self::Put => vec!["MPI_Win_create", "MPI_Win_fence", "MPI_Put"],
            Self::Neighbour(Topology::Graph, form) => {
                vec!["MPI_Dist_graph_create_adjacent", Self::function(form, is_typed)]
            }
            Self::Neighbour(Topology::Cartesian, form) => vec![Self::function(form, is_typed)],
        }
    }

    /// Whether a method is measured only on request.
    fn is_on_request(self, packing: Packing) -> bool {
        let is_usual = match self {
            Self::Messages(_) => packing != Packing::Engine,
            Self::Put | Self::Neighbour(Topology::Graph, None) => packing.is_typed(),
            Self::Neighbour(..) => false,
        };
        !is_usual
    }

    /// The method of this call and a packing.
    fn row(self, packing: (&str, &str, Packing)) -> MethodRow<HaloTransfer> {
        // Made once, for the whole run.
        let (name, about) = self.named(packing);
        let info = info(name.leak(), about.leak()).needs(self.needs(packing.2.is_typed()).leak());
        let info = if self.is_on_request(packing.2) { info.on_request() } else { info };
        info.made_of(HaloTransfer::Bulk(self, packing.2))
    }
}

/// All methods, in report order: packings with nonblocking messages, then each call with each packing, then
/// those in which threads send their shares.
static ROWS: LazyLock<Vec<MethodRow<HaloTransfer>>> = LazyLock::new(|| {
    let messages = |packing| HaloTransfer::Bulk(Call::Messages(Form::Nonblocking), packing);
    let mut rows = vec![
        info(REFERENCE, "contiguous messages of the same sizes, nothing packed")
            .contiguous()
            .made_of(messages(Packing::Wire)),
        info(STAGED_REFERENCE, "the same from memory of a device, copied to the host, which sends it")
            .contiguous()
            .made_of(messages(Packing::Staged(Staged::Wire))),
        info(OWN, "your loop with nonblocking messages, called with the tag of each; with --pack FILE")
            .on_request()
            .made_of(messages(Packing::Own)),
        info(MANUAL, "the application's loops with nonblocking messages, sent when all threads have packed")
            .by_hand()
            .made_of(messages(Packing::ByHand)),
        info(MANUAL_TUNED, "these loops tuned by an expert, with nonblocking messages")
            .by_hand()
            .made_of(messages(Packing::Tuned)),
        info(
            LOOP,
            "generic (interpreted) loops over the datatypes' nesting, with nonblocking messages; always for `layout`",
        )
        .on_request()
        .made_of(messages(Packing::Looped)),
        info("engine", "our pack engine with nonblocking messages").made_of(messages(Packing::Engine)),
        info("engine:mapped", "packed on a device into memory of the host that it sees, which sends it")
            .against(STAGED_REFERENCE)
            .made_of(messages(Packing::Staged(Staged::Mapped))),
        info("engine:staged", "packed on a device, copied to the host, which sends it")
            .against(STAGED_REFERENCE)
            .made_of(messages(Packing::Staged(Staged::Engine))),
        info(COPIES, BY_COPIES)
            .against(STAGED_REFERENCE)
            .made_of(messages(Packing::Staged(Staged::Copies))),
        info("ddt", "nonblocking messages with derived datatypes").made_of(messages(Packing::Datatype)),
    ];
    rows.extend(Call::OTHERS.iter().flat_map(|call| PACKINGS.map(|packing| call.row(packing))));
    rows.extend([
        info(
            "alltoallw",
            "one MPI_Alltoallw per stage, with a derived datatype for all messages to a rank, and none for ranks without one",
        )
        .on_request()
        .made_of(HaloTransfer::AllToAllW),
        info("partitioned", "each thread packs its share of a message by these loops, and marks it ready")
            .needs(PARTITIONED)
            .checks(&[REQUESTS, IN_SOME])
            .made_of(HaloTransfer::Fine(FineTransport::Partitioned)),
        info("fine", "the same with a persistent message per share, like CMB's fine granularity")
            .made_of(HaloTransfer::Fine(FineTransport::Fine)),
        info(AGGREGATED, "the same with our own layer, which merges small shares into larger messages")
            .made_of(HaloTransfer::Fine(FineTransport::Aggregated(Grouping::Adaptive))),
        info(
            "partitioned_ddt",
            "each thread's share is a partition with a datatype for its part of the face; uneven shares are separate requests",
        )
        .needs(PARTITIONED)
        .checks(&[REQUESTS, &["datatype_with_gaps"], IN_SOME])
        .made_of(HaloTransfer::Fine(FineTransport::PartitionedDatatypes)),
    ]);
    for MethodRow { info, made_of } in &mut rows {
        *info = match made_of {
            HaloTransfer::Fine(_) => info.only_in(Place::Host),
            _ => made_of.packing().only_where_possible(*info),
        };
    }
    rows
});

/// Their descriptions.
pub fn methods() -> &'static [MethodInfo] {
    static METHODS: LazyLock<Vec<MethodInfo>> = LazyLock::new(|| ROWS.iter().map(|row| row.info).collect());
    &METHODS
}

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
        HaloTransfer::Bulk(Call::Neighbour(Topology::Cartesian, _), _)
            if app.grid().is_none() || !(0..ranks).all(is_along_grid) =>
        {
            Some(NOT_ALONG_A_GRID)
        }
        _ => None,
    }
}

/// The method called `name`, or the reason why there is none.
pub fn find(name: &str) -> Result<&'static MethodInfo, String> {
    Ok(&row(name)?.0.info)
}

/// How messages are sent by the method called `name`.
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
    Ok((find_method(&ROWS, "method of a halo", stem)?, aggregation.map(|aggregation| aggregation.grouping)))
}
