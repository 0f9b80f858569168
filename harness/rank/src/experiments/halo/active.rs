//! A method that was set up: how its messages are sent, and how they are packed.

use apps::Side;
use common::kinds::halo::methods::{Call, HaloTransfer};
use common::packing::{Location, Packing};

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
    parts: &'a Parts,
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
        let share = |link: &'a HaloMessage, side, thread: usize| {
            let face = &link.cut.parts[thread];
            let own = || OwnLoop::new(face, !parts.links.has_loops, link.tag);
            let packer = Packer::of_face(packing, face, &parts.displacements[parts.rank], &parts.comm, own)?;
            let mut packer = match parts.memory.staging(side) {
                Some(staging) => {
                    let wire = link.wire_of(thread);
                    packer.on_device(wire.start, Some(staging.part(wire)))
                }
                None => packer,
            };
            packer.create()?;
            Ok(packer)
        };
        let all = |links: &'a [HaloMessage], side| {
            let shares = |link| (0..parts.threads).map(|thread| share(link, side, thread)).collect();
            links.iter().map(shares).collect::<Result<Vec<Vec<_>>, CallError>>()
        };
        let stages = || parts.links.stages.iter().filter(|_| packing.packs());
        let sends = stages().map(|stage| all(&stage.sends, Side::Send)).collect::<Result<_, _>>()?;
        let receives = stages().map(|stage| all(&stage.receives, Side::Receive)).collect::<Result<_, _>>()?;
        Ok(Self { method: make(transfer, parts, calls)?, parts, packing, sends, receives })
    }

    /// Whether it transfers bytes from wire buffer to wire buffer, without changing the arrays.
    pub fn is_reference(&self) -> bool {
        self.packing.location() == Location::Wire
    }

    /// Packs a thread's share of a message.
    ///
    /// # Safety
    /// The arrays do not change in the meantime, only the caller packs this share, and MPI does not use its
    /// part of the wire buffer: earlier sends from there are complete.
    pub unsafe fn pack(&self, stage: usize, send: usize, thread: usize) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        let (packer, Parts { links, memory, .. }) = (&self.sends[stage][send][thread], self.parts);
        let range = links.stages[stage].sends[send].wire_of(thread);
        // SAFETY: guaranteed by the caller.
        unsafe {
            let arrays = &memory.all.share().arrays;
            if packer.is_on_device() {
                let packed = (memory.outgoing.for_mpi().wrapping_add(range.start), range.len());
                return packer.run_on_device(Side::Send, (arrays, memory.all_arrays.for_mpi()), packed);
            }
            packer.pack(arrays, memory.outgoing.part(range))
        }
    }

    /// Unpacks the messages of a stage.
    ///
    /// # Safety
    /// The arrays are not used in the meantime. The stage has ended: MPI does not write to the wire buffer.
    pub unsafe fn unpack(&self, stage: usize) -> Result<(), CallError> {
        if !self.packing.packs() {
            return Ok(());
        }
        let Parts { links, memory, .. } = self.parts;
        // SAFETY: guaranteed by the caller.
        let arrays = unsafe { &mut memory.all.get().arrays };
        for (link, shares) in links.stages[stage].receives.iter().zip(&self.receives[stage]) {
            for (thread, packer) in shares.iter().enumerate() {
                let range = link.wire_of(thread);
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if packer.is_on_device() {
                        let packed = (memory.incoming.for_mpi().wrapping_add(range.start), range.len());
                        let base = memory.all_arrays.for_mpi();
                        packer.run_on_device(Side::Receive, (arrays, base), packed)?;
                    } else {
                        packer.unpack(memory.incoming.part(range), arrays)?;
                    }
                }
            }
        }
        Ok(())
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
