//! The message of a micro-app: from the first rank of each pair to the second, or between all ranks. It is
//! packed before it is started and unpacked after it has arrived, or uses datatypes.

use anyhow::Context;
use common::kinds::overlap::methods::transfer;
use common::kinds::pingpong::methods::Transfer;

use super::traffic::Traffic;
use crate::carrier::Repeated;
use crate::checked::CallError;
use crate::measure::message_links::wrong_received;
use crate::measure::session::Session;
use crate::measure::verification::compare;
use crate::method::Method;
use crate::method::two_sided::TwoSided;
use crate::payload::{Checks, Mismatch};

/// A method that was set up, with its datatypes.
pub struct ActiveMessage<'a> {
    method: TwoSided<'a>,
    transfer: Repeated,
}

/// The session of the same test's ping-pong.
impl<'a> Traffic for Session<'a> {
    type Active = ActiveMessage<'a>;

    fn make(&mut self, method: &str) -> anyhow::Result<ActiveMessage<'a>> {
        let transfer = transfer(method).map_err(anyhow::Error::msg)?.message;
        let (form, packing) = transfer.with_context(|| format!("{method} communicates no message"))?;
        let transfer = Transfer::TwoSided(packing, packing);
        // SAFETY: arrays and wire buffers are never moved, and every message is waited for before they are
        // used; the method's datatypes are freed after the request.
        let mut method = unsafe { TwoSided::new(self.setup, &mut self.memory, transfer) }?;
        method.create()?;
        // SAFETY: as above.
        match unsafe { method.transfer(&mut self.memory, form) } {
            Ok(transfer) => Ok(ActiveMessage { method, transfer }),
            Err(error) => {
                if error.is_lack() {
                    method.free()?;
                }
                Err(error.into())
            }
        }
    }

    fn fill(&mut self, active: &mut ActiveMessage<'a>) -> Result<(), CallError> {
        self.prepare_one_way(&active.method);
        Ok(())
    }

    fn renew(&mut self, active: &mut ActiveMessage<'a>) -> Result<(), CallError> {
        self.rewrite(&mut active.method)
    }

    fn start(&mut self, active: &mut ActiveMessage<'a>) -> Result<(), CallError> {
        if self.setup.me == 0 || self.setup.is_all_to_all() {
            active.method.pack(&mut self.memory)?;
        }
        active.transfer.start()
    }

    fn test(&mut self, active: &mut ActiveMessage<'a>) -> Result<bool, CallError> {
        active.transfer.test()
    }

    fn wait(&mut self, active: &mut ActiveMessage<'a>) -> Result<(), CallError> {
        active.transfer.wait()?;
        match self.setup.me == 1 || self.setup.is_all_to_all() {
            true => active.method.unpack(&mut self.memory),
            false => Ok(()),
        }
    }

    fn checks(&mut self) -> &mut Checks {
        &mut self.payload.checks
    }

    fn look(&mut self) {
        Session::look(self);
    }

    fn wrong(&mut self) -> Option<Mismatch> {
        let links = self.payload.links.clone()?;
        let (version, memory) = (self.payload.checks.version, &mut self.memory);
        if version.repetition > 0 {
            // The arrays have been rewritten, so only the received data is compared; the rest was compared at first.
            let (wrong, stray) =
                (wrong_received(memory, &links.there, version), self.setup.stray_byte(memory));
            return wrong.or(stray);
        }
        compare(memory, &links.there, version, self.setup)
    }

    fn teardown(&mut self, mut active: ActiveMessage<'a>) -> Result<(), CallError> {
        active.transfer.free()?;
        active.method.free()
    }
}
