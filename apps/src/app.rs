//! The type of every micro-app, and its parts.

use datatypes::{Element, Layout};

use crate::{ArraySpec, Face, Message};

/// Which end of a message a layout describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side whose bytes are read.
    Send,
    /// The side whose bytes are written.
    Receive,
}

/// The order of the bytes in the message. It matters if the application's loop and its datatype have
/// different orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireOrder {
    /// The order of the hand-written loop.
    Manual,
    /// The order of the derived datatype.
    Ddt,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Exchange {
    /// Two ranks send to each other; both use the same send and receive layouts.
    Pairs,
    /// Every rank sends a block to every rank, itself included. Block `p` starts `p` extents of the block's
    /// layout after the start of array 0 (send) or array 1 (receive); the way back swaps the two arrays.
    AllToAll { send_block: Layout, receive_block: Layout },
}

/// The exchange of one application between two ranks, at one size.
pub struct MicroApp {
    /// The application's arrays, in the order in which reports number them.
    pub arrays: Vec<ArraySpec>,
    /// The predefined type of every value on the wire; a byte where there are several types.
    pub element: Element,
    pub send: Face,
    pub receive: Face,
    pub exchange: Exchange,
    /// Whether there are hand-written loops. Without them, [`Face::pack`] and [`Face::unpack`] move the right
    /// bytes slowly and must not be timed.
    pub has_loops: bool,
    /// Whether the values have several predefined types.
    pub mixes_types: bool,
    /// Whether the application receives straight into its array, so that it never unpacks by hand: the
    /// receive side is then one contiguous run, and unpacking a plain copy that a method may leave out.
    pub receives_in_place: bool,
}

impl MicroApp {
    /// An exchange between pairs, with loops.
    pub(crate) fn new(element: Element, arrays: Vec<ArraySpec>, send: Face, receive: Face) -> Self {
        Self {
            arrays,
            element,
            send,
            receive,
            exchange: Exchange::Pairs,
            has_loops: true,
            mixes_types: false,
            receives_in_place: false,
        }
    }

    pub fn face(&self, side: Side) -> &Face {
        match side {
            Side::Send => &self.send,
            Side::Receive => &self.receive,
        }
    }

    /// The sent data, or the destination of received data, as layouts per array in wire order. All blocks of
    /// an all-to-all are one layout.
    pub fn message(&self, side: Side, order: WireOrder) -> Message {
        let (array, block) = match (&self.exchange, side) {
            (Exchange::Pairs, _) => return self.face(side).message(order),
            (Exchange::AllToAll { send_block, .. }, Side::Send) => (0, send_block),
            (Exchange::AllToAll { receive_block, .. }, Side::Receive) => (1, receive_block),
        };
        let whole = Layout::contiguous((self.message_bytes() / block.size()) as i64, block);
        Message::single(array, 0, whole.expect("the arrays fit in memory"))
    }

    /// Bytes on the wire, from one rank.
    pub fn message_bytes(&self) -> u64 {
        self.send.bytes() as u64
    }
}
