//! Bulk-synchronous exchanges: when all threads have packed, one sends, by nonblocking or persistent messages: of packed
//! bytes, or with datatypes straight from and to the arrays.

use common::packing::{Form, Packing};

use super::links::Link;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::{CallError, Comm, Envelope, Request};
use crate::handoff::Slot;

/// One message with what MPI is given of it.
struct BulkMessage<'a> {
    link: &'a Link,
    typed: Option<Typed>,
    request: Slot<Request>,
}

/// Messages of one stage.
struct StageMessages<'a> {
    sends: Vec<BulkMessage<'a>>,
    receives: Vec<BulkMessage<'a>>,
}

pub struct Bulk<'a> {
    parts: Parts<'a>,
    comm: Comm,
    form: Form,
    /// Whether MPI is given datatypes over the arrays.
    is_typed: bool,
    stages: Vec<StageMessages<'a>>,
}

impl<'a> Bulk<'a> {
    pub fn new(parts: Parts<'a>, form: Form, packing: Packing) -> Result<Self, CallError> {
        let is_typed = packing.is_typed();
        let comm = parts.comm.duplicate()?;
        let message = |link: &'a Link| {
            let typed = match is_typed {
                true => Typed::of(&link.face, &parts.memory.displacements, parts.comm)?,
                false => None,
            };
            Ok(BulkMessage { link, typed, request: Slot::new(Request::null(parts.comm)) })
        };
        let messages = |links: &'a [Link]| links.iter().map(message).collect::<Result<Vec<_>, CallError>>();
        let stages = parts.links.stages.iter().map(|stage| {
            Ok(StageMessages { sends: messages(&stage.sends)?, receives: messages(&stage.receives)? })
        });
        let bulk = Self { parts, comm, form, is_typed, stages: stages.collect::<Result<_, CallError>>()? };
        if bulk.is_persistent() {
            for stage in &bulk.stages {
                for send in &stage.sends {
                    // SAFETY: no thread is in a method that is being made; arrays and wire buffers outlive it, and datatypes are freed
                    // after their requests.
                    unsafe {
                        *send.request.get() =
                            Request::persistent_send(bulk.wire(send, true), bulk.envelope(send))?
                    };
                }
                for receive in &stage.receives {
                    // SAFETY: as above.
                    unsafe {
                        *receive.request.get() =
                            Request::persistent_receive(bulk.wire(receive, false), bulk.envelope(receive))?;
                    }
                }
            }
        }
        Ok(bulk)
    }

    fn is_persistent(&self) -> bool {
        self.form == Form::Persistent
    }

    /// Where a message's bytes lie: packed, or in the arrays.
    fn wire(&self, message: &BulkMessage<'_>, is_sent: bool) -> *mut u8 {
        let memory = self.parts.memory;
        match &message.typed {
            Some(typed) => memory.address(typed.origin_bytes),
            None => {
                let buffer = if is_sent { memory.outgoing } else { memory.incoming };
                buffer.wrapping_add(message.link.wire.start)
            }
        }
    }

    fn envelope<'b>(&'b self, message: &'b BulkMessage<'_>) -> Envelope<'b> {
        let (count, datatype) = match &message.typed {
            Some(typed) => (1, &typed.datatype),
            // An empty face has no datatype.
            None if self.is_typed => (0, self.parts.byte),
            None => (message.link.face.bytes(), self.parts.byte),
        };
        let Link { peer, tag, .. } = *message.link;
        Envelope { count, datatype, peer, tag, comm: &self.comm }
    }
}

impl HaloMethod for Bulk<'_> {
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        for receive in &self.stages[stage].receives {
            // SAFETY: no other thread is here.
            let request = unsafe { receive.request.get() };
            match self.is_persistent() {
                true => request.start()?,
                false => {
                    let (to, envelope) = (self.wire(receive, false), self.envelope(receive));
                    // SAFETY: the message's place in the arrays or the wire buffer, which nobody uses before the stage
                    // ends.
                    *request = unsafe { Request::receive(to, envelope) }?;
                }
            }
        }
        Ok(())
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        for send in &self.stages[stage].sends {
            // SAFETY: no other thread is here.
            let request = unsafe { send.request.get() };
            match self.is_persistent() {
                true => request.start()?,
                false => {
                    let (from, envelope) = (self.wire(send, true), self.envelope(send));
                    // SAFETY: what all threads have finished, and nobody changes before the wait.
                    *request = unsafe { Request::send(from, envelope) }?;
                }
            }
        }
        Ok(())
    }

    unsafe fn test(&self, stage: usize) -> Result<bool, CallError> {
        let StageMessages { sends, receives } = &self.stages[stage];
        let mut is_complete = true;
        for message in receives.iter().chain(sends) {
            // SAFETY: no other thread is here.
            is_complete &= unsafe { message.request.get() }.test()?;
        }
        Ok(is_complete)
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        let StageMessages { sends, receives } = &self.stages[stage];
        // SAFETY: no other thread is here.
        receives.iter().chain(sends).try_for_each(|message| unsafe { message.request.get() }.wait())
    }

    fn messages(&self) -> Option<usize> {
        Some(self.stages.iter().map(|stage| stage.sends.len()).sum())
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        let is_persistent = self.is_persistent();
        for message in self.stages.into_iter().flat_map(|stage| stage.sends.into_iter().chain(stage.receives))
        {
            if is_persistent {
                message.request.into_inner().free()?;
            }
            message.typed.map_or(Ok(()), |typed| typed.datatype.free())?;
        }
        Ok(())
    }
}
