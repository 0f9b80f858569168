//! Methods of ping-pongs: how a test's bytes are sent. A new method needs a row in
//! [`common::kinds::pingpong::methods`]; with a new variant of [`Transfer`], also a file here, and an arm in [`make`].
//!
//! One way consists of [`Method::pack`] and [`Method::send`] on one rank, and [`Method::receive`] and [`Method::unpack`] on
//! the other; an all-to-all replaces send and receive by [`Method::exchange`]. All return codes are checked.

mod message_ends;
pub mod message_packer;
mod one_sided;
pub mod two_sided;

use std::ops::Range;

use apps::{Arrays, Exchange, MicroApp, Piece, Side, WireOrder};
use common::kinds::pingpong::methods::Transfer;
use common::packing::Ends;
use datatypes::Element;

use crate::checked::datatype::check_type;
use crate::checked::{Access, CallError, Comm, Count};
use crate::memory::Memory;
use crate::payload::Mismatch;
use one_sided::OneSidedMessage;
use two_sided::TwoSided;

/// Sets up a method; collective over the setup's ranks.
///
/// # Safety
/// The arrays and wire buffers of `memory` must exist and not move until the method has ended by
/// [`Method::finish`] or the process has: other ranks may access them, and requests keep their addresses.
pub unsafe fn make<'a>(
    transfer: Transfer,
    setup: &'a Setup<'a>,
    memory: &mut Memory,
) -> anyhow::Result<Box<dyn Method + 'a>> {
    let access = match transfer {
        // SAFETY: guaranteed by the caller.
        Transfer::TwoSided(..) | Transfer::Persistent | Transfer::InParts(_) => unsafe {
            return Ok(Box::new(TwoSided::new(setup, memory, transfer)?));
        },
        Transfer::Put(..) => Access::Put,
        Transfer::Get(..) => Access::Get,
    };
    // SAFETY: guaranteed by the caller.
    Ok(Box::new(unsafe { OneSidedMessage::new(setup, memory, access, transfer.packings()) }?))
}

/// How a test's bytes are sent.
pub trait Method {
    /// Its work at both ends.
    fn ends(&self) -> Ends;
    /// Creates the datatypes and persistent requests; timed as `create`. Repeated calls add more of them: the last ones are used.
    fn create(&mut self) -> Result<(), CallError>;
    /// Frees those that were created last; timed as `free`.
    fn free(&mut self) -> Result<(), CallError>;
    /// Gathers the message; timed as `pack`. Methods that pass datatypes to MPI have nothing to do.
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Sends the message to the peer of a pair.
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Receives the message from the peer of a pair.
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Sends to and receives from every rank, in an all-to-all.
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Scatters the message; timed as `unpack`.
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Frees its resources except datatypes; collective.
    fn finish(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
    /// The messages of one way, by their bytes of the packed message; `None` for a single message, or for an
    /// all-to-all, which has one for each rank.
    fn messages(&self) -> Option<Vec<Range<usize>>> {
        None
    }
    /// Lets this process change its memory between transfers, if the method shares it with others.
    fn settle(&mut self) -> Result<(), CallError> {
        Ok(())
    }
}

/// The properties of a case that every method needs.
pub struct Setup<'a> {
    /// The micro-app whose message is sent.
    pub app: &'a MicroApp,
    /// The ranks that exchange: a pair, or all.
    pub comm: &'a Comm,
    /// This process's rank in `comm`.
    pub me: usize,
    /// Number of ranks in `comm`.
    pub ranks: usize,
    /// The type of every value on the wire.
    pub element: Element,
    /// Bytes on the wire from one rank.
    pub message_bytes: usize,
}

impl<'a> Setup<'a> {
    /// The properties of `app` on `comm`.
    pub fn new(app: &'a MicroApp, comm: &'a Comm) -> Result<Self, CallError> {
        let message_bytes = app.message_bytes() as usize;
        let message = app.message(Side::Send, WireOrder::Ddt);
        if message.pieces.iter().any(|piece| piece.layout.has(&|element| element == Element::Half)) {
            check_type(Element::Half, comm)?;
        }
        Ok(Self { app, comm, me: comm.rank()?, ranks: comm.size()?, element: app.element, message_bytes })
    }

    /// A changed byte next to the packed messages. All are put back. `MPI_Pack` may write into all of the buffer to send.
    pub fn stray_byte(&self, memory: &mut Memory) -> Option<Mismatch> {
        memory.stray_byte([memory.outgoing.len(), self.message_bytes].map(|bytes| Some(0..bytes)))
    }

    /// The other rank of a pair.
    pub fn peer(&self) -> usize {
        1 - self.me
    }

    /// Whether every rank sends to every rank.
    pub fn is_all_to_all(&self) -> bool {
        matches!(self.app.exchange, Exchange::AllToAll { .. })
    }

    /// Blocks of a message: one, or one per peer.
    pub fn blocks(&self) -> usize {
        if self.is_all_to_all() { self.ranks } else { 1 }
    }

    /// Values of a block of the message.
    pub fn block_elements(&self) -> Count {
        (self.message_bytes / self.blocks()) as Count / self.element.size() as Count
    }

    /// One side of the message as a datatype in this order: the whole of it for a pair, a peer's block for an all-to-all.
    pub fn endpoint(&self, side: Side, order: WireOrder, arrays: &Arrays) -> Piece {
        let (array, (origin_bytes, layout)) = match (&self.app.exchange, side) {
            (Exchange::AllToAll { send_block, .. }, Side::Send) => (0, (0, send_block.clone())),
            (Exchange::AllToAll { receive_block, .. }, Side::Receive) => (1, (0, receive_block.clone())),
            (Exchange::Pairs, side) => (0, self.app.message(side, order).datatype(&arrays.displacements())),
        };
        Piece { array, origin_bytes, layout }
    }
}
