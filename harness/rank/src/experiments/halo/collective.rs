//! Collectives, one per stage. Neighbourhood collectives are over a graph of the stage's neighbours, or over the grid of the ranks, whose
//! neighbours without a message in a stage get an empty one: with a datatype for each neighbour (`MPI_Neighbor_alltoallw`), or with counts
//! of packed bytes (`MPI_Neighbor_alltoallv`). `alltoallw` is among all ranks: all messages between two ranks are one datatype, in the
//! order of their tags, which is the same at both ends.
//!
//! On a grid, neighbours are in the order of the dimensions, the lower one first. A message that is sent upwards arrives
//! from the lower neighbour. This also applies if both neighbours are the same rank, or the rank itself (MPI-4.1 §8.6).

use std::ffi::c_int;

use apps::{Message, WireOrder};
use common::kinds::halo::methods::Topology;
use common::packing::{Form, Packing};
use mpi::ffi::MPI_Aint;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::{packed_bytes, per_peer, typed_message};
use crate::carrier::{MessageData, Repeated};
use crate::checked::collective::{PerPeer, all_to_all_w, neighbor_all_to_all_v, neighbor_all_to_all_w};
use crate::checked::{CallError, Comm, Request};
use crate::handoff::Slot;

/// A stage's communicator, and its arguments for MPI.
struct StageCollective {
    comm: Comm,
    arguments: BlockArguments,
    /// The data sent to each neighbour, and received from it.
    data: [Vec<MessageData>; 2],
}

/// The data sent to and received from each neighbour.
enum BlockArguments {
    /// A datatype in the arrays.
    Typed([PerPeer<MPI_Aint>; 2]),
    /// Bytes in the wire buffers.
    Packed([PerPeer<c_int>; 2]),
    /// A datatype in the arrays for each rank, whether it is a neighbour or not.
    AllRanks([PerPeer<c_int>; 2]),
}

pub struct StageCollectives<'a> {
    parts: &'a Parts,
    /// `None` for the blocking form.
    form: Option<Form>,
    stages: Vec<StageCollective>,
    transfers: Vec<Slot<Repeated>>,
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

impl<'a> StageCollectives<'a> {
    /// Between neighbours, or without a topology among all ranks; collective.
    pub fn new(
        parts: &'a Parts,
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
        let mut made = Self { parts, form, stages: Vec::new(), transfers: Vec::new() };
        for stage in &parts.links.stages {
            let data = [data(&stage.sends, true)?, data(&stage.receives, false)?];
            let arguments = match (topology, packing.is_typed()) {
                (None, _) => BlockArguments::AllRanks(per_peer("MPI_Alltoallw", &data)?),
                (_, true) => BlockArguments::Typed(per_peer("MPI_Neighbor_alltoallw", &data)?),
                (_, false) => BlockArguments::Packed(per_peer("MPI_Neighbor_alltoallv", &data)?),
            };
            let comm = match topology {
                Some(Topology::Graph) => parts.comm.graph(&peers(&stage.receives), &peers(&stage.sends))?,
                Some(Topology::Cartesian) | None => parts.comm.duplicate()?,
            };
            let stage = StageCollective { comm, arguments, data };
            // SAFETY: no thread uses a method during its set-up; lists and types live until the requests are freed.
            let request = || unsafe { made.request(&stage) };
            let transfer = Repeated::new(form, Request::null(&parts.comm), request)?;
            made.transfers.push(Slot::new(transfer));
            made.stages.push(stage);
        }
        Ok(made)
    }

    /// The request of a stage.
    ///
    /// # Safety
    /// The data is not used until it is complete, or as long as a persistent one is active.
    unsafe fn request(&self, stage: &StageCollective) -> Result<Request, CallError> {
        let (memory, comm, form) = (&self.parts.memory, &stage.comm, self.form);
        let base = memory.address(0);
        // SAFETY: faces are within the arrays, messages within the wire buffers, and sent and received ones
        // do not overlap; lists and types live as long as the method. The caller guarantees the rest.
        unsafe {
            match &stage.arguments {
                BlockArguments::Typed([sends, receives]) => {
                    neighbor_all_to_all_w(form, comm, (base.cast_const(), sends), (base, receives))
                }
                BlockArguments::Packed([sends, receives]) => {
                    let (from, to) = (memory.outgoing.for_mpi().cast_const(), memory.incoming.for_mpi());
                    neighbor_all_to_all_v(form, comm, (from, sends), (to, receives), &self.parts.byte)
                }
                BlockArguments::AllRanks([sends, receives]) => {
                    all_to_all_w(form, comm, (base.cast_const(), sends), (base, receives))
                }
            }
        }
    }
}

impl HaloMethod for StageCollectives<'_> {
    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the send and receive buffers are not used before the end of the stage.
        unsafe { self.transfers[stage].get().start(|| self.request(&self.stages[stage])) }
    }

    unsafe fn test(&self, stage: usize) -> Result<bool, CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.transfers[stage].get() }.test()
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.transfers[stage].get() }.wait()
    }

    fn messages(&self) -> usize {
        let sends = self.stages.iter().flat_map(|stage| &stage.data[0]);
        sends.filter(|data| data.count > 0).count()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.transfers.into_iter().try_for_each(|transfer| transfer.into_inner().free())?;
        let mut data = self.stages.into_iter().flat_map(|stage| stage.data).flatten();
        data.try_for_each(|mut data| data.free())
    }
}
