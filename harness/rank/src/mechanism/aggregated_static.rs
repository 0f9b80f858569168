//! `aggregated` with a mapping that is fixed beforehand: a persistent send per transport partition, or an MPI-4 request with
//! fewer partitions.

use super::aggregated::Units;
use super::persistent::Requests;
use super::{Channel, Mechanism, Role};
use crate::checked::{CallError, Partitioned, TeamCalls};
use crate::handoff::Slot;

/// What carries the transport partitions.
enum UnitTransport {
    Messages(Requests),
    Request(Slot<Partitioned>),
}

pub struct AggregatedStatic {
    units: Units,
    transport: UnitTransport,
}

impl AggregatedStatic {
    /// Over a message per unit.
    pub fn over_messages(channel: &Channel<'_>, units: Units, _: TeamCalls) -> Result<Self, CallError> {
        let messages = units.bytes.iter().map(|range| (range.clone(), channel.comm));
        let requests = Requests::new(channel, messages)?;
        Ok(Self { units, transport: UnitTransport::Messages(requests) })
    }

    /// Why units cannot be the partitions of an MPI request, if they cannot.
    pub fn refusal(units: &Units) -> Option<String> {
        let first = units.bytes[0].len();
        units.bytes.iter().find(|range| range.len() != first).map(|other| {
            format!(
                "transport partitions of {first} and of {} bytes: those of an MPI request are of one size",
                other.len()
            )
        })
    }

    /// Over the partitions of an MPI request.
    pub fn over_partitions(channel: &Channel<'_>, units: Units, _: TeamCalls) -> Result<Self, CallError> {
        let envelope = channel.envelope(units.bytes[0].len(), 0, channel.comm);
        // SAFETY: all of the message, which the channel's region vouches for.
        let request = unsafe {
            match channel.role {
                Role::Sender => Partitioned::send(channel.memory.start(), units.len(), envelope),
                Role::Receiver => Partitioned::receive(channel.memory.start(), units.len(), envelope),
            }
        }?;
        Ok(Self { units, transport: UnitTransport::Request(Slot::new(request)) })
    }
}

impl Mechanism for AggregatedStatic {
    unsafe fn start(&self) -> Result<(), CallError> {
        self.units.reset();
        match &self.transport {
            // SAFETY: no transfer is under way, and no thread is here.
            UnitTransport::Messages(requests) => unsafe { requests.start_receives() },
            // SAFETY: as above.
            UnitTransport::Request(request) => unsafe { request.get() }.request().start(),
        }
    }

    #[inline]
    unsafe fn ready(&self, _: usize, partition: usize) -> Result<(), CallError> {
        let Some(unit) = self.units.mark(partition) else { return Ok(()) };
        match &self.transport {
            // SAFETY: of all threads, the one that completed the unit.
            UnitTransport::Messages(requests) => unsafe { requests.start(unit) },
            // SAFETY: nobody starts or waits meanwhile, and the request lets threads mark partitions at once.
            UnitTransport::Request(request) => unsafe { request.share() }.ready(unit),
        }
    }

    unsafe fn wait(&self) -> Result<(), CallError> {
        match &self.transport {
            // SAFETY: no other thread is here.
            UnitTransport::Messages(requests) => unsafe { requests.wait_all() },
            // SAFETY: as above.
            UnitTransport::Request(request) => unsafe { request.get() }.request().wait(),
        }
    }

    fn messages(&self) -> Option<usize> {
        matches!(self.transport, UnitTransport::Messages(_)).then(|| self.units.len())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        match self.transport {
            UnitTransport::Messages(requests) => requests.free(),
            UnitTransport::Request(request) => request.into_inner().free(),
        }
    }
}
