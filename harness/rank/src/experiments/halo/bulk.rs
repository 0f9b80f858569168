//! Bulk-synchronous exchanges: after all threads have packed, one thread sends nonblocking or persistent messages,
//! either of packed bytes or with datatypes directly from and to the arrays.

use common::packing::{Form, Packing};

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use super::typed::Typed;
use crate::checked::{CallError, Comm, Envelope, Request};
use crate::handoff::Slot;

/// One message with its MPI arguments.
struct BulkMessage<'a> {
    link: &'a HaloMessage,
    is_sent: bool,
    typed: Option<Typed>,
    request: Slot<Request>,
}

struct StageMessages<'a> {
    sends: Vec<BulkMessage<'a>>,
    receives: Vec<BulkMessage<'a>>,
}

pub struct Bulk<'a> {
    parts: &'a Parts,
    comm: Comm,
    form: Form,
    /// Whether the messages use datatypes over the arrays.
    is_typed: bool,
    stages: Vec<StageMessages<'a>>,
}

impl<'a> Bulk<'a> {
    pub fn new(parts: &'a Parts, form: Form, packing: Packing) -> Result<Self, CallError> {
        let is_typed = packing.is_typed();
        let comm = parts.comm.duplicate()?;
        let message = |link: &'a HaloMessage, is_sent| {
            let typed = match is_typed {
                true => Typed::of(&link.face, &parts.memory.displacements, &parts.comm)?,
                false => None,
            };
            Ok(BulkMessage { link, is_sent, typed, request: Slot::new(Request::null(&parts.comm)) })
        };
        let messages = |links: &'a [HaloMessage], is_sent| {
            links.iter().map(|link| message(link, is_sent)).collect::<Result<Vec<_>, CallError>>()
        };
        let stages = parts.links.stages.iter().map(|stage| {
            Ok(StageMessages {
                sends: messages(&stage.sends, true)?,
                receives: messages(&stage.receives, false)?,
            })
        });
        let bulk = Self { parts, comm, form, is_typed, stages: stages.collect::<Result<_, CallError>>()? };
        for message in bulk.stages.iter().flat_map(|stage| stage.sends.iter().chain(&stage.receives)) {
            bulk.arguments(message).1.check_count(form, message.is_sent)?;
            if !bulk.is_persistent() {
                continue;
            }
            // SAFETY: no thread uses a method during its set-up; arrays and wire buffers outlive it, and datatypes are freed after their
            // requests.
            unsafe { *message.request.get() = bulk.request(message)? };
        }
        Ok(bulk)
    }

    fn is_persistent(&self) -> bool {
        self.form == Form::Persistent
    }

    /// The address of a message, and its other arguments.
    fn arguments<'b>(&'b self, message: &'b BulkMessage<'_>) -> (*mut u8, Envelope<'b>) {
        let BulkMessage { link, typed, is_sent, .. } = message;
        let memory = &self.parts.memory;
        let wire = if *is_sent { memory.outgoing } else { memory.incoming };
        let (address, count, datatype) = match typed {
            Some(typed) => (memory.address(typed.origin_bytes), 1, &typed.datatype),
            // An empty face has no datatype.
            None if self.is_typed => (wire.start(), 0, &self.parts.byte),
            None => (wire.at(link.wire.start), link.face.bytes(), &self.parts.byte),
        };
        (address, Envelope { count, datatype, peer: link.peer, tag: link.tag, comm: &self.comm })
    }

    /// The request of a message.
    ///
    /// # Safety
    /// As for [`Request::of`]: the message's part of the arrays or the wire buffer is not used before the stage ends.
    unsafe fn request(&self, message: &BulkMessage<'_>) -> Result<Request, CallError> {
        let (address, envelope) = self.arguments(message);
        // SAFETY: guaranteed by the caller.
        unsafe { Request::of(self.form, message.is_sent, address, envelope) }
    }

    /// Starts some messages.
    ///
    /// # Safety
    /// As for [`Bulk::request`], and no other thread uses the method.
    unsafe fn begin(&self, messages: &[BulkMessage<'_>]) -> Result<(), CallError> {
        messages.iter().try_for_each(|message| {
            // SAFETY: guaranteed by the caller.
            let request = unsafe { message.request.get() };
            if self.is_persistent() {
                return request.start();
            }
            // SAFETY: guaranteed by the caller.
            *request = unsafe { self.request(message) }?;
            Ok(())
        })
    }
}

impl HaloMethod for Bulk<'_> {
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the stage's receive buffers are not used before it ends.
        unsafe { self.begin(&self.stages[stage].receives) }
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the data that all threads have finished does not change before the stage ends.
        unsafe { self.begin(&self.stages[stage].sends) }
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
