//! Send and receive, with each end packed in one of the ways of [`Packing`].

use std::ffi::c_int;

use apps::Side;
use common::kinds::overlap::operations::Collective;
use common::kinds::pingpong::methods::Transfer;
use common::packing::{Ends, Form, Packing};

use super::{Method, Setup};
use crate::checked::collective::{Blocks, PerPeer, RequestOrLack, all_to_all_w};
use crate::checked::large::check_count;
use crate::checked::{CallError, Count, Datatype, Envelope, Request};
use crate::memory::Memory;
use crate::packing::{MessagePacker, Packer};
use crate::spans::spans;

/// A method that sends and receives.
pub struct TwoSided<'a> {
    setup: &'a Setup<'a>,
    ends: Ends,
    packer: MessagePacker<'a>,
    /// Byte of the arrays' memory at which packed bytes are received without unpacking: if the application receives
    /// directly into its array, so do the methods that unpack without MPI.
    in_place: Option<usize>,
    /// Type of one packed block; its count is below.
    packed: Datatype,
    packed_count: Count,
    /// The arguments of `MPI_Ialltoallw` for both ends, once it was called.
    blocks: Option<[PerPeer<c_int>; 2]>,
}

impl<'a> TwoSided<'a> {
    /// With these ends.
    pub fn new(
        setup: &'a Setup<'a>,
        memory: &Memory,
        send: Packing,
        receive: Packing,
    ) -> anyhow::Result<Self> {
        let (packed, packed_count) = match send == Packing::Mpi {
            true => (Datatype::packed(), (setup.message_bytes / setup.blocks()) as Count),
            false => (Datatype::predefined(setup.element), setup.block_elements()),
        };
        let is_of_one = |how: Packing| how.is_typed() || how == Packing::OneValue;
        if !is_of_one(send) || !is_of_one(receive) {
            check_count("MPI_Send", "MPI_Send_c", packed_count)?;
        }
        let ends = Transfer::TwoSided(send, receive).ends(setup.app);
        let in_place = (receive.packs() && !ends.unpacks)
            .then(|| setup.app.message(Side::Receive, ends.order))
            .and_then(|message| spans(&message, &memory.arrays).next().map(|span| span.offset));
        let packer = MessagePacker::new(setup, memory, send, receive, ends.order)?;
        Ok(Self { setup, ends, packer, in_place, packed, packed_count, blocks: None })
    }

    /// Whether both ends are datatypes, so that an all-to-all has one for each rank.
    fn is_typed(&self) -> bool {
        self.packer.send.how().is_typed() && self.packer.receive.how().is_typed()
    }

    /// A request that sends the message, on the first rank of a pair, or receives it, on the second; in an all-to-all both, and
    /// collective.
    ///
    /// # Safety
    /// The arrays and wire buffers of `memory`, and the method's datatypes, must exist and not move until the request
    /// is complete, or if it is persistent, freed; the memory is not used while it is active.
    pub unsafe fn request(&mut self, memory: &mut Memory, form: Form) -> Result<RequestOrLack, CallError> {
        let setup = self.setup;
        if setup.is_all_to_all() && self.is_typed() {
            let (send, receive) = (&self.packer.send, &self.packer.receive);
            // Addresses relative to the first block: Open MPI 5.0.11 assumes that two buffers with one address are the same.
            let (first, first_to) = (send.offset(&memory.arrays, 0), receive.offset(&memory.arrays, 0));
            if self.blocks.is_none() {
                let places = |end: &Packer<'_>, first: usize| {
                    let place = |peer| (end.offset(&memory.arrays, peer) - first) as i64;
                    PerPeer::of((0..setup.ranks).map(|peer| (1, place(peer), end.datatype())))
                };
                self.blocks = Some([places(send, first)?, places(receive, first_to)?]);
            }
            let [sends, receives] = self.blocks.as_ref().expect("made above");
            let (from, to) = (memory.at(first).cast_const(), memory.at(first_to));
            // SAFETY: as in `exchange`; blocks follow the first at both ends.
            return unsafe { all_to_all_w(form, setup.comm, (from, sends), (to, receives)) };
        }
        let (from, to) = (self.source(memory, 0), self.target(memory, 0));
        let (source, target) = (self.block(&self.packer.send), self.block(&self.packer.receive));
        if setup.is_all_to_all() {
            // Packed blocks are the same at both ends.
            let (count, datatype) = (source.0 as usize, source.1);
            let blocks = Blocks { send: from, receive: to, count, datatype };
            // SAFETY: as in `exchange`.
            return unsafe { blocks.request(Collective::Alltoall, form, setup.comm) };
        }
        let is_sent = setup.me == 0;
        let (address, (count, datatype)) = if is_sent { (from, source) } else { (to, target) };
        let (count, peer) = (count as usize, setup.peer());
        let envelope = Envelope { count, datatype, peer, tag: 0, comm: setup.comm };
        // SAFETY: as in `send` and `receive`, and the caller does not use the memory.
        unsafe { Request::of(form, is_sent, address, envelope) }.map(Ok)
    }

    /// Address of the data to send to `peer`.
    #[inline]
    fn source(&mut self, memory: &mut Memory, peer: usize) -> *mut u8 {
        match self.packer.send.how().is_typed() {
            true => memory.at(self.packer.send.offset(&memory.arrays, peer)),
            false => self.packer.outgoing(memory),
        }
    }

    /// Address of the data received from `peer`.
    #[inline]
    fn target(&mut self, memory: &mut Memory, peer: usize) -> *mut u8 {
        match (self.packer.receive.how().is_typed(), self.in_place) {
            (true, _) => memory.at(self.packer.receive.offset(&memory.arrays, peer)),
            (false, Some(offset)) => memory.at(offset),
            (false, None) => self.packer.incoming(memory),
        }
    }

    /// Count and type of the data sent to a peer, or received from it.
    #[inline]
    fn block<'b>(&'b self, end: &'b Packer<'a>) -> (Count, &'b Datatype) {
        match end.how() {
            Packing::Datatype | Packing::Equivalent(_) | Packing::OneValue => (1, end.datatype()),
            _ => (self.packed_count, &self.packed),
        }
    }
}

impl Method for TwoSided<'_> {
    fn ends(&self) -> Ends {
        self.ends
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.packer.create()
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.blocks = None;
        self.packer.free()
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.packer.pack(memory)
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.in_place.is_some() { Ok(()) } else { self.packer.unpack(memory) }
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let address = self.source(memory, 0).cast_const();
        let (count, datatype) = self.block(&self.packer.send);
        // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and before timing; a
        // packed block is within the wire buffer.
        unsafe { self.setup.comm.send(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let address = self.target(memory, 0);
        let (count, datatype) = self.block(&self.packer.receive);
        // SAFETY: as in `send`, on memory that is borrowed mutably.
        unsafe { self.setup.comm.receive(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (to, from) = (self.target(memory, 0), self.source(memory, 0).cast_const());
        let ((sent, send_type), (received, receive_type)) =
            (self.block(&self.packer.send), self.block(&self.packer.receive));
        // SAFETY: as in `send` and `receive`; blocks follow each other one extent apart at both ends.
        unsafe { self.setup.comm.all_to_all((from, sent, send_type), (to, received, receive_type)) }
    }
}
