//! `MPI_Put` between fences, as in the original's one-sided variant: packed by hand into the peer's wire
//! buffer, or straight into its arrays with datatypes at both ends; and as their reference, contiguous bytes.
//!
//! One way is a put and the fence that completes it; the target's side of it is that fence alone. Windows are
//! made once per case, outside of all phases. An all-to-all of contiguous bytes sends back what came, as the two-sided
//! reference does, since nothing else is as fresh: it has a window over each of the two wire buffers, which take turns.

use apps::{Side, WireOrder};

use super::{Endpoint, Ends, Location, Method, Setup};
use crate::checked::{CallError, Datatype, Window};
use crate::memory::Memory;

/// A method that puts into the peer's memory.
pub struct Put<'a> {
    setup: &'a Setup<'a>,
    /// One over each memory that is put into, by that memory's address.
    windows: Vec<(*const u8, Window)>,
    data: PutData,
}

/// What is put, and where.
enum PutData {
    /// From one wire buffer into the peer's; packed and unpacked by hand, or not at all.
    Packed { element: Datatype, by_hand: bool },
    /// From the arrays into the peer's arrays. Both ranks lay them out alike, so this rank's receive endpoint
    /// describes the peer's memory.
    Typed { send: Endpoint, receive: Endpoint, types: Vec<(Datatype, Datatype)> },
}

impl<'a> Put<'a> {
    /// The same number of contiguous bytes, nothing packed.
    ///
    /// # Safety
    /// `memory` stays where it is, and there, until the method has ended by [`Method::finish`] or the process has.
    pub unsafe fn contiguous(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        // SAFETY: as the caller vouches.
        unsafe { Self::between_buffers(setup, memory, false) }
    }

    /// Packed and unpacked by the application's loops.
    ///
    /// # Safety
    /// As for [`Put::contiguous`].
    pub unsafe fn packed(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        // SAFETY: as the caller vouches.
        unsafe { Self::between_buffers(setup, memory, true) }
    }

    /// # Safety
    /// As for [`Put::contiguous`].
    unsafe fn between_buffers(
        setup: &'a Setup<'a>,
        memory: &mut Memory,
        by_hand: bool,
    ) -> anyhow::Result<Self> {
        let data = PutData::Packed { element: Datatype::predefined(setup.element), by_hand };
        let both = [&mut memory.incoming, &mut memory.outgoing].map(|wire| (wire.base(), wire.len()));
        let targets = if setup.is_all_to_all() && !by_hand { &both[..] } else { &both[..1] };
        // SAFETY: as the caller vouches.
        unsafe { Self::over(targets, setup, data) }
    }

    /// With datatypes at both ends.
    ///
    /// # Safety
    /// As for [`Put::contiguous`].
    pub unsafe fn typed(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        let send = setup.endpoint(Side::Send, WireOrder::Ddt, &memory.arrays, None)?;
        let receive = setup.endpoint(Side::Receive, WireOrder::Ddt, &memory.arrays, None)?;
        let data = PutData::Typed { send, receive, types: Vec::new() };
        // SAFETY: as the caller vouches.
        unsafe { Self::over(&[(memory.arrays.base(), memory.arrays.memory().len())], setup, data) }
    }

    /// Over what is put into: addresses and bytes.
    ///
    /// # Safety
    /// As for [`Put::contiguous`], of what is put into.
    unsafe fn over(
        targets: &[(*mut u8, usize)],
        setup: &'a Setup<'a>,
        data: PutData,
    ) -> anyhow::Result<Self> {
        let mut windows = Vec::new();
        for &(start, bytes) in targets {
            // SAFETY: as the caller vouches; between fences only MPI and the loops that the fences order touch it.
            let window = unsafe { Window::over(start, bytes, setup.comm) }?;
            window.fence()?;
            windows.push((start.cast_const(), window));
        }
        Ok(Self { setup, windows, data })
    }

    /// The window over what is put into, wherever the roles of the wire buffers stand; the same on all ranks.
    #[inline]
    fn window(&self, memory: &Memory) -> &Window {
        let incoming = memory.incoming.as_ptr();
        let is_it = |(address, _): &&(*const u8, Window)| *address == incoming;
        &self.windows.iter().find(is_it).unwrap_or(&self.windows[0]).1
    }

    fn is_typed(&self) -> bool {
        matches!(self.data, PutData::Typed { .. })
    }

    fn packs(&self) -> bool {
        matches!(self.data, PutData::Packed { by_hand: true, .. })
    }

    /// Puts the block for `peer` to where this rank's block belongs there.
    fn put_block(&self, memory: &Memory, peer: usize) -> Result<(), CallError> {
        let (mine, theirs) = if self.setup.is_all_to_all() { (peer, self.setup.me) } else { (0, 0) };
        let (source, target) = match &self.data {
            PutData::Packed { element, .. } => {
                let elements = self.setup.block_elements()?;
                let block_bytes = self.setup.message_bytes / self.setup.blocks();
                let from = memory.outgoing[mine * block_bytes..].as_ptr();
                ((from, elements, element), (theirs * block_bytes, elements, element))
            }
            PutData::Typed { send, receive, types } => {
                let (send_type, receive_type) = types.last().expect("created before use");
                let from = memory.read_from(send.offset(&memory.arrays, mine));
                ((from, 1, send_type), (receive.offset(&memory.arrays, theirs), 1, receive_type))
            }
        };
        // SAFETY: a block of the wire buffer, or layouts within the arrays' memory; both are alike on all ranks and
        // are what the windows are made over. The source is left alone until the next fence.
        unsafe { self.window(memory).put(source, peer, target) }
    }
}

impl Method for Put<'_> {
    fn ends(&self) -> Ends {
        let (packs, is_typed) = (self.packs(), self.is_typed());
        let place = if packs || is_typed { Location::Arrays } else { Location::Wire };
        Ends {
            from: place,
            to: place,
            order: if packs { WireOrder::Manual } else { WireOrder::Ddt },
            creates: is_typed,
            packs,
            unpacks: packs,
            is_renewed: true,
        }
    }

    fn create(&mut self) -> Result<(), CallError> {
        if let PutData::Typed { send, receive, types } = &mut self.data {
            types.push((send.recipe.create()?, receive.recipe.create()?));
        }
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        if let PutData::Typed { types, .. } = &mut self.data
            && let Some((send, receive)) = types.pop()
        {
            send.free()?;
            receive.free()?;
        }
        Ok(())
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.packs() {
            self.setup.app.pack(&memory.arrays, &mut memory.outgoing[..self.setup.message_bytes]);
        }
        Ok(())
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
            // A rank may still unpack the last exchange when another begins the next: only then may puts start.
            // Arrays take turns as targets, so that theirs need not wait.
            self.window(memory).fence()?;
        }
        (0..self.setup.ranks).try_for_each(|peer| self.put_block(memory, peer))?;
        self.window(memory).fence()
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        if self.packs() {
            self.setup.app.unpack(&memory.incoming[..self.setup.message_bytes], &mut memory.arrays);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), CallError> {
        self.windows.into_iter().try_for_each(|(_, window)| window.free())
    }

    fn returns_what_came(&self) -> bool {
        !self.is_typed() && !self.packs()
    }

    fn settle(&mut self) -> Result<(), CallError> {
        self.windows.iter().try_for_each(|(_, window)| window.fence())
    }
}
