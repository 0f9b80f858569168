//! `MPI_Put` between fences, as in the original's one-sided variant: packed by hand into the peer's wire buffer, or
//! directly into its arrays with datatypes at both ends; and contiguous bytes as their reference. `MPI_Get` likewise.
//!
//! One way is a put and the fence that completes it; on the target's side it is only that fence. For a get
//! there is a fence before it, after which the data may be fetched: nothing else reports to the receiver that
//! it is ready. Windows are created once per case, outside of all phases. An all-to-all of contiguous bytes
//! sends back the received data, as the two-sided reference does, because no other data was written as
//! recently: it has a window over each of the two wire buffers, which are used in turn.

use apps::Side;
use common::packing::{Ends, Packing};

use super::message_ends::MessageEnds;
use super::{Method, Setup};
use crate::checked::{Access, CallError, Window};
use crate::memory::Memory;

/// A method that accesses the peer's memory: between one wire buffer and the peer's, or between the arrays and the peer's
/// arrays. Both ranks have the same array layout, so this rank's other end describes the peer's memory.
pub struct OneSidedMessage<'a> {
    setup: &'a Setup<'a>,
    access: Access,
    ends: Ends,
    messages: MessageEnds<'a>,
    /// One over each memory that others access, by that memory's address.
    windows: Vec<(*const u8, Window)>,
}

impl<'a> OneSidedMessage<'a> {
    /// With these ends.
    ///
    /// # Safety
    /// `memory` must exist and not move until the method has ended by [`Method::finish`] or the process has.
    pub unsafe fn new(
        setup: &'a Setup<'a>,
        memory: &mut Memory,
        access: Access,
        (send, receive): (Packing, Packing),
    ) -> anyhow::Result<Self> {
        let ends = Ends::packed_by(send, receive);
        let functions = match access {
            Access::Put => ("MPI_Put", "MPI_Put_c"),
            Access::Get => ("MPI_Get", "MPI_Get_c"),
        };
        let messages = MessageEnds::new(setup, memory, (send, receive), ends, functions)?;
        let wires = [&mut memory.incoming, &mut memory.outgoing].map(|wire| (wire.address(), wire.len()));
        let arrays = [(memory.at(0), memory.arrays.memory().len())];
        let targets = match receive.is_typed() {
            true => &arrays[..],
            false if setup.is_all_to_all() && ends.returns_what_came() => &wires[..],
            false if access == Access::Put => &wires[..1],
            false => &wires[1..],
        };
        let mut windows = Vec::new();
        for &(start, bytes) in targets {
            // SAFETY: guaranteed by the caller; between fences only MPI and the loops ordered by the fences use it.
            let window = unsafe { Window::over(start, bytes, setup.comm) }?;
            window.fence()?;
            windows.push((start.cast_const(), window));
        }
        Ok(Self { setup, access, ends, messages, windows })
    }

    /// The window over the target memory, depending on the current roles of the wire buffers; the same on all ranks.
    #[inline]
    fn window(&self, memory: &Memory) -> &Window {
        let accessed = match self.access {
            Access::Put => memory.incoming.place(),
            Access::Get => memory.outgoing.place(),
        };
        let is_it = |(address, _): &&(*const u8, Window)| *address == accessed;
        &self.windows.iter().find(is_it).unwrap_or(&self.windows[0]).1
    }

    /// Puts the block for `peer` to the place for this rank's block there, or gets this rank's block from `peer`.
    fn access_block(&mut self, memory: &mut Memory, peer: usize) -> Result<(), CallError> {
        let (mine, theirs) = if self.setup.is_all_to_all() { (peer, self.setup.me) } else { (0, 0) };
        let side = match self.access {
            Access::Put => Side::Send,
            Access::Get => Side::Receive,
        };
        let wire = self.messages.packer.packed(side, memory);
        let (send, receive) = (&self.messages.sends[0], &self.messages.receives[0]);
        let (near, far) = if side == Side::Send { (send, receive) } else { (receive, send) };
        let address = near.address(memory, wire, mine);
        let (origin, target) = (near.data.at(address), far.data.at(far.offset(&memory.arrays, theirs)));
        // SAFETY: a block of the wire buffer, or layouts within the arrays' memory; both are the same on all
        // ranks, and the windows cover them. Nothing else uses the data before the next fence.
        unsafe { self.window(memory).access(self.access, origin, peer, target) }
    }
}

impl Method for OneSidedMessage<'_> {
    fn ends(&self) -> Ends {
        self.ends
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.messages.create()
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.messages.free()
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.messages.packer.pack(memory)
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.messages.packer.unpack(memory)
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        match self.access {
            Access::Put => self.access_block(memory, self.setup.peer())?,
            Access::Get => self.window(memory).fence()?,
        }
        self.window(memory).fence()
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.access == Access::Get {
            self.window(memory).fence()?;
            self.access_block(memory, self.setup.peer())?;
        }
        self.window(memory).fence()
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if !self.messages.receives[0].is_in_arrays() || self.access == Access::Get {
            // A rank may still unpack the last exchange when another begins the next: puts may start only after this
            // fence. Arrays are targets in turn, so their puts need not wait. Gets wait until all have packed.
            self.window(memory).fence()?;
        }
        (0..self.setup.ranks).try_for_each(|peer| self.access_block(memory, peer))?;
        self.window(memory).fence()
    }

    fn finish(self: Box<Self>) -> Result<(), CallError> {
        self.windows.into_iter().try_for_each(|(_, window)| window.free())
    }

    fn settle(&mut self) -> Result<(), CallError> {
        self.windows.iter().try_for_each(|(_, window)| window.fence())
    }
}
