//! Transfers from rank 0 to rank 1, again and again, with other data each time.

use super::message::{Incoming, Outgoing, Shape};
use super::stage::{Stage, Stop};
use crate::checked::Comm;

/// Transfers of each kind that goes wrong now and then: what happens to half of them, as was seen, shows in 50.
pub const TRANSFERS: u32 = 50;

/// Tag of all messages of which there is one at a time.
pub const TAG: usize = 7;

/// The rank that sends.
pub const SENDER: usize = 0;

/// The rank that receives.
pub const RECEIVER: usize = 1;

/// A series of transfers.
pub struct Exchange<'a> {
    /// Of what.
    pub what: &'a str,
    /// On which ranks.
    pub comm: &'a Comm,
    /// Their tag.
    pub tag: usize,
    /// The message as it is sent.
    pub send: Shape,
    /// The message as it is received.
    pub receive: Shape,
    /// How often.
    pub transfers: u32,
}

/// What a sender does from start to wait, in a generation.
pub type Send<'a> = &'a mut dyn FnMut(&mut Outgoing, u32) -> Result<(), Stop>;

/// What a receiver does, likewise.
pub type Receive<'a> = &'a mut dyn FnMut(&mut Incoming, u32) -> Result<(), Stop>;

impl<'a> Exchange<'a> {
    /// With the same shape on both sides.
    pub fn equal(stage: &Stage<'a>, what: &'a str, shape: Shape) -> Self {
        Self { what, comm: stage.comm, tag: TAG, send: shape.clone(), receive: shape, transfers: TRANSFERS }
    }

    /// Sends in a way of one's own, and receives as a whole.
    pub fn send_by(&self, stage: &Stage<'_>, send: Send<'_>) -> Result<(), Stop> {
        self.run(stage, send, &mut receive)
    }

    /// Sends in order, and receives in a way of one's own.
    pub fn receive_by(&self, stage: &Stage<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        self.run(stage, &mut send, receive)
    }

    /// Sends in order and receives as a whole.
    pub fn plainly(&self, stage: &Stage<'_>) -> Result<(), Stop> {
        self.run(stage, &mut send, &mut receive)
    }

    /// Does it on this rank. Every transfer is compared when it is complete.
    pub fn run(&self, stage: &Stage<'_>, send: Send<'_>, receive: Receive<'_>) -> Result<(), Stop> {
        if stage.rank == SENDER {
            let mut outgoing = Outgoing::new(self.comm, RECEIVER, self.tag, &self.send, SENDER)?;
            for _ in 0..self.transfers {
                send(&mut outgoing, stage.next_generation())?;
            }
            outgoing.free()?;
        } else if stage.rank == RECEIVER {
            let mut incoming = Incoming::new(self.comm, SENDER, self.tag, &self.receive, SENDER)?;
            for _ in 0..self.transfers {
                let generation = stage.next_generation();
                receive(&mut incoming, generation)?;
                // SAFETY: every way to receive ends with a wait for the message.
                stage.count(self.what, unsafe { incoming.compare(generation) });
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

/// As a whole.
pub fn receive(incoming: &mut Incoming, _: u32) -> Result<(), Stop> {
    incoming.start()?;
    Ok(incoming.wait()?)
}
