//! Repeated transfers from rank 0 to rank 1, each with different data.

use super::message::{Incoming, Outgoing, Shape};
use crate::checked::Comm;
use crate::conformance::context::{CheckContext, Stop};

/// Transfers of each kind that fails only sometimes: a failure in half of them, as observed, is detected within 50.
pub const TRANSFERS: u32 = 50;

/// Tag of all messages that are sent one at a time.
pub const TAG: usize = 7;

/// The rank that sends in all exchanges.
pub const SENDER: usize = 0;

/// The rank that receives in all exchanges.
pub const RECEIVER: usize = 1;

/// A series of transfers with the same shapes and different data.
pub struct Transfers<'a> {
    pub context: &'a CheckContext<'a>,
    /// The kind of comparison, as reports name it.
    pub what: &'a str,
    pub comm: &'a Comm,
    /// The tags of messages that are created and transferred together, one of each.
    pub tags: Vec<usize>,
    /// The message's shape at the sender.
    pub send: Shape,
    /// The message's shape at the receiver.
    pub receive: Shape,
    /// Number of consecutive transfers.
    pub count: u32,
}

impl<'a> Transfers<'a> {
    /// With the same shape on both sides.
    pub fn equal(context: &'a CheckContext<'a>, what: &'a str, shape: Shape) -> Self {
        let (comm, receive) = (context.comm, shape.clone());
        Self { context, what, comm, tags: vec![TAG], send: shape, receive, count: TRANSFERS }
    }

    /// Sends in order and receives the whole message at once.
    pub fn plainly(&self) -> Result<(), Stop> {
        self.together(send_all, receive_all)
    }

    /// Sends and receives one message at a time. Between start and wait, each side works in the given way with its generation.
    pub fn run(
        &self,
        mut send: impl FnMut(&mut Outgoing, u32) -> Result<(), Stop>,
        mut receive: impl FnMut(&mut Incoming, u32) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.together(
            |all| {
                let (outgoing, generation) = &mut all[0];
                outgoing.start()?;
                send(outgoing, *generation)?;
                Ok(outgoing.wait()?)
            },
            |all| {
                let (incoming, generation) = &mut all[0];
                incoming.start()?;
                receive(incoming, *generation)?;
                Ok(incoming.wait()?)
            },
        )
    }

    /// Does this rank's part with all messages at once, each with its generation. Every transfer is compared when it is complete.
    pub fn together(
        &self,
        mut send: impl FnMut(&mut [(&mut Outgoing, u32)]) -> Result<(), Stop>,
        mut receive: impl FnMut(&mut [(&mut Incoming, u32)]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let generations = || self.tags.iter().map(|_| self.context.next_generation()).collect::<Vec<_>>();
        if self.context.rank == SENDER {
            let new = |&tag| Outgoing::new(self.comm, RECEIVER, tag, &self.send, SENDER);
            let mut outgoing = self.tags.iter().map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..self.count {
                send(&mut outgoing.iter_mut().zip(generations()).collect::<Vec<_>>())?;
            }
            outgoing.into_iter().try_for_each(Outgoing::free)?;
        } else if self.context.rank == RECEIVER {
            let new = |&tag| Incoming::new(self.comm, SENDER, tag, &self.receive, SENDER);
            let mut incoming = self.tags.iter().map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..self.count {
                let generations = generations();
                receive(&mut incoming.iter_mut().zip(generations.iter().copied()).collect::<Vec<_>>())?;
                for (incoming, generation) in incoming.iter().zip(generations) {
                    // SAFETY: every way to receive ends with a wait for the message.
                    self.context.count(self.what, unsafe { incoming.compare(generation) });
                }
            }
            incoming.into_iter().try_for_each(Incoming::free)?;
        }
        Ok(())
    }
}

/// Sends one partition after the other.
pub fn in_order(outgoing: &mut Outgoing, generation: u32) -> Result<(), Stop> {
    Ok(outgoing.ready_from(0, generation)?)
}

/// Waits for the whole message.
pub fn at_once(_: &mut Incoming, _: u32) -> Result<(), Stop> {
    Ok(())
}

/// Starts all sends, sends one partition after the other, and then waits for each message.
pub fn send_all(all: &mut [(&mut Outgoing, u32)]) -> Result<(), Stop> {
    all.iter_mut().try_for_each(|(outgoing, _)| outgoing.start())?;
    all.iter().try_for_each(|(outgoing, generation)| outgoing.ready_from(0, *generation))?;
    Ok(all.iter_mut().try_for_each(|(outgoing, _)| outgoing.wait())?)
}

/// Starts all receives, and then waits for each.
pub fn receive_all(all: &mut [(&mut Incoming, u32)]) -> Result<(), Stop> {
    all.iter_mut().try_for_each(|(incoming, _)| incoming.start())?;
    Ok(all.iter_mut().try_for_each(|(incoming, _)| incoming.wait())?)
}
