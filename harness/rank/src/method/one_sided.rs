//! `MPI_Put` between fences, as in the original's one-sided variant: packed by hand into the peer's wire buffer, or
//! directly into its arrays with datatypes at both ends; and contiguous bytes as their reference.
//!
//! One way is a put and the fence that completes it; on the target's side it is only that fence. Windows are created
//! once per case, outside of all phases. An all-to-all of contiguous bytes sends back the received data, as the
//! two-sided reference does, because no other data was written as recently: it has a window over each of the two wire
//! buffers, which are used in turn.

use common::packing::{Ends, Packing};

use super::{Method, Setup};
use crate::checked::{CallError, Datatype, Window};
use crate::memory::Memory;
use crate::packing::MessagePacker;

/// A method that puts into the peer's memory: from one wire buffer into the peer's; or from the arrays into the peer's
/// arrays. Both ranks have the same array layout, so this rank's receiving end describes the peer's memory.
pub struct Put<'a> {
    setup: &'a Setup<'a>,
    ends: Ends,
    packer: MessagePacker<'a>,
    /// One over each memory that is a target of puts, by that memory's address.
    windows: Vec<(*const u8, Window)>,
    /// The type of a packed value.
    element: Datatype,
}

impl<'a> Put<'a> {
    /// With these ends.
    ///
    /// # Safety
    /// `memory` must exist and not move until the method has ended by [`Method::finish`] or the process has.
    pub unsafe fn new(
        setup: &'a Setup<'a>,
        memory: &mut Memory,
        send: Packing,
        receive: Packing,
    ) -> anyhow::Result<Self> {
        let ends = Ends::of(send, receive);
        let packer = MessagePacker::new(setup, memory, send, receive, ends.order)?;
        let wires = [&mut memory.incoming, &mut memory.outgoing].map(|wire| (wire.base(), wire.len()));
        let arrays = [(memory.arrays.base(), memory.arrays.memory().len())];
        let targets = match receive.is_typed() {
            true => &arrays[..],
            false if setup.is_all_to_all() && ends.returns_what_came() => &wires[..],
            false => &wires[..1],
        };
        let mut windows = Vec::new();
        for &(start, bytes) in targets {
            // SAFETY: guaranteed by the caller; between fences only MPI and the loops ordered by the fences use it.
            let window = unsafe { Window::over(start, bytes, setup.comm) }?;
            window.fence()?;
            windows.push((start.cast_const(), window));
        }
        let element = Datatype::predefined(setup.element);
        Ok(Self { setup, ends, packer, windows, element })
    }

    /// The window over the target memory, depending on the current roles of the wire buffers; the same on all ranks.
    #[inline]
    fn window(&self, memory: &Memory) -> &Window {
        let incoming = memory.incoming.as_ptr();
        let is_it = |(address, _): &&(*const u8, Window)| *address == incoming;
        &self.windows.iter().find(is_it).unwrap_or(&self.windows[0]).1
    }

    fn is_typed(&self) -> bool {
        self.packer.receive.how().is_typed()
    }

    /// Puts the block for `peer` to the place for this rank's block there.
    fn put_block(&mut self, memory: &mut Memory, peer: usize) -> Result<(), CallError> {
        let (mine, theirs) = if self.setup.is_all_to_all() { (peer, self.setup.me) } else { (0, 0) };
        let (from, elements) = (self.packer.outgoing(memory), self.setup.block_elements()?);
        let (send, receive) = (&self.packer.send, &self.packer.receive);
        let block_bytes = self.setup.message_bytes / self.setup.blocks();
        let (source, target) = match self.is_typed() {
            false => (
                (from.wrapping_add(mine * block_bytes).cast_const(), elements, &self.element),
                (theirs * block_bytes, elements, &self.element),
            ),
            true => {
                let (from, to) = (send.offset(&memory.arrays, mine), receive.offset(&memory.arrays, theirs));
                ((memory.at(from).cast_const(), 1, send.datatype()), (to, 1, receive.datatype()))
            }
        };
        // SAFETY: a block of the wire buffer, or layouts within the arrays' memory; both are the same on all ranks, and
        // the windows cover them. The source does not change until the next fence.
        unsafe { self.window(memory).put(source, peer, target) }
    }
}

impl Method for Put<'_> {
    fn ends(&self) -> Ends {
        self.ends
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.packer.create()
    }

    fn free(&mut self) -> Result<(), CallError> {
        self.packer.free()
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.packer.pack(memory)
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.packer.unpack(memory)
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.put_block(memory, self.setup.peer())?;
        self.window(memory).fence()
    }

    #[inline]
    fn receive(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.window(memory).fence()
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if !self.is_typed() {
            // A rank may still unpack the last exchange when another begins the next: puts may start only after this
            // fence. Arrays are targets in turn, so their puts need not wait.
            self.window(memory).fence()?;
        }
        (0..self.setup.ranks).try_for_each(|peer| self.put_block(memory, peer))?;
        self.window(memory).fence()
    }

    fn finish(self: Box<Self>) -> Result<(), CallError> {
        self.windows.into_iter().try_for_each(|(_, window)| window.free())
    }

    fn settle(&mut self) -> Result<(), CallError> {
        self.windows.iter().try_for_each(|(_, window)| window.fence())
    }
}
