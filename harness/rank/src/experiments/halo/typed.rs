//! The data of messages as MPI's calls take it: in the arrays by a datatype, or packed in the wire buffers.

use apps::{Message, Side, WireOrder};
use common::packing::Packing;
use datatypes::{Element, Layout};

use super::links::HaloMessage;
use super::method::Parts;
use crate::carrier::MessageData;
use crate::checked::collective::PerPeer;
use crate::checked::{CallError, Comm, Datatype, Partitioned, TeamCalls};
use crate::mechanism::Role;
use crate::mechanism::partitioned::Native;

/// Packed bytes, from this one on.
pub fn packed_bytes(offset: usize, bytes: usize) -> MessageData {
    MessageData::adjacent(offset as i64, bytes, Datatype::predefined(Element::Byte))
}

/// One of a committed datatype, at this byte from array 0.
pub fn typed_layout(origin_bytes: i64, layout: &Layout, comm: &Comm) -> Result<MessageData, CallError> {
    let mut data = MessageData::derived(origin_bytes, 1, layout, comm)?;
    data.create()?;
    Ok(data)
}

/// A message in the arrays with these displacements; no bytes for an empty one, which has no datatype.
pub fn typed_message(
    message: &Message,
    displacements: &[i64],
    comm: &Comm,
) -> Result<MessageData, CallError> {
    if message.pieces.is_empty() {
        return Ok(packed_bytes(0, 0));
    }
    let (origin_bytes, layout) = message.datatype(displacements);
    typed_layout(origin_bytes, &layout, comm)
}

/// The arguments of a collective, for the sent and the received data.
pub fn per_peer<D: TryFrom<i64>>(
    call: &'static str,
    data: &[Vec<MessageData>; 2],
) -> Result<[PerPeer<D>; 2], CallError> {
    let of_side =
        |data: &[MessageData]| PerPeer::from_blocks(call, data.iter().map(|data| data.at(data.offset)));
    Ok([of_side(&data[0])?, of_side(&data[1])?])
}

impl Parts {
    /// This rank's end of a message.
    pub fn data(&self, link: &HaloMessage, packing: Packing) -> Result<MessageData, CallError> {
        match packing.is_typed() {
            true => {
                typed_message(&link.face.message(WireOrder::Ddt), &self.displacements[self.rank], &self.comm)
            }
            false => Ok(packed_bytes(link.wire.start, link.wire.len())),
        }
    }

    /// The address that offsets of such data count from.
    pub fn base(&self, packing: Packing, side: Side) -> *mut u8 {
        match (packing, side) {
            _ if packing.is_typed() => self.memory.address(0),
            (Packing::Staged(_), _) => {
                self.memory.staging(side).expect("only data of a device is staged").address
            }
            (_, Side::Send) => self.memory.outgoing.for_mpi(),
            (_, Side::Receive) => self.memory.incoming.for_mpi(),
        }
    }
}

/// One end of a message with this number of partitions; the first starts where `typed` does, and nothing is
/// packed. `tag` follows those of the link.
pub fn typed_partitions(
    parts: &Parts,
    comm: &Comm,
    (link, role): (&HaloMessage, Role),
    typed: MessageData,
    (partitions, tag): (usize, usize),
    calls: TeamCalls,
) -> Result<Native, CallError> {
    let address = parts.memory.address(typed.offset);
    let envelope = typed.envelope(link.peer, link.tag * parts.threads + tag, comm);
    // SAFETY: the partitions are within the arrays, which outlive the method; threads do not change shares
    // that they have marked, and received data is not used before the stage ends.
    let request = unsafe { Partitioned::new(role == Role::Sender, address, partitions, envelope) }?;
    Ok(Native::typed(request, typed, role, calls))
}
