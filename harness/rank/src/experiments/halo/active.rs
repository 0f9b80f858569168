//! A method that was made: how its messages travel, and what packs them.

use apps::Face;
use common::kinds::halo::methods::HaloTransfer;
use common::model::Outcome;
use common::packing::Packing;

use super::bulk::Bulk;
use super::fine::Fine;
use super::links::Link;
use super::method::{HaloMethod, Parts};
use super::neighbour::Neighbour;
use super::put::PutTyped;
use crate::checked::{CallError, TeamCalls};
use crate::packing::Packer;

/// A method that was made and is being measured.
pub struct ActiveMethod<'a> {
    /// How its messages travel.
    pub method: Box<dyn HaloMethod + 'a>,
    /// How shares are packed.
    pub packing: Packing,
    /// Of each stage, each message, each thread's share.
    sends: Vec<Vec<Vec<Packer<'a>>>>,
    /// Likewise, in the same shares: LAMMPS' datatypes put the values of a whole face and of its parts in different orders.
    receives: Vec<Vec<Vec<Packer<'a>>>>,
}

impl<'a> ActiveMethod<'a> {
    /// Makes a method, or says why it cannot be had here; collective. `calls` is what lets all threads call MPI, or why none does.
    pub fn make(
        transfer: HaloTransfer,
        parts: &'a Parts,
        calls: Result<TeamCalls, String>,
    ) -> anyhow::Result<Result<Self, Outcome>> {
        let packing = match transfer.packing() {
            // Where nobody wrote loops.
            Packing::ByHand if !parts.links.has_loops => Packing::Looped,
            packing => packing,
        };
        let packer =
            |face: &'a Face| Packer::of_face(packing, face, &parts.memory.displacements, &parts.comm);
        let shares = |link: &'a Link| link.cut.parts.iter().map(packer).collect::<Result<Vec<_>, _>>();
        let all = |links: &'a [Link]| links.iter().map(shares).collect::<Result<Vec<_>, CallError>>();
        let stages = || parts.links.stages.iter().filter(|_| packing.packs());
        let sends = stages().map(|stage| all(&stage.sends)).collect::<Result<_, _>>()?;
        let receives = stages().map(|stage| all(&stage.receives)).collect::<Result<_, _>>()?;
        let method = make(transfer, parts, calls)?;
        Ok(method.map(|method| Self { method, packing, sends, receives }))
    }

    /// Whether it moves bytes from wire buffer to wire buffer, and leaves the arrays as they are.
    pub fn is_reference(&self) -> bool {
        self.packing == Packing::Wire
    }

    /// Packs a thread's share of a message.
    ///
    /// # Safety
    /// Nobody changes the arrays meanwhile, nobody but the caller packs this share, and MPI does not use its place in the
    /// wire buffer: what was sent from there before is complete.
    pub unsafe fn pack(
        &self,
        parts: &Parts,
        (stage, send, thread): (usize, usize, usize),
        link: &Link,
    ) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        let range = &link.cut.ranges[thread];
        let range = link.wire.start + range.start..link.wire.start + range.end;
        // SAFETY: as the caller vouches.
        let (arrays, packed) = unsafe { (parts.memory.arrays.share(), parts.memory.outgoing.part(range)) };
        self.sends[stage][send][thread].pack(arrays, packed)
    }

    /// Unpacks a message.
    ///
    /// # Safety
    /// Nobody else uses the arrays meanwhile, and the message has arrived: MPI does not write its place in the wire buffer.
    pub unsafe fn unpack(
        &self,
        parts: &Parts,
        (stage, receive): (usize, usize),
        link: &Link,
    ) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        // SAFETY: as the caller vouches.
        let (arrays, packed) =
            unsafe { (parts.memory.arrays.get(), parts.memory.incoming.part(link.wire.clone())) };
        let shares = self.receives[stage][receive].iter().zip(&link.cut.ranges);
        shares.into_iter().try_for_each(|(packer, range)| packer.unpack(&packed[range.clone()], arrays))
    }
}

/// Makes a method of messages.
fn make<'a>(
    transfer: HaloTransfer,
    parts: &'a Parts,
    calls: Result<TeamCalls, String>,
) -> anyhow::Result<Result<Box<dyn HaloMethod + 'a>, Outcome>> {
    let lacks = |reason| Ok(Err(Outcome::NotAvailable { reason }));
    let method: Box<dyn HaloMethod + 'a> = match (transfer, calls) {
        (HaloTransfer::Bulk(form, packing), _) => Box::new(Bulk::new(parts, form, packing)?),
        (HaloTransfer::Neighbour(form), _) => match Neighbour::new(parts, form)? {
            Ok(method) => Box::new(method),
            Err(name) => return lacks(format!("this MPI lacks {name}")),
        },
        (HaloTransfer::Put, _) => Box::new(PutTyped::new(parts)?),
        (HaloTransfer::Fine(transport), Ok(calls)) => Box::new(Fine::new(parts, transport, calls)?),
        (HaloTransfer::Fine(_), Err(reason)) => return lacks(reason),
    };
    Ok(Ok(method))
}
