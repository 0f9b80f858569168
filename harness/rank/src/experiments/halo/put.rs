//! `put_ddt`: one-sided, with datatypes at both ends: a put per neighbour directly into its arrays, a fence before the
//! first stage, and one after each stage.

use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::{CallError, Comm, Window};

/// A put: this rank's datatype, the target's, and the target's rank.
struct NeighbourPut {
    peer: usize,
    send: Typed,
    receive: Typed,
}

pub struct PutTyped<'a> {
    parts: &'a Parts,
    _comm: Comm,
    window: Window,
    stages: Vec<Vec<NeighbourPut>>,
}

impl<'a> PutTyped<'a> {
    pub fn new(parts: &'a Parts) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        let arrays = parts.memory.all_arrays();
        // SAFETY: the arrays outlive the method and are never reallocated; between fences only MPI and the loops
        // ordered by the fences use them.
        let window = unsafe { Window::over(arrays.start(), arrays.bytes(), &comm) }?;
        window.fence()?;
        let put = |link: &super::links::HaloMessage| -> Result<Option<NeighbourPut>, CallError> {
            let send = Typed::of(&link.face, &parts.memory.displacements, &parts.comm)?;
            let receive = Typed::of(&link.far, &parts.displacements[link.peer], &parts.comm)?;
            Ok(send.zip(receive).map(|(send, receive)| NeighbourPut { peer: link.peer, send, receive }))
        };
        let stages = parts
            .links
            .stages
            .iter()
            .map(|stage| stage.sends.iter().filter_map(|link| put(link).transpose()).collect());
        Ok(Self { parts, _comm: comm, window, stages: stages.collect::<Result<_, CallError>>()? })
    }
}

impl HaloMethod for PutTyped<'_> {
    /// From the fence on, others may put into memory that this rank has read and written so far.
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        if stage == 0 { self.window.fence() } else { Ok(()) }
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let memory = &self.parts.memory;
        for NeighbourPut { peer, send, receive } in &self.stages[stage] {
            let from = memory.address(send.origin_bytes).cast_const();
            // Array 0 starts at the same byte of every rank's memory.
            let to = (memory.start as i64 + receive.origin_bytes) as usize;
            // SAFETY: the layouts are within the arrays' memory here and at the target, which the windows cover; the
            // source is not changed until the fence.
            unsafe { self.window.put((from, 1, &send.datatype), *peer, (to, 1, &receive.datatype)) }?;
        }
        self.window.fence()
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().map(Vec::len).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for NeighbourPut { send, receive, .. } in self.stages.into_iter().flatten() {
            send.datatype.free()?;
            receive.datatype.free()?;
        }
        self.window.free()
    }
}
