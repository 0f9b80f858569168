//! The methods for communication during a computation. The rank program implements them.

use crate::kinds::halo::methods::{Call, HaloTransfer, Topology};
use crate::model::{LOOP, MethodInfo, MethodRow, find_method, info, infos};
use crate::packing::{Form, Packing};

/// The method relative to which packing is an overhead.
pub const REFERENCE: &str = "reference";
/// An operation's nonblocking form.
pub const NONBLOCKING: &str = "nonblocking";
/// An operation's persistent form. For messages and exchanges: persistent messages that are packed by hand.
pub const PERSISTENT: &str = "persistent";
/// How each kind of communication is sent by a method; `None` if the method does not support it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverlapTransfer {
    pub operation: Option<Form>,
    /// The message of a test; both ends are packed alike.
    pub message: Option<(Form, Packing)>,
    pub exchange: Option<HaloTransfer>,
}

/// All methods, in report order.
const ROWS: &[MethodRow<OverlapTransfer>] = {
    use Form::{Nonblocking, Persistent};
    const NONE: OverlapTransfer = OverlapTransfer { operation: None, message: None, exchange: None };
    /// Messages, and exchanges of messages.
    const fn messages(form: Form, packing: Packing) -> OverlapTransfer {
        let exchange = Some(HaloTransfer::Bulk(Call::Messages(form), packing));
        OverlapTransfer { message: Some((form, packing)), exchange, ..NONE }
    }
    const fn neighbour(form: Form) -> OverlapTransfer {
        let call = Call::Neighbour(Topology::Graph, Some(form));
        OverlapTransfer { exchange: Some(HaloTransfer::Bulk(call, Packing::Datatype)), ..NONE }
    }
    &[
        info(NONBLOCKING, "the operation's nonblocking form, such as MPI_Ibcast")
            .made_of(OverlapTransfer { operation: Some(Nonblocking), ..NONE }),
        info(REFERENCE, "nonblocking messages of the same number of contiguous bytes, nothing packed")
            .contiguous()
            .made_of(messages(Nonblocking, Packing::Wire)),
        info(
            "manual",
            "the application's loops pack before the message starts, and unpack after it arrives",
        )
        .by_hand()
        .made_of(messages(Nonblocking, Packing::ByHand)),
        info("manual_tuned", "these loops tuned by an expert")
            .by_hand()
            .made_of(messages(Nonblocking, Packing::Tuned)),
        info(LOOP, "a generic (interpreted) loop over the datatype's nesting instead; always for `layout`")
            .on_request()
            .made_of(messages(Nonblocking, Packing::Looped)),
        info("mpi_pack", "MPI_Pack and MPI_Unpack instead")
            .made_of(OverlapTransfer { message: Some((Nonblocking, Packing::Mpi)), ..NONE }),
        info("engine", "our pack engine instead")
            .made_of(messages(Nonblocking, Packing::Engine)),
        info("ddt", "nonblocking messages with derived datatypes; for an all-to-all, MPI_Ialltoallw")
            .made_of(messages(Nonblocking, Packing::Datatype)),
        info(
            PERSISTENT,
            "made once and started: the operation's persistent form, as MPI_Bcast_init; of a test or a halo, messages that the \
             application's loops pack",
        )
        .by_hand()
        .made_of(OverlapTransfer {
            operation: Some(Persistent),
            ..messages(Persistent, Packing::ByHand)
        }),
        info("persistent_ddt", "persistent messages with derived datatypes; for an all-to-all, MPI_Alltoallw_init")
            .made_of(messages(Persistent, Packing::Datatype)),
        info(
            "ineighbor_alltoallw",
            "one MPI_Ineighbor_alltoallw per stage of a halo, with derived datatypes",
        )
        .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Ineighbor_alltoallw"])
        .made_of(neighbour(Nonblocking)),
        info(
            "persistent_neighbor_alltoallw",
            "its persistent form, MPI_Neighbor_alltoallw_init, created once",
        )
        .needs(&["MPI_Dist_graph_create_adjacent", "MPI_Neighbor_alltoallw_init"])
        .made_of(neighbour(Persistent)),
    ]
};

/// Their descriptions.
pub const METHODS: &[MethodInfo] = &infos::<_, { ROWS.len() }>(ROWS);

/// How communication is sent by the method called `name`.
pub fn transfer(name: &str) -> Result<OverlapTransfer, String> {
    Ok(find_method(ROWS, "method", name)?.made_of)
}
