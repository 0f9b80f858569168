//! Neighbourhood collectives: one per stage over a graph of its neighbours, or over the grid of the ranks, whose neighbours without a
//! message in a stage get an empty one. With a datatype for each neighbour (`MPI_Neighbor_alltoallw`), or with counts of packed bytes
//! (`MPI_Neighbor_alltoallv`).
//!
//! On a grid, neighbours are in the order of the dimensions, the lower one first. A message that is sent upwards arrives
//! from the lower neighbour. This also applies if both neighbours are the same rank, or the rank itself (MPI-4.1 §8.6).

use std::ffi::c_int;

use common::kinds::halo::methods::Topology;
use common::packing::{Form, Packing};
use mpi::ffi::MPI_Aint;

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::collective::{PerPeer, RequestOrLack};
use crate::checked::neighbours::Neighbours;
use crate::checked::{CallError, Datatype, Request};
use crate::handoff::Slot;

/// A stage's communicator, and its arguments for MPI.
struct StageCollective {
    neighbours: Neighbours,
    arguments: Arguments,
    /// The datatypes; `None` if nothing is sent to a neighbour or received from it.
    typed: Vec<Option<Typed>>,
    request: Slot<Request>,
}

/// The data sent to and received from each neighbour.
enum Arguments {
    /// A datatype in the arrays.
    Typed([PerPeer<MPI_Aint>; 2]),
    /// Bytes in the wire buffers.
    Packed([PerPeer<c_int>; 2]),
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
        packing: Packing,
    ) -> Result<Result<Self, &'static str>, CallError> {
        let peers = |links: &[HaloMessage]| links.iter().map(|link| link.peer).collect::<Vec<_>>();
        let typed = |link: Option<&HaloMessage>| match link {
            Some(link) => Typed::of(&link.face, &parts.memory.displacements, &parts.comm),
            None => Ok(None),
        };
        let packed = |link: Option<&HaloMessage>| match link {
            Some(link) => (link.wire.len(), link.wire.start as i64, &parts.byte),
            None => (0, 0, &parts.byte),
        };
        let mut stages = Vec::new();
        for stage in &parts.links.stages {
            let sides = [(&stage.sends, true), (&stage.receives, false)];
            let [sends, receives] =
                sides.map(|(links, is_sent)| by_neighbour(links, topology, parts.dimensions, is_sent));
            let (arguments, typed) = match packing.is_typed() {
                true => {
                    let all =
                        |links: &[_]| links.iter().copied().map(typed).collect::<Result<Vec<_>, CallError>>();
                    let (mut sent, received) = (all(&sends)?, all(&receives)?);
                    let ends =
                        |all: &[Option<Typed>]| PerPeer::of(all.iter().map(|typed| end(typed, &parts.byte)));
                    let arguments = Arguments::Typed([ends(&sent)?, ends(&received)?]);
                    sent.extend(received);
                    (arguments, sent)
                }
                false => {
                    let ends = |links: &[_]| PerPeer::of(links.iter().copied().map(packed));
                    (Arguments::Packed([ends(&sends)?, ends(&receives)?]), Vec::new())
                }
            };
            let neighbours = match topology {
                Topology::Graph => {
                    Neighbours::new(&parts.comm, &peers(&stage.receives), &peers(&stage.sends))?
                }
                Topology::Cartesian => Neighbours::cartesian(&parts.comm)?,
            };
            let request = Slot::new(Request::null(&parts.comm));
            stages.push(StageCollective { neighbours, arguments, typed, request });
            let made = Self { parts, form, stages: Vec::new() };
            if let (Some(Form::Persistent), Some(stage)) = (form, stages.last()) {
                // SAFETY: no thread uses a method during its set-up; lists and types live until the requests are freed.
                match unsafe { made.request(stage, Form::Persistent) }? {
                    // SAFETY: as above.
                    Ok(request) => unsafe { *stage.request.get() = request },
                    Err(name) => return Ok(Err(name)),
                }
            }
        }
        Ok(Ok(Self { parts, form, stages }))
    }

    /// The request of a stage.
    ///
    /// # Safety
    /// The data is not used until it is complete, or as long as a persistent one is active.
    unsafe fn request(&self, stage: &StageCollective, form: Form) -> Result<RequestOrLack, CallError> {
        let (memory, neighbours) = (&self.parts.memory, &stage.neighbours);
        // SAFETY: faces are within the arrays, messages within the wire buffers, and sent and received ones do not overlap; lists and
        // types live as long as the method. The caller guarantees the rest.
        unsafe {
            match &stage.arguments {
                Arguments::Typed([sends, receives]) => {
                    let base = memory.address(0);
                    neighbours.request_w(form, (base.cast_const(), sends), (base, receives))
                }
                Arguments::Packed([sends, receives]) => {
                    let (from, to) = (memory.outgoing.start().cast_const(), memory.incoming.start());
                    neighbours.request_v(form, (from, sends), (to, receives), &self.parts.byte)
                }
            }
        }
    }

    /// The blocking form.
    ///
    /// # Safety
    /// As for [`Neighbour::request`].
    unsafe fn call(&self, stage: &StageCollective) -> Result<(), CallError> {
        let (memory, neighbours) = (&self.parts.memory, &stage.neighbours);
        // SAFETY: as above.
        unsafe {
            match &stage.arguments {
                Arguments::Typed([sends, receives]) => {
                    let base = memory.address(0);
                    neighbours.all_to_all_w((base.cast_const(), sends), (base, receives))
                }
                Arguments::Packed([sends, receives]) => {
                    let (from, to) = (memory.outgoing.start().cast_const(), memory.incoming.start());
                    neighbours.all_to_all_v((from, sends), (to, receives), &self.parts.byte)
                }
            }
        }
    }
}

impl HaloMethod for Neighbour<'_> {
    unsafe fn start(&self, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        let stage = &self.stages[stage];
        // SAFETY: no other thread is here.
        let request = unsafe { stage.request.get() };
        match self.form {
            None => {}
            Some(Form::Persistent) => request.start()?,
            Some(Form::Nonblocking) => {
                // SAFETY: the send and receive buffers are not used before the end of the stage.
                let begun = unsafe { self.request(stage, Form::Nonblocking) }?;
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
        let stage = &self.stages[stage];
        match self.form {
            // SAFETY: no other thread is here.
            None => unsafe { self.call(stage) },
            // SAFETY: as above.
            Some(_) => unsafe { stage.request.get() }.wait(),
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
            stage.typed.into_iter().flatten().try_for_each(|typed| typed.datatype.free())?;
        }
        Ok(())
    }
}
