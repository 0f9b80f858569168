//! Windows over the receiver's message, one for all threads or one for each, and the puts into them.

use common::kinds::partitioned::methods::Windows;

use super::{Channel, Role};
use crate::checked::{CallError, Comm, TeamCalls, Window};

/// One end of puts: windows of both ranks, of which only the receiver's have memory.
pub struct Puts<'a> {
    pub channel: Channel<'a>,
    pub windows: Vec<Window>,
    comms: Vec<Comm>,
}

impl<'a> Puts<'a> {
    /// Makes the windows; collective.
    pub fn new(channel: Channel<'a>, windows: Windows, _: TeamCalls) -> Result<Self, CallError> {
        let count = match windows {
            Windows::Single => 1,
            Windows::Many => channel.of_thread.len(),
        };
        let comms = (0..count).map(|_| channel.comm.duplicate()).collect::<Result<Vec<_>, _>>()?;
        let bytes = if channel.role == Role::Receiver { channel.memory.bytes() } else { 0 };
        let window = |comm: &Comm| {
            // SAFETY: the whole message, which the channel's region vouches for.
            unsafe { Window::over(channel.memory.start(), bytes, comm) }
        };
        let windows = comms.iter().map(window).collect::<Result<_, _>>()?;
        Ok(Self { channel, windows, comms })
    }

    /// Puts a partition to its place at the receiver.
    ///
    /// # Safety
    /// It does not change until the epoch ends.
    #[inline]
    pub unsafe fn put(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        let range = &self.channel.partitions[partition];
        let window = self.windows.get(thread).unwrap_or(&self.windows[0]);
        // SAFETY: a partition of the message, which does not change as the caller vouches; the receiver's window is over the whole
        // message.
        unsafe {
            window.put_bytes(
                self.channel.at(range.start),
                range.len(),
                self.channel.byte,
                self.channel.peer,
                range.start,
            )
        }
    }

    /// Sends or receives a message without bytes: tells the other rank that it may go on.
    pub fn send_token(&self) -> Result<(), CallError> {
        // SAFETY: no bytes.
        unsafe { self.channel.envelope(0, 0, self.channel.comm).send(std::ptr::null()) }
    }

    /// Waits for what [`Puts::send_token`] sends.
    pub fn receive_token(&self) -> Result<(), CallError> {
        // SAFETY: no bytes.
        unsafe { self.channel.envelope(0, 0, self.channel.comm).receive(std::ptr::null_mut()) }
    }

    /// Frees the windows and what they are on; collective.
    pub fn free(self) -> Result<(), CallError> {
        self.windows.into_iter().try_for_each(Window::free)?;
        drop(self.comms);
        Ok(())
    }
}
