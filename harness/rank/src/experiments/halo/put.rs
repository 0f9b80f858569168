//! Puts: one per neighbour, directly into its arrays with datatypes at both ends, or packed into its wire
//! buffer; a fence before the first stage, and one after each stage.

use apps::{Side, WireOrder};
use common::packing::Packing;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::{packed_bytes, typed_message};
use crate::carrier::MessageData;
use crate::checked::{Access, CallError, Comm, Window};

struct NeighbourPut {
    peer: usize,
    /// The data here, and its place at the target.
    ends: [MessageData; 2],
}

pub struct Put {
    /// The addresses that offsets here and in the target's window count from.
    from: *mut u8,
    to: i64,
    _comm: Comm,
    window: Window,
    stages: Vec<Vec<NeighbourPut>>,
}

impl Put {
    /// Collective.
    pub fn new(parts: &Parts, packing: Packing) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        // Array 0 starts at the same byte of every rank's memory.
        let (target, to) = match packing.is_typed() {
            true => (parts.memory.all_arrays, parts.memory.start as i64),
            false => (parts.memory.incoming, 0),
        };
        // SAFETY: arrays and wire buffers outlive the method and are never reallocated; between fences only
        // MPI and the loops ordered by the fences use them.
        let window = unsafe { Window::over(target.for_mpi(), target.bytes(), &comm) }?;
        window.fence()?;
        let put = |link: &HaloMessage| {
            let far = match packing.is_typed() {
                true => {
                    typed_message(&link.far.message(WireOrder::Ddt), &parts.displacements[link.peer], &comm)?
                }
                false => packed_bytes(link.far_start, link.wire.len()),
            };
            Ok(NeighbourPut { peer: link.peer, ends: [parts.data(link, packing)?, far] })
        };
        let puts = |links: &[HaloMessage]| {
            let puts = links.iter().filter(|link| !link.wire.is_empty()).map(put);
            puts.collect::<Result<_, CallError>>()
        };
        let stages = parts.links.stages.iter().map(|stage| puts(&stage.sends)).collect::<Result<_, _>>()?;
        Ok(Self { from: parts.base(packing, Side::Send), to, _comm: comm, window, stages })
    }
}

impl HaloMethod for Put {
    /// From the fence on, others may put into memory that this rank has read and written so far.
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        if stage == 0 { self.window.fence() } else { Ok(()) }
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        for NeighbourPut { peer, ends: [near, far] } in &self.stages[stage] {
            let from = near.at(self.from.wrapping_offset(near.offset as isize));
            let to = far.at((self.to + far.offset) as usize);
            // SAFETY: the data is within the memory here and at the target, which the window covers; the
            // source is not changed until the fence.
            unsafe { self.window.access(Access::Put, from, *peer, to) }?;
        }
        self.window.fence()
    }

    fn messages(&self) -> usize {
        self.stages.iter().map(Vec::len).sum()
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        let mut ends = self.stages.into_iter().flatten().flat_map(|put| put.ends);
        ends.try_for_each(|mut end| end.free())?;
        self.window.free()
    }
}
