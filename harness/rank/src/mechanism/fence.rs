//! `rma_fence`: puts between two fences, on a window per thread.
//!
//! Method `rma_fence` of bench-pcomm; one thread fences all windows.

use common::kinds::partitioned::methods::Windows;

use super::puts::Puts;
use super::{Channel, Mechanism};
use crate::checked::{CallError, TeamCalls, Window};

pub struct Fence<'a> {
    puts: Puts<'a>,
}

impl<'a> Fence<'a> {
    pub fn new(channel: Channel<'a>, calls: TeamCalls) -> Result<Self, CallError> {
        Ok(Self { puts: Puts::new(channel, Windows::Many, calls)? })
    }

    fn fences(&self) -> Result<(), CallError> {
        self.puts.windows.iter().try_for_each(Window::fence)
    }
}

impl Mechanism for Fence<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        self.fences()
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the partition does not change until the transfer ends, as the caller vouches.
        unsafe { self.puts.put(thread, partition) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        self.fences()
    }

    fn messages(&self) -> Option<usize> {
        Some(self.puts.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.puts.free()
    }
}
