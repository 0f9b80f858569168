//! Messages between ranks of one group, there and back, that transfer the time.

use datatypes::Element;

use super::local_clock::LocalClock;
use super::offset::{Extrapolation, Offset, ThereAndBack};
use super::tree::{self, TreeStep};
use crate::checked::{CallError, Comm, Datatype, Envelope};

/// Tag of the messages, on separate communicators.
const TAG: usize = 0;
/// A message: a time, and its error bound.
type Message = [f64; 2];
const BYTES: usize = size_of::<Message>();

/// How a rank updates its knowledge of another clock with a new observation.
pub type Learn = fn(Extrapolation, Offset) -> Extrapolation;

/// Ranks that exchange the time.
pub struct ClockGroup {
    /// Their own communicator.
    pub comm: Comm,
    pub rank: usize,
    pub ranks: usize,
    byte: Datatype,
}

impl ClockGroup {
    /// From a communicator that is not used for anything else.
    pub fn new(comm: Comm) -> Result<Self, CallError> {
        let (rank, ranks) = (comm.rank()?, comm.size()?);
        Ok(Self { comm, rank, ranks, byte: Datatype::predefined(Element::Byte) })
    }

    /// All ranks learn the time from the first, which knows it as `zero`; with this number of messages each. Collective.
    pub fn spread(
        &self,
        clock: LocalClock,
        zero: &mut Extrapolation,
        count: usize,
        learn: Learn,
    ) -> Result<(), CallError> {
        for part in tree::parts(self.rank, self.ranks) {
            match part {
                TreeStep::Answers(other) => self.answer(clock, zero, other, count)?,
                TreeStep::Asks(other) => {
                    if let Some(found) = self.ask(clock, other, count)? {
                        *zero = learn(*zero, found);
                    }
                }
            }
        }
        Ok(())
    }

    /// Asks a rank for the time, this number of times.
    pub fn ask(&self, clock: LocalClock, other: usize, count: usize) -> Result<Option<Offset>, CallError> {
        let mut exchanges = Vec::with_capacity(count);
        for _ in 0..count {
            let asked_s = clock.now_s();
            self.send(other, [asked_s, 0.0])?;
            let [remote_s, remote_error_s] = self.receive(other)?;
            exchanges.push(ThereAndBack { asked_s, remote_s, remote_error_s, received_s: clock.now_s() });
        }
        Ok(Offset::from_exchanges(&exchanges))
    }

    /// Answers a rank that asks this number of times.
    pub fn answer(
        &self,
        clock: LocalClock,
        zero: &Extrapolation,
        other: usize,
        count: usize,
    ) -> Result<(), CallError> {
        for _ in 0..count {
            self.receive(other)?;
            let local_s = clock.now_s();
            self.send(other, [zero.remote_s(local_s), zero.error_s(local_s)])?;
        }
        Ok(())
    }

    fn send(&self, to: usize, message: Message) -> Result<(), CallError> {
        // SAFETY: the message has as many bytes as are sent.
        unsafe { self.envelope(to).send(message.as_ptr().cast()) }
    }

    fn receive(&self, from: usize) -> Result<Message, CallError> {
        let mut message = Message::default();
        // SAFETY: the message has as many bytes as are received, and any bytes are valid numbers.
        unsafe { self.envelope(from).receive(message.as_mut_ptr().cast()) }?;
        Ok(message)
    }

    fn envelope(&self, peer: usize) -> Envelope<'_> {
        Envelope { count: BYTES, datatype: &self.byte, peer, tag: TAG, comm: &self.comm }
    }
}
