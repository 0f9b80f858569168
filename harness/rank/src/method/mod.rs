//! Methods: how a test's bytes travel. A new one is a file and a line in [`table`], and one in
//! [`common::kinds::pingpong::methods::METHODS`].
//!
//! One way is [`Method::pack`], [`Method::send`] on one rank, [`Method::receive`], [`Method::unpack`] on the
//! other; an all-to-all replaces send and receive by [`Method::exchange`]. All return codes are checked.

mod copied;
mod in_parts;
mod one_sided;
pub mod packer;
pub mod table;
pub mod two_sided;

use std::ffi::c_int;

use apps::{Arrays, Exchange, MicroApp, Side, WireOrder};
use datatypes::{Element, Equivalent, Layout};

use crate::checked::error::int;
use crate::checked::{CallError, Comm, Recipe};
use crate::memory::Memory;

/// Where a message's bytes lie at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the application's arrays.
    Arrays,
    /// Packed, in the wire buffer.
    Wire,
}

/// What a method does at both ends, for verification and for the table.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// Where the bytes come from before [`Method::pack`].
    pub from: Location,
    /// Where they are after [`Method::unpack`].
    pub to: Location,
    /// The order in which values are packed.
    pub order: WireOrder,
    /// Whether it makes datatypes, so that creation is worth timing.
    pub creates: bool,
    /// Whether it packs explicitly.
    pub packs: bool,
    /// Whether it unpacks explicitly.
    pub unpacks: bool,
    /// Whether what it sends is written anew before each repetition.
    pub is_renewed: bool,
}

/// How a test's bytes travel.
pub trait Method {
    /// What it does at both ends.
    fn ends(&self) -> Ends;
    /// Makes the datatypes; timed as `create`. Made again, there are more of them: the last ones are used.
    fn create(&mut self) -> Result<(), CallError>;
    /// Frees those that were made last; timed as `free`.
    fn free(&mut self) -> Result<(), CallError>;
    /// Gathers the message; timed as `pack`.
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Sends the message to the peer of a pair.
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Receives the message of the peer of a pair.
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Sends to and receives from every rank, in an all-to-all.
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Scatters the message; timed as `unpack`.
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError>;
    /// Gives back what it has besides datatypes; collective.
    fn finish(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
    /// Whether an all-to-all's way back sends what the way there has brought to the wire buffer: without packing, nothing
    /// else is as fresh.
    fn returns_what_came(&self) -> bool {
        false
    }
    /// Lets this process change its memory between transfers, where the method shares it with others.
    fn settle(&mut self) -> Result<(), CallError> {
        Ok(())
    }
}

/// One end of a message as MPI is given it.
pub struct Endpoint {
    /// The array that addresses count from.
    array: usize,
    /// Bytes from the start of that array to the datatype's displacement 0.
    origin_bytes: i64,
    /// What is there: the whole of it for a pair, a peer's block for an all-to-all.
    layout: Layout,
    recipe: Recipe,
}

impl Endpoint {
    /// Byte of the arrays' memory that the datatype's displacement 0 stands for, for the block of `peer`.
    fn offset(&self, arrays: &Arrays, peer: usize) -> usize {
        let start =
            arrays.place(self.array).start as i64 + self.origin_bytes + peer as i64 * self.layout.extent();
        usize::try_from(start).expect("a message starts within the arrays' memory")
    }
}

/// What every method needs to know of a case.
pub struct Setup<'a> {
    /// The micro-app whose message travels.
    pub app: &'a dyn MicroApp,
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
    /// The facts of `app` on `comm`.
    pub fn new(app: &'a dyn MicroApp, comm: &'a Comm) -> Result<Self, CallError> {
        let message_bytes = app.message_bytes() as usize;
        Ok(Self { app, comm, me: comm.rank()?, ranks: comm.size()?, element: app.element(), message_bytes })
    }

    /// The other rank of a pair.
    pub fn peer(&self) -> usize {
        1 - self.me
    }

    /// Whether every rank sends to every rank.
    pub fn is_all_to_all(&self) -> bool {
        matches!(self.app.exchange(), Exchange::AllToAll { .. })
    }

    /// Blocks of a message: one, or one per peer.
    fn blocks(&self) -> usize {
        if self.is_all_to_all() { self.ranks } else { 1 }
    }

    /// Values of a block of the message.
    fn block_elements(&self) -> Result<c_int, CallError> {
        let elements = self.message_bytes / self.blocks() / self.element.size() as usize;
        int("MPI_Send", "count", elements as i64)
    }

    /// One side of the message as a datatype in this order: the whole of it for a pair, a peer's block for an
    /// all-to-all; described as the application does, or in another way.
    fn endpoint(
        &self,
        side: Side,
        order: WireOrder,
        arrays: &Arrays,
        description: Option<Equivalent>,
    ) -> Result<Endpoint, CallError> {
        let (array, origin_bytes, layout): (usize, i64, Layout) = match (self.app.exchange(), side) {
            (Exchange::AllToAll { send_block, .. }, Side::Send) => (0, 0, send_block),
            (Exchange::AllToAll { receive_block, .. }, Side::Receive) => (1, 0, receive_block),
            (Exchange::Pairs, side) => {
                let (origin, layout) = self.app.message(side, order).datatype(&arrays.displacements());
                (0, origin, layout)
            }
        };
        let layout = match description {
            Some(way) => {
                way.of(&layout).expect("an application's datatype is not nested to the utmost depth")
            }
            None => layout,
        };
        Ok(Endpoint { array, origin_bytes, recipe: Recipe::new(&layout, self.comm)?, layout })
    }
}
