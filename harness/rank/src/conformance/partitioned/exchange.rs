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

/// The sender's work between start and wait, for a generation.
pub type Send<'a> = &'a mut dyn FnMut(&mut Outgoing, u32) -> Result<(), Stop>;

/// The receiver's work, in the same form.
pub type Receive<'a> = &'a mut dyn FnMut(&mut Incoming, u32) -> Result<(), Stop>;

/// The work of either side with all messages and their generations.
pub type Together<'a, M> = &'a mut dyn FnMut(&mut [(&mut M, u32)]) -> Result<(), Stop>;

impl<'a> Transfers<'a> {
    /// With the same shape on both sides.
    pub fn equal(context: &CheckContext<'a>, what: &'a str, shape: Shape) -> Self {
        Self {
            what,
            comm: context.comm,
            tags: vec![TAG],
            send: shape.clone(),
            receive: shape,
            count: TRANSFERS,
        }
    }

    /// Sends in the given way, and receives the whole message at once.
    pub fn send_by(&self, context: &CheckContext<'_>, send: Send<'_>) -> Result<(), Stop> {
        self.run(context, send, &mut receive)
    }

    /// Sends in order, and receives in the given way.
    pub fn receive_by(&self, context: &CheckContext<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        self.run(context, &mut send, receive)
    }

    /// Sends in order and receives the whole message at once.
    pub fn plainly(&self, context: &CheckContext<'_>) -> Result<(), Stop> {
        self.run(context, &mut send, &mut receive)
    }

    /// Sends and receives one message at a time, each in the given way.
    pub fn run(&self, context: &CheckContext<'_>, send: Send<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        self.together(context, &mut |all| send(all[0].0, all[0].1), &mut |all| receive(all[0].0, all[0].1))
    }

    /// Does this rank's part with all messages at once, each with its generation. Every transfer is compared when it is complete.
    pub fn together(
        &self,
        context: &CheckContext<'_>,
        send: Together<'_, Outgoing>,
        receive: Together<'_, Incoming>,
    ) -> Result<(), Stop> {
        let generations = || self.tags.iter().map(|_| context.next_generation()).collect::<Vec<_>>();
        if context.rank == SENDER {
            let new = |&tag| Outgoing::new(self.comm, RECEIVER, tag, &self.send, SENDER);
            let mut outgoing = self.tags.iter().map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..self.count {
                send(&mut outgoing.iter_mut().zip(generations()).collect::<Vec<_>>())?;
            }
            outgoing.into_iter().try_for_each(Outgoing::free)?;
        } else if context.rank == RECEIVER {
            let new = |&tag| Incoming::new(self.comm, SENDER, tag, &self.receive, SENDER);
            let mut incoming = self.tags.iter().map(new).collect::<Result<Vec<_>, _>>()?;
            for _ in 0..self.count {
                let generations = generations();
                receive(&mut incoming.iter_mut().zip(generations.iter().copied()).collect::<Vec<_>>())?;
                for (incoming, generation) in incoming.iter().zip(generations) {
                    // SAFETY: every way to receive ends with a wait for the message.
                    context.count(self.what, unsafe { incoming.compare(generation) });
                }
            }
            incoming.into_iter().try_for_each(Incoming::free)?;
        }
        Ok(())
    }
}

/// Sends one partition after the other.
pub fn send(outgoing: &mut Outgoing, generation: u32) -> Result<(), Stop> {
    outgoing.start()?;
    outgoing.ready_from(0, generation)?;
    Ok(outgoing.wait()?)
}

/// Starts a receive and waits for the whole message.
pub fn receive(incoming: &mut Incoming, _: u32) -> Result<(), Stop> {
    incoming.start()?;
    Ok(incoming.wait()?)
}

/// Starts all receives, and then waits for each.
pub fn receive_all(all: &mut [(&mut Incoming, u32)]) -> Result<(), Stop> {
    all.iter_mut().try_for_each(|(incoming, _)| incoming.start())?;
    Ok(all.iter_mut().try_for_each(|(incoming, _)| incoming.wait())?)
}
