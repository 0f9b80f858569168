//! `aggregated:adaptive`: transport partitions that become ready while a transfer is in flight are merged with their
//! neighbours into the next one.
//!
//! A message's tag is its first transport partition, and its length says how many follow: the receiver, which cannot know
//! either beforehand, finds each message before it receives it to its place. The sender's threads only ever try to become
//! the one that sends: who does not, leaves its partition to the one that does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::aggregated::Units;
use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Comm, Found, Request};
use crate::slots::Slot;

/// Bytes from which on a run of ready units does not wait for the transfer in flight: its own latency is no longer worth
/// saving, and the sender may compute for long before it looks again.
const SENT_AT_ONCE: usize = 256 * 1024;

pub struct AggregatedAdaptive<'a> {
    channel: Channel<'a>,
    comm: Comm,
    units: Units,
    /// Which units are ready and not yet sent.
    ready: Vec<AtomicBool>,
    /// Units that became ready since someone last looked: above 0 while someone sends.
    pending: AtomicUsize,
    /// Of the one who sends, or who waits at the end.
    transfers: Slot<Vec<Request>>,
    messages: AtomicUsize,
    /// At the receiver: bytes of which nothing was heard yet.
    left: AtomicUsize,
}

// SAFETY: the pointer to the message is only passed to MPI; all else is atomic, or guarded by who it belongs to.
unsafe impl Sync for AggregatedAdaptive<'_> {}

impl<'a> AggregatedAdaptive<'a> {
    pub fn new(channel: Channel<'a>, units: Units) -> Result<Self, CallError> {
        Ok(Self {
            comm: channel.comm.duplicate()?,
            ready: (0..units.len()).map(|_| AtomicBool::new(false)).collect(),
            pending: AtomicUsize::new(0),
            transfers: Slot::new(Vec::with_capacity(units.len())),
            messages: AtomicUsize::new(0),
            left: AtomicUsize::new(0),
            channel,
            units,
        })
    }

    /// Sends runs of ready units: all of them if `flush`, or if nothing is in flight; else only the long ones.
    /// Called by one thread at a time.
    fn dispatch(&self, flush: bool) -> Result<(), CallError> {
        // SAFETY: as the caller vouches.
        let transfers = unsafe { self.transfers.get() };
        for done in (0..transfers.len()).rev() {
            if transfers[done].test()? {
                transfers.swap_remove(done);
            }
        }
        let mut is_idle = transfers.is_empty();
        let is_ready = |unit: &usize| self.ready[*unit].load(Ordering::Acquire);
        let mut unit = 0;
        while unit < self.units.len() {
            if !is_ready(&unit) {
                unit += 1;
                continue;
            }
            let end = (unit..self.units.len()).find(|unit| !is_ready(unit)).unwrap_or(self.units.len());
            let bytes = self.units.bytes[unit].start..self.units.bytes[end - 1].end;
            if flush || is_idle || bytes.len() >= SENT_AT_ONCE {
                (unit..end).for_each(|unit| self.ready[unit].store(false, Ordering::Relaxed));
                let envelope = self.channel.envelope(bytes.len(), unit, &self.comm);
                // SAFETY: units that are ready: they do not change until the wait.
                transfers.push(unsafe { Request::send(self.channel.at(bytes.start), envelope) }?);
                self.messages.fetch_add(1, Ordering::Relaxed);
                is_idle = false;
            }
            unit = end;
        }
        Ok(())
    }

    /// Receives a message to its place. Called by one thread at a time.
    fn receive(&self, message: Found) -> Result<(), CallError> {
        self.left.fetch_sub(message.count, Ordering::Relaxed);
        let to = self.channel.at(self.units.bytes[message.tag - self.channel.tag].start);
        // SAFETY: as the caller vouches.
        let transfers = unsafe { self.transfers.get() };
        // SAFETY: whole units from this one on, which nobody else uses during a transfer.
        transfers.push(unsafe { message.receive(to, self.channel.byte) }?);
        Ok(())
    }
}

impl Mechanism for AggregatedAdaptive<'_> {
    fn start(&self) -> Result<(), CallError> {
        self.units.reset();
        self.messages.store(0, Ordering::Relaxed);
        self.left.store(self.channel.bytes, Ordering::Relaxed);
        Ok(())
    }

    fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let Some(unit) = self.units.mark(partition) else { return Ok(()) };
        self.ready[unit].store(true, Ordering::Release);
        if self.pending.fetch_add(1, Ordering::AcqRel) > 0 {
            return Ok(());
        }
        // This thread sends, until nothing has become ready while it did.
        let mut seen = 1;
        loop {
            self.dispatch(false)?;
            match self.pending.compare_exchange(seen, 0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => seen = now,
            }
        }
    }

    fn bring(&self) -> Result<bool, CallError> {
        let found = Found::now(&self.comm, self.channel.peer, self.channel.byte)?;
        found.map_or(Ok(false), |message| self.receive(message).map(|()| true))
    }

    fn wait(&self) -> Result<(), CallError> {
        match self.channel.role {
            Role::Sender => self.dispatch(true)?,
            Role::Receiver => {
                while self.left.load(Ordering::Relaxed) > 0 {
                    self.receive(Found::next(&self.comm, self.channel.peer, self.channel.byte)?)?;
                }
            }
        }
        // SAFETY: one thread waits, after a barrier of all.
        let transfers = unsafe { self.transfers.get() };
        transfers.iter_mut().try_for_each(Request::wait)?;
        transfers.clear();
        Ok(())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.messages.load(Ordering::Relaxed))
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        Ok(())
    }
}
