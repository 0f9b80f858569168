//! `neighbor_alltoallw`: one collective per stage over a graph of the neighbours, with a datatype for each.

use common::packing::Form;
use mpi::ffi::MPI_Aint;

use super::links::Link;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::collective::PerPeer;
use crate::checked::neighbours::Neighbours;
use crate::checked::{CallError, Datatype, Request};
use crate::handoff::Slot;

/// A stage's graph, and a datatype per neighbour; `None` if the face is empty.
struct StageCollective {
    graph: Neighbours,
    sends: Vec<Option<Typed>>,
    receives: Vec<Option<Typed>>,
    /// The arguments for MPI.
    from: PerPeer<MPI_Aint>,
    to: PerPeer<MPI_Aint>,
    request: Slot<Request>,
}

pub struct Neighbour<'a> {
    parts: &'a Parts,
    /// `None` for the blocking form.
    form: Option<Form>,
    stages: Vec<StageCollective>,
}

/// The arguments for a neighbour: a count, a byte offset, and a type.
fn end<'a>(typed: &'a Option<Typed>, byte: &'a Datatype) -> (usize, i64, &'a Datatype) {
    match typed {
        Some(typed) => (1, typed.origin_bytes, &typed.datatype),
        None => (0, 0, byte),
    }
}

impl<'a> Neighbour<'a> {
    /// Collective. Returns the name of the function for persistent requests if the MPI lacks it.
    pub fn new(parts: &'a Parts, form: Option<Form>) -> Result<Result<Self, &'static str>, CallError> {
        let peers = |links: &[Link]| links.iter().map(|link| link.peer).collect::<Vec<_>>();
        let types = |links: &[Link]| -> Result<Vec<_>, CallError> {
            links.iter().map(|link| Typed::of(&link.face, &parts.memory.displacements, &parts.comm)).collect()
        };
        let ends = |all: &[Option<Typed>]| PerPeer::of(all.iter().map(|typed| end(typed, &parts.byte)));
        let mut stages = Vec::new();
        for stage in &parts.links.stages {
            let (sends, receives) = (types(&stage.sends)?, types(&stage.receives)?);
            let (from, to) = (ends(&sends)?, ends(&receives)?);
            let graph = Neighbours::new(&parts.comm, &peers(&stage.receives), &peers(&stage.sends))?;
            let mut request = Request::null(&parts.comm);
            if let Some(Form::Persistent) = form {
                let base = parts.memory.address(0);
                // SAFETY: as in `finish`; lists and types live until the requests are freed.
                match unsafe { graph.request(Form::Persistent, base, &from, &to) }? {
                    Ok(made) => request = made,
                    Err(name) => return Ok(Err(name)),
                }
            }
            stages.push(StageCollective { graph, sends, receives, from, to, request: Slot::new(request) });
        }
        Ok(Ok(Self { parts, form, stages }))
    }
}

impl HaloMethod for Neighbour<'_> {
    unsafe fn start(&self, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        let StageCollective { graph, from, to, request, .. } = &self.stages[stage];
        // SAFETY: no other thread is here.
        let request = unsafe { request.get() };
        match self.form {
            None => {}
            Some(Form::Persistent) => request.start()?,
            Some(Form::Nonblocking) => {
                // SAFETY: as in `finish`; the send and receive buffers are not used before that.
                let begun =
                    unsafe { graph.request(Form::Nonblocking, self.parts.memory.address(0), from, to) }?;
                *request = begun.expect("every MPI has nonblocking forms");
            }
        }
        Ok(())
    }

    unsafe fn test(&self, stage: usize) -> Result<bool, CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.stages[stage].request.get() }.test()
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let StageCollective { graph, from, to, request, .. } = &self.stages[stage];
        match self.form {
            // SAFETY: the faces are within the arrays, sent and received ones do not overlap, and all types live as long as the method.
            None => unsafe { graph.all_to_all(self.parts.memory.address(0), from, to) },
            // SAFETY: no other thread is here.
            Some(_) => unsafe { request.get() }.wait(),
        }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().map(|stage| stage.sends.len()).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for stage in self.stages {
            if self.form == Some(Form::Persistent) {
                stage.request.into_inner().free()?;
            }
            for typed in stage.sends.into_iter().chain(stage.receives).flatten() {
                typed.datatype.free()?;
            }
        }
        Ok(())
    }
}
