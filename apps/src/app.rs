//! The one trait of all micro-apps, and the words it uses.

use datatypes::{Element, Layout};

use crate::{ArraySpec, Arrays, Message};

/// Which end of a message a layout describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where the bytes are read.
    Send,
    /// Where the bytes are written.
    Receive,
}

/// In which order the bytes travel, where the application's loop and its datatype differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireOrder {
    /// As the hand-written loop packs.
    Manual,
    /// As the derived datatype packs.
    Ddt,
}

/// Who exchanges with whom.
#[derive(Clone, Debug, PartialEq)]
pub enum Exchange {
    /// Two ranks send to each other; both use the same send and receive layouts.
    Pairs,
    /// Every rank sends a block to every rank, itself included. Block `p` starts `p` extents of the block's
    /// layout after the start of array 0 (send) or array 1 (receive); the way back swaps the two arrays.
    AllToAll {
        /// What goes to one peer.
        send_block: Layout,
        /// What comes from one peer.
        receive_block: Layout,
    },
}

/// The exchange of one application, at one size.
///
/// Required: the arrays, the element, the message of each side and the application's loops. The
/// rest has defaults that suit an exchange between pairs with one wire order.
pub trait MicroApp: Send + Sync {
    /// The application's arrays, in the order in which reports number them.
    fn arrays(&self) -> Vec<ArraySpec>;

    /// The predefined type of every value on the wire.
    fn element(&self) -> Element;

    /// What is sent, or where the received goes, as layouts per array in wire order.
    fn message(&self, side: Side, order: WireOrder) -> Message;

    /// The application's pack loop, as the application has it, value by value: gathers the send side into `packed`,
    /// in [`WireOrder::Manual`]. Compiled like all else: optimised, for the build's base instruction set.
    fn pack(&self, arrays: &Arrays, packed: &mut [u8]);

    /// The application's unpack loop, likewise: scatters `packed` to the receive side, in [`WireOrder::Manual`].
    fn unpack(&self, packed: &[u8], arrays: &mut Arrays);

    /// The same bytes in the same order as [`MicroApp::pack`], by what an expert writes by hand for this nest: copies
    /// of known sizes, and instructions that are chosen when the program runs. By default the plain loop.
    fn pack_tuned(&self, arrays: &Arrays, packed: &mut [u8]) {
        self.pack(arrays, packed);
    }

    /// As [`MicroApp::unpack`], tuned likewise.
    fn unpack_tuned(&self, packed: &[u8], arrays: &mut Arrays) {
        self.unpack(packed, arrays);
    }

    /// Whether there are hand-written loops. Where there are none, [`MicroApp::pack`] and [`MicroApp::unpack`] move the right
    /// bytes slowly, and are nothing to be timed.
    fn has_loops(&self) -> bool {
        true
    }

    /// Whether values are of several predefined types: [`MicroApp::element`] is then a byte.
    fn mixes_types(&self) -> bool {
        false
    }

    /// Whether the hand-written loop and the datatype put the values in different orders.
    fn orders_differ(&self) -> bool {
        false
    }

    /// Whether the application receives straight into its array, so that it never unpacks by hand: the receive
    /// side is then one contiguous run, and [`MicroApp::unpack`] is a plain copy that a method may leave out.
    fn receives_in_place(&self) -> bool {
        false
    }

    /// Who exchanges with whom.
    fn exchange(&self) -> Exchange {
        Exchange::Pairs
    }

    /// The most segments that a side can have, where index lists say where they lie: known without drawing the lists.
    fn listed_segments(&self) -> Option<u64> {
        None
    }

    /// Bytes on the wire, from one rank.
    fn message_bytes(&self) -> u64 {
        self.message(Side::Send, WireOrder::Ddt).size()
    }
}
