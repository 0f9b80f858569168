//! `rma_single_passive`, `rma_many_passive`: puts under a lock that is held all the time, flushed at the end; empty
//! messages say when the receiver's memory may be written and when it has been.
//!
//! "RMA single/many - passive" of Gillis et al., ICPP 2023.

use common::kinds::partitioned::methods::Windows;

use super::puts::Puts;
use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, TeamCalls};

pub struct Passive<'a> {
    puts: Puts<'a>,
}

impl<'a> Passive<'a> {
    pub fn new(channel: Channel<'a>, windows: Windows, calls: TeamCalls) -> Result<Self, CallError> {
        let puts = Puts::new(channel, windows, calls)?;
        let peer = puts.channel.peer;
        match puts.channel.role {
            Role::Sender => puts.windows.iter().try_for_each(|window| window.lock(peer))?,
            // Its own memory, so that what was put into it can be made visible.
            Role::Receiver => {
                let me = puts.channel.comm.rank()?;
                puts.windows.iter().try_for_each(|window| window.lock(me))?;
            }
        }
        Ok(Self { puts })
    }
}

impl Mechanism for Passive<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        match self.puts.channel.role {
            Role::Sender => self.puts.receive_token(),
            Role::Receiver => self.puts.send_token(),
        }
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        // SAFETY: the partition does not change until the transfer ends, as the caller vouches.
        unsafe { self.puts.put(thread, partition) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        let Puts { channel, windows, .. } = &self.puts;
        match channel.role {
            Role::Sender => {
                windows.iter().try_for_each(|window| window.flush(channel.peer))?;
                self.puts.send_token()
            }
            Role::Receiver => {
                self.puts.receive_token()?;
                windows.iter().try_for_each(|window| window.synchronise())
            }
        }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.puts.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        let Puts { channel, windows, .. } = &self.puts;
        let locked = if channel.role == Role::Sender { channel.peer } else { channel.comm.rank()? };
        windows.iter().try_for_each(|window| window.unlock(locked))?;
        self.puts.free()
    }
}
