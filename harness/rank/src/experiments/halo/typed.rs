//! Faces as MPI's datatypes, and partitioned messages of them.

use apps::{Face, Message, WireOrder};
use datatypes::Layout;

use super::links::HaloMessage;
use super::method::Parts;
use crate::checked::{CallError, Comm, Datatype, Envelope, Partitioned, Recipe, TeamCalls};
use crate::mechanism::Role;
use crate::mechanism::partitioned::Native;

/// A committed datatype, and its byte offset from array 0.
pub struct Typed {
    pub origin_bytes: i64,
    pub datatype: Datatype,
}

impl Typed {
    /// A face in the arrays with these displacements; `None` for an empty one.
    pub fn of(face: &Face, displacements: &[i64], comm: &Comm) -> Result<Option<Self>, CallError> {
        Self::of_message(&face.message(WireOrder::Ddt), displacements, comm)
    }

    /// The same for a message.
    pub fn of_message(
        message: &Message,
        displacements: &[i64],
        comm: &Comm,
    ) -> Result<Option<Self>, CallError> {
        if message.pieces.is_empty() {
            return Ok(None);
        }
        let (origin_bytes, layout) = message.datatype(displacements);
        Self::with(origin_bytes, &layout, comm).map(Some)
    }

    /// The committed datatype of a layout that starts at this byte.
    pub fn with(origin_bytes: i64, layout: &Layout, comm: &Comm) -> Result<Self, CallError> {
        Ok(Self { origin_bytes, datatype: Recipe::new(layout, comm)?.create()? })
    }
}

/// One end of a message with this number of partitions; the first starts where `typed` does, and nothing is packed.
/// `tag` follows those of the link.
pub fn typed_partitions(
    parts: &Parts,
    comm: &Comm,
    (link, role): (&HaloMessage, Role),
    typed: Typed,
    (partitions, tag): (usize, usize),
    calls: TeamCalls,
) -> Result<Native, CallError> {
    let address = parts.memory.address(typed.origin_bytes);
    let (peer, tag) = (link.peer, link.tag * parts.threads + tag);
    let envelope = Envelope { count: 1, datatype: &typed.datatype, peer, tag, comm };
    // SAFETY: the partitions are within the arrays, which outlive the method; threads do not change shares that they
    // have marked, and received data is not used before the stage ends.
    let request = unsafe { Partitioned::of(role == Role::Sender, address, partitions, envelope) }?;
    Ok(Native::typed(request, typed.datatype, role, calls))
}
