//! Send and receive, with each end packed in one of the ways of [`Packing`](common::packing::Packing):
//! blocking, as persistent requests that are created with the datatypes, or as several messages.

use std::ops::Range;

use apps::Side;
use common::kinds::overlap::operations::Collective;
use common::kinds::pingpong::methods::Transfer;
use common::packing::{Ends, Form};

use super::message_ends::{MessageEnd, MessageEnds};
use super::{Method, Setup};
use crate::carrier::Repeated;
use crate::checked::CallError;
use crate::checked::collective::{CollectiveCall, PerPeer};
use crate::memory::Memory;

/// A method that sends and receives.
pub struct TwoSided<'a> {
    setup: &'a Setup<'a>,
    ends: Ends,
    messages: MessageEnds<'a>,
    /// The packed bytes of each message, if there are several.
    parts: Option<Vec<Range<usize>>>,
    /// Addresses of the sent and the received message, if requests are created for them.
    persistent: Option<[*mut u8; 2]>,
    /// The send and the receive of each creation that were not freed; the last ones are used.
    requests: Vec<[Repeated; 2]>,
}

impl<'a> TwoSided<'a> {
    /// For a transfer that sends and receives.
    ///
    /// # Safety
    /// `memory` must exist and not move until the method has ended by [`Method::finish`] or the process has.
    pub unsafe fn new(setup: &'a Setup<'a>, memory: &mut Memory, transfer: Transfer) -> anyhow::Result<Self> {
        let ends = transfer.ends(setup.app);
        let (messages, parts) = match transfer {
            Transfer::InParts(parting) => {
                let (messages, parts) = MessageEnds::parted(setup, memory, parting)?;
                (messages, Some(parts))
            }
            _ => {
                let functions = ("MPI_Send", "MPI_Send_c");
                (MessageEnds::new(setup, memory, transfer.packings(), ends, functions)?, None)
            }
        };
        let ends = Ends { creates: ends.creates && (parts.is_none() || messages.is_derived()), ..ends };
        let persistent = (transfer == Transfer::Persistent).then(|| messages.addresses(memory));
        Ok(Self { setup, ends, messages, parts, persistent, requests: Vec::new() })
    }

    /// The transfer of the message without packing, to be started repeatedly: the first rank of a pair sends,
    /// the second receives; in an all-to-all all ranks do both.
    ///
    /// # Safety
    /// The arrays and wire buffers of `memory`, and the method's datatypes, must exist and not move until the
    /// transfer is freed; the memory is not used while it is active.
    pub unsafe fn transfer(&mut self, memory: &mut Memory, form: Form) -> Result<Repeated, CallError> {
        let setup = self.setup;
        let [from, to] = self.messages.addresses(memory);
        let (send, receive) = (&self.messages.sends[0], &self.messages.receives[0]);
        if !setup.is_all_to_all() {
            let (end, address) = if setup.me == 0 { (send, from) } else { (receive, to) };
            let envelope = end.data.envelope(setup.peer(), 0, setup.comm);
            // SAFETY: as in `one_way`, and the caller does not use the memory.
            return unsafe { Repeated::message(form, setup.me == 0, address, envelope) };
        }
        let call = if send.is_in_arrays() && receive.is_in_arrays() {
            // Relative to the first block: Open MPI 5.0.11 assumes that two buffers with one address are the same.
            let places = |end: &MessageEnd| {
                let place = |peer| end.data.at(peer as i64 * end.extent);
                PerPeer::from_blocks("MPI_Alltoallw", (0..setup.ranks).map(place))
            };
            CollectiveCall::all_to_all_w(setup.comm, [from, to], [places(send)?, places(receive)?])
        } else {
            // Packed blocks are the same at both ends.
            let block = (send.data.count, send.data.datatype());
            CollectiveCall::blocks(Collective::Alltoall, setup.comm, [from, to], block)
        };
        // SAFETY: as in `exchange`; blocks follow the first at both ends.
        unsafe { Repeated::collective(Some(form), call) }
    }

    /// Sends or receives the message.
    #[inline]
    fn one_way(&mut self, memory: &mut Memory, side: Side) -> Result<(), CallError> {
        let is_sent = side == Side::Send;
        if let Some([send, receive]) = self.requests.last_mut() {
            return if is_sent { send.run() } else { receive.run() };
        }
        let MessageEnds { packer, sends, receives } = &mut self.messages;
        let wire = packer.packed(side, memory);
        let mut ends = if is_sent { sends.iter() } else { receives.iter() };
        ends.try_for_each(|end| {
            let address = end.address(memory, wire, 0);
            // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and
            // before timing; a packed block is within the wire buffer, and both are borrowed mutably.
            unsafe { end.data.envelope(self.setup.peer(), 0, self.setup.comm).pass(is_sent, address) }
        })
    }
}

impl Method for TwoSided<'_> {
    fn ends(&self) -> Ends {
        self.ends
    }

    fn messages(&self) -> Option<Vec<Range<usize>>> {
        self.parts.clone()
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.messages.create()?;
        let Some([from, to]) = self.persistent else { return Ok(()) };
        let request = |end: &MessageEnd, is_sent, address| {
            let envelope = end.data.envelope(self.setup.peer(), 0, self.setup.comm);
            // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and before timing, and `new`'s caller
            // keeps that memory in place. Between start and completion this process does not use it. Datatypes are freed after requests.
            unsafe { Repeated::message(Form::Persistent, is_sent, address, envelope) }
        };
        let MessageEnds { sends, receives, .. } = &self.messages;
        self.requests.push([request(&sends[0], true, from)?, request(&receives[0], false, to)?]);
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.requests.pop().into_iter().flatten().try_for_each(Repeated::free)?;
        self.messages.free()
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.messages.packer.pack(memory)
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.ends.unpacks { self.messages.packer.unpack(memory) } else { Ok(()) }
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.one_way(memory, Side::Send)
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.one_way(memory, Side::Receive)
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let [from, to] = self.messages.addresses(memory);
        let (send, receive) = (&self.messages.sends[0].data, &self.messages.receives[0].data);
        // SAFETY: as in `one_way`; blocks follow each other one extent apart at both ends.
        unsafe { self.setup.comm.all_to_all(send.at(from.cast_const()), receive.at(to)) }
    }
}
