//! The message of a micro-app: from the first rank of each pair to the second, or between all ranks. It is packed
//! before it is started and unpacked after it has arrived, or uses datatypes.

use anyhow::Context;
use apps::Side;
use common::kinds::overlap::methods::transfer;
use common::model::Outcome;
use common::packing::Form;

use super::traffic::Traffic;
use crate::checked::{CallError, Request};
use crate::expected::{arrival, incoming};
use crate::measure::session::Session;
use crate::memory::Memory;
use crate::method::Method;
use crate::method::two_sided::TwoSided;
use crate::pattern::Pattern;
use crate::spots::Spots;
use crate::verify;

/// A micro-app's message with its memory.
pub struct MessageTraffic<'a> {
    /// The session of the same test's ping-pong.
    pub session: Session<'a>,
    /// Arrays and wire buffers.
    pub memory: Memory,
}

/// A method that was set up, with its datatypes.
pub struct Active<'a> {
    method: TwoSided<'a>,
    request: Request,
    is_persistent: bool,
}

impl MessageTraffic<'_> {
    fn sends(&self) -> bool {
        self.session.setup.me == 0 || self.session.setup.is_all_to_all()
    }

    fn receives(&self) -> bool {
        self.session.setup.me == 1 || self.session.setup.is_all_to_all()
    }
}

impl<'a> Traffic for MessageTraffic<'a> {
    type Active = Active<'a>;

    fn make(&mut self, method: &str) -> anyhow::Result<Result<Active<'a>, Outcome>> {
        let transfer = transfer(method).map_err(anyhow::Error::msg)?.message;
        let (form, packing) = transfer.with_context(|| format!("{method} communicates no message"))?;
        let is_persistent = form == Form::Persistent;
        let mut method = TwoSided::new(self.session.setup, &self.memory, packing, packing)?;
        method.create()?;
        if !is_persistent {
            let request = Request::null(self.session.setup.comm);
            return Ok(Ok(Active { method, request, is_persistent }));
        }
        // SAFETY: arrays and wire buffers are never moved, and every message is waited for before they are used; the
        // method's datatypes are freed after the request.
        match unsafe { method.request(&mut self.memory, form) }? {
            Ok(request) => Ok(Ok(Active { method, request, is_persistent })),
            Err(name) => {
                method.free()?;
                Ok(Err(Outcome::NotAvailable { reason: format!("this MPI lacks {name}") }))
            }
        }
    }

    fn fill(&mut self, active: &mut Active<'a>) -> Result<(), CallError> {
        self.session.fill(&mut self.memory, active.method.ends());
        self.session.spots = Spots::of_one_way(&self.session, &mut self.memory, &active.method);
        Ok(())
    }

    fn renew(&mut self, active: &mut Active<'a>) -> Result<(), CallError> {
        self.session.rewrite(&mut self.memory, &mut active.method)
    }

    fn start(&mut self, active: &mut Active<'a>) -> Result<(), CallError> {
        if self.sends() {
            active.method.pack(&mut self.memory)?;
        }
        if active.is_persistent {
            return active.request.start();
        }
        // SAFETY: arrays, wire buffers and methods are not moved while a message is in progress, and the message is
        // waited for before the memory is used.
        let request = unsafe { active.method.request(&mut self.memory, Form::Nonblocking) }?;
        active.request = request.expect("every MPI has nonblocking forms");
        Ok(())
    }

    fn test(&mut self, active: &mut Active<'a>) -> Result<bool, CallError> {
        active.request.test()
    }

    fn wait(&mut self, active: &mut Active<'a>) -> Result<(), CallError> {
        active.request.wait()?;
        if self.receives() { active.method.unpack(&mut self.memory) } else { Ok(()) }
    }

    fn check(&mut self, _: &mut Active<'a>) -> Option<String> {
        self.session.check(&self.memory);
        self.session.spots.found()
    }

    fn mismatch(&mut self, active: &mut Active<'a>) -> Result<Option<String>, CallError> {
        let (session, ends) = (&self.session, active.method.ends());
        let message = session.setup.app.message(Side::Send, ends.order);
        let expected = self.receives().then(|| incoming(session, &message, &self.memory.arrays, ends));
        if session.repetition > 0 {
            // Parts of the arrays have been rewritten, so only the received data is compared here; the rest was compared at first.
            let app = session.setup.app;
            let memory = &mut self.memory;
            return Ok(expected.and_then(|expected| arrival(app, memory, ends, expected, |_, _| {})));
        }
        let mine = Pattern::new(session.setup.me, session.generation);
        Ok(verify::compare(session.setup.app, &mut self.memory, ends, mine, expected))
    }

    fn teardown(&mut self, mut active: Active<'a>) -> Result<(), CallError> {
        if active.is_persistent {
            active.request.free()?;
        }
        active.method.free()
    }
}
