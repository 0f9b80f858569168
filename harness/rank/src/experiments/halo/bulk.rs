//! Bulk-synchronous exchanges: after all threads have packed, one thread sends nonblocking or persistent
//! messages, either of packed bytes or with datatypes directly from and to the arrays.

use apps::Side;
use common::packing::{Form, Packing};

use super::links::HaloMessage;
use super::method::{HaloMethod, Parts};
use crate::carrier::{MessageData, Repeated};
use crate::checked::{CallError, Comm};
use crate::handoff::Slot;

/// The messages of a stage in one direction, and their data.
type StageMessages = Slot<Vec<(MessageData, Repeated)>>;

pub struct Bulk {
    /// The received and the sent messages of each stage.
    stages: Vec<[StageMessages; 2]>,
    messages: usize,
    _comm: Comm,
}

impl Bulk {
    pub fn new(parts: &Parts, form: Form, packing: Packing) -> Result<Self, CallError> {
        let comm = parts.comm.duplicate()?;
        let message = |link: &HaloMessage, is_sent| {
            let data = parts.data(link, packing)?;
            let address = parts
                .base(packing, if is_sent { Side::Send } else { Side::Receive })
                .wrapping_offset(data.offset as isize);
            let envelope = data.envelope(link.peer, link.tag, &comm);
            // SAFETY: faces are within the arrays and packed messages within the wire buffers, which outlive the method, as the datatype
            // and the communicator do; the functions of a stage guarantee that they are not used before it ends.
            let message = unsafe { Repeated::message(form, is_sent, address, envelope) }?;
            Ok((data, message))
        };
        let messages = |links: &[HaloMessage], is_sent| {
            let messages = links.iter().map(|link| message(link, is_sent));
            Ok(Slot::new(messages.collect::<Result<_, CallError>>()?))
        };
        let stages = parts.links.stages.iter();
        let stages =
            stages.map(|stage| Ok([messages(&stage.receives, false)?, messages(&stage.sends, true)?]));
        let stages = stages.collect::<Result<_, CallError>>()?;
        Ok(Self { stages, messages: parts.links.sent(), _comm: comm })
    }

    /// All messages of a stage.
    ///
    /// # Safety
    /// As for [`Slot::get`].
    unsafe fn all(&self, stage: usize) -> impl Iterator<Item = &mut Repeated> {
        // SAFETY: guaranteed by the caller.
        let directions = self.stages[stage].iter().map(|messages| unsafe { messages.get() });
        directions.flatten().map(|(_, message)| message)
    }
}

/// Starts some messages.
///
/// # Safety
/// No other thread uses them.
unsafe fn begin(messages: &StageMessages) -> Result<(), CallError> {
    // SAFETY: guaranteed by the caller.
    unsafe { messages.get() }.iter_mut().try_for_each(|(_, message)| message.start())
}

impl HaloMethod for Bulk {
    unsafe fn start(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the stage's receive buffers are not used before it ends.
        unsafe { begin(&self.stages[stage][0]) }
    }

    unsafe fn send(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here, and the data that all threads have finished does not change before the stage ends.
        unsafe { begin(&self.stages[stage][1]) }
    }

    unsafe fn test(&self, stage: usize) -> Result<bool, CallError> {
        // SAFETY: no other thread is here.
        let mut messages = unsafe { self.all(stage) };
        messages.try_fold(true, |all, message| Ok(message.test()? && all))
    }

    unsafe fn finish(&self, stage: usize) -> Result<(), CallError> {
        // SAFETY: no other thread is here.
        unsafe { self.all(stage) }.try_for_each(Repeated::wait)
    }

    fn messages(&self) -> usize {
        self.messages
    }

    fn free(self: Box<Self>) -> Result<(), CallError> {
        for (mut data, message) in self.stages.into_iter().flatten().flat_map(Slot::into_inner) {
            message.free()?;
            data.free()?;
        }
        Ok(())
    }
}
