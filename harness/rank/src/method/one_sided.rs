//! `MPI_Put` between fences, as in the original's one-sided variant: packed by hand into the peer's wire
//! buffer, or straight into its arrays with datatypes at both ends.
//!
//! One way is a put and the fence that completes it; the target's side of it is that fence alone. Windows are
//! made with the method, outside of all phases.

use apps::{Side, WireOrder};

use super::{Endpoint, Ends, Method, Place, Setup};
use crate::checked::{CallError, Datatype, Window};
use crate::memory::Memory;

/// Packed by hand, put into the peer's wire buffer, unpacked by hand.
pub struct PutManual<'a> {
    setup: &'a Setup<'a>,
    window: Window,
    element: Datatype,
}

impl<'a> PutManual<'a> {
    pub fn new(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        // SAFETY: the wire buffer outlives the method and is never reallocated; between fences only MPI and the
        // loops that the fences order touch it.
        let window = unsafe { Window::create(&mut memory.incoming, setup.comm) }?;
        window.fence()?;
        Ok(Self { setup, window, element: Datatype::predefined(setup.element) })
    }

    /// Puts the block for `peer` to where this rank's block belongs there.
    fn put_block(&self, memory: &Memory, peer: usize) -> Result<(), CallError> {
        let elements = self.setup.block_elements()?;
        let block_bytes = self.setup.message_bytes / self.setup.blocks();
        let (mine, theirs) = if self.setup.is_all_to_all() { (peer, self.setup.me) } else { (0, 0) };
        let from = memory.outgoing[mine * block_bytes..].as_ptr();
        let target = (theirs * block_bytes, elements, &self.element);
        // SAFETY: a block of the wire buffer, left alone until the next fence; the peer's buffer is as long.
        unsafe { self.window.put((from, elements, &self.element), peer, target) }
    }
}

impl Method for PutManual<'_> {
    fn ends(&self) -> Ends {
        Ends {
            from: Place::Arrays,
            to: Place::Arrays,
            order: WireOrder::Manual,
            creates: false,
            packs: true,
            unpacks: true,
        }
    }

    fn create(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.setup.app.pack(&memory.arrays, &mut memory.outgoing[..self.setup.message_bytes]);
        Ok(())
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.put_block(memory, self.setup.peer())?;
        self.window.fence()
    }

    #[inline]
    fn receive(&mut self, _: &mut Memory) -> Result<(), CallError> {
        self.window.fence()
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        // A rank may still unpack the last exchange when another begins the next: only then may puts start.
        self.window.fence()?;
        (0..self.setup.ranks).try_for_each(|peer| self.put_block(memory, peer))?;
        self.window.fence()
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.setup.app.unpack(&memory.incoming[..self.setup.message_bytes], &mut memory.arrays);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), CallError> {
        self.window.fence()
    }
}

/// Put from the arrays into the peer's arrays, with the send layout here and the receive layout there.
///
/// Both ranks lay their arrays out alike, so this rank's receive endpoint describes the peer's memory.
pub struct PutDatatype<'a> {
    setup: &'a Setup<'a>,
    window: Window,
    send: Endpoint,
    receive: Endpoint,
    types: Option<(Datatype, Datatype)>,
}

impl<'a> PutDatatype<'a> {
    pub fn new(setup: &'a Setup<'a>, memory: &mut Memory) -> anyhow::Result<Self> {
        // SAFETY: the arrays outlive the method and are never reallocated; between fences only MPI and the loops
        // that the fences order touch them.
        let window = unsafe { Window::create(memory.arrays.memory_mut(), setup.comm) }?;
        window.fence()?;
        let send = setup.endpoint(Side::Send, &memory.arrays)?;
        let receive = setup.endpoint(Side::Receive, &memory.arrays)?;
        Ok(Self { setup, window, send, receive, types: None })
    }

    fn put_block(&self, memory: &Memory, peer: usize) -> Result<(), CallError> {
        let (send_type, receive_type) = self.types.as_ref().expect("created before use");
        let (mine, theirs) = if self.setup.is_all_to_all() { (peer, self.setup.me) } else { (0, 0) };
        let from = memory.read_from(self.send.offset(&memory.arrays, mine));
        let target = (self.receive.offset(&memory.arrays, theirs), 1, receive_type);
        // SAFETY: both layouts lie within the arrays' memory, which is alike on both ranks and is the window;
        // the source is left alone until the next fence.
        unsafe { self.window.put((from, 1, send_type), peer, target) }
    }
}

impl Method for PutDatatype<'_> {
    fn ends(&self) -> Ends {
        Ends {
            from: Place::Arrays,
            to: Place::Arrays,
            order: WireOrder::Ddt,
            creates: true,
            packs: false,
            unpacks: false,
        }
    }

    fn create(&mut self) -> Result<(), CallError> {
        self.types = Some((self.send.recipe.create()?, self.receive.recipe.create()?));
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        let Some((send, receive)) = self.types.take() else { return Ok(()) };
        send.free()?;
        receive.free()
    }

    fn pack(&mut self, _: &mut Memory) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn send(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.put_block(memory, self.setup.peer())?;
        self.window.fence()
    }

    #[inline]
    fn receive(&mut self, _: &mut Memory) -> Result<(), CallError> {
        self.window.fence()
    }

    #[inline]
    fn exchange(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        (0..self.setup.ranks).try_for_each(|peer| self.put_block(memory, peer))?;
        self.window.fence()
    }

    fn unpack(&mut self, _: &mut Memory) -> Result<(), CallError> {
        Ok(())
    }

    fn settle(&mut self) -> Result<(), CallError> {
        self.window.fence()
    }
}
