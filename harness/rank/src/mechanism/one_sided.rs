//! `rma_single_passive`, `rma_many_passive`, `rma_single_active`, `rma_many_active`, `rma_fence`: puts into windows over the receiver's
//! message, with one window for all threads or one for each. One thread begins and ends the epoch in which threads may put.
//!
//! "RMA single/many - passive" and "- active" of Gillis et al., ICPP 2023, and the method `rma_fence` of their bench-pcomm.

use common::kinds::partitioned::methods::{Epoch, Windows};

use super::{Channel, Mechanism, Role};
use crate::checked::{Access, CallError, Comm, Count, Group, TeamCalls, Window};

/// One end of puts: windows of both ranks; only the receiver's have memory.
pub struct OneSided<'a> {
    channel: Channel<'a>,
    epoch: Epoch,
    windows: Vec<Window>,
    comms: Vec<Comm>,
    /// The other rank, which some epochs need.
    peer: Option<Group>,
    /// The rank whose memory is locked: the receiver; its own lock makes puts visible to it.
    locked: usize,
}

impl<'a> OneSided<'a> {
    /// Creates the windows; collective.
    pub fn new(
        channel: Channel<'a>,
        epoch: Epoch,
        windows: Windows,
        _: TeamCalls,
    ) -> Result<Self, CallError> {
        let count = match windows {
            Windows::Single => 1,
            Windows::Many => channel.of_thread.len(),
        };
        let comms = (0..count).map(|_| channel.comm.duplicate()).collect::<Result<Vec<_>, _>>()?;
        let is_sender = channel.role == Role::Sender;
        let peer = match epoch {
            Epoch::PostStart => Some(Group::with_rank(channel.comm, channel.peer)?),
            Epoch::Fence | Epoch::Lock => None,
        };
        let bytes = if is_sender { 0 } else { channel.memory.bytes() };
        let window = |comm: &Comm| {
            // SAFETY: the whole message, which the channel's region guarantees.
            unsafe { Window::over(channel.memory.start(), bytes, comm) }
        };
        let windows = comms.iter().map(window).collect::<Result<Vec<_>, _>>()?;
        let locked = if is_sender { channel.peer } else { channel.comm.rank()? };
        if epoch == Epoch::Lock {
            windows.iter().try_for_each(|window| window.lock(locked))?;
        }
        Ok(Self { channel, epoch, windows, comms, peer, locked })
    }

    fn each(&self, call: impl Fn(&Window) -> Result<(), CallError>) -> Result<(), CallError> {
        self.windows.iter().try_for_each(call)
    }

    fn each_with_peer(&self, call: fn(&Window, &Group) -> Result<(), CallError>) -> Result<(), CallError> {
        let peer = self.peer.as_ref().expect("made for such an epoch");
        self.each(|window| call(window, peer))
    }

    /// A message without bytes from a rank: the other one may continue.
    fn token(&self, from: Role) -> Result<(), CallError> {
        let Channel { comm, peer, tag, role, .. } = self.channel;
        comm.pass_token(role == from, peer, tag)
    }
}

impl Mechanism for OneSided<'_> {
    unsafe fn start(&self) -> Result<(), CallError> {
        match (self.epoch, self.channel.role) {
            (Epoch::Fence, _) => self.each(Window::fence),
            // The receiver's memory may be written.
            (Epoch::Lock, _) => self.token(Role::Receiver),
            (Epoch::PostStart, Role::Sender) => self.each_with_peer(Window::start),
            (Epoch::PostStart, Role::Receiver) => self.each_with_peer(Window::post),
        }
    }

    #[inline]
    unsafe fn ready(&self, thread: usize, partition: usize) -> Result<(), CallError> {
        let Channel { peer, byte, .. } = self.channel;
        let range = &self.channel.partitions[partition];
        let window = self.windows.get(thread).unwrap_or(&self.windows[0]);
        let bytes = range.len() as Count;
        let (near, far) = ((self.channel.at(range.start), bytes, byte), (range.start, bytes, byte));
        // SAFETY: a partition of the message, which does not change until the transfer ends, as the caller
        // guarantees; the receiver's window covers the whole message.
        unsafe { window.access(Access::Put, near, peer, far) }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        match (self.epoch, self.channel.role) {
            (Epoch::Fence, _) => self.each(Window::fence),
            (Epoch::Lock, Role::Sender) => {
                self.each(|window| window.flush(self.channel.peer))?;
                self.token(Role::Sender)
            }
            (Epoch::Lock, Role::Receiver) => {
                self.token(Role::Sender)?;
                self.each(Window::synchronise)
            }
            (Epoch::PostStart, Role::Sender) => self.each(Window::complete),
            (Epoch::PostStart, Role::Receiver) => self.each(Window::wait),
        }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.channel.partitions.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        if self.epoch == Epoch::Lock {
            self.each(|window| window.unlock(self.locked))?;
        }
        self.peer.map_or(Ok(()), Group::free)?;
        self.windows.into_iter().try_for_each(Window::free)?;
        drop(self.comms);
        Ok(())
    }
}
