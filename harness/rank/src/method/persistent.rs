//! Persistent requests with datatypes, as an application creates them once for the exchange that it repeats: a send and a
//! receive at each rank, created and freed with the datatypes, started and waited for in each repetition.

use apps::WireOrder;
use common::packing::{Ends, Form, Packing};

use super::{Method, Setup};
use crate::checked::{CallError, Datatype, Envelope, Request};
use crate::memory::Memory;
use crate::packing::MessagePacker;

/// A method that starts requests.
pub struct PersistentMessage<'a> {
    setup: &'a Setup<'a>,
    packer: MessagePacker<'a>,
    /// Addresses at which the sent and the received data begins.
    addresses: [*mut u8; 2],
    /// The send and the receive of each creation that were not freed; the last ones are used.
    requests: Vec<[Request; 2]>,
}

/// The requests of a pair.
const SEND: usize = 0;
const RECEIVE: usize = 1;

impl<'a> PersistentMessage<'a> {
    /// For the message of a pair.
    ///
    /// # Safety
    /// The arrays of `memory` must exist and not move until the method has ended by [`Method::finish`] or the process has.
    pub unsafe fn new(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        let typed = Packing::Datatype;
        let packer = MessagePacker::new(setup, memory, typed, typed, WireOrder::Ddt)?;
        let offsets = [&packer.send, &packer.receive].map(|end| end.offset(&memory.arrays, 0));
        let addresses = offsets.map(|offset| memory.at(offset));
        Ok(Self { setup, packer, addresses, requests: Vec::new() })
    }

    /// A request with the datatype of its end that was created last.
    fn request(&self, end: usize, datatype: &Datatype) -> Result<Request, CallError> {
        let envelope =
            Envelope { count: 1, datatype, peer: self.setup.peer(), tag: 0, comm: self.setup.comm };
        // SAFETY: the layout is within the arrays' memory, as verified by apps' conformance tests and before timing, and
        // `new`'s caller keeps that memory in place. Between start and completion this process does not use it.
        unsafe { Request::of(Form::Persistent, end == SEND, self.addresses[end], envelope) }
    }

    /// Starts the request of an end, and waits for it.
    #[inline]
    fn run(&mut self, end: usize) -> Result<(), CallError> {
        let request = &mut self.requests.last_mut().expect("created before use")[end];
        request.start()?;
        request.wait()
    }
}

impl Method for PersistentMessage<'_> {
    fn ends(&self) -> Ends {
        Ends::of(Packing::Datatype, Packing::Datatype)
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.packer.create()?;
        let send = self.request(SEND, self.packer.send.datatype())?;
        let receive = self.request(RECEIVE, self.packer.receive.datatype())?;
        self.requests.push([send, receive]);
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.requests.pop().into_iter().flatten().try_for_each(Request::free)?;
        self.packer.free()
    }

    #[inline]
    fn send(&mut self, _: &mut Memory) -> Result<(), CallError> {
        self.run(SEND)
    }

    #[inline]
    fn receive(&mut self, _: &mut Memory) -> Result<(), CallError> {
        self.run(RECEIVE)
    }

    fn exchange(&mut self, _: &mut Memory) -> Result<(), CallError> {
        unreachable!("`has_messages` refuses an all-to-all, which is one call")
    }
}
