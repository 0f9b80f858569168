//! `neighbor_alltoallw`: one collective per stage over a graph of the neighbours, with a datatype for each.

use super::links::Link;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::neighbours::Neighbours;
use crate::checked::{CallError, Datatype};

/// A stage's graph, and a datatype per neighbour; `None` where the face is empty.
struct StageCollective {
    graph: Neighbours,
    sends: Vec<Option<Typed>>,
    receives: Vec<Option<Typed>>,
}

pub struct Neighbour<'a> {
    parts: Parts<'a>,
    stages: Vec<StageCollective>,
}

impl<'a> Neighbour<'a> {
    pub fn new(parts: Parts<'a>) -> Result<Self, CallError> {
        let peers = |links: &[Link]| links.iter().map(|link| link.peer).collect::<Vec<_>>();
        let types = |links: &[Link]| -> Result<Vec<_>, CallError> {
            links.iter().map(|link| Typed::of(&link.face, &parts.memory.displacements, parts.comm)).collect()
        };
        let stage = |stage: &super::links::StageLinks| {
            Ok(StageCollective {
                graph: Neighbours::new(parts.comm, &peers(&stage.receives), &peers(&stage.sends))?,
                sends: types(&stage.sends)?,
                receives: types(&stage.receives)?,
            })
        };
        Ok(Self { parts, stages: parts.links.stages.iter().map(stage).collect::<Result<_, CallError>>()? })
    }
}

impl HaloMethod for Neighbour<'_> {
    unsafe fn start(&self, _: usize) -> Result<(), CallError> {
        Ok(())
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let StageCollective { graph, sends, receives } = &self.stages[stage];
        let byte = self.parts.byte;
        let ends = |typed: &Option<Typed>| -> (usize, i64, *const Datatype) {
            match typed {
                Some(typed) => (1, typed.origin_bytes, &raw const typed.datatype),
                None => (0, 0, byte),
            }
        };
        let (sends, receives): (Vec<_>, Vec<_>) =
            (sends.iter().map(ends).collect(), receives.iter().map(ends).collect());
        let base = self.parts.memory.address(0);
        // SAFETY: what the faces describe lies within the arrays, what is sent and what is received apart from each other,
        // and all types live as long as the method.
        unsafe { graph.all_to_all(base, &sends, &receives) }
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().map(|stage| stage.sends.len()).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for stage in self.stages {
            for typed in stage.sends.into_iter().chain(stage.receives).flatten() {
                typed.datatype.free()?;
            }
        }
        Ok(())
    }
}
