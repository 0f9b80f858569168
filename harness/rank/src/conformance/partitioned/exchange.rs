//! Transfers from rank 0 to rank 1, again and again, with other data each time.

use super::message::{Incoming, Outgoing, Shape};
use crate::checked::Comm;
use crate::conformance::context::{CheckContext, Stop};

/// Transfers of each kind that goes wrong now and then: what happens to half of them, as was seen, shows in 50.
pub const TRANSFERS: u32 = 50;

/// Tag of all messages of which there is one at a time.
pub const TAG: usize = 7;

/// The rank that sends in all exchanges.
pub const SENDER: usize = 0;

/// The rank that receives in all exchanges.
pub const RECEIVER: usize = 1;

/// A series of transfers of the same shapes, each with other data.
pub struct Transfers<'a> {
    /// What is compared, as reports name it.
    pub what: &'a str,
    /// The communicator of both ranks.
    pub comm: &'a Comm,
    /// The tag of all transfers.
    pub tag: usize,
    /// The message as it is sent.
    pub send: Shape,
    /// The message as it is received.
    pub receive: Shape,
    /// Transfers that are made one after the other.
    pub count: u32,
}

/// What a sender does from start to wait, in a generation.
pub type Send<'a> = &'a mut dyn FnMut(&mut Outgoing, u32) -> Result<(), Stop>;

/// What a receiver does, likewise.
pub type Receive<'a> = &'a mut dyn FnMut(&mut Incoming, u32) -> Result<(), Stop>;

impl<'a> Transfers<'a> {
    /// With the same shape on both sides.
    pub fn equal(context: &CheckContext<'a>, what: &'a str, shape: Shape) -> Self {
        Self { what, comm: context.comm, tag: TAG, send: shape.clone(), receive: shape, count: TRANSFERS }
    }

    /// Sends in a way of one's own, and receives as a whole.
    pub fn send_by(&self, context: &CheckContext<'_>, send: Send<'_>) -> Result<(), Stop> {
        self.run(context, send, &mut receive)
    }

    /// Sends in order, and receives in a way of one's own.
    pub fn receive_by(&self, context: &CheckContext<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        self.run(context, &mut send, receive)
    }

    /// Sends in order and receives as a whole.
    pub fn plainly(&self, context: &CheckContext<'_>) -> Result<(), Stop> {
        self.run(context, &mut send, &mut receive)
    }

    /// Does it on this rank. Every transfer is compared when it is complete.
    pub fn run(&self, context: &CheckContext<'_>, send: Send<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        if context.rank == SENDER {
            let mut outgoing = Outgoing::new(self.comm, RECEIVER, self.tag, &self.send, SENDER)?;
            for _ in 0..self.count {
                send(&mut outgoing, context.next_generation())?;
            }
            outgoing.free()?;
        } else if context.rank == RECEIVER {
            let mut incoming = Incoming::new(self.comm, SENDER, self.tag, &self.receive, SENDER)?;
            for _ in 0..self.count {
                let generation = context.next_generation();
                receive(&mut incoming, generation)?;
                // SAFETY: every way to receive ends with a wait for the message.
                context.count(self.what, unsafe { incoming.compare(generation) });
            }
            incoming.free()?;
        }
        Ok(())
    }
}

/// One partition after the other.
pub fn send(outgoing: &mut Outgoing, generation: u32) -> Result<(), Stop> {
    outgoing.start()?;
    outgoing.ready_from(0, generation)?;
    Ok(outgoing.wait()?)
}

/// Starts a receive and waits for the whole of it.
pub fn receive(incoming: &mut Incoming, _: u32) -> Result<(), Stop> {
    incoming.start()?;
    Ok(incoming.wait()?)
}
