//! `neighbor_alltoallw`: one collective per stage over a graph of its neighbours, with a datatype for each; or over the
//! grid of the ranks, whose neighbours without a message in a stage get an empty one.
//!
//! On a grid, neighbours are in the order of the dimensions, the lower one first. A message that is sent upwards arrives
//! from the lower neighbour. This also applies if both neighbours are the same rank, or the rank itself (MPI-4.1 §8.6).

use common::kinds::halo::methods::Topology;
use common::packing::Form;
use mpi::ffi::MPI_Aint;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::collective::PerPeer;
use crate::checked::neighbours::Neighbours;
use crate::checked::{CallError, Datatype, Request};
use crate::handoff::Slot;

/// A stage's communicator, and a datatype per neighbour; `None` if nothing is sent to it or received from it.
struct StageCollective {
    neighbours: Neighbours,
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
pub(super) fn end<'a>(typed: &'a Option<Typed>, byte: &'a Datatype) -> (usize, i64, &'a Datatype) {
    match typed {
        Some(typed) => (1, typed.origin_bytes, &typed.datatype),
        None => (0, 0, byte),
    }
}

/// The messages for all neighbours of a communicator, in its order.
fn by_neighbour(
    links: &[HaloMessage],
    topology: Topology,
    dimensions: usize,
    is_sent: bool,
) -> Vec<Option<&HaloMessage>> {
    match topology {
        Topology::Graph => links.iter().map(Some).collect(),
        Topology::Cartesian => {
            let mut all = vec![None; 2 * dimensions];
            for link in links {
                let (dimension, up) = link.along.expect("`lack` refuses messages in other directions");
                all[2 * dimension + usize::from(up == is_sent)] = Some(link);
            }
            all
        }
    }
}

impl<'a> Neighbour<'a> {
    /// Collective. Returns the name of the function for persistent requests if the MPI lacks it.
    pub fn new(
        parts: &'a Parts,
        topology: Topology,
        form: Option<Form>,
    ) -> Result<Result<Self, &'static str>, CallError> {
        let peers = |links: &[HaloMessage]| links.iter().map(|link| link.peer).collect::<Vec<_>>();
        let typed = |link: Option<&HaloMessage>| match link {
            Some(link) => Typed::of(&link.face, &parts.memory.displacements, &parts.comm),
            None => Ok(None),
        };
        let types = |links: &[HaloMessage], is_sent| -> Result<Vec<_>, CallError> {
            by_neighbour(links, topology, parts.dimensions, is_sent).into_iter().map(typed).collect()
        };
        let ends = |all: &[Option<Typed>]| PerPeer::of(all.iter().map(|typed| end(typed, &parts.byte)));
        let mut stages = Vec::new();
        for stage in &parts.links.stages {
            let (sends, receives) = (types(&stage.sends, true)?, types(&stage.receives, false)?);
            let (from, to) = (ends(&sends)?, ends(&receives)?);
            let neighbours = match topology {
                Topology::Graph => {
                    Neighbours::new(&parts.comm, &peers(&stage.receives), &peers(&stage.sends))?
                }
                Topology::Cartesian => Neighbours::cartesian(&parts.comm)?,
            };
            let mut request = Request::null(&parts.comm);
            if let Some(Form::Persistent) = form {
                let base = parts.memory.address(0);
                // SAFETY: as in `finish`; lists and types live until the requests are freed.
                match unsafe { neighbours.request(Form::Persistent, base, &from, &to) }? {
                    Ok(made) => request = made,
                    Err(name) => return Ok(Err(name)),
                }
            }
            let request = Slot::new(request);
            stages.push(StageCollective { neighbours, sends, receives, from, to, request });
        }
        Ok(Ok(Self { parts, form, stages }))
    }
}

impl HaloMethod for Neighbour<'_> {
    unsafe fn start(&self, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        let StageCollective { neighbours, from, to, request, .. } = &self.stages[stage];
        // SAFETY: no other thread is here.
        let request = unsafe { request.get() };
        match self.form {
            None => {}
            Some(Form::Persistent) => request.start()?,
            Some(Form::Nonblocking) => {
                // SAFETY: as in `finish`; the send and receive buffers are not used before that.
                let begun =
                    unsafe { neighbours.request(Form::Nonblocking, self.parts.memory.address(0), from, to) }?;
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
        let StageCollective { neighbours, from, to, request, .. } = &self.stages[stage];
        match self.form {
            // SAFETY: the faces are within the arrays, sent and received ones do not overlap, and all types live as long as the method.
            None => unsafe { neighbours.all_to_all(self.parts.memory.address(0), from, to) },
            // SAFETY: no other thread is here.
            Some(_) => unsafe { request.get() }.wait(),
        }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.parts.links.stages.iter().map(|stage| stage.sends.len()).sum())
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
