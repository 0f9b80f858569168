//! `rma_single_active`, `rma_many_active`: puts between `MPI_Win_start` and `MPI_Win_complete`, into memory that the
//! receiver exposes between `MPI_Win_post` and `MPI_Win_wait`.
//!
//! "RMA single/many - active" of Gillis et al., ICPP 2023; one thread opens and closes all windows.

use common::kinds::partitioned::methods::Windows;

use super::puts::Puts;
use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Group, TeamCalls, Window};

pub struct PostStart<'a> {
    puts: Puts<'a>,
    peer: Group,
}

impl<'a> PostStart<'a> {
    pub fn new(channel: Channel<'a>, windows: Windows, calls: TeamCalls) -> Result<Self, CallError> {
        let peer = Group::of(channel.comm, channel.peer)?;
        Ok(Self { puts: Puts::new(channel, windows, calls)?, peer })
    }

    fn each(
        &self,
        sender: fn(&Window, &Group) -> Result<(), CallError>,
        receiver: fn(&Window, &Group) -> Result<(), CallError>,
    ) -> Result<(), CallError> {
        let call = if self.puts.channel.role == Role::Sender { sender } else { receiver };
        self.puts.windows.iter().try_for_each(|window| call(window, &self.peer))
    }
}

impl Mechanism for PostStart<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        self.each(Window::start, Window::post)
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the partition does not change until the transfer ends, as the caller vouches.
        unsafe { self.puts.put(thread, partition) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        self.each(|window, _| window.complete(), |window, _| window.wait())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.puts.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        self.peer.free()?;
        self.puts.free()
    }
}
