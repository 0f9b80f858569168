//! Send and receive, with each end in one of the ways of [`End`].

use std::ffi::c_int;

use apps::{Side, WireOrder};

use super::packer::{End, EndState, Packer};
use super::{Ends, Location, Method, Setup};
use crate::checked::collective::{AllToAllW, Blocks, Collective};
use crate::checked::error::int;
use crate::checked::{CallError, Datatype, Envelope, Request};
use crate::memory::Memory;
use crate::spans::spans;

/// A method that sends and receives.
pub struct TwoSided<'a> {
    setup: &'a Setup<'a>,
    packer: Packer<'a>,
    /// Byte of the arrays' memory where packed bytes are received that need no unpacking: where the application
    /// receives straight into its array, so do the methods that unpack without MPI.
    in_place: Option<usize>,
    /// Type and count of one packed block.
    packed: Datatype,
    packed_count: c_int,
    is_renewed: bool,
    /// What `MPI_Ialltoallw` is given, once it was called.
    blocks: Option<AllToAllW>,
}

impl<'a> TwoSided<'a> {
    /// With these ends.
    pub fn new(setup: &'a Setup<'a>, memory: &Memory, send: End, receive: End) -> anyhow::Result<Self> {
        let (packed, packed_count) = match send == End::MpiPacked {
            true => {
                (Datatype::packed(), int("MPI_Send", "count", (setup.message_bytes / setup.blocks()) as i64)?)
            }
            false => (Datatype::predefined(setup.element), setup.block_elements()?),
        };
        let order = if send.is_loop() { WireOrder::Manual } else { WireOrder::Ddt };
        let unpacks_itself = receive.is_ours();
        let in_place = (unpacks_itself && setup.app.receives_in_place())
            .then(|| setup.app.message(Side::Receive, order))
            .and_then(|message| spans(&message, &memory.arrays).next().map(|span| span.offset));
        let packer = Packer::new(setup, memory, send, receive, order)?;
        Ok(Self { setup, packer, in_place, packed, packed_count, is_renewed: true, blocks: None })
    }

    /// From one wire buffer to the other, whose bytes stay what they are: as IMB's and OSU's PingPong do.
    pub fn untouched(setup: &'a Setup<'a>, memory: &Memory) -> anyhow::Result<Self> {
        Ok(Self { is_renewed: false, ..Self::new(setup, memory, End::Wire, End::Wire)? })
    }

    /// Starts to send the message, on the first rank of a pair, or to receive it, on the second; in an all-to-all, both. Nobody uses
    /// the memory before the request is complete.
    pub fn start(&mut self, memory: &mut Memory) -> Result<Request, CallError> {
        // SAFETY: the request is complete before the memory is used, and the method lives longer.
        let request = unsafe { self.request(memory, false) }?;
        Ok(request.expect("every MPI has nonblocking forms"))
    }

    /// The same as a request to be started again and again; of an all-to-all, collective. Says which function the MPI lacks for it.
    ///
    /// # Safety
    /// The arrays and wire buffers of `memory` stay where they are, and there, and so do the method's datatypes, until the request
    /// is freed; nobody uses the memory while it is started.
    pub unsafe fn persistent(
        &mut self,
        memory: &mut Memory,
    ) -> Result<Result<Request, &'static str>, CallError> {
        // SAFETY: as the caller vouches.
        let request = unsafe { self.request(memory, true) }?;
        Ok(request.ok_or_else(|| match self.is_typed() {
            true => AllToAllW::PERSISTENT_NAME,
            false => Collective::Alltoall.persistent_name(),
        }))
    }

    /// Whether both ends are datatypes, so that an all-to-all has one for each rank.
    fn is_typed(&self) -> bool {
        let is_typed = |end| matches!(end, End::Typed | End::Described(_));
        is_typed(self.packer.send.how) && is_typed(self.packer.receive.how)
    }

    /// The request of the message; `None` where the MPI lacks the persistent form.
    ///
    /// # Safety
    /// As for [`TwoSided::persistent`]; one that is not persistent is over when it is complete.
    unsafe fn request(
        &mut self,
        memory: &mut Memory,
        is_persistent: bool,
    ) -> Result<Option<Request>, CallError> {
        let (setup, send, receive) = (self.setup, &self.packer.send, &self.packer.receive);
        if setup.is_all_to_all() && self.is_typed() {
            // From the first block on: of two buffers with one address Open MPI 5.0.11 believes that they are one.
            let (first, first_to) = (send.offset(memory, 0), receive.offset(memory, 0));
            if self.blocks.is_none() {
                let places = |end: &EndState, first: usize| {
                    (0..setup.ranks).map(|peer| end.offset(memory, peer) - first).collect::<Vec<_>>()
                };
                let (from, to) = (places(send, first), places(receive, first_to));
                self.blocks = Some(AllToAllW::new((&from, send.datatype()), (&to, receive.datatype()))?);
            }
            let blocks = self.blocks.as_ref().expect("made above");
            let (from, to) = (memory.read_from(first), memory.write_to(first_to));
            // SAFETY: as in `exchange`; blocks follow the first at both ends.
            return unsafe {
                match is_persistent {
                    false => blocks.start(setup.comm, from, to).map(Some),
                    true => blocks.persistent(setup.comm, from, to),
                }
            };
        }
        let (to, target_count, target_type) = self.target(memory, 0);
        let (from, source_count, source_type) = self.source(memory, 0);
        if setup.is_all_to_all() {
            // Packed blocks are alike at both ends.
            let blocks = || Blocks {
                send: from.cast_mut(),
                receive: to,
                count: source_count as usize,
                datatype: source_type,
            };
            let ends = ((from, source_count, source_type), (to, target_count, target_type));
            // SAFETY: as in `exchange`.
            return unsafe {
                match is_persistent {
                    false => setup.comm.start_all_to_all(ends.0, ends.1).map(Some),
                    true => Collective::Alltoall.persistent(setup.comm, blocks()),
                }
            };
        }
        let envelope = |count: c_int, datatype| Envelope {
            count: count as usize,
            datatype,
            peer: setup.peer(),
            tag: 0,
            comm: setup.comm,
        };
        // SAFETY: as in `send` and `receive`, and the caller leaves the memory alone.
        let request = unsafe {
            let (send, receive) = (envelope(source_count, source_type), envelope(target_count, target_type));
            match (setup.me, is_persistent) {
                (0, false) => Request::send(from, send),
                (0, true) => Request::persistent_send(from, send),
                (_, false) => Request::receive(to, receive),
                (_, true) => Request::persistent_receive(to, receive),
            }
        };
        request.map(Some)
    }

    /// Address, count and type of what is sent to `peer`.
    #[inline]
    fn source(&self, memory: &Memory, peer: usize) -> (*const u8, c_int, &Datatype) {
        let send = &self.packer.send;
        match send.how {
            End::Typed | End::Described(_) => {
                (memory.read_from(send.offset(memory, peer)), 1, send.datatype())
            }
            _ => (memory.outgoing.as_ptr(), self.packed_count, &self.packed),
        }
    }

    /// Address, count and type of what is received from `peer`.
    #[inline]
    fn target(&self, memory: &mut Memory, peer: usize) -> (*mut u8, c_int, &Datatype) {
        let receive = &self.packer.receive;
        match receive.how {
            End::Typed | End::Described(_) => {
                (memory.write_to(receive.offset(memory, peer)), 1, receive.datatype())
            }
            _ => {
                let address = match self.in_place {
                    Some(offset) => memory.write_to(offset),
                    None => memory.incoming.as_mut_ptr(),
                };
                (address, self.packed_count, &self.packed)
            }
        }
    }
}

impl Method for TwoSided<'_> {
    fn ends(&self) -> Ends {
        let ends = self.packer.ends();
        Ends { unpacks: ends.unpacks && self.in_place.is_none(), is_renewed: self.is_renewed, ..ends }
    }

    fn returns_what_came(&self) -> bool {
        let ends = self.ends();
        ends.is_renewed && (ends.from, ends.to) == (Location::Wire, Location::Wire)
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
        let (address, count, datatype) = self.source(memory, 0);
        // SAFETY: the layout lies within the arrays' memory, which apps' conformance tests and the verification before
        // timing have shown; a packed block lies within the wire buffer.
        unsafe { self.setup.comm.send(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (address, count, datatype) = self.target(memory, 0);
        // SAFETY: as in `send`, on memory that is borrowed mutably.
        unsafe { self.setup.comm.receive(address, count, datatype, self.setup.peer()) }
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        let (to, target_count, target_type) = self.target(memory, 0);
        let (from, source_count, source_type) = self.source(memory, 0);
        // SAFETY: as in `send` and `receive`; blocks follow each other one extent apart at both ends.
        unsafe {
            self.setup.comm.all_to_all((from, source_count, source_type), (to, target_count, target_type))
        }
    }
}
