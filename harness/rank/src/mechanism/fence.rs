//! `rma_fence`: puts between two fences, on a window per thread.
//!
//! Method `rma_fence` of bench-pcomm; one thread fences all windows.

use super::puts::{Puts, Windows};
use super::{Channel, Mechanism};
use crate::checked::{CallError, Window};

pub struct Fence<'a> {
    puts: Puts<'a>,
}

impl<'a> Fence<'a> {
    pub fn new(channel: Channel<'a>) -> Result<Self, CallError> {
        Ok(Self { puts: Puts::new(channel, Windows::Many)? })
    }

    fn fences(&self) -> Result<(), CallError> {
        self.puts.windows.iter().try_for_each(Window::fence)
    }
}

impl Mechanism for Fence<'_> {
    fn start(&self) -> Result<(), CallError> {
        self.fences()
    }

    #[inline]
    fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        self.puts.put(thread, partition)
    }

    fn wait(&self) -> Result<(), CallError> {
        self.fences()
    }

    fn messages(&self) -> Option<usize> {
        Some(self.puts.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.puts.free()
    }
}
