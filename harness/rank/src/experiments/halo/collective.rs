//! Collectives, one per stage. Neighbourhood collectives are over a graph of the stage's neighbours, or over the grid of the ranks, whose
//! neighbours without a message in a stage get an empty one: with a datatype for each neighbour (`MPI_Neighbor_alltoallw`), or with counts
//! of packed bytes (`MPI_Neighbor_alltoallv`). `alltoallw` is among all ranks: all messages between two ranks are one datatype, in the
//! order of their tags, which is the same at both ends.
//!
//! On a grid, neighbours are in the order of the dimensions, the lower one first. A message that is sent upwards arrives
//! from the lower neighbour. This also applies if both neighbours are the same rank, or the rank itself (MPI-4.1 §8.6).

use apps::{Message, Side, WireOrder};
use common::kinds::halo::methods::Topology;
use common::packing::{Form, Packing};

use super::links::{HaloMessage, StageLinks};
use super::method::{HaloMethod, Parts};
use super::typed::{packed_bytes, per_peer, typed_message};
use crate::carrier::{MessageData, Repeated};
use crate::checked::collective::CollectiveCall;
use crate::checked::{CallError, Comm};
use crate::handoff::Slot;

struct StageCollective {
    transfer: Slot<Repeated>,
    /// The data sent to each neighbour, and received from it.
    data: [Vec<MessageData>; 2],
    _comm: Comm,
}

pub struct StageCollectives {
    stages: Vec<StageCollective>,
}

/// The messages for all neighbours of a communicator, in its order.
fn by_neighbour(
    links: &[HaloMessage],
    topology: Topology,
    dimensions: usize,
    is_sent: bool,
) -> Vec<Option<&HaloMessage>> {
    match topology {
        Topology::Graph => links.iter().map(Some).collect(),
        Topology::Cartesian => {
            let mut all = vec![None; 2 * dimensions];
            for link in links {
                let (dimension, up) = link.along.expect("`lack` refuses messages in other directions");
                all[2 * dimension + usize::from(up == is_sent)] = Some(link);
            }
            all
        }
    }
}

impl StageCollectives {
    /// Between neighbours, or without a topology among all ranks; collective.
    pub fn new(
        parts: &Parts,
        topology: Option<Topology>,
        form: Option<Form>,
        packing: Packing,
    ) -> Result<Self, CallError> {
        let peers = |links: &[HaloMessage]| links.iter().map(|link| link.peer).collect::<Vec<_>>();
        let of_link = |link: Option<&HaloMessage>| match link {
            Some(link) => parts.data(link, packing),
            None => Ok(packed_bytes(0, 0)),
        };
        let of_rank = |links: &[HaloMessage], rank| {
            let links = links.iter().filter(|link| link.peer == rank);
            let pieces = links.flat_map(|link| link.face.message(WireOrder::Ddt).pieces).collect();
            typed_message(&Message { pieces }, &parts.displacements[parts.rank], &parts.comm)
        };
        let data = |links: &[HaloMessage], is_sent| -> Result<Vec<MessageData>, CallError> {
            match topology {
                Some(topology) => {
                    let links = by_neighbour(links, topology, parts.dimensions, is_sent);
                    links.into_iter().map(of_link).collect()
                }
                None => (0..parts.displacements.len()).map(|rank| of_rank(links, rank)).collect(),
            }
        };
        let bases = [Side::Send, Side::Receive].map(|side| parts.base(packing, side));
        let stage = |stage: &StageLinks| {
            let data = [data(&stage.sends, true)?, data(&stage.receives, false)?];
            let comm = match topology {
                Some(Topology::Graph) => parts.comm.graph(&peers(&stage.receives), &peers(&stage.sends))?,
                Some(Topology::Cartesian) | None => parts.comm.duplicate()?,
            };
            let call = match (topology, packing.is_typed()) {
                (None, _) => CollectiveCall::all_to_all_w(&comm, bases, per_peer("MPI_Alltoallw", &data)?),
                (_, true) => {
                    CollectiveCall::neighbor_w(&comm, bases, per_peer("MPI_Neighbor_alltoallw", &data)?)
                }
                (_, false) => {
                    let lists = per_peer("MPI_Neighbor_alltoallv", &data)?;
                    CollectiveCall::neighbor_v(&comm, bases, lists, &parts.byte)
                }
            };
            // SAFETY: faces are within the arrays, messages within the wire buffers, and sent and received ones do
            // not overlap. They, types and communicator live as long as the method, whose functions guarantee
            // that the data is not used between start and end of a stage.
            let transfer = Slot::new(unsafe { Repeated::collective(form, call) }?);
            Ok(StageCollective { transfer, data, _comm: comm })
        };
        Ok(Self { stages: parts.links.stages.iter().map(stage).collect::<Result<_, CallError>>()? })
    }
}

impl HaloMethod for StageCollectives {
    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the send and receive buffers are not used before the end of the stage.
        unsafe { self.stages[stage].transfer.get() }.start()
    }

    unsafe fn test(&self, stage: usize) -> Result<bool, CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.stages[stage].transfer.get() }.test()
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.stages[stage].transfer.get() }.wait()
    }

    fn messages(&self) -> usize {
        let sends = self.stages.iter().flat_map(|stage| &stage.data[0]);
        sends.filter(|data| data.count > 0).count()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.stages.into_iter().try_for_each(|StageCollective { transfer, data, .. }| {
            transfer.into_inner().free()?;
            data.into_iter().flatten().try_for_each(|mut data| data.free())
        })
    }
}
