//! Puts: one per neighbour, directly into its arrays with datatypes at both ends, or packed into its wire buffer; a fence before the
//! first stage, and one after each stage.

use common::packing::Packing;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::{CallError, Comm, Window};

/// A put to a neighbour.
struct NeighbourPut {
    peer: usize,
    what: Carried,
}

/// The bytes of a put.
enum Carried {
    /// This rank's datatype, and the target's.
    Typed(Typed, Typed),
    /// Places in this rank's wire buffer and in the target's, and their number.
    Packed(usize, usize, usize),
}

pub struct Put<'a> {
    parts: &'a Parts,
    _comm: Comm,
    window: Window,
    stages: Vec<Vec<NeighbourPut>>,
}

impl<'a> Put<'a> {
    /// Collective.
    pub fn new(parts: &'a Parts, packing: Packing) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        let target = if packing.is_typed() { parts.memory.all_arrays() } else { parts.memory.incoming };
        // SAFETY: arrays and wire buffers outlive the method and are never reallocated; between fences only MPI and the loops
        // ordered by the fences use them.
        let window = unsafe { Window::over(target.start(), target.bytes(), &comm) }?;
        window.fence()?;
        let put = |link: &HaloMessage| -> Result<Option<NeighbourPut>, CallError> {
            let peer = link.peer;
            if !packing.is_typed() {
                let what = Carried::Packed(link.wire.start, link.far_start, link.wire.len());
                return Ok(Some(NeighbourPut { peer, what }));
            }
            let send = Typed::of(&link.face, &parts.memory.displacements, &parts.comm)?;
            let receive = Typed::of(&link.far, &parts.displacements[peer], &parts.comm)?;
            let ends = send.zip(receive);
            Ok(ends.map(|(send, receive)| NeighbourPut { peer, what: Carried::Typed(send, receive) }))
        };
        let stages = parts
            .links
            .stages
            .iter()
            .map(|stage| stage.sends.iter().filter_map(|link| put(link).transpose()).collect());
        Ok(Self { parts, _comm: comm, window, stages: stages.collect::<Result<_, CallError>>()? })
    }
}

impl HaloMethod for Put<'_> {
    /// From the fence on, others may put into memory that this rank has read and written so far.
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        if stage == 0 { self.window.fence() } else { Ok(()) }
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let (memory, byte) = (&self.parts.memory, &self.parts.byte);
        for NeighbourPut { peer, what } in &self.stages[stage] {
            // SAFETY: the data is within the memory here and at the target, which the window covers; the source is not changed until the
            // fence.
            unsafe {
                match what {
                    Carried::Typed(send, receive) => {
                        let from = memory.address(send.origin_bytes).cast_const();
                        // Array 0 starts at the same byte of every rank's memory.
                        let to = (memory.start as i64 + receive.origin_bytes) as usize;
                        self.window.put((from, 1, &send.datatype), *peer, (to, 1, &receive.datatype))
                    }
                    Carried::Packed(from, to, bytes) => {
                        self.window.put_bytes(memory.outgoing.at(*from), *bytes, byte, *peer, *to)
                    }
                }
            }?;
        }
        self.window.fence()
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().map(Vec::len).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for put in self.stages.into_iter().flatten() {
            if let Carried::Typed(send, receive) = put.what {
                send.datatype.free()?;
                receive.datatype.free()?;
            }
        }
        self.window.free()
    }
}
