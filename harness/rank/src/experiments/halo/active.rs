//! A method that was set up: how its messages are sent, and how they are packed.

use apps::Face;
use common::kinds::halo::methods::{Call, HaloTransfer};
use common::packing::Packing;

use super::bulk::Bulk;
use super::collective::StageCollectives;
use super::fine::Fine;
use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::put::Put;
use crate::checked::{CallError, TeamCalls};
use crate::own_loop::OwnLoop;
use crate::packing::Packer;

/// A method that was set up and is being measured.
pub struct ActiveExchange<'a> {
    pub method: Box<dyn HaloMethod + 'a>,
    /// How shares are packed.
    pub packing: Packing,
    /// Packers by stage, message and thread.
    sends: Vec<Vec<Vec<Packer<'a>>>>,
    /// Likewise, in the same shares: LAMMPS' datatypes order the values of a whole face and of its parts differently.
    receives: Vec<Vec<Vec<Packer<'a>>>>,
}

impl<'a> ActiveExchange<'a> {
    /// Sets up a method; collective. `calls` is the permission for all threads
    /// to call MPI, or the reason why there is none.
    pub fn make(
        transfer: HaloTransfer,
        parts: &'a Parts,
        calls: Result<TeamCalls, String>,
    ) -> Result<Self, CallError> {
        let packing = match transfer.packing() {
            // If there are no hand-written loops.
            Packing::ByHand if !parts.links.has_loops => Packing::Looped,
            packing => packing,
        };
        if packing == Packing::Own && parts.threads > 1 {
            let reason = "your loop packs a whole message: set threads=1".to_owned();
            return Err(CallError::NotPossible { reason });
        }
        let packer = |(tag, face): (usize, &'a Face)| {
            let own = (packing == Packing::Own).then(|| OwnLoop::new(face, !parts.links.has_loops, tag));
            Packer::of_face(packing, face, &parts.memory.displacements, &parts.comm, own)
        };
        let shares = |link: &'a HaloMessage| {
            link.cut.parts.iter().map(|face| packer((link.tag, face))).collect::<Result<Vec<_>, _>>()
        };
        let all = |links: &'a [HaloMessage]| links.iter().map(shares).collect::<Result<Vec<_>, CallError>>();
        let stages = || parts.links.stages.iter().filter(|_| packing.packs());
        let sends = stages().map(|stage| all(&stage.sends)).collect::<Result<_, _>>()?;
        let receives = stages().map(|stage| all(&stage.receives)).collect::<Result<_, _>>()?;
        Ok(Self { method: make(transfer, parts, calls)?, packing, sends, receives })
    }

    /// Whether it transfers bytes from wire buffer to wire buffer, without changing the arrays.
    pub fn is_reference(&self) -> bool {
        self.packing == Packing::Wire
    }

    /// Packs a thread's share of a message.
    ///
    /// # Safety
    /// The arrays do not change in the meantime, only the caller packs this share, and MPI does not use its part of the
    /// wire buffer: earlier sends from there are complete.
    pub unsafe fn pack(
        &self,
        parts: &Parts,
        (stage, send, thread): (usize, usize, usize),
        link: &HaloMessage,
    ) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        let range = &link.cut.ranges[thread];
        let range = link.wire.start + range.start..link.wire.start + range.end;
        // SAFETY: guaranteed by the caller.
        let (arrays, packed) = unsafe { (parts.memory.arrays.share(), parts.memory.outgoing.part(range)) };
        self.sends[stage][send][thread].pack(arrays, packed)
    }

    /// Unpacks a message.
    ///
    /// # Safety
    /// The arrays are not used in the meantime, and the message has arrived: MPI does not write its part of the wire buffer.
    pub unsafe fn unpack(
        &self,
        parts: &Parts,
        (stage, receive): (usize, usize),
        link: &HaloMessage,
    ) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        // SAFETY: guaranteed by the caller.
        let (arrays, packed) =
            unsafe { (parts.memory.arrays.get(), parts.memory.incoming.part(link.wire.clone())) };
        let shares = self.receives[stage][receive].iter().zip(&link.cut.ranges);
        shares.into_iter().try_for_each(|(packer, range)| packer.unpack(&packed[range.clone()], arrays))
    }
}

/// Sets up a method of messages.
fn make<'a>(
    transfer: HaloTransfer,
    parts: &'a Parts,
    calls: Result<TeamCalls, String>,
) -> Result<Box<dyn HaloMethod + 'a>, CallError> {
    let packing = transfer.packing();
    Ok(match (transfer, calls) {
        (HaloTransfer::Bulk(Call::Messages(form), _), _) => Box::new(Bulk::new(parts, form, packing)?),
        (HaloTransfer::Bulk(Call::Neighbour(topology, form), _), _) => {
            Box::new(StageCollectives::new(parts, Some(topology), form, packing)?)
        }
        (HaloTransfer::Bulk(Call::Put, _), _) => Box::new(Put::new(parts, packing)?),
        (HaloTransfer::AllToAllW, _) => Box::new(StageCollectives::new(parts, None, None, packing)?),
        (HaloTransfer::Fine(transport), Ok(calls)) => Box::new(Fine::new(parts, transport, calls)?),
        (HaloTransfer::Fine(_), Err(reason)) => return Err(CallError::NotPossible { reason }),
    })
}
