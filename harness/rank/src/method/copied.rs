//! Contiguous bytes that are copied before they are sent, and after they were received: what packing costs at least.

use std::ffi::c_int;

use apps::WireOrder;

use super::{Ends, Location, Method, Setup};
use crate::checked::{CallError, Datatype};
use crate::memory::{Memory, POISON, Wire};

/// From one wire buffer to the other by way of two more.
pub struct Copied<'a> {
    setup: &'a Setup<'a>,
    /// Type and count of one block.
    datatype: Datatype,
    count: c_int,
    outgoing: Wire,
    incoming: Wire,
}

impl<'a> Copied<'a> {
    /// With buffers of its own, every page of which is written.
    pub fn new(setup: &'a Setup<'a>) -> anyhow::Result<Self> {
        let buffer = || {
            let mut buffer = Wire::new(setup.message_bytes);
            buffer.fill(POISON);
            buffer
        };
        let (datatype, count) = (Datatype::predefined(setup.element), setup.block_elements()?);
        Ok(Self { setup, datatype, count, outgoing: buffer(), incoming: buffer() })
    }
}

impl Method for Copied<'_> {
    fn ends(&self) -> Ends {
        Ends {
            from: Location::Wire,
            to: Location::Wire,
            order: WireOrder::Ddt,
            creates: false,
            packs: true,
            unpacks: true,
            is_renewed: true,
        }
    }

    fn returns_what_came(&self) -> bool {
        true
    }

    fn create(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    fn free(&mut self) -> Result<(), CallError> {
        Ok(())
    }

    #[inline]
    fn pack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        self.outgoing.copy_from_slice(&memory.outgoing[..self.setup.message_bytes]);
        Ok(())
    }

    #[inline]
    fn unpack(&mut self, memory: &mut Memory) -> Result<(), CallError> {
        memory.incoming[..self.setup.message_bytes].copy_from_slice(&self.incoming);
        Ok(())
    }

    #[inline]
    fn send(&mut self, _: &mut Memory) -> Result<(), CallError> {
        // SAFETY: the buffer has as many bytes as the message, of which these are all.
        unsafe { self.setup.comm.send(self.outgoing.as_ptr(), self.count, &self.datatype, self.setup.peer()) }
    }

    #[inline]
    fn receive(&mut self, _: &mut Memory) -> Result<(), CallError> {
        let to = self.incoming.as_mut_ptr();
        // SAFETY: as in `send`; the buffer is borrowed mutably.
        unsafe { self.setup.comm.receive(to, self.count, &self.datatype, self.setup.peer()) }
    }

    #[inline]
    fn exchange(&mut self, _: &mut Memory) -> Result<(), CallError> {
        let (from, to) = (self.outgoing.as_ptr(), self.incoming.as_mut_ptr());
        // SAFETY: the buffers hold a block for each rank, one after the other.
        unsafe {
            self.setup.comm.all_to_all((from, self.count, &self.datatype), (to, self.count, &self.datatype))
        }
    }
}
