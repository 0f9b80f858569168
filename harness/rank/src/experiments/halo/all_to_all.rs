//! `alltoallw`: one collective per stage among all ranks. All messages between two ranks are one datatype, in the order
//! of their tags, which is the same at both ends.

use std::ffi::c_int;

use apps::{Message, WireOrder};

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::neighbour::end;
use super::typed::Typed;
use crate::checked::collective::{PerPeer, blocking_all_to_all_w};
use crate::checked::{CallError, Comm};

/// A datatype for each rank, `None` without data, and the arguments for MPI.
struct Side {
    typed: Vec<Option<Typed>>,
    arguments: PerPeer<c_int>,
}

impl Side {
    fn new(links: &[HaloMessage], parts: &Parts, ranks: usize) -> Result<Self, CallError> {
        let of_rank = |rank: usize| {
            let links = links.iter().filter(|link| link.peer == rank);
            let pieces = links.flat_map(|link| link.face.message(WireOrder::Ddt).pieces).collect();
            Typed::of_message(&Message { pieces }, &parts.memory.displacements, &parts.comm)
        };
        let typed = (0..ranks).map(of_rank).collect::<Result<Vec<_>, CallError>>()?;
        let arguments = PerPeer::of(typed.iter().map(|typed| end(typed, &parts.byte)))?;
        Ok(Self { typed, arguments })
    }
}

pub struct AllToAllW<'a> {
    parts: &'a Parts,
    comm: Comm,
    /// The send and the receive side of each stage.
    stages: Vec<[Side; 2]>,
}

impl<'a> AllToAllW<'a> {
    /// Collective.
    pub fn new(parts: &'a Parts) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        let ranks = comm.size()?;
        let sides = |links: &[HaloMessage]| Side::new(links, parts, ranks);
        let stages = parts.links.stages.iter();
        let stages = stages.map(|stage| Ok([sides(&stage.sends)?, sides(&stage.receives)?]));
        Ok(Self { parts, stages: stages.collect::<Result<_, CallError>>()?, comm })
    }
}

impl HaloMethod for AllToAllW<'_> {
    unsafe fn start(&self, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let [send, receive] = &self.stages[stage];
        let base = self.parts.memory.address(0);
        // SAFETY: the faces are within the arrays, sent and received ones do not overlap, and all types live as long as
        // the method.
        unsafe { blocking_all_to_all_w(&self.comm, base, &send.arguments, &receive.arguments) }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().flat_map(|[send, _]| &send.typed).flatten().count())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        let sides = self.stages.into_iter().flatten();
        sides.flat_map(|side| side.typed).flatten().try_for_each(|typed| typed.datatype.free())
    }
}
